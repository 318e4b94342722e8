// Two methods compared: the numbers of `hashbench compare` in every slice, their curves, and one
// point per query, which leads to what that query finds.
"use strict";

const compare = { near: false, calls: 0, selected: false };
const pairColours = ["--first", "--second"];
const methodPair = () => [Number(byId("first").value), Number(byId("second").value)];

// ---- numbers -------------------------------------------------------------------------------

const testTitles = {
  splits: "the studentized range of all methods over random splits, corrected for the rows that splits share",
  initialisations: "resampling the initialisations and queries of one split, for all methods together",
};

// Return one row per slice, for the first method minus the second. Every two methods were compared
// when the page was written; the one with the smaller number is the first there.
async function comparedSlices([first, second]) {
  const measure = selectedSlice()[4];
  await loadScript(`compare${measure}.js`);
  const { slices, pairs } = window[`hashbenchCompare${measure}`];
  const negate = (value) => (isMissing(value) ? null : -value);
  const rows = pairs[`${Math.min(first, second)}-${Math.max(first, second)}`] ?? [];
  return rows.map(([slice, a, b, low, high, p, won, lost, splits]) => ({
    ...slices[slice], splits, p,
    ...(first < second ? { first: a, second: b, low, high, won } : { first: b, second: a, low: negate(high), high: negate(low), won: lost }),
  }));
}

const formatSigned = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

function comparedRow(row) {
  const tr = makeElement("tr", sameSlice(row.at, selectedSlice()) ? "best" : "");
  const interval = isMissing(row.low) ? "–" : `${formatSigned(row.low)} to ${formatSigned(row.high)}`;
  const texts = [formatNumber(row.first, 3), formatNumber(row.second, 3), formatSigned(row.first - row.second), interval, row.p ?? "–", `${row.won} of ${row.splits}`];
  tr.append(headCell(`${sliceTitle(row.at)}, ${data.databases[row.at[3]].name}`, "row"), ...texts.map(numberCell));
  return tr;
}

function comparedText(methods, rows) {
  if (!rows.length) return "Nothing that both have done.";
  const tests = [...new Set(rows.filter((row) => row.p).map((row) => testTitles[row.test]))];
  const untested = rows.some((row) => !row.p);
  return `${data.measures[selectedSlice()[4]].words}; ${methodTitle(methods[0])} minus ${methodTitle(methods[1])}. `
    + (tests.length ? `Intervals (95 %) and p-values are of ${tests.join(" or of ")}. ` : "")
    + (untested ? "Lines without a p-value are not tested: it would take three random splits, or three seeds on a fixed one. " : "");
}

// ---- queries -------------------------------------------------------------------------------

// Return the scores of both methods for every query that counts, of the first seed.
async function pairScores() {
  const [dataset, task, bits, database] = selectedSlice();
  const keys = methodPair().map((method) => cellKey(method, bits));
  if (keys.some((key) => !key)) return null;
  const [items, ...parts] = await Promise.all([`d${dataset}`, ...keys].map(loadPart));
  const [a, b] = parts.map((part) => queryScores(part, data.tasks[task].name, data.databases[database].name));
  if (!a || !b) return null;
  const queries = [...a.keys()].filter((item) => !Number.isNaN(a[item]) && !Number.isNaN(b[item]));
  return { items, queries, a: queries.map((item) => a[item]), b: queries.map((item) => b[item]) };
}

async function drawScatter() {
  const methods = methodPair();
  const scores = await pairScores();
  const rowOf = (item) => scores.items.rows[item];
  const traces = scores ? [
    { x: [0, 1], y: [0, 1], mode: "lines", line: { color: cssValue("--line"), width: 1 }, hoverinfo: "skip" },
    {
      x: scores.b, y: scores.a, customdata: scores.queries.map(rowOf), mode: "markers",
      text: scores.queries.map((item) => escapeMarkup(`item ${rowOf(item)} ${itemWords(scores.items, item).both}`)),
      marker: { size: 6, opacity: 0.55, color: scores.a.map((value, i) => cssValue(pairColours[value >= scores.b[i] ? 0 : 1])) },
      hovertemplate: "%{text}<br>%{y:.4~f} against %{x:.4~f}<extra></extra>",
    },
  ] : [];
  const [y, x] = methods.map((method) => ({ title: { text: escapeMarkup(`${methodTitle(method)}: ${data.search.measure}`), standoff: 8 }, range: [-0.02, 1.02] }));
  const lacking = methods.filter((method) => !cellKey(method, selectedSlice()[2])).map(methodTitle);
  drawChart("scatter-chart", traces, x, y, { empty: lacking.length ? `No codes to search with: ${lacking.join(", ")}` : "Nothing that both have done" });
  const chart = byId("scatter-chart");
  chart.removeAllListeners("plotly_click");
  chart.on("plotly_click", ({ points: [point] }) => {
    if (point.customdata === undefined) return;
    search.selected = methodPair();
    showQuery(point.customdata);
    goTo("search");
  });
}

async function queryText([first, second]) {
  const scores = await pairScores();
  if (!scores?.queries.length) return "";
  const better = scores.a.filter((value, i) => value > scores.b[i]).length;
  const worse = scores.a.filter((value, i) => value < scores.b[i]).length;
  const count = scores.queries.length;
  return `By query (${data.search.measure}, first seed, the selected slice): ${methodTitle(first)} is better than ${methodTitle(second)} for ${better} `
    + `of ${count}, equal for ${count - better - worse}, worse for ${worse}.`;
}

const pairLine = (method) => ({ color: cssValue(pairColours[methodPair().indexOf(method)]) });

// ---- together ------------------------------------------------------------------------------

function compareCommand(methods) {
  const { name } = data.measures[selectedSlice()[4]];
  const measure = name === data.search.measure ? "" : ` --measure '${name}'`; // the default of the command
  return `hashbench compare ${methods.map((method) => `'${data.methods[method].name}'`).join(" ")} --on OUT${measure}`;
}

// Until somebody selects methods, they are the best two, if possible of those with codes.
function selectBestPair() {
  const best = ranking.rows.filter((row) => row.rank).map((row) => row.method);
  const withCodes = best.filter((method) => cellKey(method, selectedSlice()[2]));
  [byId("first").value, byId("second").value] = [withCodes, best].find((each) => each.length > 1) ?? [0, 1];
}

async function showCompare() {
  if (data.methods.length < 2) return;
  if (!compare.selected) selectBestPair();
  if (!compare.near) return;
  redraw("scatter-chart", "pair-chart");
  const call = (compare.calls += 1);
  const methods = methodPair();
  const rows = data.measures.length ? await comparedSlices(methods) : [];
  const text = comparedText(methods, rows) + (rows.length ? await queryText(methods) : "");
  if (call !== compare.calls) return; // another pair was selected meanwhile
  byId("compare-table").tBodies[0].replaceChildren(...rows.map(comparedRow));
  byId("compare-first").textContent = methodTitle(methods[0]);
  byId("compare-second").textContent = methodTitle(methods[1]);
  byId("compare-command").textContent = rows.length ? compareCommand(methods) : "";
  byId("compare-words").textContent = text;
}

function selectPair(first, second) {
  [byId("first").value, byId("second").value] = [first, second];
  compare.selected = true;
  showCompare();
  writeAddress();
}

for (const id of ["first", "second"]) byId(id).addEventListener("change", () => selectPair(...methodPair()));
byId("swap").addEventListener("click", () => selectPair(...methodPair().reverse()));
byId("largest-difference").addEventListener("click", () => {
  search.selected = methodPair();
  search.row = null;
  byId("query-order").value = "difference";
  byId("find").value = "";
  showSearch();
  writeAddress(true);
  goTo("search");
});
for (const [key, id] of [["x", "first"], ["y", "second"]]) {
  keepInAddress(key, () => (compare.selected ? data.methods[Number(byId(id).value)].name : ""), (value) => {
    if (findMethod(value) < 0) return;
    compare.selected = true;
    byId(id).value = findMethod(value);
  });
}
listeners.push(showCompare);
addChart("scatter-chart", drawScatter);
addChart("pair-chart", () => drawCurves("pair-chart", methodPair(), { lineOf: pairLine, legend: true }));
whenNear("compare", () => {
  compare.near = true;
  showCompare();
});
showCompare();
