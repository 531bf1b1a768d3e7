// The label view: one key labels, saves and shows the next image.
import * as page from "./page.js";
import { ask } from "./server.js";
import { CategoryList } from "./categories.js";
import { Stage } from "./stage.js";
import { Notices } from "./notices.js";

const { byId, data, fill, keys, link, make, bdi, newId, outbox, say, tab, words } = page;
const N_AHEAD = 8; // the current question and the next seven: fast keys never wait for a slow moment of the server
const CALM = 1000; // milliseconds between two looks for questions while images are read
const MOST_HELD = 60; // images that the server is told about
const SOON = 200; // milliseconds before asking again, while there is nothing to ask about

const stage = new Stage();
const notices = new Notices(page);
const categories = new CategoryList((category) => labelWith(category));
let queue = []; // questions of this tab, the current one first
let group = 0; // how many of a group are left, when it is answered one by one
let lastState = data.state;
let lastEvent = data.state.last_event;
let asking = null;
let looking = null;
let calming = null;
let nRead = data.state.n_read;
let nKnown = data.state.n_known;
let lookedAt = 0;
let epoch = 0; // grows with every answer that is given or saved: what was asked for before tells old news

// Questions.

function show() {
  const question = queue[0] ?? null;
  stage.preload(queue.slice(0, N_AHEAD));
  stage.show(question);
  byId("reason").textContent = question ? question.reason : "";
  byId("file").textContent = question ? question.file : "";
  byId("size").textContent = question?.width ? fill(words.label.size, question) : "";
  hideGuess();
  showGroup(question);
  showMessage();
}

function showGroup(question) {
  const n = question ? question.group.length + 1 : 0;
  const strip = byId("strip");
  strip.hidden = n < 2 && !group;
  if (strip.hidden) return;
  const text = n > 1 ? fill(words.label.group, { n }) : fill(words.label.apart_left, { n: group });
  byId("strip-words").textContent = text;
  byId("strip-images").replaceChildren(...(n > 1 ? [question.image, ...question.group] : []).map((image) =>
    make("img", { alt: "", src: `/image/${image}/320` })));
  strip.querySelector("button").hidden = n < 2;
}

/** What stands in place of a picture. */
function showMessage() {
  const message = byId("message");
  message.hidden = queue.length > 0;
  if (queue.length) return;
  const finished = lastState.n_left === 0 && lastState.n_files > 0 && !outbox.waiting;
  const elsewhere = lastState.n_left > 0 && lastState.n_read > 0 && looking === null && !outbox.waiting;
  const text = finished ? words.label.done
    : elsewhere && lastState.n_labelled + lastState.n_none > 0 ? words.label.elsewhere
    : lastState.n_labelled ? words.label.next_soon : words.label.looking;
  message.replaceChildren(make("h2", {}, text));
  if (finished) {
    message.append(make("p", {}, words.label.done_lead), make("a", { className: "go", href: "/results" }, words.label.to_results));
  }
}

/**
 * Take what the server says, without what was answered meanwhile. The picture that is shown stays, also where the server would ask
 * something else by now because it is some answers behind: a key must never meet another picture than the one that was seen. Only
 * news from elsewhere may take it away (`mayLose`): somebody else may have answered it.
 */
function take(questions, keepCurrent = true, mayLose = false) {
  const pending = outbox.images();
  const free = questions.filter((each) => !pending.has(each.image));
  const current = queue[0];
  const apart = group ? queue.slice(0, group) : [];
  const shown = new Set(apart.map((each) => each.image));
  const rest = free.filter((each) => !shown.has(each.image) && !each.group.some((image) => shown.has(image)));
  const place = rest.findIndex((each) => each.image === current?.image);
  if (!apart.length && keepCurrent && place > 0) rest.unshift(...rest.splice(place, 1));
  if (!apart.length && keepCurrent && current && place < 0 && !(mayLose && !outbox.waiting)) rest.unshift(current);
  if (!keepCurrent) group = 0;
  queue = keepCurrent ? [...apart, ...rest] : free;
  if (queue[0]?.image !== current?.image || queue.length === 0) show();
  else {
    stage.preload(queue.slice(0, N_AHEAD));
    if (!group && String(queue[0].group) !== String(current.group)) showGroup(queue[0]); // others of its burst were read
  }
  if (!queue.length) askSoon();
}

/** What this tab has: no other one shall be asked about it, also where the server would choose otherwise by now. */
function has() {
  const [first, ...behind] = queue;
  const held = [first?.group ?? [], [...outbox.images()], behind.map((each) => each.image)].flat();
  return { ...(first ? { shown: first.image } : {}), held: [...(first ? [first.image] : []), ...held].slice(0, MOST_HELD) };
}
outbox.has = has;

function askSoon() {
  if (asking === null) asking = setTimeout(() => { asking = null; askNext(); }, SOON);
}

/** Ask again, at most once in a while. */
function askCalmly() {
  if (calming === null) calming = setTimeout(() => { calming = null; askNext(); }, Math.max(0, lookedAt + CALM - Date.now()));
}

async function askNext() {
  if (looking) return askSoon();
  lookedAt = Date.now();
  const began = epoch;
  looking = ask(`/api/next?${new URLSearchParams({ page: tab, n: N_AHEAD, ...has() })}`);
  try {
    const found = await looking;
    looking = null;
    if (began !== epoch) { // old news: it may not know a category that was made meanwhile
      if (!queue.length) askSoon();
      else refreshCategories();
      return;
    }
    lastState = found.state;
    page.showState(found.state);
    showCategories(found.categories);
    take(found.questions, true, true);
  } catch {
    looking = null;
    if (!queue.length) setTimeout(askSoon, 1000); // the line above says what is wrong
  }
}

// Answers.

function answer(kind, category = null) {
  const question = queue[0];
  if (!question) return;
  const images = [question.image, ...question.group];
  const what = category ? category.name : words.actions[kind];
  if (category) {
    categories.count(category.id, images.length);
    categories.flash(category.id);
  }
  queue = queue.slice(1);
  if (group) group -= 1;
  const body = { page: tab, request: newId(), kind, images, how: "question" };
  if (category) body.category = category.id;
  epoch += 1;
  outbox.add("/api/answers", body, what);
  show();
  if (!queue.length) askSoon();
}

function labelWith(category) {
  if (category) answer("label", category);
}

/** A new category, or the one that has this name already, for the image that is shown. */
function nameIt(text) {
  const name = text.normalize("NFC").trim();
  if (!name || !queue.length) return false;
  const same = categories.all.find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (same) {
    labelWith(same);
    return true;
  }
  const request = newId(); // also the id of the category, so that labels need not wait for it
  const used = new Set(categories.all.map((each) => each.key));
  const key = [..."123456789"].find((each) => !used.has(each)) ?? null; // as the server will choose; it knows more keys
  const category = { id: request, name, key, count: 0, examples: [], fresh: true };
  outbox.add("/api/categories", { page: tab, request, act: "new", name }, fill("{name}", { name }));
  showCategories([...categories.all, category]);
  notices.made(request);
  labelWith(category);
  return true;
}

function apart() {
  const question = queue[0];
  if (!question?.group.length) return;
  const each = [question.image, ...question.group].map((image) => ({ ...question, image, group: [], width: null, height: null }));
  each[0].width = question.width;
  each[0].height = question.height;
  queue = [...each, ...queue.slice(1)];
  group = each.length;
  show();
}

// Categories.

function showCategories(all) {
  const fresh = categories.all.filter((mine) => mine.fresh && outbox.waiting
    && !all.some((each) => each.id === mine.id || each.name === mine.name));
  categories.show([...all, ...fresh]);
  keys.setCategories(categories.all);
  const first = categories.all.length === 0;
  const was = byId("first").hidden;
  byId("first").hidden = !first;
  document.body.classList.toggle("first-visit", first);
  byId("new").hidden = first;
  if (first && was && !document.querySelector("dialog[open]")) byId("first-name").focus();
}

let refreshing = null;
function refreshCategories() {
  if (refreshing !== null) return;
  refreshing = setTimeout(async () => {
    refreshing = null;
    if (outbox.waiting) return refreshCategories();
    const began = epoch;
    try {
      const found = await ask("/api/categories");
      if (began === epoch) showCategories(found);
      else refreshCategories();
    } catch {
      // The next piece of news asks again.
    }
  }, 400);
}

// The guess.

function hideGuess() {
  byId("guessed").hidden = true;
  document.querySelector('[data-action="guess"]').setAttribute("aria-expanded", "false");
}

async function showGuess() {
  const question = queue[0];
  if (!question) return;
  if (!byId("guessed").hidden) return hideGuess();
  let parts;
  try {
    parts = guessParts(await ask(`/api/guess?image=${question.image}`));
  } catch (failure) {
    parts = [make("p", {}, failure.message)];
  }
  if (queue[0]?.image !== question.image) return;
  byId("guessed").replaceChildren(...parts);
  byId("guessed").hidden = false;
  document.querySelector('[data-action="guess"]').setAttribute("aria-expanded", "true");
}

function guessParts(guess) {
  if (!guess) return [make("p", {}, words.label.guess_none)];
  const kind = { sure: "guess_sure", leaning: "guess_leaning" }[guess.words] ?? "guess_no_idea";
  const parts = [make("p", {}, make("strong", {}, bdi(fill(words.label[kind], { name: guess.name }))))];
  if (guess.unknown !== null && guess.unknown > 1) parts.push(make("p", {}, words.label.guess_unknown));
  if (guess.top.length) {
    const rows = guess.top.map(([, name, probability]) => make("tr", {}, make("td", {}, bdi(name)),
      make("td", { className: "number" }, `${Math.round(100 * probability)} %`)));
    parts.push(make("details", {}, make("summary", {}, words.label.guess_numbers), make("table", {}, make("tbody", {}, ...rows))));
  }
  return parts;
}

// What was saved.

function showSaved(text, waiting) {
  const saved = byId("saved");
  saved.hidden = false;
  saved.classList.toggle("waiting", waiting);
  saved.replaceChildren(waiting ? "" : "✓ ", bdi(text));
}

outbox.addEventListener("saved", (event) => {
  const { entry, receipt } = event.detail;
  epoch += 1;
  const step = { "/api/undo": "undone", "/api/redo": "redone" }[entry.path];
  if (entry.body.act !== "new") {
    showSaved(step ? receipt.said : fill(words.label.saved, { what: entry.what }), false);
  }
  byId("saved").dataset.request = entry.body.request;
  if (receipt.state) {
    lastState = receipt.state;
    lastEvent = Math.max(lastEvent, receipt.state.last_event);
  }
  refreshCategories();
  if (receipt.questions) take(receipt.questions, !step);
  if (entry.body.kind === "label") {
    notices.labelled(categories.all.find((each) => each.id === entry.body.category), categories.all);
  }
});
outbox.addEventListener("refused", () => askNext());
link.addEventListener("link", (event) => {
  if (event.detail.waiting && event.detail.trouble) {
    showSaved(fill(words.label.waiting, { what: String(event.detail.waiting) }), true);
  }
});
link.addEventListener("state", (event) => {
  const state = event.detail;
  lastState = state;
  if (state.last_event > lastEvent) {
    lastEvent = state.last_event;
    refreshCategories();
    if (!outbox.waiting) askNext(); // an answer elsewhere may have been about this picture
  } else if (state.n_read !== nRead || state.n_known !== nKnown) {
    nRead = state.n_read; // images that were just read may belong to the burst that is shown
    nKnown = state.n_known;
    askCalmly();
  }
  if (!queue.length) {
    showMessage();
    askSoon();
  }
});
link.addEventListener("back", () => askNext());

// Keys and buttons.

const later = (text) => () => answer(text);
keys.onCategory(labelWith, (key) => say(fill(words.label.no_category, { key })));
for (const kind of ["none", "skip", "discard"]) keys.on(kind, later(kind));
keys.on("guess", showGuess);
keys.on("apart", apart);
keys.on("new", () => {
  if (!byId("first").hidden) return byId("first-name").focus();
  byId("new-name").value = "";
  byId("new-dialog").showModal();
  byId("new-name").focus();
});
keys.on("find", () => categories.find());
keys.on("lookalikes", () => { if (queue[0]) location.href = `/grid?image=${queue[0].image}`; });
keys.on("yes", () => notices.accept());
keys.on("no", () => notices.refuse());
keys.on("fit", () => stage.fit());
keys.on("actual", () => stage.actual());
keys.on("larger", () => stage.zoom(1));
keys.on("smaller", () => stage.zoom(-1));

byId("first").addEventListener("submit", (event) => {
  event.preventDefault();
  if (nameIt(byId("first-name").value)) {
    byId("first-name").value = "";
    byId("main").focus();
  }
});
byId("first").querySelector("[data-action]").addEventListener("click", () => byId("first-name").focus());
byId("new-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (nameIt(byId("new-name").value)) byId("new-dialog").close();
});
byId("new-cancel").addEventListener("click", () => byId("new-dialog").close());
byId("new-dialog").addEventListener("close", () => byId("main").focus());

showCategories(data.categories);
show();
askNext();
page.ready();
