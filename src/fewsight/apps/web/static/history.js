// History: undo and redo, seen at once.
import { outbox } from "./page.js";

outbox.addEventListener("saved", () => { if (!outbox.waiting) location.reload(); });
