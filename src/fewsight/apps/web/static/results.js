// Results: the whole folder, and what can be taken away from it.
import * as page from "./page.js";
import { ask } from "./server.js";
import { changing } from "./change.js";

const { byId, data, fill, link, make, bdi, words } = page;
let plan = null;

changing();

for (const button of document.querySelectorAll("[data-open]")) {
  button.addEventListener("click", () => {
    forgetPlan();
    byId(button.dataset.open).showModal();
    byId(`${button.dataset.open}-name`).select();
  });
}
for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

function forgetPlan() {
  plan = null;
  byId("plan").replaceChildren();
  byId("apply").hidden = true;
  byId("plan-button").hidden = false;
  for (const problem of document.querySelectorAll("dialog .problem")) problem.textContent = "";
}

/** Run something that a button or a form asked for; what goes wrong is said beside it. */
async function attempt(problem, work) {
  problem.textContent = "";
  try {
    return await work();
  } catch (failure) {
    problem.textContent = failure.message;
    return null;
  }
}

function tellOutcome(...parts) {
  byId("outcome").replaceChildren(make("div", { className: "card" }, ...parts));
  byId("outcome").scrollIntoView({ block: "nearest" });
}

function leftLines(left) {
  if (!left.length) return [];
  return [make("p", {}, fill(words.results.left, { n: left.length })),
    make("ul", {}, ...left.slice(0, 20).map((each) => make("li", {}, bdi([each].flat().join(": ")))))];
}

for (const form of document.querySelectorAll("form[data-output]")) {
  const kind = form.dataset.output;
  const problem = form.querySelector(".problem");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = Object.fromEntries(new FormData(form));
    if (kind === "sort") {
      plan = await attempt(problem, () => ask("/api/sort/plan", { ...said, least: Number(said.least) }));
      if (plan) showPlan();
      return;
    }
    const found = await attempt(problem, () => ask(`/api/${kind}`, said));
    if (!found) return;
    form.closest("dialog").close();
    const parts = [make("p", {}, bdi(fill(words.results.wrote, found)))];
    if (kind === "model") parts.push(make("p", {}, `${words.results.to_try} `, make("code", {}, found.command)));
    tellOutcome(...parts);
  });
  if (kind === "sort") form.addEventListener("input", forgetPlan);
}

function showPlan() {
  const rows = Object.entries(plan.counts).map(([folder, n]) =>
    make("tr", {}, make("td", {}, bdi(folder)), make("td", { className: "number" }, n.toLocaleString("en"))));
  const table = make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, words.results.folder),
    make("th", { scope: "col", className: "number" }, words.results.files))), make("tbody", {}, ...rows));
  const state = link.state ?? data.state;
  const missing = state.n_files - state.n_unreadable - plan.n_files - plan.n_in_place;
  byId("plan").replaceChildren(
    make("p", {}, bdi(fill(words.results.planned, { n: plan.n_files, target: plan.target }))),
    plan.n_in_place ? make("p", {}, fill(words.results.in_place, { n: plan.n_in_place })) : "",
    missing > 0 ? make("p", { className: "problem" }, fill(words.results.not_in_plan, { n: missing })) : "", table);
  byId("apply").hidden = false;
  byId("plan-button").hidden = true;
  byId("apply").focus();
}

byId("apply").addEventListener("click", async () => {
  const problem = byId("sort").querySelector(".problem");
  const outcome = await attempt(problem, () => ask("/api/sort/apply", { plan: plan.id }));
  if (!outcome) return forgetPlanButKeep(problem.textContent);
  byId("sort").close();
  tellOutcome(make("p", {}, fill(words.results.sorted, { n: outcome.n_done }), " ", make("bdi", {}, plan.target)), ...leftLines(outcome.left));
});

function forgetPlanButKeep(text) {
  forgetPlan();
  byId("sort").querySelector(".problem").textContent = text;
}

byId("undo-sort").addEventListener("click", async () => {
  const problem = make("p", { className: "problem", role: "alert" });
  const outcome = await attempt(problem, () => ask("/api/sort/undo", {}));
  if (!outcome) return tellOutcome(problem);
  const earlier = outcome.n_earlier ? [make("p", {}, fill(words.results.earlier, { n: outcome.n_earlier }))] : [];
  tellOutcome(make("p", {}, fill(words.results.unsorted, { n: outcome.n_done })), ...earlier, ...leftLines(outcome.left));
});
page.ready();
