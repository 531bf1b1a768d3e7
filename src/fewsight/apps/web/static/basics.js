// The data and words of this page, and the few helpers that everything uses.

export const data = JSON.parse(document.getElementById("data").textContent);
export const words = data.words;

export const byId = (id) => document.getElementById(id);

/** A text with its places filled: {n} as it is, {n:,} as a number with separators. */
export function fill(text, values = {}) {
  return text.replace(/\{(\w+)(:,)?\}/g, (_, name, grouped) =>
    grouped ? Number(values[name]).toLocaleString("en") : String(values[name]));
}

/** An element with properties and children; texts become text nodes, never markup. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A text that may run in either direction, such as a name. */
export const bdi = (text) => make("bdi", {}, text);

export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Say something to those who cannot see it. */
let spoken = 0;
export function say(text) {
  const live = byId("live");
  live.textContent = "";
  const mine = ++spoken;
  requestAnimationFrame(() => { if (mine === spoken) live.textContent = text; });
}
