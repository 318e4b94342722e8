// Two methods against each other: the numbers of `hashbench compare`, their curves, and every query
// as a point that leads to what it finds.
"use strict";

const pair = () => [Number(byId("first").value), Number(byId("second").value)];

// ---- numbers -------------------------------------------------------------------------------

const splitTest = "t-tests over random splits, corrected for the rows that they share";
const itemTest = "a paired bootstrap over the items that ask on fewer than three splits, which says nothing of training on other rows";

// The scores of both methods under the seeds that both have done, and their differences by split:
// seeds that share one are one piece of evidence.
function bySplit(at, [first, second]) {
  const known = window.hashbenchSeeds;
  const values = known.scores[at.join("-")] ?? {};
  const seeds = Object.keys(values[first] ?? {}).filter((seed) => !missing(values[first][seed]) && !missing(values[second]?.[seed]));
  if (!seeds.length) return null;
  const blocks = new Map();
  for (const seed of seeds) {
    const number = known.blocks[at[0]][seed];
    blocks.set(number, [...(blocks.get(number) ?? []), values[first][seed] - values[second][seed]]);
  }
  const [a, b] = [first, second].map((method) => mean(seeds.map((seed) => values[method][seed])));
  return { first: a, second: b, difference: a - b, differences: [...blocks.values()].map(mean) };
}

// What the items that ask say of two methods, or null: every two of them were compared when the
// page was written, in the order of a triangle, the first of a pair above the second.
function overItems(at, [first, second]) {
  const { least, found } = window.hashbenchSeeds.items;
  const known = found[at.join("-")];
  const [i, j] = [first, second].map((method) => known?.methods.indexOf(method) ?? -1);
  if (i < 0 || j < 0) return null;
  if (i === j) return { low: 0, high: 0, p: 1, test: itemTest };
  const [above, below] = [Math.min(i, j), Math.max(i, j)];
  const place = (above * (2 * known.methods.length - above - 1)) / 2 + below - above - 1;
  const [low, high, p] = [known.low[place], known.high[place], known.p[place]];
  return { low: i < j ? low : -high, high: i < j ? high : -low, p, atMost: p <= least, test: itemTest };
}

// A line a slice of the chosen measure, Holm-corrected over all of them. The p-value of a line that
// was not tested may be any: those of the others are then at most what they are if it is large.
function comparedSlices(methods) {
  const { least, overlaps } = window.hashbenchSeeds;
  const measure = chosen()[4];
  const rows = [];
  for (const { at } of data.scores.filter((block) => block.at[4] === measure)) {
    const scores = bySplit(at, methods);
    if (!scores) continue;
    const { differences } = scores;
    const test = differences.length >= least ? { ...overSplits(differences, overlaps[at[0]]), test: splitTest } : overItems(at, methods);
    rows.push({ ...test, ...scores, at, splits: differences.length, won: differences.filter((each) => each > 0).length });
  }
  const untested = rows.some((row) => !row.test);
  holm(rows.map((row) => row.p ?? 1)).forEach((p, i) => {
    if (rows[i].test) Object.assign(rows[i], { holm: p, atMost: (rows[i].atMost || untested) && p < 1 });
  });
  return rows;
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
const pWords = (p, atMost = false) => `${atMost ? "≤ " : ""}${p < 0.0001 ? p.toExponential(1) : p.toPrecision(2)}`;

function comparedRow(row) {
  const tr = document.createElement("tr");
  const head = cell(`${sliceWords(row.at)}, ${data.databases[row.at[3]].name}`, "", "th");
  head.scope = "row";
  if (same(row.at, chosen(), 5)) tr.className = "best";
  const interval = missing(row.low) ? "–" : `${signed(row.low)} to ${signed(row.high)}`;
  tr.append(
    head, cell(number(row.first, 4), "number"), cell(number(row.second, 4), "number"), cell(signed(row.difference), "number"),
    cell(interval, "number"), cell(missing(row.holm) ? "–" : pWords(row.holm, row.atMost), "number"), cell(`${row.won} of ${row.splits}`, "number"),
  );
  return tr;
}

// ---- queries -------------------------------------------------------------------------------

// The scores of both methods for every query that counts, of the first seed.
async function pairScores() {
  const [dataset, task, bits, database] = chosen();
  const keys = pair().map((method) => cellKey(method, bits));
  if (keys.some((key) => !key)) return null;
  const [items, ...parts] = await Promise.all([`d${dataset}`, ...keys].map(loadPart));
  const [a, b] = parts.map((part) => queryScores(part, data.tasks[task].name, data.databases[database].name));
  if (!a || !b) return null;
  const points = [...a.keys()].filter((item) => !Number.isNaN(a[item]) && !Number.isNaN(b[item]));
  return { items, points, a: points.map((item) => a[item]), b: points.map((item) => b[item]) };
}

async function showScatter() {
  const methods = pair();
  const known = await pairScores();
  const [first, second] = methods.map((method) => plain(title(method)));
  const names = known?.points.map((item) => plain(`item ${known.items.rows[item]} ${itemWords(known.items, item).both}`));
  const traces = known ? [
    { x: [0, 1], y: [0, 1], mode: "lines", line: { color: css("--line"), width: 1 }, hoverinfo: "skip" },
    {
      x: known.b, y: known.a, customdata: known.points.map((item) => known.items.rows[item]), text: names, mode: "markers",
      marker: { size: 6, opacity: 0.55, color: known.a.map((value, i) => colour(methods[value >= known.b[i] ? 0 : 1])) },
      hovertemplate: "%{text}<br>%{y:.4~f} against %{x:.4~f}<extra></extra>",
    },
  ] : [];
  const measure = plain(data.search.measure);
  const lacking = methods.filter((method) => !cellKey(method, chosen()[2])).map((method) => plain(title(method)));
  const why = lacking.length ? `No codes to ask, query by query: ${lacking.join(", ")}` : "Nothing that both have done";
  draw("scatter-chart", traces, { title: { text: `${second}: ${measure}`, standoff: 8 }, range: [-0.02, 1.02] }, { title: { text: `${first}: ${measure}` }, range: [-0.02, 1.02] }, false, why);
  const chart = byId("scatter-chart");
  chart.removeAllListeners?.("plotly_click");
  chart.on?.("plotly_click", ({ points }) => { if (points[0].customdata !== undefined) openQuery(points[0].customdata); });
}

function openQuery(row) {
  search.picked = pair();
  ask(row);
  goTo("search");
}

const showPair = () => drawCurves("pair-chart", pair());

async function queryWords([first, second]) {
  const known = await pairScores();
  if (!known || !known.points.length) return "";
  const differences = known.a.map((value, i) => value - known.b[i]);
  const won = differences.filter((each) => each > 0).length;
  const lost = differences.filter((each) => each < 0).length;
  const test = overQueries(differences);
  return ` By query (${data.search.measure}, first seed, the chosen slice): ${title(first)} is better for ${won}, equal for ${differences.length - won - lost}, worse for ${lost} `
    + `of ${differences.length}; mean difference ${signed(test.difference)}, 95 % from ${signed(test.low)} to ${signed(test.high)}, p ${test.atMost ? "" : "= "}${pWords(test.p, test.atMost)}, `
    + "from a paired bootstrap over queries, not corrected, which says nothing of training on other rows.";
}

// ---- together ------------------------------------------------------------------------------

const compare = { started: false, turn: 0, picked: false };

// What the terminal compares by, if nothing is said, is the study's first measure.
function compareCommand(methods) {
  const { name } = data.measures[chosen()[4]];
  const measure = name === data.search.measure ? "" : ` --measure '${name}'`;
  return `hashbench compare ${methods.map((method) => `'${data.methods[method].name}'`).join(" ")} --on OUT${measure}`;
}

function comparedWords(methods, rows) {
  if (!rows.length) return "Nothing that both have done. ";
  const tests = [...new Set(rows.map((row) => row.test).filter(Boolean))];
  const untested = rows.some((row) => !row.test);
  return `${data.measures[chosen()[4]].words}; ${title(methods[0])} minus ${title(methods[1])}. `
    + (tests.length ? `Intervals (95 %) and p-values, Holm-corrected over all lines, are of ${tests.join(" or of ")}. ` : "")
    + (untested ? `Lines without a p-value have fewer than three random splits${tests.length ? ", and make the others bounds" : ""}; the command below tests them.` : "");
}

async function showCompare() {
  if (!compare.picked && data.methods.length > 1) {
    // the best two, of those whose queries can be looked at if there are two
    const best = ranking.list.filter((row) => row.rank !== null).map((row) => row.method);
    const asked = best.filter((method) => cellKey(method, chosen()[2]));
    [byId("first").value, byId("second").value] = [asked, best].find((each) => each.length > 1) ?? [0, 1];
  }
  if (!compare.started) return;
  const turn = (compare.turn += 1);
  const methods = pair();
  await load("seeds.js");
  const rows = comparedSlices(methods);
  const words = rows.length ? await queryWords(methods) : "";
  if (turn !== compare.turn) return;
  byId("compare-table").tBodies[0].replaceChildren(...rows.map(comparedRow));
  for (const [i, id] of ["compare-first", "compare-second"].entries()) byId(id).textContent = title(methods[i]);
  byId("compare-command").textContent = compareCommand(methods);
  byId("compare-words").textContent = comparedWords(methods, rows) + words;
}

function pickPair() {
  compare.picked = true;
  showCompare();
  redraw(["scatter-chart", "pair-chart"]);
  writeAddress();
}

for (const id of ["first", "second"]) byId(id).addEventListener("change", pickPair);
byId("swap").addEventListener("click", () => {
  const [first, second] = pair();
  [byId("first").value, byId("second").value] = [second, first];
  pickPair();
});
byId("apart").addEventListener("click", () => {
  search.picked = pair();
  byId("query-order").value = "apart";
  search.row = null;
  byId("find").value = "";
  search.started = true;
  showSearch();
  writeAddress(true);
  goTo("search");
});
for (const [key, id] of [["x", "first"], ["y", "second"]]) {
  keep(key, () => (compare.picked ? data.methods[Number(byId(id).value)]?.name ?? "" : ""), (value) => {
    if (methodCalled(value) < 0) return;
    compare.picked = true;
    byId(id).value = methodCalled(value);
  });
}
readAddress(["x", "y"]);
addCharts({ "scatter-chart": showScatter, "pair-chart": showPair }, whenSettled);
onView(showCompare);
new IntersectionObserver(async ([entry], observer) => {
  if (!entry.isIntersecting) return;
  observer.disconnect();
  await whenSettled(); // its bootstrap takes longer than a chart
  compare.started = true;
  showCompare();
}, { rootMargin: "300px" }).observe(byId("compare"));
showCompare();
