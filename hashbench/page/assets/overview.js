// The whole study at a glance: mean rank and mean score of every method over datasets, tasks and
// code lengths, and beside them every slice as a heat map whose heads lead to its ranking.
"use strict";

const overview = { order: { key: "meanRank", descending: false }, widest: 24, heated: false };

// The slices that are averaged: all of the chosen measure and kind of database codes.
function slices() {
  const [, , , database, measure] = chosen();
  return data.scores.filter(({ at }) => at[3] === database && at[4] === measure);
}

function meanRanks(values) {
  const ordered = [...values.entries()].sort((a, b) => b[1] - a[1]);
  const ranks = new Map();
  for (let from = 0; from < ordered.length;) {
    let to = from;
    while (to < ordered.length && ordered[to][1] === ordered[from][1]) to += 1;
    for (let i = from; i < to; i += 1) ranks.set(ordered[i][0], (from + to + 1) / 2);
    from = to;
  }
  return ranks;
}

// A row a method. A mean over other slices would not compare: who lacks one has no ranks.
function overviewRows(blocks) {
  const values = blocks.map((block) => new Map(block.rows.filter(([method, value]) => passes(method) && value !== null)));
  const methods = data.methods.map((_, method) => method).filter((method) => passes(method) && values.some((each) => each.has(method)));
  const complete = methods.filter((method) => values.every((each) => each.has(method)));
  const ranks = values.map((each) => meanRanks(new Map(complete.map((method) => [method, each.get(method)]))));
  return methods.map((method) => {
    const scores = values.filter((each) => each.has(method)).map((each) => each.get(method));
    const places = complete.includes(method) ? ranks.map((each) => each.get(method)) : [];
    const fits = data.runs.filter((run) => run.at[2] === method && run.fit > 0).map((run) => Math.log(run.fit));
    return {
      method, title: title(method), slices: scores.length, of: blocks.length,
      meanRank: places.length ? mean(places) : null, rankSpread: deviation(places),
      meanScore: mean(scores), scoreSpread: deviation(scores),
      fit: fits.length ? Math.exp(mean(fits)) : null,
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
function taskInitials(task) {
  const short = (text) => text.split("→").map((view) => view[0].toUpperCase()).join("→");
  const shorts = data.tasks.map((each) => short(each.title));
  return new Set(shorts).size === shorts.length ? shorts[task] : data.tasks[task].title;
}

function heatHead(block) {
  const th = cell("", "heat", "th");
  th.scope = "col";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = `${taskInitials(block.at[1])} ${data.bits[block.at[2]]}`;
  button.setAttribute("aria-label", `${button.textContent}: ranking of ${sliceWords(block.at)}`);
  button.title = sliceWords(block.at);
  button.addEventListener("click", () => openSlice(block.at));
  if (same(block.at, chosen(), 5)) th.classList.add("current");
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
    const found = new Map(block.rows.filter(([method, value]) => passes(method) && value !== null));
    const [low, high] = [Math.min(...found.values(), block.chance ?? 1), Math.max(...found.values())];
    return (row) => {
      const value = found.get(row.method);
      const td = cell(missing(value) ? "–" : value.toFixed(2).replace(/^0/, ""), "heat");
      if (!missing(value)) {
        const share = high > low ? Math.max(0, (value - low) / (high - low)) : 1;
        td.style.setProperty("--share", `${Math.round(100 * share)}%`);
        if (value === high) td.classList.add("best");
        td.title = `${row.title}, ${sliceWords(block.at)}: ${value.toFixed(4)}`;
      }
      return td;
    };
  });
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

// Fields of the heat map; before the page was first seen one empty field that keeps their place.
function heatFields(row, heat) {
  if (overview.heated || !heat.length) return heat.map((make) => make(row));
  const room = cell("", "heat room");
  room.colSpan = heat.length;
  return [room];
}

// Two thirds of what the first screen takes to lay out are fields of the heat map: they follow it.
function heatUp() {
  if (overview.heated) return;
  overview.heated = true;
  showOverview();
}

function showOverview() {
  const blocks = slices();
  const rows = overviewRows(blocks);
  const columns = overviewColumns(rows);
  const shown = rows.length ? heatBlocks(blocks) : [];
  const heat = heatCells(shown);
  const table = byId("overview-table");
  const head = sortHeader(columns, overview.order, showOverview);
  head.append(...shown.map(heatHead));
  const lines = shown.length && data.datasets.length > 1 ? [datasetLine(shown, columns.length), head] : [head];
  table.tHead.replaceChildren(...lines);
  const body = sorted(rows, overview.order).map((row) => {
    const tr = document.createElement("tr");
    tr.append(...columns.map((column) => column.cell(row)), ...heatFields(row, heat));
    return tr;
  });
  table.tBodies[0].replaceChildren(...body);
  // a press on a field leads where its head leads; the head is what a keyboard reaches
  table.tBodies[0].onclick = (event) => {
    const place = [...(event.target.closest("tr")?.children ?? [])].indexOf(event.target) - columns.length;
    if (shown[place]) openSlice(shown[place].at);
  };
  byId("overview-words").textContent = overviewWords(blocks, rows);
}

function startOverview() {
  keep("sort", () => (overview.order.key === "meanRank" && !overview.order.descending ? "" : `${overview.order.descending ? "-" : ""}${overview.order.key}`), (value) => {
    overview.order = { key: value.replace("-", ""), descending: value.startsWith("-") };
  });
  readAddress(["sort"]);
  byId("overview-table").tHead.addEventListener("click", () => writeAddress());
  onView(showOverview);
  showOverview();
  window.addEventListener("load", () => setTimeout(heatUp));
}
