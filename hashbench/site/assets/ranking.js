// The ranking of one slice: a dataset, a task, a code length, with all that is known of each method.
"use strict";

const ranking = { order: { key: "mean", descending: true }, list: [] };

function rankingRows(place) {
  const block = data.scores.find((each) => same(each.at, place, 5));
  const rows = new Map();
  for (const [method, value, spread, seeds, low, high, group, atChance] of block ? block.rows : []) {
    rows.set(method, { method, mean: value, deviation: spread, seeds, low, high, group, atChance, fit: null, wrong: [] });
  }
  for (const run of data.runs) {
    if (run.at[0] !== place[0] || run.at[1] !== place[2]) continue;
    const method = run.at[2];
    if (!rows.has(method)) {
      if (!run.wrong.length) continue; // has no such database codes, or no such measure
      rows.set(method, { method, mean: null, deviation: null, seeds: 0, low: null, high: null, group: null });
    }
    Object.assign(rows.get(method), { fit: run.fit, wrong: run.wrong });
  }
  const list = [...rows.values()].filter((row) => passes(row.method));
  list.sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1));
  giveRanks(list, "mean");
  for (const row of list) {
    row.title = title(row.method);
    row.undone = row.wrong.reduce((sum, each) => sum + each.cells, 0);
  }
  return { list, chance: block ? block.chance : null };
}

// 0 is A, 25 is Z, 26 is AA
function letters(index) {
  let text = "";
  for (let n = index; n >= 0; n = Math.floor(n / 26) - 1) text = String.fromCharCode(65 + (n % 26)) + text;
  return text;
}

function wrongCell(row) {
  const wrong = row.wrong.map((each) => `${each.cells} ${each.status}`).join(", ");
  const td = cell(wrong || "–", wrong ? "wrong" : "");
  if (wrong) td.title = row.wrong.map((each) => each.reason).join("\n");
  return td;
}

// Columns that would hold nothing but dashes are left out: the spread of one seed, say.
function rankingColumns(list, chance) {
  const most = Math.max(...list.map((row) => (row.mean ?? 0) + (row.deviation ?? 0)), 0.01);
  const all = [
    { key: "rank", head: "#", className: "number", cell: (row) => cell(row.rank ?? "–", "number") },
    { key: "title", head: "Method", className: "", cell: methodCell },
    { key: "mean", head: "Value", className: "number", descending: true, cell: (row) => cell(number(row.mean, 4) + (row.atChance ? "°" : ""), "number") },
    { key: "", head: "", className: "bar", cell: (row) => bar({ value: row.mean, spread: row.deviation, chance, most }) },
    { key: "deviation", head: "± seeds", className: "number", descending: true, optional: true, cell: (row) => cell(number(row.deviation, 4), "number") },
    { key: "group", head: "Group", className: "", optional: true, cell: (row) => cell(missing(row.group) ? "–" : letters(row.group), "") },
    { key: "low", head: "Ties, worst–best", className: "number", descending: true, optional: true, cell: (row) => cell(missing(row.low) ? "–" : `${number(row.low, 3)}–${number(row.high, 3)}`, "number") },
    { key: "fit", head: "Fit, s", className: "number", cell: (row) => cell(seconds(row.fit), "number") },
    { key: "undone", head: "Not done", className: "", descending: true, optional: true, cell: wrongCell },
  ];
  return all.filter((column) => !column.optional || list.some((row) => (column.key === "undone" ? row.undone : !missing(row[column.key]))));
}

function about(place, list, chance) {
  if (!list.some((row) => row.mean !== null)) return "Nothing was computed for this choice.";
  const dataset = data.datasets[place[0]];
  const seeds = Math.max(0, ...list.map((row) => row.seeds));
  return `${data.measures[place[4]].words}; ${data.tasks[place[1]].title}, ${data.bits[place[2]]} bits; `
    + `database codes: ${data.databases[place[3]].words}; mean over ${seeds} seed${seeds === 1 ? "" : "s"}. `
    + `${dataset.title}: ${dataset.facts}.${chance === null ? "" : ` Chance: ${number(chance, 4)}.`}`;
}

function showRanking() {
  const place = chosen();
  const { list, chance } = rankingRows(place);
  const columns = rankingColumns(list, chance);
  const table = byId("ranking-table");
  table.tHead.replaceChildren(sortHeader(columns, ranking.order, showRanking));
  const rows = sorted(list, ranking.order).map((row) => {
    const tr = document.createElement("tr");
    if (row.rank === 1) tr.className = "best";
    tr.append(...columns.map((column) => column.cell(row)));
    return tr;
  });
  table.tBodies[0].replaceChildren(...rows);
  byId("about").textContent = about(place, list, chance);
  ranking.list = list;
}

// Called by the page when the tables are there and nothing below them yet.
function startPage() {
  startView();
  startOverview();
  onView(showRanking);
  showRanking();
  // an overview that fills a window is seen before anything below it is laid out
  document.body.classList.toggle("opening", overview.rows.length >= overview.tall);
  followFirstScreen(() => heatUp(10), () => load("later.js"));
}
