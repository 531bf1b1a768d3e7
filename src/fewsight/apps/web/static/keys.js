// Keys: one key, one act; never while typing, never with Ctrl or Alt, never by holding a key down.
import { words, make, byId } from "./basics.js";

/** The key of each action, unless a person chose another one. */
export const ACTION_KEYS = {
  none: "u", skip: "s", discard: "x", undo: "z", redo: "r", new: "n", guess: "g", apart: "a", lookalikes: "l", find: "/", yes: "y",
};
const FIXED = { Backspace: "undo", Escape: "no", "?": "keys", "+": "larger", "=": "larger", "-": "smaller", 0: "fit", ".": "actual", Enter: "change" };

export class Keys {
  #actions = new Map();
  #chosen;
  #byKey = new Map();
  #categories = new Map();
  #label = null;
  #unknown = null;

  constructor(chosen) {
    this.#chosen = { ...ACTION_KEYS, ...chosen };
    for (const [action, key] of Object.entries(this.#chosen)) this.#byKey.set(key, action);
    document.addEventListener("keydown", (event) => this.#pressed(event));
    for (const button of document.querySelectorAll("[data-action]")) this.#print(button);
  }

  keyOf(action) {
    return this.#chosen[action] ?? "";
  }

  on(action, act) {
    this.#actions.set(action, act);
  }

  /** What labels with a category; `unknown` is told of a digit that no category has. */
  onCategory(label, unknown = null) {
    this.#label = label;
    this.#unknown = unknown;
  }

  setCategories(categories) {
    this.#categories = new Map(categories.filter((each) => each.key).map((each) => [each.key.toLowerCase(), each]));
  }

  run(action) {
    const act = this.#actions.get(action);
    if (act) act();
    return Boolean(act);
  }

  #print(button) {
    const key = this.#chosen[button.dataset.action];
    const cap = button.querySelector("kbd");
    if (key && cap) cap.textContent = key.toUpperCase();
    if (key) button.setAttribute("aria-keyshortcuts", key);
  }

  #pressed(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.repeat || typing(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && event.target.closest?.("a, button, summary")) return; // what it is for, anyway
    const names = namesOf(event);
    const category = names.map((name) => this.#categories.get(name)).find(Boolean);
    const action = names.map((name) => this.#byKey.get(name) ?? FIXED[name]).find(Boolean);
    if (category && this.#label) this.#label(category);
    else if (!action || !this.run(action)) {
      if (this.#unknown && /^[1-9]$/.test(event.key)) this.#unknown(event.key);
      return;
    }
    event.preventDefault();
  }

  showList() {
    const caps = { Backspace: words.key_names.backspace, Escape: words.key_names.escape };
    const rows = [];
    if (this.#label) rows.push([words.key_names.printed, words.actions.category]);
    const order = ["none", "skip", "discard", "undo", "redo", "new", "find", "guess", "apart", "lookalikes", "yes"];
    for (const action of order) {
      if (!this.#actions.has(action)) continue;
      const key = this.#chosen[action].toUpperCase();
      rows.push([action === "undo" ? `${key} ${words.key_names.or} ${words.key_names.backspace}` : key, words.actions[action]]);
    }
    const more = { no: caps.Escape, larger: "+", smaller: "−", fit: "0", actual: ".", toggle: words.key_names.space, all: this.#chosen.apart.toUpperCase(), move: words.key_names.arrows, change: words.key_names.enter };
    for (const [action, cap] of Object.entries(more)) {
      if (this.#actions.has(action)) rows.push([cap, words.actions[action]]);
    }
    rows.push(["?", words.actions.keys]);
    byId("key-list-rows").replaceChildren(...rows.flatMap(([cap, text]) => [
      make("dt", {}, make("kbd", {}, cap)), make("dd", {}, text),
    ]));
    byId("key-list").showModal();
  }
}

/** Whether a key belongs to what has the focus. */
export function typing(target) {
  return Boolean(target.closest?.("input, textarea, select, [contenteditable]"));
}

/** What a key may mean: its character, and for other scripts and layouts the place it has on the keyboard. */
function namesOf(event) {
  const names = [event.key.length === 1 ? event.key.toLowerCase() : event.key];
  const place = /^(?:Key([A-Z])|(?:Digit|Numpad)([0-9]))$/.exec(event.code);
  if (place && !/^[a-z0-9]$/.test(names[0]) && !(names[0] in FIXED)) names.push((place[1] ?? place[2]).toLowerCase());
  return names;
}
