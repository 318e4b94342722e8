// The search engine: choose or type a query, see what methods return. Items and codes are read
// when they are first asked for, codes of the chosen methods only.
"use strict";

window.hashbenchParts = {};

const search = { started: false, picked: null, row: null, dataset: null, list: [], turn: 0, shown: 12, listed: 200 };

// A part is a script of the folder: the items of a dataset, or the codes of a cell.
async function loadPart(key) {
  await load(`search/${key}.js`);
  return window.hashbenchParts[key];
}

const searchable = () => data.search.datasets[chosen()[0]];
const cellKey = (method, bits) => {
  const key = `d${chosen()[0]}-m${method}-b${bits}`;
  return searchable()?.cells?.includes(key) ? key : null;
};

// ---- what is asked -------------------------------------------------------------------------

// Those picked, in the order of picking; otherwise the best three that have codes.
function searchMethods() {
  const bits = chosen()[2];
  const able = (method) => passes(method) && cellKey(method, bits);
  if (search.picked) return search.picked.filter(able);
  return ranking.list.map((row) => row.method).filter(able).slice(0, 3);
}

function itemWords(items, item) {
  const names = items.labels[item].map((label) => items.labelNames[label] ?? `label ${label}`).join(", ");
  const [text, words] = [items.strings[item] ?? "", items.words[item] ?? ""];
  return { text, words: words === text ? text : words, both: words === text ? text : `${text} ${words}`, names };
}

// The items that a text finds: by number, or by what stands in their words and labels.
function matches(items, text) {
  const wanted = text.trim().toLowerCase();
  const all = items.rows.map((_, item) => item);
  if (!wanted) return all.slice(0, items.queries);
  // made once: every letter that is typed asks for the words of all items
  items.said ??= all.map((item) => {
    const { both, names } = itemWords(items, item);
    return `${both}\n${names}`.toLowerCase();
  });
  return all.filter((item) => String(items.rows[item]) === wanted || items.said[item].includes(wanted));
}

async function orderItems(items, found) {
  const how = byId("query-order").value;
  const [first, second] = searchMethods();
  const [, task, bits, database] = chosen();
  const scores = async (method) => {
    if (method === undefined) return null;
    return queryScores(await loadPart(cellKey(method, bits)), data.tasks[task].name, data.databases[database].name);
  };
  const [a, b] = [await scores(first), how === "apart" ? await scores(second) : null];
  const value = {
    rows: (item) => items.rows[item],
    hard: (item) => a?.[item] ?? Infinity,
    easy: (item) => -(a?.[item] ?? -Infinity),
    apart: (item) => (a && b && item < items.queries ? -Math.abs(a[item] - b[item]) : Infinity),
  }[how];
  const known = (number) => (Number.isNaN(number) ? Infinity : number);
  // queries of the study before items of its database, which have no scores
  const place = (item) => (item < items.queries ? 0 : 1);
  return found.sort((x, y) => place(x) - place(y) || known(value(x)) - known(value(y)) || x - y);
}

async function listQueries() {
  const turn = (search.turn += 1);
  const items = await loadPart(`d${chosen()[0]}`);
  const found = await orderItems(items, matches(items, byId("find").value));
  if (turn !== search.turn) return; // somebody has typed on
  search.list = found;
  const shown = found.slice(0, search.listed);
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

// ---- what is found -------------------------------------------------------------------------

function drawItem(items, item, view) {
  const box = document.createElement("div");
  box.className = "item";
  const { text, words, both, names } = itemWords(items, item);
  const sheet = items.pictures;
  if (sheet && (view === "image" || !text)) {
    const [line, column] = [Math.floor(items.rows[item] / sheet.columns), items.rows[item] % sheet.columns];
    const picture = document.createElement("span");
    picture.className = "picture";
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

function line(text, className) {
  const div = document.createElement("div");
  div.textContent = text;
  div.className = className;
  return div;
}

function returnedItem(items, relevant, result, item, view) {
  const li = document.createElement("li");
  const hit = relevant(item);
  li.className = hit ? "hit" : "miss";
  li.append(drawItem(items, items.queries + item, view));
  const distance = result.distances[item];
  const below = line(`${distance} ×${result.counts[distance]}`, "small");
  const judged = document.createElement("span");
  judged.textContent = hit ? ", relevant" : ", not relevant";
  judged.className = "hidden";
  below.append(judged);
  li.append(below);
  li.dataset.row = items.rows[items.queries + item];
  return li;
}

function returnedBlock(items, item, part, { method, bits, kind, task }) {
  const result = retrieve(part, item, items.queries, task, kind);
  const own = new Set(items.labels[item]);
  const relevant = (found) => items.labels[items.queries + found].some((label) => own.has(label));
  const score = item < items.queries ? queryScores(part, task, kind)?.[item] : null;
  const block = document.createElement("div");
  block.className = "returned";
  const heading = document.createElement("h3");
  const value = missing(score) || Number.isNaN(score) ? "no score" : `${data.search.measure} ${score.toFixed(4)}`;
  heading.textContent = `${title(method)}, ${data.bits[bits]} bits, ${kind}: ${value}`;
  const list = document.createElement("ol");
  const view = task.split("->")[1];
  list.append(...Array.from(result.order.slice(0, search.shown), (found) => returnedItem(items, relevant, result, found, view)));
  block.append(heading, list);
  return block;
}

async function showFound() {
  const turn = (search.turn += 1);
  const [dataset, taskAt, bits, database] = chosen();
  const items = await loadPart(`d${dataset}`);
  const item = items.rows.indexOf(search.row);
  const task = data.tasks[taskAt].name;
  const lengths = byId("all-bits").checked ? [...data.bits.keys()] : [bits];
  const kinds = byId("both-kinds").checked ? data.databases.map((each) => each.name) : [data.databases[database].name];
  const blocks = [];
  for (const method of item < 0 ? [] : searchMethods()) {
    for (const length of lengths.filter((each) => cellKey(method, each))) {
      const part = await loadPart(cellKey(method, length));
      for (const kind of kinds.filter((each) => part[each].length)) {
        blocks.push(returnedBlock(items, item, part, { method, bits: length, kind, task }));
      }
    }
  }
  if (turn !== search.turn) return;
  byId("asked").replaceChildren();
  if (item >= 0) {
    const { both, names } = itemWords(items, item);
    const note = item < items.queries ? "" : " It stands in the database: no query of the study, and without a score.";
    byId("asked").append(drawItem(items, item, task.split("->")[0]), line(`Query: item ${items.rows[item]} ${both} (${names}).${note}`, ""));
  }
  byId("found").replaceChildren(...blocks);
}

// ---- together ------------------------------------------------------------------------------

function searchWords() {
  const able = searchable();
  if (!able) return "Nothing was computed for this dataset.";
  if (able.why) return `Not offered for this dataset. ${able.why}`;
  const seeds = data.scores.some((block) => block.rows.some((row) => row[3] > 1));
  return "Choose a query, or type a word, a sign or an item’s number, and see what methods return. Below an item: its Hamming distance, computed here "
    + "from the stored codes, and how many items stand at that distance; those are in the order of the database. Solid frame: shares a label "
    + `with the query.${seeds ? ` Codes are those of seed ${able.seed}.` : ""} Methods without codes are not offered.`;
}

function showSearch() {
  if (!search.started) return;
  const [dataset] = chosen();
  if (search.dataset !== null && search.dataset !== dataset) search.row = null; // its numbers are others
  search.dataset = dataset;
  const able = Boolean(searchable()?.cells);
  byId("search-words").textContent = searchWords();
  byId("search-form").hidden = !able;
  const bits = chosen()[2];
  const used = able ? searchMethods() : [];
  byId("search-methods").querySelectorAll("label").forEach((label, method) => {
    label.hidden = !able || !passes(method) || !cellKey(method, bits);
    label.querySelector("input").checked = used.includes(method);
  });
  if (able) listQueries();
  else for (const id of ["asked", "found"]) byId(id).replaceChildren();
}

function startSearch() {
  if (search.started) return;
  search.started = true;
  showSearch();
}

function ask(row) {
  search.row = row;
  byId("find").value = "";
  search.started = true;
  showSearch();
  writeAddress(true);
}

byId("find").addEventListener("input", () => { listQueries().then(() => writeAddress()); });
byId("query-order").addEventListener("change", () => { search.row = null; listQueries().then(() => writeAddress()); });
byId("query-list").addEventListener("change", () => { search.row = Number(byId("query-list").value); showFound(); writeAddress(); });
for (const id of ["all-bits", "both-kinds"]) byId(id).addEventListener("change", () => { showFound(); writeAddress(); });
byId("search-methods").addEventListener("change", ({ target }) => {
  const method = Number(target.value);
  const others = searchMethods().filter((each) => each !== method);
  search.picked = target.checked ? [...others, method] : others;
  showSearch();
  writeAddress();
});
keep("q", () => (search.row === null ? "" : String(search.row)), (value) => {
  search.row = Number(value);
  search.dataset = null; // of the dataset that the address names
});
keep("find", () => byId("find").value, (value) => { byId("find").value = value; });
keepSelect("order", "query-order");
keep("with", () => (search.picked ?? []).map((method) => data.methods[method].name).join(" "), (value) => {
  search.picked = value.split(" ").map(methodCalled).filter((method) => method >= 0);
});
for (const id of ["all-bits", "both-kinds"]) keep(id, () => (byId(id).checked ? "1" : ""), (value) => { byId(id).checked = value === "1"; });
readAddress(["q", "find", "order", "with", "all-bits", "both-kinds"]);
onView(showSearch);
new IntersectionObserver(([entry], observer) => {
  if (!entry.isIntersecting) return;
  observer.disconnect();
  startSearch();
}, { rootMargin: "300px" }).observe(byId("search"));
