// The whole study at a glance: mean rank and mean score of every method over datasets, tasks and
// code lengths, and beside them every slice as a heat map whose heads lead to its ranking.
"use strict";

const overview = { order: { key: "meanRank", descending: false }, widest: 24, tall: 20, heated: false, rows: [], columns: 0, blocks: [], rooms: [] };

const numbersOf = (block, method) => block?.rows.find((row) => row[0] === method);

// The slices that are averaged: all of the chosen measure and kind of database codes.
function slices() {
  const [, , , database, measure] = chosen();
  return data.scores.filter(({ at }) => at[3] === database && at[4] === measure);
}

// The scores of a slice, each at its method's place, of methods that the filters leave.
function scoresOf(block) {
  const scores = [];
  for (const row of block.rows) if (passes(row[0]) && row[1] !== null) scores[row[0]] = row[1];
  return scores;
}

// The ranks of these methods, each at its method's place; equal scores share their mean rank.
function meanRanks(methods, scores) {
  const ordered = [...methods].sort((a, b) => scores[b] - scores[a]);
  const ranks = [];
  for (let from = 0; from < ordered.length;) {
    let to = from;
    while (to < ordered.length && scores[ordered[to]] === scores[ordered[from]]) to += 1;
    for (let i = from; i < to; i += 1) ranks[ordered[i]] = (from + to + 1) / 2;
    from = to;
  }
  return ranks;
}

// A row a method. A mean over other slices would not compare: who lacks one has no ranks.
function overviewRows(blocks) {
  const values = blocks.map(scoresOf);
  const ofMethod = new Map([...left].map((method) => [method, values.map((each) => each[method]).filter((value) => value !== undefined)]));
  const methods = [...left].filter((method) => ofMethod.get(method).length);
  const complete = methods.filter((method) => ofMethod.get(method).length === blocks.length);
  const ranks = values.map((each) => meanRanks(complete, each));
  const fits = new Map(methods.map((method) => [method, []]));
  for (const run of data.runs) if (run.fit > 0) fits.get(run.at[2])?.push(Math.log(run.fit));
  return methods.map((method) => {
    const scores = ofMethod.get(method);
    const places = scores.length === blocks.length ? ranks.map((each) => each[method]) : [];
    return {
      method, title: title(method), slices: scores.length, of: blocks.length,
      meanRank: places.length ? mean(places) : null, rankSpread: deviation(places),
      meanScore: mean(scores), scoreSpread: deviation(scores),
      fit: fits.get(method).length ? Math.exp(mean(fits.get(method))) : null,
    };
  });
}

const plusMinus = (value, spread, digits) => (missing(value) ? "–" : missing(spread) ? number(value, digits) : `${number(value, digits)} ± ${number(spread, digits)}`);

function overviewColumns(rows) {
  const most = Math.max(...rows.map((row) => row.meanScore + (row.scoreSpread ?? 0)), 0.01);
  const all = [
    { key: "meanRank", head: "Mean rank", className: "number", cell: (row) => cell(plusMinus(row.meanRank, row.rankSpread, 1), "number") },
    { key: "title", head: "Method", className: "", cell: methodCell },
    { key: "meanScore", head: "Mean score", className: "number", descending: true, cell: (row) => cell(plusMinus(row.meanScore, row.scoreSpread, 3), "number") },
    { key: "", head: "", className: "bar", cell: (row) => bar({ value: row.meanScore, spread: row.scoreSpread, most }) },
    { key: "fit", head: "Fit, s", className: "number", about: "Geometric mean over datasets and code lengths", cell: (row) => cell(seconds(row.fit), "number") },
  ];
  if (rows.some((row) => row.slices < row.of)) {
    all.push({ key: "slices", head: "Slices", className: "number", cell: (row) => cell(`${row.slices} of ${row.of}`, row.slices < row.of ? "number wrong" : "number") });
  }
  return all;
}

// ---- heat map ------------------------------------------------------------------------------

// The slices that have a column: every one if they are few; otherwise those of the chosen code
// length, then those of the chosen task.
function heatBlocks(blocks) {
  const place = chosen();
  let kept = [...blocks].sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1] || a.at[2] - b.at[2]);
  for (const dimension of [2, 1]) {
    if (kept.length > overview.widest) kept = kept.filter(({ at }) => at[dimension] === place[dimension]);
  }
  return kept;
}

function sliceWords(at) {
  return `${data.datasets[at[0]].title}, ${data.tasks[at[1]].title}, ${data.bits[at[2]]} bits`;
}

// image→text is I→T where that tells tasks apart
function taskInitials() {
  const titles = data.tasks.map((each) => each.title);
  const shorts = titles.map((text) => text.split("→").map((view) => view[0].toUpperCase()).join("→"));
  return new Set(shorts).size === shorts.length ? shorts : titles;
}

function heatHead(block, tasks, place) {
  const th = cell("", "heat", "th");
  th.scope = "col";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = `${tasks[block.at[1]]} ${data.bits[block.at[2]]}`;
  button.setAttribute("aria-label", `${button.textContent}: ranking of ${sliceWords(block.at)}`);
  button.title = sliceWords(block.at);
  button.addEventListener("click", () => openSlice(block.at));
  if (same(block.at, place, 5)) th.classList.add("current");
  th.append(button);
  return th;
}

function openSlice(at) {
  selectors.forEach((name, i) => { byId(name).value = at[i]; });
  choose(true);
  goTo("ranking");
}

function datasetLine(blocks, columns) {
  const tr = document.createElement("tr");
  const rest = document.createElement("td");
  rest.colSpan = columns;
  tr.append(rest);
  for (let from = 0; from < blocks.length;) {
    let to = from;
    while (to < blocks.length && blocks[to].at[0] === blocks[from].at[0]) to += 1;
    const th = cell(data.datasets[blocks[from].at[0]].title, "heat", "th");
    th.scope = "colgroup";
    th.colSpan = to - from;
    th.title = th.textContent;
    tr.append(th);
    from = to;
  }
  return tr;
}

function heatCells(blocks) {
  return blocks.map((block) => {
    const found = scoresOf(block);
    const values = Object.values(found); // without the places of other methods
    const [low, high] = [Math.min(...values, block.chance ?? 1), Math.max(...values)];
    return (row) => {
      const value = found[row.method];
      if (missing(value)) return cell("–", "heat");
      const share = high > low ? Math.max(0, (value - low) / (high - low)) : 1;
      return cell(value.toFixed(2).replace(/^0/, ""), `heat shade-${Math.round(shades * share)}${value === high ? " best" : ""}`);
    };
  });
}

// Fields of one shade share one style, which a browser then makes once.
const shades = 20;

function addShades() {
  const rules = Array.from({ length: shades + 1 }, (_, shade) => `#overview-table td.shade-${shade} { background: color-mix(in srgb, var(--bar) ${(100 * shade) / shades}%, transparent); }`);
  const style = document.createElement("style");
  style.textContent = rules.join("\n");
  document.head.append(style);
}

// ---- together ------------------------------------------------------------------------------

function overviewWords(blocks, rows) {
  if (!rows.length) return "Nothing was computed for this choice.";
  const [, , , database, measure] = chosen();
  const count = (place) => new Set(blocks.map(({ at }) => at[place])).size;
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const hidden = data.methods.length - data.methods.filter((_, method) => passes(method)).length;
  return `${data.measures[measure].words}; database codes: ${data.databases[database].words}. Means over ${plural(blocks.length, "slice")}: `
    + `${plural(count(0), "dataset")}, ${plural(count(1), "task")}, ${plural(count(2), "code length")}; ± is the standard deviation over them.`
    + `${hidden ? ` ${plural(hidden, "method")} left out by the filters.` : ""}`;
}

// What makes the fields of a row of the heat map; until the page was first seen one empty field that
// keeps their place.
function heatMakers() {
  if (overview.heated || !overview.blocks.length) return heatCells(overview.blocks);
  return [() => {
    const room = cell("", "heat");
    room.colSpan = overview.blocks.length;
    return room;
  }];
}

// Two thirds of what the first screen takes to lay out are fields of the heat map: they follow it, a
// few rows at a time.
function heatUp(rows = Infinity) {
  if (!overview.heated) addShades();
  overview.heated = true;
  const heat = heatMakers();
  for (const { tr, row } of overview.rooms.splice(0, rows)) tr.lastChild.replaceWith(...heat.map((make) => make(row)));
  if (overview.rooms.length) following.steps.unshift(() => heatUp(rows));
}

// The row and the slice of a field of the heat map.
function heatAt(field) {
  const tr = field.closest("tr");
  const block = tr && overview.blocks[[...tr.children].indexOf(field) - overview.columns];
  return block ? { row: overview.rows[tr.sectionRowIndex], block } : null;
}

function showOverview() {
  const blocks = slices();
  const rows = overviewRows(blocks);
  const columns = overviewColumns(rows);
  const shown = rows.length ? heatBlocks(blocks) : [];
  const table = byId("overview-table");
  const head = sortHeader(columns, overview.order, showOverview);
  const [tasks, place] = [taskInitials(), chosen()];
  head.append(...shown.map((block) => heatHead(block, tasks, place)));
  const lines = shown.length && data.datasets.length > 1 ? [datasetLine(shown, columns.length), head] : [head];
  table.tHead.replaceChildren(...lines);
  Object.assign(overview, { rows: sorted(rows, overview.order), columns: columns.length, blocks: shown });
  const heat = heatMakers();
  const lined = overview.rows.map((row) => {
    const tr = document.createElement("tr");
    tr.append(...columns.map((column) => column.cell(row)), ...heat.map((make) => make(row)));
    return { tr, row };
  });
  overview.rooms = overview.heated || !shown.length ? [] : lined;
  table.tBodies[0].replaceChildren(...lined.map(({ tr }) => tr));
  byId("overview-words").textContent = overviewWords(blocks, rows);
}

function startOverview() {
  keep("sort", () => (overview.order.key === "meanRank" && !overview.order.descending ? "" : `${overview.order.descending ? "-" : ""}${overview.order.key}`), (value) => {
    overview.order = { key: value.replace("-", ""), descending: value.startsWith("-") };
  });
  readAddress(["sort"]);
  const table = byId("overview-table");
  table.tHead.addEventListener("click", () => writeAddress());
  // a press on a field leads where its head leads; the head is what a keyboard reaches
  table.tBodies[0].addEventListener("click", ({ target }) => {
    const at = heatAt(target)?.block.at;
    if (at) openSlice(at);
  });
  table.tBodies[0].addEventListener("mouseover", ({ target }) => {
    const found = target.title ? null : heatAt(target);
    const value = found && numbersOf(found.block, found.row.method)?.[1];
    if (!missing(value)) target.title = `${found.row.title}, ${sliceWords(found.block.at)}: ${value.toFixed(4)}`;
  });
  // names that stay in sight have a layer each, which every frame pays for: only if there is need
  table.parentElement.addEventListener("scroll", ({ target }) => table.classList.toggle("aside", target.scrollLeft > 0), { passive: true });
  onView(showOverview);
  showOverview();
}
