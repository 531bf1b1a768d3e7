// Moving in a grid of tiles by arrow keys: one tab stop, the arrows do the rest.

export function roving(container) {
  const tiles = () => [...container.querySelectorAll(".tile")];
  tiles().forEach((tile, n) => { tile.tabIndex = n ? -1 : 0; });
  container.addEventListener("focusin", (event) => {
    const tile = event.target.closest(".tile");
    if (tile) for (const each of tiles()) each.tabIndex = each === tile ? 0 : -1;
  });
  container.addEventListener("keydown", (event) => {
    const all = tiles();
    const here = all.indexOf(document.activeElement);
    if (here < 0) return;
    const across = getComputedStyle(container).gridTemplateColumns.split(" ").length;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : here + (step ?? NaN);
    if (!all[to]) return;
    event.preventDefault();
    all[to].focus();
  });
}

/** A list that a choice loads anew. */
export function choosing(form) {
  form?.addEventListener("change", () => {
    const wanted = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...wanted]) if (!value) wanted.delete(name);
    location.href = `${form.getAttribute("action")}?${wanted}`;
  });
}
