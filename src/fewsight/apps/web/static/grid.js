// The grid: drop the odd ones, one key for the rest.
import * as page from "./page.js";
import { choosing, roving } from "./tiles.js";

const { byId, data, fill, keys, link, newId, outbox, say, tab, words } = page;
const PAUSE = 1500; // milliseconds between two looks whether an empty grid has filled
const tiles = byId("tiles");
let last = data.category ?? "";

const all = () => [...document.querySelectorAll(".tile")];
const taken = () => all().filter((tile) => tile.getAttribute("aria-pressed") === "true");
const chosen = () => data.categories.find((each) => each.id === last);

function toggle(tile) {
  tile.setAttribute("aria-pressed", String(tile.getAttribute("aria-pressed") !== "true"));
  tile.dataset.leftOut = words.grid.left_out;
  showButton();
}

function showButton() {
  const n = taken().length;
  const category = chosen();
  const button = byId("label-rest");
  button.disabled = !n || !category;
  button.textContent = !n ? words.grid.label_as_nothing
    : category ? fill(words.grid.label_as, { n, name: category.name }) : words.grid.choose;
}

function labelRest(category) {
  const images = taken().map((tile) => tile.dataset.image);
  if (!images.length || !category) return;
  const body = { page: tab, request: newId(), kind: "label", images, category: category.id, how: "grid" };
  byId("label-rest").disabled = true;
  outbox.add("/api/answers", body, category.name);
}

keys.setCategories(data.categories);
outbox.addEventListener("saved", (event) => {
  const { entry } = event.detail;
  if (entry.path === "/api/answers") say(fill(words.grid.saved, { n: entry.body.images.length, what: entry.what }));
  if (!outbox.waiting) location.reload();
});
choosing(document.querySelector(".filter"));
keys.on("no", () => { location.href = "/label"; });
if (tiles) {
  roving(tiles);
  tiles.addEventListener("click", (event) => {
    const tile = event.target.closest(".tile");
    if (tile) toggle(tile);
  });
  keys.onCategory(labelRest);
  keys.on("toggle", () => {
    const tile = tiles.querySelector('.tile[tabindex="0"]');
    if (tile) toggle(tile);
  });
  const takeAll = () => {
    const on = taken().length < all().length;
    for (const tile of all()) if ((tile.getAttribute("aria-pressed") === "true") !== on) toggle(tile);
  };
  keys.on("all", takeAll);
  keys.on("apart", takeAll); // the same key
  keys.on("move", () => tiles.querySelector('.tile[tabindex="0"]')?.focus());
  byId("label-rest").addEventListener("click", () => labelRest(chosen()));
  byId("other").addEventListener("change", () => {
    last = byId("other").value;
    showButton();
  });
  showButton();
  tiles.querySelector(".tile").focus();
}

/** The tiles that this view would have now. */
async function tilesNow() {
  const text = await fetch(location.href).then((response) => (response.ok ? response.text() : ""), () => "");
  return [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("#tiles .tile")];
}

// Nothing yet: features and model are on their way, and every piece of news may be the one.
let looked = 0;
async function lookAgain() {
  if (tiles || Date.now() - looked < PAUSE) return;
  looked = Date.now();
  if ((await tilesNow()).length) location.reload();
}
link.addEventListener("state", lookAgain);
if (!tiles) {
  setInterval(lookAgain, 2 * PAUSE);
  byId("back").focus();
}

// Some, and more images are ready since: offered and never slipped in, or a key would label what nobody has seen.
let known = data.state.n_known;
if (tiles) {
  link.addEventListener("state", (event) => {
    if (event.detail.n_known > known) byId("newer").hidden = false;
  });
  byId("newer").addEventListener("click", async () => {
    const there = new Set(all().map((tile) => tile.dataset.image));
    const more = (await tilesNow()).filter((tile) => !there.has(tile.dataset.image));
    known = link.state?.n_known ?? known;
    byId("newer").hidden = true;
    for (const tile of more) tile.tabIndex = -1;
    tiles.append(...more);
    showButton();
    say(fill(words.grid.added, { n: more.length }));
    (more[0] ?? tiles.querySelector('.tile[tabindex="0"]')).focus();
  });
}
page.ready();
