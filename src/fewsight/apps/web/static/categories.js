// The list of categories: the whole row is the button; with many of them, type to find one.
import { byId, fill, make, bdi, words } from "./basics.js";

const FIND_FROM = 8; // with this many categories there is a field to find one
const SMALL_FROM = 7; // and from here on the buttons are small, in two columns, so that all stay in sight
const TINY_FROM = 23; // and from here on a line each
const LONG = 16; // characters of a name; where many are longer, one column shows more of them than two

export class CategoryList {
  #list = byId("categories");
  #rows = new Map();
  #choose;
  #finding = false; // somebody is about to type a name
  all = [];

  constructor(choose) {
    this.#choose = choose;
    this.#list.addEventListener("click", (event) => {
      const row = event.target.closest(".cat");
      if (row) this.#choose(this.all.find((each) => each.id === row.dataset.id));
    });
    const find = byId("find");
    find.addEventListener("input", () => this.#filter());
    find.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leaveFind();
      if (event.key === "Enter") {
        const hit = this.#hits()[0];
        if (hit) {
          this.leaveFind();
          this.#choose(hit);
        }
        event.preventDefault();
      }
    });
  }

  show(categories) {
    this.all = categories;
    const rows = categories.map((each) => this.#row(each));
    const same = rows.length === this.#list.children.length && rows.every((row, n) => this.#list.children[n] === row);
    if (!same) this.#list.replaceChildren(...rows);
    const known = new Set(categories.map((each) => each.id));
    for (const id of this.#rows.keys()) if (!known.has(id)) this.#rows.delete(id);
    const n = categories.length;
    this.#list.dataset.size = n < SMALL_FROM ? "large" : n < TINY_FROM ? "small" : "tiny";
    this.#list.toggleAttribute("data-long", categories.filter((each) => each.name.length > LONG).length > n / 3);
    this.#showFind();
    if (byId("find").value) this.#filter();
  }

  /** One more, before the server says so. */
  count(id, n) {
    const category = this.all.find((each) => each.id === id);
    if (category) {
      category.count += n;
      this.#row(category);
    }
  }

  /** Show for a moment which one was meant. */
  flash(id) {
    const row = this.#rows.get(id);
    if (!row) return;
    for (const other of this.#list.querySelectorAll(".chosen")) other.classList.remove("chosen");
    row.classList.add("chosen");
    setTimeout(() => row.classList.remove("chosen"), 350);
  }

  /** The field stands there where categories are many, and wherever somebody asked for it. */
  #showFind() {
    byId("find-row").hidden = !this.all.length || (this.all.length < FIND_FROM && !this.#finding);
  }

  find() {
    this.#finding = true;
    this.#showFind();
    byId("find").focus();
    byId("find").select();
  }

  leaveFind() {
    byId("find").value = "";
    this.#filter();
    byId("find").blur();
    this.#finding = false;
    this.#showFind();
  }

  #hits() {
    const wanted = byId("find").value.trim().toLowerCase();
    return wanted ? this.all.filter((each) => each.name.toLowerCase().includes(wanted)) : [];
  }

  #filter() {
    const wanted = byId("find").value.trim();
    const hits = this.#hits();
    const shown = new Set(hits.map((each) => each.id));
    for (const [id, row] of this.#rows) {
      row.hidden = Boolean(wanted) && !shown.has(id);
      row.classList.toggle("hit", Boolean(wanted) && hits[0]?.id === id);
    }
    byId("find-none").hidden = !wanted || hits.length > 0;
  }

  #row(category) {
    let row = this.#rows.get(category.id);
    if (!row) {
      row = make("button", { type: "button", className: "cat" },
        make("kbd"), make("span", { className: "name" }), make("span", { className: "examples" }));
      row.dataset.id = category.id;
      this.#rows.set(category.id, row);
    }
    const [key, name, examples] = row.children;
    const facts = JSON.stringify([category.key, category.name, category.count]);
    if (row.dataset.facts !== facts) {
      row.dataset.facts = facts;
      key.textContent = (category.key ?? "").toUpperCase();
      if (category.key) row.setAttribute("aria-keyshortcuts", category.key);
      row.title = category.name; // where it does not fit
      const count = make("span", { className: "n" },
        make("span", { className: "n-long" }, fill(words.label.n_labelled, { n: category.count })),
        make("span", { className: "n-short", ariaHidden: "true" }, category.count.toLocaleString("en")));
      name.replaceChildren(bdi(category.name), count);
    }
    const pictures = category.examples.slice(0, 3).join(" ");
    if (examples.dataset.images !== pictures) {
      examples.dataset.images = pictures;
      examples.replaceChildren(...exampleImages(category.examples));
    }
    return row;
  }
}

export function exampleImages(images) {
  return images.slice(0, 3).map((image) =>
    make("img", { alt: "", loading: "lazy", width: 40, height: 40, src: `/image/${image}/320` }));
}
