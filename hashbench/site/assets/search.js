// The search engine: type a word, and see what methods return. Items and codes are loaded when they
// are first needed, codes of the selected methods only.
"use strict";

window.hashbenchParts = {};

const search = { selected: null, row: null, dataset: null, calls: 0 };
const itemsShown = 10;
const queriesListed = 24;

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

// Return the selected methods, in the order of their selection, or else those of the first search;
// if the filters leave none of these, the best three with codes.
function searchMethods() {
  const bits = selectedSlice()[2];
  const hasCodes = (method) => isShown(method) && cellKey(method, bits);
  if (search.selected) return search.selected.filter(hasCodes);
  const first = (searchable()?.methods ?? []).filter(hasCodes);
  return first.length ? first : ranking.rows.map((row) => row.method).filter(hasCodes).slice(0, 3);
}

function itemWords(items, item) {
  const names = items.labels[item].map((label) => items.labelNames[label] ?? `label ${label}`).join(", ");
  const [text, words] = [items.strings[item] ?? "", items.words[item] ?? ""];
  return { text, words: words === text ? text : words, both: words === text ? text : `${text} ${words}`, names };
}

const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}\p{N}\p{M}\p{S}]+/u).filter(Boolean);

// Return the items that a text finds: by their number, or where each word of the text begins a word
// of the item, its keywords or its labels. Items whose own words match come first.
function matches(items, text) {
  const wanted = wordsOf(text);
  const all = items.rows.map((_, item) => item);
  if (!wanted.length) return all.slice(0, items.queries);
  items.texts ??= all.map((item) => {
    const { both, names } = itemWords(items, item);
    return [wordsOf(both), wordsOf(`${both} ${items.keywords[item] ?? ""} ${names}`)];
  });
  const has = (known) => wanted.every((word) => known.some((each) => each.startsWith(word)));
  const rank = new Map();
  for (const item of all) {
    const [own, every] = items.texts[item];
    if (String(items.rows[item]) === wanted[0] || has(own)) rank.set(item, 0);
    else if (has(every)) rank.set(item, 1);
  }
  return [...rank.keys()].sort((a, b) => rank.get(a) - rank.get(b));
}

async function orderItems(items, found) {
  const how = byId("query-order").value;
  // queries of the study come before items of its database, which have no scores
  const isQuery = (item) => Number(item < items.queries);
  if (how === "rows") return found.sort((x, y) => (byId("find").value ? 0 : isQuery(y) - isQuery(x) || items.rows[x] - items.rows[y]));
  const [first, second] = searchMethods();
  const [, task, bits, database] = selectedSlice();
  const scores = async (method) => {
    if (method === undefined) return null;
    return queryScores(await loadPart(cellKey(method, bits)), data.tasks[task].name, data.databases[database].name);
  };
  const [a, b] = [await scores(first), how === "difference" ? await scores(second) : null];
  const value = {
    hard: (item) => a?.[item] ?? Infinity,
    easy: (item) => -(a?.[item] ?? -Infinity),
    difference: (item) => (a && b && item < items.queries ? -Math.abs(a[item] - b[item]) : Infinity),
  }[how];
  const known = (number) => (Number.isNaN(number) ? Infinity : number);
  return found.sort((x, y) => isQuery(y) - isQuery(x) || known(value(x)) - known(value(y)) || x - y);
}

function queryButton(items, item) {
  const { words, both, names } = itemWords(items, item);
  const li = document.createElement("li");
  const button = makeElement("button", "", shorten(words || `item ${items.rows[item]}`));
  button.type = "button";
  button.value = items.rows[item];
  button.title = [`item ${items.rows[item]}`, both, names, item < items.queries ? "" : "in the database"].filter(Boolean).join("\n");
  button.addEventListener("click", () => { search.row = items.rows[item]; markQuery(); showFound(); writeAddress(); });
  li.append(button);
  return li;
}

function markQuery() {
  for (const button of byId("query-list").querySelectorAll("button")) button.setAttribute("aria-pressed", Number(button.value) === search.row);
}

async function listQueries() {
  const call = (search.calls += 1);
  const items = await loadPart(`d${selectedSlice()[0]}`);
  const text = byId("find").value;
  const found = await orderItems(items, matches(items, text));
  if (call !== search.calls) return; // another text was typed meanwhile
  const shown = found.slice(0, queriesListed);
  if (text && !found.some((item) => items.rows[item] === search.row)) search.row = shown.length ? items.rows[shown[0]] : null;
  if (!text && search.row === null) {
    const first = byId("query-order").value === "rows" ? searchable().queries?.[data.tasks[selectedSlice()[1]].name] : undefined;
    search.row = first ?? items.rows[shown[0]];
  }
  const example = itemWords(items, items.rows.indexOf(search.row ?? items.rows[0])).words;
  byId("find").placeholder = `Type a word, as in “${(wordsOf(example).length < 3 && example) || items.labelNames[0] || items.rows[0]}”`;
  byId("query-list").replaceChildren(...shown.map((item) => queryButton(items, item)));
  byId("query-count").textContent = text ? (found.length ? `${found.length} item${found.length === 1 ? "" : "s"} found.` : `Nothing has a word that begins with “${text}”.`) : "";
  markQuery();
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
      backgroundPosition: `-${column * sheet.size}px -${line * sheet.size}px`, zoom: 48 / sheet.size,
    });
    box.append(picture);
  } else box.append(makeElement("span", "caption", words || `item ${items.rows[item]}`));
  box.title = [`item ${items.rows[item]}`, both, names].filter(Boolean).join("\n");
  return box;
}

function returnedItem(items, hit, result, item, view, bits) {
  const li = makeElement("li", hit ? "hit" : "miss");
  const distance = result.distances.get(item);
  const box = drawItem(items, items.queries + item, view);
  const words = `${distance} bit${distance === 1 ? "" : "s"} differ${distance === 1 ? "s" : ""}; ${result.counts[distance]} at this distance`;
  box.title += `\n${words}`;
  li.append(box, drawCode(result.codeOf(item), bits, result.code), makeElement("span", "hidden", `${hit ? "relevant" : "not relevant"}, ${words}`));
  Object.assign(li.dataset, { row: items.rows[items.queries + item], distance, ties: result.counts[distance] });
  return li;
}

function returnedBlock(items, item, part, { method, bits, searched, task, others }) {
  const result = retrieve(part, items, item, task, searched);
  const own = new Set(items.labels[item]);
  const shown = result.order.slice(0, itemsShown);
  const hits = shown.map((found) => items.labels[items.queries + found].some((label) => own.has(label)));
  const score = item < items.queries ? queryScores(part, task, searched.name)?.[item] : null;
  const value = isMissing(score) || Number.isNaN(score) ? "" : `, ${data.search.measure} ${score.toFixed(3)}`;
  const block = makeElement("div", "returned");
  block.dataset.method = data.methods[method].name;
  const about = [others.bits ? `${data.bits[bits]} bits` : "", others.kinds ? searched.name : "", `${hits.filter(Boolean).length} of ${shown.length} relevant${value}`];
  const heading = makeElement("h3", "", methodTitle(method));
  heading.append(makeElement("span", "small", about.filter(Boolean).join(", ")), drawCode(result.code, part.bits));
  const list = makeElement("ol", items.pictures && (task.endsWith("->image") || !items.strings.length) ? "" : "captions");
  list.append(...shown.map((found, i) => returnedItem(items, hits[i], result, found, task.split("->")[1], part.bits)));
  block.append(heading, list);
  return block;
}

async function showFound() {
  const call = (search.calls += 1);
  const [dataset, taskNumber, bits, database] = selectedSlice();
  const items = await loadPart(`d${dataset}`);
  const item = search.row === null ? -1 : items.rows.indexOf(search.row);
  const task = data.tasks[taskNumber].name;
  const others = { bits: byId("all-bits").checked, kinds: byId("both-kinds").checked };
  const lengths = others.bits ? [...data.bits.keys()] : [bits];
  const kinds = others.kinds ? data.databases : [data.databases[database]];
  const blocks = [];
  for (const method of item < 0 ? [] : searchMethods()) {
    for (const length of lengths.filter((each) => cellKey(method, each))) {
      const part = await loadPart(cellKey(method, length));
      for (const searched of kinds.filter((each) => part.scores[`${task} ${each.name}`])) {
        blocks.push(returnedBlock(items, item, part, { method, bits: length, searched, task, others }));
      }
    }
  }
  if (call !== search.calls) return;
  byId("query").replaceChildren();
  if (item >= 0) {
    const { both, words, names } = itemWords(items, item);
    const from = task.split("->")[0];
    const about = makeElement("div");
    about.append(makeElement("strong", "", words || `Item ${items.rows[item]}`), makeElement("span", "small", ` item ${items.rows[item]} (${names})${item < items.queries ? "" : ", in the database: no query of the study"}`));
    if (items.pictures && from === "image") byId("query").append(drawItem(items, item, from));
    about.append(makeElement("span", "small key", "shares its label"), makeElement("span", "small key wrong", "does not"));
    byId("query").append(about);
    byId("query").title = both;
  }
  byId("found").replaceChildren(...blocks);
}

// ---- together ------------------------------------------------------------------------------

function searchText() {
  const dataset = searchable();
  if (!dataset) return "Nothing was computed for this dataset.";
  if (dataset.why) return `Not offered for this dataset. ${dataset.why}`;
  const task = data.tasks[selectedSlice()[1]].name.split("->");
  return `The first ${itemsShown} of the database by Hamming distance, computed here from the stored codes of seed ${dataset.seed}. Solid frame: shares a label with the query. `
    + `Squares: the code’s bits, orange where they differ from the query’s. Items at one distance are in the order of the database. The first query is the one with the median score of the first method.`
    + (task.includes("image") && !window.hashbenchParts[`d${selectedSlice()[0]}`]?.pictures ? " No pictures are stored for this dataset: captions stand for them." : "");
}

async function showSearch() {
  const [dataset, , bits] = selectedSlice();
  if (search.dataset !== null && search.dataset !== dataset) search.row = null; // a number of another dataset
  search.dataset = dataset;
  const hasCodes = Boolean(searchable()?.cells);
  byId("search-form").hidden = !hasCodes;
  const used = searchMethods();
  byId("search-methods").querySelectorAll("label").forEach((label, method) => {
    label.hidden = !isShown(method) || !cellKey(method, bits);
    label.querySelector("input").checked = used.includes(method);
  });
  byId("search-words").textContent = searchText();
  if (hasCodes) {
    await listQueries();
    byId("search-words").textContent = searchText();
  } else for (const id of ["query", "found"]) byId(id).replaceChildren();
}

function showQuery(row) {
  search.row = row;
  byId("find").value = "";
  showSearch();
  writeAddress(true);
}

byId("find").addEventListener("input", () => { listQueries().then(() => writeAddress()); });
byId("query-order").addEventListener("change", () => { search.row = null; listQueries().then(() => writeAddress()); });
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
showSearch();
