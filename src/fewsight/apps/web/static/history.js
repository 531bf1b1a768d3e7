// History: undo and redo, seen at once.
import { outbox, ready } from "./page.js";

outbox.addEventListener("saved", () => { if (!outbox.waiting) location.reload(); });
ready();
