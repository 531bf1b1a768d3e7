// My labels: the most surprising first, changed in place.
import { ready } from "./page.js";
import { changing } from "./change.js";

changing();
ready();
