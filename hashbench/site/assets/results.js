// The results of the selected slice: a dot plot of the ten best, and a table of all methods with
// their mean rank over the study and their score in every slice.
"use strict";

const ranking = { order: { key: "meanRank", descending: false }, rows: [] };
const topCount = 10;
const mostHeatColumns = 24;

const rankingBlock = () => data.scores.find((each) => sameSlice(each.at, selectedSlice()));
const overviewBlock = () => data.overview.find(({ at }) => sameSlice(at, selectedSlice().slice(3)));

// Return the rows of the slice, best first, with the means over the study. Methods without a score
// are among them if a cell of theirs failed.
function rankingRows(block) {
  const [dataset, , bits] = selectedSlice();
  const runs = data.runs.filter(({ at }) => sameSlice(at, [dataset, bits]));
  const scored = new Map(block?.rows.map((row) => [row.method, row]));
  const overall = new Map(overviewBlock()?.rows.map((row) => [row.method, row]));
  const failed = runs.filter((run) => run.failed.length).map((run) => run.method);
  const rows = [...new Set([...scored.keys(), ...overall.keys(), ...failed])].filter(isShown).map((method) => {
    const run = runs.find((each) => each.method === method);
    const failures = run?.failed ?? [];
    const failedCells = failures.reduce((sum, each) => sum + each.cells, 0);
    return {
      mean: null, seeds: 0, ...overall.get(method), ...scored.get(method), method, title: methodTitle(method),
      fit: run?.fit, bytes: run?.bytes, fidelity: data.methods[method].fidelity, failed: failures, failedCells,
    };
  });
  rows.sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1));
  rows.forEach((row, i) => { // equal scores share their rank
    const tied = i > 0 && row.mean === rows[i - 1].mean;
    row.rank = isMissing(row.mean) ? null : tied ? rows[i - 1].rank : i + 1;
  });
  return rows;
}

// ---- the ten best --------------------------------------------------------------------------

function dotRow(row, { chance, half }, most) {
  const li = makeElement("li", data.methods[row.method].name === overviewBlock()?.leader?.name ? "leader" : "");
  const percent = (value) => `${(100 * Math.max(0, Math.min(1, value / most))).toFixed(2)}%`;
  const track = makeElement("span", "dots");
  track.setAttribute("aria-hidden", "true");
  const add = (className, left, width) => {
    const part = makeElement("span", className);
    part.style.left = percent(left);
    if (width) part.style.width = percent(width);
    track.append(part);
  };
  if (!isMissing(chance)) add("chance", chance);
  if (!isMissing(half) && !isMissing(row.group)) add("interval", row.mean - half, 2 * half);
  add(data.methods[row.method].hasCodes ? "dot" : "dot vectors", row.mean);
  const name = makeElement("span", "method", row.title);
  name.title = [row.title, ...data.methods[row.method].notes].join("\n");
  li.append(name, track, makeElement("span", "number", formatNumber(row.mean, 3)));
  return li;
}

function showTop(block) {
  const top = ranking.rows.filter((row) => row.rank).slice(0, topCount);
  const { leader } = overviewBlock() ?? {};
  const [, , , database, measure] = selectedSlice();
  const most = 1.04 * Math.max(0.01, ...top.map((row) => row.mean + (block.half ?? 0)));
  byId("results-title").textContent = leader?.title ?? "Results";
  byId("leader").textContent = leader?.words ?? "Nothing was computed for this choice.";
  byId("top-title").textContent = top.length ? `The best ${top.length} of ${ranking.rows.length} on ${sliceTitle(selectedSlice())}` : "";
  byId("top").replaceChildren(...top.map((row) => dotRow(row, block, most)));
  const notes = top.length ? [`${data.measures[measure].name}; ${data.databases[database].name}.`] : [];
  if (top.length && !isMissing(block.chance)) notes.push(`Dotted line: chance, ${formatNumber(block.chance, 3)}.`);
  if (top.some((row) => !data.methods[row.method].hasCodes)) notes.push("Open dots: no Hamming distances.");
  if (top.length > 1) notes.push(isMissing(block.half) ? "Differences are not tested: that needs at least three random splits (or, on a fixed split, three seeds)." : "Methods whose lines overlap do not differ significantly (5 %).");
  byId("top-notes").textContent = notes.join(" ");
}

// ---- the table -----------------------------------------------------------------------------

function failedCell(row) {
  const td = makeCell(row.failed.map((each) => `${each.cells} ${each.status}`).join(", ") || "–", row.failed.length ? "wrong" : "");
  td.title = row.failed.map((each) => each.reason).join("\n");
  return td;
}

const groupName = (group) => (group < 26 ? String.fromCharCode(65 + group) : String(group + 1));

// Return the columns; optional ones are left out if they are empty.
function rankingColumns(rows, slices) {
  const measure = data.measures[selectedSlice()[4]]?.name ?? "Score";
  const columns = [
    { key: "meanRank", head: "Mean rank", className: "number", optional: true, about: `Over ${slices} slices`, cell: (row) => numberCell(formatNumber(row.meanRank, 1)) },
    { key: "title", head: "Method", cell: methodCell },
    { key: "meanScore", head: "Mean score", className: "number", descending: true, optional: true, about: `Over ${slices} slices`, cell: (row) => numberCell(formatNumber(row.meanScore, 3)) },
    { key: "rank", head: "Rank here", className: "number", about: "In the selected slice", cell: (row) => numberCell(row.rank ?? "–") },
    { key: "mean", head: measure, className: "number", descending: true, about: "In the selected slice", cell: (row) => numberCell(formatNumber(row.mean, 3) + (row.atChance ? "°" : "")) },
    { key: "group", head: "Group", optional: true, cell: (row) => makeCell(isMissing(row.group) ? "–" : groupName(row.group)) },
    { key: "pessimistic", head: "Ties, worst–best", className: "number", descending: true, optional: true, cell: (row) => numberCell(isMissing(row.pessimistic) ? "–" : `${formatNumber(row.pessimistic, 3)}–${formatNumber(row.optimistic, 3)}`) },
    { key: "fit", head: "Fit, s", className: "number", cell: (row) => numberCell(formatSeconds(row.fit)) },
    { key: "bytes", head: "Bytes", className: "number", optional: true, about: "Per item of the database", cell: (row) => numberCell(formatNumber(row.bytes, row.bytes % 1 ? 1 : 0)) },
    ...(data.edition ? [{ key: "fidelity", head: "Fidelity", cell: (row) => makeCell(row.fidelity) }] : []),
    { key: "failedCells", head: "Not done", descending: true, optional: true, cell: failedCell },
  ];
  if (rows.some((row) => row.slices < slices)) {
    columns.push({ key: "slices", head: "Slices", className: "number", cell: (row) => makeCell(`${row.slices ?? 0} of ${slices}`, row.slices === slices ? "number" : "number wrong") });
  }
  return columns.filter((column) => !column.optional || rows.some((row) => row[column.key] || row[column.key] === 0 && column.key === "group"));
}

// Return the slices that have a column: those of the selected code length if all are too many, then
// those of the selected task.
function heatBlocks() {
  const slice = selectedSlice();
  let blocks = data.scores.filter(({ at }) => at[3] === slice[3] && at[4] === slice[4]);
  blocks.sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1] || a.at[2] - b.at[2]);
  for (const selector of [2, 1]) {
    if (blocks.length > mostHeatColumns) blocks = blocks.filter(({ at }) => at[selector] === slice[selector]);
  }
  return blocks.length > 1 ? blocks : [];
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
  button.setAttribute("aria-label", `${button.textContent}: select ${sliceTitle(at)}`);
  button.addEventListener("click", () => { selectSlice(at); byId("table").querySelector("th.current button").focus(); });
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
    const text = value.toFixed(3);
    const td = makeCell(text.replace(/^0/, ""), text === high.toFixed(3) ? "heat best" : "heat");
    td.style.setProperty("--shade", `${high > low ? Math.max(0, (100 * (value - low)) / (high - low)) : 100}%`);
    td.title = `${row.title}, ${sliceTitle(block.at)}: ${value.toFixed(4)}`;
    return td;
  };
}

function tableText(rows) {
  if (!rows.some((row) => row.rank)) return "Nothing was computed for this choice.";
  const [dataset, task, bits, database, measure] = selectedSlice();
  const seeds = Math.max(...rows.map((row) => row.seeds));
  const hidden = data.methods.filter((_, method) => !isShown(method)).length;
  return `${data.measures[measure].words}; ${data.databases[database].name} (${data.databases[database].words}). Selected: ${data.tasks[task].title}, ${data.bits[bits]} bits, `
    + `mean over ${seeds} seed${seeds === 1 ? "" : "s"}; ${data.datasets[dataset].title}: ${data.datasets[dataset].facts}.`
    + `${hidden ? ` The filters hide ${hidden} of ${data.methods.length} methods.` : ""}`;
}

function showTable() {
  const { rows } = ranking;
  const columns = rankingColumns(rows, overviewBlock()?.slices ?? 0);
  const blocks = heatBlocks();
  const heat = blocks.map(heatColumn);
  const tasks = taskInitials();
  const table = byId("table");
  const head = sortHeader(columns, ranking.order, () => sortedBy(table, ranking.order, showTable));
  head.append(...blocks.map((block) => heatHead(block, tasks)));
  table.tHead.replaceChildren(...(blocks.length && data.datasets.length > 1 ? [datasetLine(blocks, columns.length)] : []), head);
  table.tBodies[0].replaceChildren(...sortRows(rows, ranking.order).map((row) => {
    const tr = document.createElement("tr");
    tr.dataset.method = data.methods[row.method].name;
    tr.append(...columns.map((column) => column.cell(row)), ...heat.map((cell) => cell(row)));
    return tr;
  }));
  byId("about").textContent = tableText(rows);
}

function showResults() {
  const block = rankingBlock();
  ranking.rows = rankingRows(block);
  showTop(block);
  showTable();
}

keepInAddress("sort", () => (ranking.order.key === "meanRank" && !ranking.order.descending ? "" : `${ranking.order.descending ? "-" : ""}${ranking.order.key}`), (value) => {
  Object.assign(ranking.order, { key: value.replace("-", ""), descending: value.startsWith("-") });
});
listeners.push(showResults);
showResults();
