// Progress: drawn by the server; here only the wish to learn again, and the offer of newer figures.
import * as page from "./page.js";
import { ask } from "./server.js";

const { byId, data, link, outbox, say, showRefusal, words } = page;
let learned = data.state.n_learned;

byId("newer").addEventListener("click", () => location.reload());
byId("relearn").addEventListener("click", async () => {
  try {
    await ask("/api/relearn", {});
    say(words.progress.relearning);
  } catch (failure) {
    showRefusal(failure.message);
  }
});
link.addEventListener("state", (event) => {
  if (event.detail.model === "learned" && event.detail.n_learned !== learned) {
    learned = event.detail.n_learned;
    byId("newer").hidden = false; // loading by itself would take the place from whoever reads
  }
});
outbox.addEventListener("saved", () => { if (!outbox.waiting) location.reload(); });
page.ready();
