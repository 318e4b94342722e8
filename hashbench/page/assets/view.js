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

// whether a method is one of those that the filters leave
function passes(method) {
  return filters.every((name) => {
    const wanted = byId(name)?.value;
    return !wanted || data.methods[method][name] === wanted;
  });
}

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

// ---- listeners -----------------------------------------------------------------------------

const listeners = [];
const onView = (listener) => listeners.push(listener);

function viewChanged() {
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
  const order = (a, b) => a.map((value, i) => value - b[i]).find((each) => each !== 0) ?? 0;
  const places = data.scores.map((block) => block.at).sort(order);
  const first = places.find((at) => at[2] === bits) ?? places[0];
  if (first) selectors.forEach((name, i) => { byId(name).value = first[i]; });
  readAddress();
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
