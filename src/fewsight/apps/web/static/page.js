// What every view shares: the id of this tab, the outbox, the link to the server, keys, head and foot.
import { data, words, byId, fill, make, bdi, newId, say } from "./basics.js";
import { Outbox } from "./outbox.js";
import { Link } from "./link.js";
import { Keys } from "./keys.js";

export { data, words, byId, fill, make, bdi, newId, say };

const NOTHING = { undo: words.label.nothing_to_undo, redo: words.label.nothing_to_redo };
const STEPS = ["/api/undo", "/api/redo"];
export const tab = await claimTab();
export const outbox = new Outbox(data.project, tab);
export const link = new Link(outbox);
export const keys = new Keys(data.settings?.actions ?? {});

/** One id for one tab: a duplicated tab finds the id taken, and makes one of its own. */
async function claimTab() {
  let id = sessionStorage.getItem("fewsight.tab") ?? newId();
  if (!(await claimed(id))) {
    await new Promise((resolve) => setTimeout(resolve, 60)); // the page that was left in this tab may still be ending
    if (!(await claimed(id))) {
      id = newId();
      await claimed(id);
    }
  }
  sessionStorage.setItem("fewsight.tab", id);
  return id;
}

function claimed(id) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks.request(`fewsight.tab.${id}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise(() => {}); // held as long as the tab lives
    });
  });
}

/** The script of the view is there: keys and buttons work from now on. */
export function ready() {
  document.documentElement.dataset.ready = "";
}

let newest = null; // the newest state that was shown: an answer to an older request may come after it

/** Show what head and foot say. */
export function showState(state) {
  if (!state) return;
  const before = (a, b) => a.last_event < b.last_event || (a.last_event === b.last_event && a.version < b.version);
  if (newest && before(state, newest)) return;
  newest = state;
  for (const name of ["labelled", "accuracy", "features"]) byId(`state-${name}`).textContent = state.shown[name];
  byId("state-learned").textContent = state.shown.learned;
  byId("state-advice").hidden = !state.shown.advice;
  byId("state-advice").title = state.shown.advice;
  const remarks = byId("remarks");
  if (remarks.dataset.shown !== JSON.stringify(state.remarks)) {
    remarks.dataset.shown = JSON.stringify(state.remarks);
    remarks.replaceChildren(...state.remarks.map((each) => make("p", { className: "banner" }, bdi(each))));
  }
  for (const name of ["undo", "redo"]) {
    const can = state[`can_${name}`];
    for (const button of document.querySelectorAll(`[data-action="${name}"]`)) button.disabled = !can && !outbox.waiting;
  }
}

/** A message that stays until it is closed, such as an answer that could not be saved. */
export function showRefusal(message) {
  const line = make("p", { className: "banner warn" }, fill(words.state.refused, { message }));
  line.append(make("button", { type: "button", onclick: () => line.remove() }, words.page.close));
  byId("refusals").append(line);
}

/** Undo and redo from any view; those that show more than one image load themselves again afterwards. */
export function step(name) {
  if (newest && !newest[`can_${name}`] && !outbox.waiting) return say(NOTHING[name]);
  outbox.add(`/api/${name}`, { page: tab, request: newId() }, words.label[name === "undo" ? "undoing" : "redoing"]);
}

link.addEventListener("opened", () => { newest = null; }); // a program that was started again counts anew
link.addEventListener("state", (event) => showState(event.detail));
link.addEventListener("link", (event) => {
  const { text } = event.detail;
  byId("link").hidden = !text;
  byId("link").textContent = text;
});
outbox.addEventListener("refused", (event) => {
  const { entry, message } = event.detail;
  if (STEPS.includes(entry.path)) say(message); // one key too many, faster than the answers
  else showRefusal(message);
});
outbox.addEventListener("saved", (event) => {
  showState(event.detail.receipt.state);
  if (event.detail.receipt.said) say(event.detail.receipt.said);
});

byId("menu").addEventListener("click", () => {
  const open = byId("views").classList.toggle("open");
  byId("menu").setAttribute("aria-expanded", String(open));
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (button && !button.disabled) keys.run(button.dataset.action);
});
keys.on("keys", () => keys.showList());
keys.on("undo", () => step("undo"));
keys.on("redo", () => step("redo"));
showState(data.state);
window.addEventListener("pagehide", (event) => {
  if (!event.persisted) {
    const body = new Blob([JSON.stringify({ page: tab })], { type: "application/json" });
    navigator.sendBeacon("/api/release", body);
  }
});
