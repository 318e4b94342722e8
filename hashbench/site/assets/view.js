// The selectors, the filters and the address of the page. Other scripts read here what is selected,
// and add a listener that is called when that changes.
"use strict";

const data = window.hashbenchData;
const byId = (id) => document.getElementById(id);
const selectors = ["dataset", "task", "bits", "database", "measure"];
const filters = ["labels", "kind", "fidelity", "settings"];

// The selected slice: the positions of the dataset, task, code length, database codes and measure.
const selectedSlice = () => selectors.map((name) => Number(byId(name).value));
const sameSlice = (a, b) => a.every((value, i) => value === b[i]);
const sliceTitle = (at) => `${data.datasets[at[0]].title}, ${data.tasks[at[1]].title}, ${data.bits[at[2]]} bits`;
const isMissing = (value) => value === null || value === undefined;

// ---- methods -------------------------------------------------------------------------------

const methodTitle = (method) => data.methods[method].title;
const findMethod = (name) => data.methods.findIndex((each) => each.name === name);

// Return whether a method passes the filters.
const isShown = (method) => filters.every((name) => !byId(name)?.value || byId(name).value === data.methods[method][name]);

const dark = window.matchMedia("(prefers-color-scheme: dark)");

// Return the colour of a method; on a dark background it is mixed with white.
function methodColour(method) {
  const { colour } = data.methods[method];
  if (!dark.matches) return colour;
  const parts = [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16));
  return `rgb(${parts.map((part) => Math.round(0.6 * part + 0.4 * 255)).join(",")})`;
}

// ---- loading -------------------------------------------------------------------------------

// Large data come as scripts, each loaded once, when it is first needed.
const loading = new Map();

function loadScript(source) {
  if (!loading.has(source)) {
    loading.set(source, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${source} is missing from the folder of the page`));
      document.head.append(script);
    }));
  }
  return loading.get(source);
}

// Call a function once, when an element comes near the window.
function whenNear(id, action) {
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    action();
  }, { rootMargin: "300px" }).observe(byId(id));
}

// ---- the address ---------------------------------------------------------------------------

// The address keeps the view, as in #d=wiki&b=32: for each key, how to read and write its value.
const kept = new Map();

const addressValues = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

function readAddress(key) {
  if (addressValues().has(key)) kept.get(key).write(addressValues().get(key));
}

function keepInAddress(key, read, write) {
  kept.set(key, { read, write });
  readAddress(key);
}

function keepSelect(key, id) {
  const name = (option) => option.dataset.name ?? option.value;
  const select = byId(id);
  if (!select) return;
  keepInAddress(key, () => (select.selectedOptions[0] ? name(select.selectedOptions[0]) : ""), (value) => {
    const option = [...select.options].find((each) => name(each) === value);
    if (option) select.value = option.value;
  });
}

function keepCheckbox(key, id) {
  keepInAddress(key, () => (byId(id).checked ? "1" : ""), (value) => { byId(id).checked = value === "1"; });
}

// Write the view into the address; with `step` the browser's Back button returns to the view before.
function writeAddress(step = false) {
  const values = new URLSearchParams();
  for (const [key, { read }] of kept) if (read()) values.set(key, read());
  if (`#${values}` === location.hash) return;
  if (step) history.pushState(null, "", `#${values}`);
  else history.replaceState(null, "", `#${values}`);
}

// ---- changes -------------------------------------------------------------------------------

const listeners = [];

// Select another database where the dataset has no scores for the selected one.
function selectDatabase() {
  const [dataset, , , database] = selectedSlice();
  const known = data.scores.filter(({ at }) => at[0] === dataset).map(({ at }) => at[3]);
  if (known.length && !known.includes(database)) byId("database").value = Math.min(...known);
}

function viewChanged() {
  selectDatabase();
  for (const listener of listeners) listener();
}

function selectSlice(at) {
  selectors.forEach((name, i) => { byId(name).value = at[i]; });
  viewChanged();
  writeAddress(true);
}

function goTo(id) {
  byId(id).scrollIntoView();
  byId(id).querySelector("h2")?.focus({ preventScroll: true });
}

for (const [key, id] of [["d", "dataset"], ["t", "task"], ["b", "bits"], ["m", "measure"], ["c", "database"]]) keepSelect(key, id);
for (const id of filters) keepSelect(id, id);
for (const id of [...selectors, ...filters]) byId(id)?.addEventListener("change", () => { viewChanged(); writeAddress(); });
dark.addEventListener("change", viewChanged);
window.addEventListener("hashchange", () => {
  for (const key of kept.keys()) readAddress(key);
  viewChanged();
});
// The address holds the view, so that a link to a part of the page only scrolls there.
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (!link) return;
  event.preventDefault();
  goTo(link.hash.slice(1));
});
