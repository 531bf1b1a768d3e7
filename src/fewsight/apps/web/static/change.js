// Changing a label in place: a dialog with the picture, used wherever labelled images are listed.
import * as page from "./page.js";
import { choosing, roving } from "./tiles.js";

const { byId, data, fill, keys, newId, outbox, tab, words } = page;
const dialog = byId("change");
let tile = null;

function open(which) {
  tile = which;
  const picture = tile.querySelector("img");
  byId("change-image").src = `/image/${tile.dataset.image}/1600`;
  byId("change-image").alt = picture.alt;
  byId("change-file").textContent = picture.alt;
  const category = data.categories.find((each) => each.id === tile.dataset.category);
  byId("change-said").textContent = tile.dataset.said
    ?? (tile.dataset.who && category ? fill(words.mine.said, { who: tile.dataset.who, name: category.name }) : "");
  byId("change-category").value = category?.id ?? ""; // where nothing is known, Enter must not say the first one
  dialog.showModal();
  byId("change-category").focus();
}

function change(kind, category = null) {
  const body = { page: tab, request: newId(), kind, images: [tile.dataset.image], how: "own choice" };
  if (category) body.category = category;
  const what = category ? data.categories.find((each) => each.id === category).name : words.actions[kind] ?? words.mine.cleared;
  outbox.add("/api/answers", body, what);
  dialog.close();
}

export function changing() {
  for (const tiles of document.querySelectorAll(".tiles")) {
    roving(tiles);
    tiles.addEventListener("click", (event) => {
      const which = event.target.closest(".tile");
      if (which) open(which);
    });
  }
  choosing(document.querySelector(".filter"));
  byId("change-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (byId("change-category").value) change("label", byId("change-category").value);
  });
  byId("change-category").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.value) return; // without a choice the list opens, as everywhere
    event.preventDefault();
    byId("change-form").requestSubmit();
  });
  for (const button of dialog.querySelectorAll("[data-change]")) {
    button.addEventListener("click", () => (button.dataset.change ? change(button.dataset.change) : dialog.close()));
  }
  dialog.addEventListener("close", () => tile?.focus());
  keys.setCategories(data.categories);
  // With a tile in focus, its category's key changes it without the dialog.
  keys.onCategory((category) => {
    const here = document.activeElement?.closest(".tile");
    if (!here) return;
    tile = here;
    change("label", category.id);
  });
  keys.on("change", () => {
    const here = document.activeElement?.closest(".tile") ?? document.querySelector(".tile");
    if (here) open(here);
  });
  outbox.addEventListener("saved", () => {
    if (outbox.waiting) return;
    sessionStorage.setItem("fewsight.scroll", String(scrollY));
    location.reload();
  });
  const place = sessionStorage.getItem("fewsight.scroll");
  if (place !== null) scrollTo(0, Number(place));
  sessionStorage.removeItem("fewsight.scroll");
}
