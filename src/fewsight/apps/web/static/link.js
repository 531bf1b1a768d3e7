// Whether the server can be reached, and what it tells: one stream of news while the tab is visible.
import { words, fill } from "./basics.js";
import { ask, Restarted, Troubled } from "./server.js";

const AGAIN = 1500; // milliseconds before the stream is opened anew

export class Link extends EventTarget {
  #outbox;
  #stream = null;
  #timer = null;
  #trouble = null; // null, or: offline, restarted, the message of a failure
  state = null;

  constructor(outbox) {
    super();
    this.#outbox = outbox;
    outbox.addEventListener("failed", (event) => this.#failed(event.detail.failure));
    outbox.addEventListener("saved", (event) => this.#reached(event.detail.receipt.state));
    outbox.addEventListener("added", () => this.#show());
    outbox.addEventListener("full", () => this.#tell("link", { text: words.state.storage_full }));
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#close() : this.#open()));
    queueMicrotask(() => {
      if (!document.hidden) this.#open();
      this.#outbox.adopt();
    });
  }

  #open() {
    this.#close();
    this.#tell("opened", {});
    this.#stream = new EventSource("/api/events");
    this.#stream.onmessage = (event) => this.#reached(JSON.parse(event.data));
    this.#stream.onerror = () => this.#look();
  }

  #close() {
    clearTimeout(this.#timer);
    this.#stream?.close();
    this.#stream = null;
  }

  /** The stream broke: find out why, and open it again. */
  async #look() {
    this.#close();
    try {
      await ask("/api/state");
    } catch (failure) {
      this.#failed(failure);
    }
    this.#timer = setTimeout(() => this.#open(), AGAIN);
  }

  #reached(state) {
    const was = this.#trouble;
    this.#trouble = null;
    if (state) {
      this.state = state;
      this.#tell("state", state);
    }
    this.#show();
    if (was !== null) {
      this.#tell("back", {});
      this.#outbox.adopt();
    }
  }

  #failed(failure) {
    if (failure instanceof Restarted) this.#trouble = "restarted";
    else if (failure instanceof Troubled) this.#trouble = failure.message;
    else this.#trouble = "offline";
    this.#show();
  }

  #show() {
    this.#tell("link", { text: this.#text(), waiting: this.#outbox.waiting, trouble: this.#trouble });
  }

  #text() {
    const n = this.#outbox.waiting;
    if (this.#trouble === null) return "";
    if (this.#trouble !== "offline" && this.#trouble !== "restarted") {
      return fill(words.state.troubled, { message: this.#trouble });
    }
    const kind = n === 0 ? "" : n === 1 ? "_waiting_one" : "_waiting";
    return fill(words.state[this.#trouble + kind], { n });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
