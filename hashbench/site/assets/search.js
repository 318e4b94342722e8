// The search engine: select or type a query, and see what methods return. Items and codes are loaded
// when they are first needed, codes of the selected methods only.
"use strict";

window.hashbenchParts = {};

const search = { near: false, selected: null, row: null, dataset: null, calls: 0 };
const itemsShown = 12;
const queriesListed = 200;

// Load a script of the folder: the items of a dataset, or the codes of a cell.
async function loadPart(key) {
  await loadScript(`search/${key}.js`);
  return window.hashbenchParts[key];
}

const searchable = () => data.search.datasets[selectedSlice()[0]];

// Return the name of the script with a method's codes, or null if it has none.
function cellKey(method, bits) {
  const key = `d${selectedSlice()[0]}-m${method}-b${bits}`;
  return searchable()?.cells?.includes(key) ? key : null;
}

// ---- queries -------------------------------------------------------------------------------

// Return the selected methods, in the order of their selection, or else the best three with codes.
function searchMethods() {
  const bits = selectedSlice()[2];
  const hasCodes = (method) => isShown(method) && cellKey(method, bits);
  if (search.selected) return search.selected.filter(hasCodes);
  return ranking.rows.map((row) => row.method).filter(hasCodes).slice(0, 3);
}

function itemWords(items, item) {
  const names = items.labels[item].map((label) => items.labelNames[label] ?? `label ${label}`).join(", ");
  const [text, words] = [items.strings[item] ?? "", items.words[item] ?? ""];
  return { text, words: words === text ? text : words, both: words === text ? text : `${text} ${words}`, names };
}

// Return the items that a text finds, by their number or in their words and labels.
function matches(items, text) {
  const wanted = text.trim().toLowerCase();
  const all = items.rows.map((_, item) => item);
  if (!wanted) return all.slice(0, items.queries);
  items.texts ??= all.map((item) => {
    const { both, names } = itemWords(items, item);
    return `${both}\n${names}`.toLowerCase();
  });
  return all.filter((item) => String(items.rows[item]) === wanted || items.texts[item].includes(wanted));
}

async function orderItems(items, found) {
  const how = byId("query-order").value;
  const [first, second] = searchMethods();
  const [, task, bits, database] = selectedSlice();
  const scores = async (method) => {
    if (method === undefined) return null;
    return queryScores(await loadPart(cellKey(method, bits)), data.tasks[task].name, data.databases[database].name);
  };
  const [a, b] = [await scores(first), how === "difference" ? await scores(second) : null];
  const value = {
    rows: (item) => items.rows[item],
    hard: (item) => a?.[item] ?? Infinity,
    easy: (item) => -(a?.[item] ?? -Infinity),
    difference: (item) => (a && b && item < items.queries ? -Math.abs(a[item] - b[item]) : Infinity),
  }[how];
  const known = (number) => (Number.isNaN(number) ? Infinity : number);
  // queries of the study come before items of its database, which have no scores
  const isQuery = (item) => Number(item < items.queries);
  return found.sort((x, y) => isQuery(y) - isQuery(x) || known(value(x)) - known(value(y)) || x - y);
}

async function listQueries() {
  const call = (search.calls += 1);
  const items = await loadPart(`d${selectedSlice()[0]}`);
  const found = await orderItems(items, matches(items, byId("find").value));
  if (call !== search.calls) return; // another text was typed meanwhile
  const shown = found.slice(0, queriesListed);
  const options = shown.map((item) => {
    const words = itemWords(items, item);
    const option = document.createElement("option");
    option.value = items.rows[item];
    option.textContent = [`${items.rows[item]}`, words.both, `(${words.names})`, item < items.queries ? "" : "– in the database"].filter(Boolean).join(" ");
    return option;
  });
  byId("query-list").replaceChildren(...options);
  const more = found.length > shown.length ? `; the first ${shown.length} are listed` : "";
  byId("query-count").textContent = `${found.length} item${found.length === 1 ? "" : "s"} found${more}.`;
  const rows = new Set(shown.map((item) => items.rows[item]));
  if (!rows.has(search.row) && shown.length && (search.row === null || byId("find").value)) search.row = items.rows[shown[0]];
  byId("query-list").value = String(search.row);
  await showFound();
}

// ---- results -------------------------------------------------------------------------------

function drawItem(items, item, view) {
  const box = makeElement("div", "item");
  const { text, words, both, names } = itemWords(items, item);
  const sheet = items.pictures;
  if (sheet && (view === "image" || !text)) {
    const [line, column] = [Math.floor(items.rows[item] / sheet.columns), items.rows[item] % sheet.columns];
    const picture = makeElement("span", "picture");
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", both || `item ${items.rows[item]}`);
    Object.assign(picture.style, {
      width: `${sheet.size}px`, height: `${sheet.size}px`, backgroundImage: `url("${sheet.file}")`,
      backgroundPosition: `-${column * sheet.size}px -${line * sheet.size}px`, zoom: 56 / sheet.size,
    });
    box.append(picture);
  } else box.textContent = words.length > 60 ? `${words.slice(0, 59)}…` : words || `item ${items.rows[item]}`;
  box.title = [`item ${items.rows[item]}`, both, names].filter(Boolean).join("\n");
  return box;
}

function returnedItem(items, relevant, result, item, view) {
  const hit = relevant(item);
  const li = makeElement("li", hit ? "hit" : "miss");
  li.append(drawItem(items, items.queries + item, view));
  const distance = result.distances.get(item);
  const below = makeElement("div", "small", `${distance} ×${result.counts[distance]}`);
  below.append(makeElement("span", "hidden", hit ? ", relevant" : ", not relevant"));
  li.append(below);
  li.dataset.row = items.rows[items.queries + item];
  return li;
}

function returnedBlock(items, item, part, { method, bits, searched, task }) {
  const result = retrieve(part, items, item, task, searched);
  const own = new Set(items.labels[item]);
  const relevant = (found) => items.labels[items.queries + found].some((label) => own.has(label));
  const score = item < items.queries ? queryScores(part, task, searched.name)?.[item] : null;
  const block = makeElement("div", "returned");
  const value = isMissing(score) || Number.isNaN(score) ? "no score" : `${data.search.measure} ${score.toFixed(4)}`;
  const heading = makeElement("h3", "", `${methodTitle(method)}, ${data.bits[bits]} bits, ${searched.name}: ${value}`);
  const list = document.createElement("ol");
  const view = task.split("->")[1];
  list.append(...Array.from(result.order.slice(0, itemsShown), (found) => returnedItem(items, relevant, result, found, view)));
  block.append(heading, list);
  return block;
}

async function showFound() {
  const call = (search.calls += 1);
  const [dataset, taskNumber, bits, database] = selectedSlice();
  const items = await loadPart(`d${dataset}`);
  const item = items.rows.indexOf(search.row);
  const task = data.tasks[taskNumber].name;
  const lengths = byId("all-bits").checked ? [...data.bits.keys()] : [bits];
  const kinds = byId("both-kinds").checked ? data.databases : [data.databases[database]];
  const blocks = [];
  for (const method of item < 0 ? [] : searchMethods()) {
    for (const length of lengths.filter((each) => cellKey(method, each))) {
      const part = await loadPart(cellKey(method, length));
      for (const searched of kinds.filter((each) => part.scores[`${task} ${each.name}`])) {
        blocks.push(returnedBlock(items, item, part, { method, bits: length, searched, task }));
      }
    }
  }
  if (call !== search.calls) return;
  byId("query").replaceChildren();
  if (item >= 0) {
    const { both, names } = itemWords(items, item);
    const note = item < items.queries ? "" : " An item of the database: no query of the study, and without a score.";
    byId("query").append(drawItem(items, item, task.split("->")[0]), makeElement("div", "", `Query: item ${items.rows[item]} ${both} (${names}).${note}`));
  }
  byId("found").replaceChildren(...blocks);
}

// ---- together ------------------------------------------------------------------------------

function searchText() {
  const dataset = searchable();
  if (!dataset) return "Nothing was computed for this dataset.";
  if (dataset.why) return `Not offered for this dataset. ${dataset.why}`;
  return "Select a query, or type a word, a sign or an item’s number, and see what methods return. Below an item: its Hamming distance, computed here "
    + "from the stored codes, and how many items have that distance; those are in the order of the database. Solid frame: shares a label "
    + `with the query. Codes are those of seed ${dataset.seed}. Methods without codes are not offered.`;
}

function showSearch() {
  if (!search.near) return;
  const [dataset, , bits] = selectedSlice();
  if (search.dataset !== null && search.dataset !== dataset) search.row = null; // a number of another dataset
  search.dataset = dataset;
  const hasCodes = Boolean(searchable()?.cells);
  byId("search-words").textContent = searchText();
  byId("search-form").hidden = !hasCodes;
  const used = searchMethods();
  byId("search-methods").querySelectorAll("label").forEach((label, method) => {
    label.hidden = !isShown(method) || !cellKey(method, bits);
    label.querySelector("input").checked = used.includes(method);
  });
  if (hasCodes) listQueries();
  else for (const id of ["query", "found"]) byId(id).replaceChildren();
}

function showQuery(row) {
  search.row = row;
  byId("find").value = "";
  search.near = true;
  showSearch();
  writeAddress(true);
}

byId("find").addEventListener("input", () => { listQueries().then(() => writeAddress()); });
byId("query-order").addEventListener("change", () => { search.row = null; listQueries().then(() => writeAddress()); });
byId("query-list").addEventListener("change", () => { search.row = Number(byId("query-list").value); showFound(); writeAddress(); });
byId("search-methods").addEventListener("change", ({ target }) => {
  const method = Number(target.value);
  const others = searchMethods().filter((each) => each !== method);
  search.selected = target.checked ? [...others, method] : others;
  showSearch();
  writeAddress();
});
keepInAddress("q", () => (search.row === null ? "" : String(search.row)), (value) => {
  search.row = Number(value);
  search.dataset = null; // the number is of the dataset in the address
});
keepInAddress("find", () => byId("find").value, (value) => { byId("find").value = value; });
keepSelect("order", "query-order");
keepInAddress("with", () => (search.selected ?? []).map((method) => data.methods[method].name).join(" "), (value) => {
  search.selected = value.split(" ").map(findMethod).filter((method) => method >= 0);
});
for (const id of ["all-bits", "both-kinds"]) {
  byId(id).addEventListener("change", () => { showFound(); writeAddress(); });
  keepCheckbox(id, id);
}
listeners.push(showSearch);
whenNear("search", () => {
  search.near = true;
  showSearch();
});
