// The ranking of one slice: every method with its score, its training time and what failed.
"use strict";

const ranking = { order: { key: "mean", descending: true }, rows: [] };

const rankingBlock = () => data.scores.find((each) => sameSlice(each.at, selectedSlice()));

// Return the rows, best first. Methods without a score are among them if a cell of theirs failed.
function rankingRows(block) {
  const [dataset, , bits] = selectedSlice();
  const runs = data.runs.filter(({ at }) => sameSlice(at, [dataset, bits]));
  const scored = new Map(block?.rows.map((row) => [row.method, row]));
  const methods = [...scored.keys(), ...runs.filter((run) => run.failed.length && !scored.has(run.method)).map((run) => run.method)];
  const rows = methods.filter(isShown).map((method) => {
    const run = runs.find((each) => each.method === method);
    const failed = run?.failed ?? [];
    const failedCells = failed.reduce((sum, each) => sum + each.cells, 0);
    return { mean: null, seeds: 0, ...scored.get(method), method, title: methodTitle(method), fit: run?.fit, failed, failedCells };
  });
  rows.sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1));
  rows.forEach((row, i) => { // equal scores share their rank
    const tied = i > 0 && row.mean === rows[i - 1].mean;
    row.rank = isMissing(row.mean) ? null : tied ? rows[i - 1].rank : i + 1;
  });
  return rows;
}

function failedCell(row) {
  const td = makeCell(row.failed.map((each) => `${each.cells} ${each.status}`).join(", ") || "–", row.failed.length ? "wrong" : "");
  td.title = row.failed.map((each) => each.reason).join("\n");
  return td;
}

const groupName = (group) => (group < 26 ? String.fromCharCode(65 + group) : String(group + 1));

// Return the columns; optional ones are left out if they are empty, as the spread of one seed is.
function rankingColumns(rows, chance) {
  const most = Math.max(...rows.map((row) => (row.mean ?? 0) + (row.deviation ?? 0)), 0.01);
  const columns = [
    { key: "rank", head: "#", className: "number", cell: (row) => numberCell(row.rank ?? "–") },
    { key: "title", head: "Method", cell: methodCell },
    { key: "mean", head: "Value", className: "number", descending: true, cell: (row) => numberCell(formatNumber(row.mean, 4) + (row.atChance ? "°" : "")) },
    { key: "", head: "", className: "bar", cell: (row) => barCell({ value: row.mean, spread: row.deviation, chance, most }) },
    { key: "deviation", head: "± seeds", className: "number", descending: true, optional: true, cell: (row) => numberCell(formatNumber(row.deviation, 4)) },
    { key: "group", head: "Group", optional: true, cell: (row) => makeCell(isMissing(row.group) ? "–" : groupName(row.group)) },
    { key: "pessimistic", head: "Ties, worst–best", className: "number", descending: true, optional: true, cell: (row) => numberCell(isMissing(row.pessimistic) ? "–" : `${formatNumber(row.pessimistic, 3)}–${formatNumber(row.optimistic, 3)}`) },
    { key: "fit", head: "Fit, s", className: "number", cell: (row) => numberCell(formatSeconds(row.fit)) },
    { key: "failedCells", head: "Not done", descending: true, optional: true, cell: failedCell },
  ];
  return columns.filter((column) => !column.optional || rows.some((row) => row[column.key] || row[column.key] === 0 && column.key === "group"));
}

function rankingText(rows, chance) {
  if (!rows.some((row) => row.rank)) return "Nothing was computed for this choice.";
  const [dataset, task, bits, database, measure] = selectedSlice();
  const seeds = Math.max(...rows.map((row) => row.seeds));
  return `${data.measures[measure].words}; ${data.tasks[task].title}, ${data.bits[bits]} bits; ${data.databases[database].name} (${data.databases[database].words}); `
    + `mean over ${seeds} seed${seeds === 1 ? "" : "s"}. ${data.datasets[dataset].title}: ${data.datasets[dataset].facts}.`
    + `${isMissing(chance) ? "" : ` Chance: ${formatNumber(chance, 4)}.`}`;
}

function showRanking() {
  const block = rankingBlock();
  ranking.rows = rankingRows(block);
  const columns = rankingColumns(ranking.rows, block?.chance);
  const table = byId("ranking-table");
  table.tHead.replaceChildren(sortHeader(columns, ranking.order, () => sortedBy(table, ranking.order, showRanking)));
  table.tBodies[0].replaceChildren(...sortRows(ranking.rows, ranking.order).map((row) => {
    const tr = makeElement("tr", row.rank === 1 ? "best" : "");
    tr.append(...columns.map((column) => column.cell(row)));
    return tr;
  }));
  byId("about").textContent = rankingText(ranking.rows, block?.chance);
}

listeners.push(showRanking);
showRanking();
