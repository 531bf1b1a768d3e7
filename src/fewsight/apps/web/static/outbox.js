// Answers on their way to the disk. Each is kept in this browser until the server says that it is saved, is sent in order, and is
// sent again with the same id after any failure, so that nothing is lost and nothing counts twice.
import { ask, Refused, Restarted, Troubled } from "./server.js";

const PAUSES = [300, 1000, 2000]; // milliseconds before sending again
const MOST_TROUBLES = 8; // of one answer, before it is called refused
const TELLING = ["/api/answers", "/api/undo", "/api/redo", "/api/categories"]; // requests that say what this tab has

export class Outbox extends EventTarget {
  #prefix;
  #tab;
  #entries = [];
  #sending = false;
  #timer = null;
  #failures = 0;
  #troubles = 0; // of the first answer, for which the request itself may be to blame
  #count = 0;
  has = () => ({}); // what this tab shows and has loaded, said with what it sends

  constructor(project, tab) {
    super();
    this.#prefix = `fewsight.${project}.outbox.`;
    this.#tab = tab;
  }

  get waiting() {
    return this.#entries.length;
  }

  /** Images whose answers are not saved yet. */
  images() {
    return new Set(this.#entries.flatMap((entry) => entry.body.images ?? []));
  }

  /** Keep a request and send it as soon as its turn comes; `what` says it in a few words. */
  add(path, body, what) {
    const order = `${String(Date.now()).padStart(15, "0")}.${String(this.#count++).padStart(6, "0")}`;
    const entry = { key: `${this.#prefix}${order}.${body.request}`, tab: this.#tab, path, body, what };
    try {
      localStorage.setItem(entry.key, JSON.stringify(entry));
    } catch {
      this.#tell("full", {});
    }
    this.#entries.push(entry);
    this.#tell("added", { entry });
    this.drain();
    return body.request;
  }

  /** Take over what closed tabs, or this one before it was loaded again, left behind. */
  async adopt() {
    const live = navigator.locks ? (await navigator.locks.query()).held.map((lock) => lock.name) : [];
    const known = new Set(this.#entries.map((entry) => entry.key));
    const left = Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix) && !known.has(key)).sort();
    for (const key of left) {
      let entry = null;
      try {
        entry = JSON.parse(localStorage.getItem(key));
      } catch {
        localStorage.removeItem(key); // not written by this page
      }
      if (entry && (entry.tab === this.#tab || !live.includes(`fewsight.tab.${entry.tab}`))) this.#entries.push(entry);
    }
    this.#entries.sort((a, b) => (a.key < b.key ? -1 : 1));
    if (left.length) this.#tell("added", {});
    this.drain();
  }

  async drain() {
    if (this.#sending || !this.#entries.length) return;
    this.#sending = true;
    clearTimeout(this.#timer);
    try {
      while (this.#entries.length) {
        const entry = this.#entries[0];
        const receipt = await this.#send(entry);
        if (receipt === null) continue;
        this.#drop(entry);
        this.#failures = 0;
        this.#troubles = 0;
        this.#tell("saved", { entry, receipt });
      }
    } catch (failure) {
      this.#failures += 1;
      this.#tell("failed", { failure });
      this.#timer = setTimeout(() => this.drain(), PAUSES[Math.min(this.#failures, PAUSES.length) - 1]);
    } finally {
      this.#sending = false;
    }
  }

  /** The receipt; null if the entry was refused for good, and is gone. */
  async #send(entry) {
    try {
      const tells = entry.body.page === this.#tab && TELLING.includes(entry.path);
      return await ask(entry.path, tells ? { ...entry.body, ...this.has() } : entry.body);
    } catch (failure) {
      const trouble = failure instanceof Troubled && !failure.later;
      if (trouble) this.#troubles += 1;
      const hopeless = trouble && this.#troubles > MOST_TROUBLES;
      if (!(failure instanceof Refused) && !hopeless) throw failure;
      if (await this.#sameName(entry)) return null;
      this.#drop(entry);
      this.#failures = 0;
      this.#troubles = 0;
      this.#tell("refused", { entry, message: failure.message });
      return null;
    }
  }

  /** A new category whose name another tab has made meanwhile is that one. */
  async #sameName(entry) {
    if (entry.body.act !== "new") return false;
    const same = (a, b) => a.normalize("NFC").toLowerCase() === b.normalize("NFC").trim().toLowerCase();
    const found = (await ask("/api/categories")).find((each) => same(each.name, entry.body.name));
    if (!found) return false;
    this.#drop(entry);
    for (const other of this.#entries) {
      if (other.body.category !== entry.body.request) continue;
      other.body.category = found.id;
      localStorage.setItem(other.key, JSON.stringify(other));
    }
    return true;
  }

  #drop(entry) {
    this.#entries = this.#entries.filter((other) => other !== entry);
    localStorage.removeItem(entry.key);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

export { Restarted, Troubled };
