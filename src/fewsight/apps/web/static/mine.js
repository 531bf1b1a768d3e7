// My labels: the most surprising first, changed in place.
import { changing } from "./change.js";

changing();
