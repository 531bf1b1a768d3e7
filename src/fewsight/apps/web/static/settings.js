// Settings: one form; only what was changed is sent.
import * as page from "./page.js";
import { ask } from "./server.js";
import { ACTION_KEYS } from "./keys.js";

const { byId, data, make, newId, say, showRefusal, words } = page;
const rows = () => [...document.querySelectorAll(".settings-row")];

for (const row of rows()) {
  const others = data.categories.filter((each) => each.id !== row.dataset.id);
  const merge = row.querySelector(".merge");
  const choose = () => {
    if (merge.options.length === 1) merge.append(...others.map((each) => make("option", { value: each.id }, each.name)));
  };
  merge.addEventListener("focus", choose);
  merge.addEventListener("pointerdown", choose);
}
byId("category-rows")?.addEventListener("click", (event) => {
  const button = event.target.closest("[data-move]");
  if (!button) return;
  const row = button.closest(".settings-row");
  if (button.dataset.move === "1") row.nextElementSibling?.after(row);
  else row.previousElementSibling?.before(row);
  button.focus();
});

byId("action-keys").append(...Object.entries(ACTION_KEYS).map(([action, key]) => make("div", {},
  make("label", { htmlFor: `key-${action}` }, words.actions[action]),
  make("input", { id: `key-${action}`, maxLength: 1, autocomplete: "off", value: data.settings.actions?.[action] ?? key }))));

byId("settings").addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("settings-problem").textContent = byId("settings-saved").textContent = "";
  try {
    const changes = changed();
    if (Object.keys(changes).length) await ask("/api/settings", { changes });
    for (const row of rows()) await changeCategory(row);
    byId("settings-saved").textContent = words.settings.saved;
    say(words.settings.saved);
    setTimeout(() => location.reload(), 600);
  } catch (failure) {
    byId("settings-problem").textContent = failure.message;
  }
});

function changed() {
  const found = {};
  const who = byId("who").value.trim();
  if (who !== data.settings.name) found.name = who;
  const channels = byId("channels").value.split(",").map((each) => each.trim()).filter(Boolean);
  if (channels.join() !== data.settings.channels.join()) found.channels = channels;
  const order = rows().map((row) => row.dataset.id);
  if (order.join() !== data.categories.map((each) => each.id).join()) found.order = order;
  const actions = {};
  for (const [action, key] of Object.entries(ACTION_KEYS)) {
    const wanted = byId(`key-${action}`).value.trim().toLowerCase() || key;
    if (wanted !== key) actions[action] = wanted;
  }
  if (JSON.stringify(actions) !== JSON.stringify(data.settings.actions ?? {})) found.actions = actions;
  return found;
}

async function changeCategory(row) {
  const category = row.dataset.id;
  const name = row.querySelector(".name").value.trim();
  const key = row.querySelector(".key").value.trim().toLowerCase();
  const into = row.querySelector(".merge").value;
  if (into) return ask("/api/categories", { act: "merge", request: newId(), category, into });
  if (name !== row.dataset.name) await ask("/api/categories", { act: "rename", request: newId(), category, name });
  if (key !== row.dataset.key) await ask("/api/categories", { act: "key", request: newId(), category, key: key || null });
  return null;
}

byId("rescan").addEventListener("click", async () => {
  try {
    await ask("/api/rescan", {});
    byId("settings-saved").textContent = words.settings.rescanning;
  } catch (failure) {
    showRefusal(failure.message);
  }
});
page.ready();
