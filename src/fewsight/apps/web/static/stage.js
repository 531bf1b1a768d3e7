// The picture: shown at once because it was fetched and decoded before; fitted, zoomed, never enlarged more than four times by itself.
import { byId, fill, make, words } from "./basics.js";

const MOST_ENLARGED = 4;
const STEP = 1.5;
const COPY_SIDE = 1600; // pixels of the longest side of the copy for the screen
const LATER = 250; // milliseconds before a picture that was not ready is asked for again

export class Stage {
  #sight = byId("sight");
  #pictures = new Map(); // image -> element
  #question = null;
  #scale = null; // null: fitted

  constructor() {
    new ResizeObserver(() => this.#lay()).observe(this.#sight);
  }

  /** Fetch and decode what will be shown next; what is no longer wanted is let go. */
  preload(questions) {
    const wanted = new Set(questions.map((each) => each.image));
    for (const image of this.#pictures.keys()) if (!wanted.has(image)) this.#pictures.delete(image);
    for (const question of questions) this.#picture(question);
    this.#countLoaded();
  }

  /** How many pictures are loaded, the current one and those behind it: answers can go on for these without a connection. */
  #countLoaded() {
    const loaded = [...this.#pictures.values()].filter((picture) => picture.complete && picture.naturalWidth);
    this.#sight.dataset.loaded = String(loaded.length);
  }

  #picture(question) {
    let picture = this.#pictures.get(question.image);
    if (!picture) {
      picture = make("img", { alt: fill(words.label.alt, { file: question.file }), draggable: false });
      picture.dataset.image = question.image;
      picture.onerror = () => setTimeout(() => {
        if (this.#pictures.get(question.image) === picture) picture.src = `/image/${question.image}/1600?again=${Date.now()}`;
      }, LATER);
      picture.onload = () => {
        this.#countLoaded();
        this.#lay();
      };
      picture.src = `/image/${question.image}/1600`;
      picture.decode().catch(() => {}); // so that no frame waits for it; a failure comes through onerror
      this.#pictures.set(question.image, picture);
    }
    return picture;
  }

  show(question) {
    this.#question = question;
    this.#scale = null;
    if (!question) {
      this.#sight.replaceChildren();
      return;
    }
    const picture = this.#picture(question);
    if (this.#sight.firstChild !== picture) this.#sight.replaceChildren(picture);
    this.#lay();
  }

  fit() {
    this.#scale = null;
    this.#lay();
  }

  actual() {
    this.#scale = 1;
    this.#lay();
  }

  zoom(direction) {
    const picture = this.#sight.firstChild;
    if (!picture) return;
    const now = this.#scale ?? picture.clientWidth / this.#width(picture);
    this.#scale = Math.min(16, Math.max(0.05, direction > 0 ? now * STEP : now / STEP));
    this.#lay();
  }

  /** Larger than its copy for the screen: fetch it at actual size, and show that as soon as it is there. */
  #sharpen(picture, side) {
    if (side <= COPY_SIDE || picture.dataset.whole) return;
    picture.dataset.whole = "";
    const whole = new Image();
    whole.onload = () => { if (this.#sight.firstChild === picture) picture.src = whole.src; };
    whole.src = `/image/${picture.dataset.image}/whole`;
  }

  #width(picture) {
    return this.#question?.width || picture.naturalWidth || 1;
  }

  #lay() {
    const picture = this.#sight.firstChild;
    if (!picture || !this.#question) return;
    const width = this.#width(picture);
    const height = this.#question.height || picture.naturalHeight || 1;
    const zoomed = this.#scale !== null;
    this.#sight.classList.toggle("zoomed", zoomed);
    if (zoomed) this.#sight.tabIndex = 0; // so that arrow keys scroll
    else this.#sight.removeAttribute("tabindex");
    const room = getComputedStyle(this.#sight);
    const across = this.#sight.clientWidth - parseFloat(room.paddingLeft) - parseFloat(room.paddingRight);
    const down = this.#sight.clientHeight - parseFloat(room.paddingTop) - parseFloat(room.paddingBottom);
    const scale = this.#scale ?? Math.min(MOST_ENLARGED, across / width, down / height);
    if (zoomed) this.#sharpen(picture, Math.max(width, height));
    picture.style.width = `${Math.max(1, width * scale)}px`;
    picture.style.height = `${Math.max(1, height * scale)}px`;
  }
}
