// Offers that stand beside the picture and never in its way: earlier images that may belong to a new category, and loans.
import { ask } from "./server.js";
import { byId, fill, make, bdi, newId, say, words } from "./basics.js";
import { exampleImages } from "./categories.js";

const FEW = 5; // images of a category, below which it may borrow
const YOUNG = 4; // labels of a new category, up to which earlier images are looked for

export class Notices {
  #place = byId("notice");
  #page;
  #young = new Set(); // categories that were made in this tab
  #offered = new Set();
  #yes = null;
  #no = null;

  constructor(page) {
    this.#page = page;
  }

  made(category) {
    this.#young.add(category);
  }

  get open() {
    return !this.#place.hidden;
  }

  accept() {
    this.#yes?.();
  }

  refuse() {
    this.#no?.();
  }

  /** A label was saved: is there something to offer? Asked for beside the work; no failure of it is of interest. */
  async labelled(category, categories) {
    if (this.open || !category) return;
    try {
      if (this.#young.has(category.id) && category.count <= YOUNG && !this.#offered.has(`claim ${category.id}`)) {
        const images = await ask(`/api/may_belong?category=${encodeURIComponent(category.id)}`);
        if (images.length) {
          this.#offered.add(`claim ${category.id}`);
          this.#offerClaim(category, images);
          return;
        }
      }
      if (category.count < FEW && categories.length > 1) {
        const offer = await ask(`/api/loans?category=${encodeURIComponent(category.id)}`);
        if (offer && !this.#offered.has(`loan ${offer.category} ${offer.lender}`)) this.#offerLoan(offer, await ask("/api/categories"));
      }
    } catch {
      // The next label asks again.
    }
  }

  #offerClaim(category, images) {
    const text = images.length === 1
      ? fill(words.label.may_belong_one, { name: category.name })
      : fill(words.label.may_belong, { n: images.length, name: category.name });
    this.#yes = () => { location.href = `/grid?of=may_belong&category=${encodeURIComponent(category.id)}`; };
    this.#no = () => this.#close();
    this.#show(text, [
      make("div", { className: "examples" }, ...exampleImages(images.map((each) => each.image))),
    ], words.label.look, words.label.later);
  }

  #offerLoan(offer, categories) {
    const figure = (id, name) => make("figure", {}, make("figcaption", {}, bdi(name)), make("div", { className: "examples" },
      ...exampleImages(categories.find((each) => each.id === id)?.examples ?? [])));
    const settle = (act, text) => () => {
      this.#offered.add(`loan ${offer.category} ${offer.lender}`);
      this.#page.outbox.add("/api/loans",
        { page: this.#page.tab, request: newId(), act, category: offer.category, lender: offer.lender },
        fill(text, { name: offer.name, lender: offer.lender_name }));
      this.#close();
    };
    this.#yes = settle("borrow", words.label.borrowed);
    this.#no = settle("refuse", words.label.not_borrowed);
    this.#show(fill(words.label.loan, { name: offer.name, lender: offer.lender_name }), [
      make("div", { className: "pair" }, figure(offer.category, offer.name), figure(offer.lender, offer.lender_name)),
      make("p", {}, words.label.loan_lead),
    ], words.label.borrow, words.label.do_not_borrow);
  }

  #show(text, parts, yes, no) {
    const key = (cap) => make("kbd", {}, cap);
    this.#place.replaceChildren(make("p", {}, make("strong", {}, bdi(text))), ...parts, make("div", { className: "row" },
      make("button", { type: "button", className: "go", onclick: () => this.accept() }, `${yes} `, key(this.#page.keys.keyOf("yes").toUpperCase())),
      make("button", { type: "button", className: "plain", onclick: () => this.refuse() }, `${no} `, key(words.key_names.escape))));
    this.#place.hidden = false;
    say(text);
  }

  #close() {
    this.#place.hidden = true;
    this.#yes = this.#no = null;
  }
}
