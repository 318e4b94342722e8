// What is looked at: the selectors, the filters, and the address that keeps them. Loaded first;
// every other script asks here what is chosen and is told when that changes.
"use strict";

const data = window.hashbenchData;
const byId = (id) => document.getElementById(id);
const selectors = ["dataset", "task", "bits", "database", "measure"];

const chosen = () => selectors.map((name) => Number(byId(name).value));
const same = (a, b, length) => a.slice(0, length).every((value, i) => value === b[i]);
const missing = (value) => value === null || value === undefined;
const title = (method) => data.methods[method].title;
const methodCalled = (name) => data.methods.findIndex((each) => each.name === name);

const dark = window.matchMedia("(prefers-color-scheme: dark)");
// What cannot be seen on a dark ground is shown lighter: black as the text, the others with as much
// white as gives them a fifth of its light.
const lighter = new Map([["#000000", "#d7dde3"]]);

function lightened(hex) {
  if (!lighter.has(hex)) {
    const parts = [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16) / 255);
    const light = (share) => [0.2126, 0.7152, 0.0722]
      .reduce((sum, weight, i) => sum + weight * (parts[i] + (1 - parts[i]) * share) ** 2.2, 0);
    let share = 0;
    while (light(share) < 1 / 5) share += 0.05;
    const mixed = parts.map((part) => Math.round(255 * (part + (1 - part) * share)));
    lighter.set(hex, `rgb(${mixed.join(",")})`);
  }
  return lighter.get(hex);
}

const colour = (method) => {
  const given = data.methods[method].colour;
  return dark.matches ? lightened(given) : given;
};

// ---- filters -------------------------------------------------------------------------------

const filters = ["labels", "kind", "fidelity", "settings"];
const left = new Set();

// Every table asks for every method of every slice: the filters themselves are asked once a view.
function applyFilters() {
  const wanted = filters.map((name) => [name, byId(name)?.value]).filter(([, value]) => value);
  left.clear();
  data.methods.forEach((about, method) => {
    if (wanted.every(([name, value]) => about[name] === value)) left.add(method);
  });
}

// whether a method is one of those that the filters leave
const passes = (method) => left.has(method);

// ---- scripts -------------------------------------------------------------------------------

// Data that are large come as scripts of their own, read once, when they are first asked for.
const loading = new Map();

function load(source) {
  if (!loading.has(source)) {
    loading.set(source, new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = done;
      script.onerror = () => failed(new Error(`${source} is not beside the page`));
      document.head.append(script);
    }));
  }
  return loading.get(source);
}

// ---- after the first screen -----------------------------------------------------------------

// What the first screen can do without follows it in steps, each when the browser has nothing else
// to do and short enough not to be felt.
const following = { steps: [], done: false };
const whenIdle = () => new Promise((done) => (window.requestIdleCallback ?? setTimeout)(done));
const whenLoaded = () => new Promise((done) => (document.readyState === "complete" ? done() : window.addEventListener("load", done, { once: true })));
// a frame is on the screen when the next one begins; a page that nobody looks at has none
const whenSeen = () => new Promise((done) => (document.hidden ? done() : requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));

async function followFirstScreen(...steps) {
  following.steps.push(...steps);
  await whenSeen();
  document.body.classList.remove("opening");
  await whenLoaded();
  while (following.steps.length) {
    await whenIdle();
    await following.steps.shift()();
  }
  following.done = true;
}

// ---- listeners -----------------------------------------------------------------------------

const listeners = [];
const onView = (listener) => listeners.push(listener);

function viewChanged() {
  applyFilters();
  for (const listener of listeners) listener();
}

// ---- the address ---------------------------------------------------------------------------

// What stands in the address, by key: #d=wiki&b=32. A select keeps itself; what is no select is
// added by the script that knows it, with a way to read and to write it.
const kept = new Map();

function keep(key, read, write, from = null) {
  kept.set(key, { read, write, from });
}

function keepSelect(key, id) {
  const name = (option) => option.dataset.name ?? option.value;
  keep(key, () => {
    const select = byId(id);
    return select && select.selectedOptions[0] ? name(select.selectedOptions[0]) : "";
  }, (value) => {
    const option = [...(byId(id)?.options ?? [])].find((each) => name(each) === value);
    if (option) byId(id).value = option.value;
  });
}

const shortKeys = { d: "dataset", t: "task", b: "bits", m: "measure", c: "database" };
for (const [key, id] of Object.entries(shortKeys)) keepSelect(key, id);
for (const id of filters) keepSelect(id, id);

const addressed = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

// Brings the page to what the address says of these keys; a key that it does not name stays.
function readAddress(keys = kept.keys()) {
  const found = addressed();
  for (const key of keys) if (found.has(key)) kept.get(key).write(found.get(key));
}

function viewAddress() {
  const parts = new URLSearchParams();
  for (const [key, { read }] of kept) if (read()) parts.set(key, read());
  return `#${parts}`;
}

// A step is one that the button Back undoes.
function writeAddress(step = false) {
  const address = viewAddress();
  if (address === location.hash) return;
  if (step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

// Call when something was chosen: everything follows, and the address keeps it.
function choose(step = false) {
  viewChanged();
  writeAddress(step);
}

function goTo(id) {
  byId(id).scrollIntoView();
  byId(id).querySelector("h2, summary")?.focus({ preventScroll: true });
}

function startView() {
  // Start where there is something to see: the first of everything, at the bits that are selected.
  const bits = Number(byId("bits").value);
  const before = (a, b) => { const i = a.findIndex((value, place) => value !== b[place]); return a[i] < b[i]; };
  const least = (blocks) => blocks.map((block) => block.at).reduce((found, at) => (found && !before(at, found) ? found : at), null);
  const first = least(data.scores.filter((block) => block.at[2] === bits)) ?? least(data.scores);
  if (first) selectors.forEach((name, i) => { byId(name).value = first[i]; });
  readAddress();
  applyFilters();
  for (const id of [...selectors, ...filters]) byId(id)?.addEventListener("change", () => choose());
  dark.addEventListener("change", viewChanged);
  window.addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return;
    readAddress();
    viewChanged();
  });
  // the address is the view's: a link to a part of the page only goes there
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    event.preventDefault();
    goTo(link.hash.slice(1));
  });
}
