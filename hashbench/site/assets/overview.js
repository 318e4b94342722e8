// The overview: mean rank and mean score of every method over datasets, tasks and code lengths, and
// a heat map with one column per slice, whose head leads to the ranking of that slice.
"use strict";

const overviewOrder = { key: "meanRank", descending: false };
const mostHeatColumns = 24;

function overviewRows() {
  const [, , , database, measure] = selectedSlice();
  const found = data.overview.find(({ at }) => sameSlice(at, [database, measure]));
  return (found?.rows ?? []).filter((row) => isShown(row.method))
    .map((row) => ({ ...row, title: methodTitle(row.method), of: found.slices }));
}

function overviewColumns(rows) {
  const most = Math.max(...rows.map((row) => row.meanScore + (row.scoreSpread ?? 0)), 0.01);
  const columns = [
    { key: "meanRank", head: "Mean rank", className: "number", cell: (row) => numberCell(formatSpread(row.meanRank, row.rankSpread, 1)) },
    { key: "title", head: "Method", cell: methodCell },
    { key: "meanScore", head: "Mean score", className: "number", descending: true, cell: (row) => numberCell(formatSpread(row.meanScore, row.scoreSpread, 3)) },
    { key: "", head: "", className: "bar", cell: (row) => barCell({ value: row.meanScore, spread: row.scoreSpread, most }) },
    { key: "fit", head: "Fit, s", className: "number", about: "Geometric mean over datasets and code lengths", cell: (row) => numberCell(formatSeconds(row.fit)) },
  ];
  if (rows.some((row) => row.slices < row.of)) {
    columns.push({ key: "slices", head: "Slices", className: "number", cell: (row) => makeCell(`${row.slices} of ${row.of}`, row.slices < row.of ? "number wrong" : "number") });
  }
  return columns;
}

// ---- heat map ------------------------------------------------------------------------------

// Return the slices that have a column: those of the selected code length if all are too many, then
// those of the selected task.
function heatBlocks() {
  const slice = selectedSlice();
  let blocks = data.scores.filter(({ at }) => at[3] === slice[3] && at[4] === slice[4]);
  blocks.sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1] || a.at[2] - b.at[2]);
  for (const selector of [2, 1]) {
    if (blocks.length > mostHeatColumns) blocks = blocks.filter(({ at }) => at[selector] === slice[selector]);
  }
  return blocks;
}

// Return short titles of the tasks, as I→T for image→text, if they differ.
function taskInitials() {
  const titles = data.tasks.map((each) => each.title);
  const initials = titles.map((text) => text.split("→").map((view) => view[0].toUpperCase()).join("→"));
  return new Set(initials).size === initials.length ? initials : titles;
}

function heatHead({ at }, tasks) {
  const th = headCell("", "col", "heat");
  const button = makeElement("button", "", `${tasks[at[1]]} ${data.bits[at[2]]}`);
  button.type = "button";
  button.title = sliceTitle(at);
  button.setAttribute("aria-label", `${button.textContent}: ranking of ${sliceTitle(at)}`);
  button.addEventListener("click", () => { selectSlice(at); goTo("ranking"); });
  if (sameSlice(at, selectedSlice())) th.classList.add("current");
  th.append(button);
  return th;
}

// Return the line above the heads, with one cell per dataset.
function datasetLine(blocks, columns) {
  const tr = document.createElement("tr");
  const empty = makeCell("");
  empty.colSpan = columns;
  tr.append(empty);
  data.datasets.forEach(({ title }, dataset) => {
    const count = blocks.filter(({ at }) => at[0] === dataset).length;
    if (!count) return;
    const th = headCell(title, "colgroup", "heat");
    th.colSpan = count;
    th.title = title;
    tr.append(th);
  });
  return tr;
}

// Return a function that makes the cell of a method; the shade compares the methods of the column.
function heatColumn(block) {
  const scores = new Map(block.rows.filter((row) => isShown(row.method)).map((row) => [row.method, row.mean]));
  const values = [...scores.values()].filter((value) => !isMissing(value));
  const [low, high] = [Math.min(...values, block.chance ?? 1), Math.max(...values)];
  return (row) => {
    const value = scores.get(row.method);
    if (isMissing(value)) return makeCell("–", "heat");
    const td = makeCell(value.toFixed(2).replace(/^0/, ""), value === high ? "heat best" : "heat");
    td.style.setProperty("--shade", `${high > low ? Math.max(0, (100 * (value - low)) / (high - low)) : 100}%`);
    td.title = `${row.title}, ${sliceTitle(block.at)}: ${value.toFixed(4)}`;
    return td;
  };
}

// ---- together ------------------------------------------------------------------------------

function overviewText(rows) {
  if (!rows.length) return "Nothing was computed for this choice.";
  const [, , , database, measure] = selectedSlice();
  const hidden = data.methods.filter((_, method) => !isShown(method)).length;
  return `${data.measures[measure].words}; ${data.databases[database].name} (${data.databases[database].words}). Means over ${rows[0].of} slices (datasets, tasks and `
    + `code lengths); ± is the standard deviation over them.${hidden ? ` The filters hide ${hidden} of ${data.methods.length} methods.` : ""}`;
}

function showOverview() {
  const rows = overviewRows();
  const columns = overviewColumns(rows);
  const blocks = rows.length ? heatBlocks() : [];
  const heat = blocks.map(heatColumn);
  const tasks = taskInitials();
  const table = byId("overview-table");
  const head = sortHeader(columns, overviewOrder, () => sortedBy(table, overviewOrder, showOverview));
  head.append(...blocks.map((block) => heatHead(block, tasks)));
  table.tHead.replaceChildren(...(blocks.length && data.datasets.length > 1 ? [datasetLine(blocks, columns.length)] : []), head);
  table.tBodies[0].replaceChildren(...sortRows(rows, overviewOrder).map((row) => {
    const tr = document.createElement("tr");
    tr.append(...columns.map((column) => column.cell(row)), ...heat.map((cell) => cell(row)));
    return tr;
  }));
  byId("overview-words").textContent = overviewText(rows);
}

keepInAddress("sort", () => (overviewOrder.key === "meanRank" && !overviewOrder.descending ? "" : `${overviewOrder.descending ? "-" : ""}${overviewOrder.key}`), (value) => {
  Object.assign(overviewOrder, { key: value.replace("-", ""), descending: value.startsWith("-") });
});
listeners.push(showOverview);
showOverview();
