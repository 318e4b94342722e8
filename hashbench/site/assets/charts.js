// The charts. plotly's script and the curves are large: they are run when a chart comes near the
// window, and each chart is drawn when it is first seen. Until then an empty box keeps its place.
"use strict";

const visible = { hidden: new Set(), picked: false, drawn: new Set(), ready: null };

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dashes = ["solid", "dash", "dot", "dashdot"];
const strokes = ["", "6 3", "2 2", "6 2 2 2"];
// as the figures for print mark them
const markers = {
  o: "circle", s: "square", "^": "triangle-up", D: "diamond", v: "triangle-down", P: "cross", X: "x",
  "<": "triangle-left", ">": "triangle-right", p: "pentagon", "*": "star",
};
// plotly reads a little markup in texts; nothing of the study may be read as such
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const short = (text) => (text.length > 24 ? `${text.slice(0, 23)}…` : text);

// ---- plotly --------------------------------------------------------------------------------

// Named one by one: among plotly's own choice is a button that sends a chart's data to a server.
const settings = {
  displaylogo: false, responsive: true, showSendToCloud: false, plotlyServerURL: "",
  modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
};

function layout(x, y) {
  const axis = { gridcolor: css("--line"), zerolinecolor: css("--line"), automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: css("--text"), size: 13 },
    margin: { l: 60, r: 20, t: 36, b: 60 }, showlegend: false, hovermode: "closest",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--accent") },
    xaxis: { ...axis, ...x }, yaxis: { ...axis, ...y },
  };
}

function draw(id, traces, x, y, legend = false, why = "Nothing to show") {
  const empty = { xaxis: { visible: false }, yaxis: { visible: false }, annotations: [{ text: why, showarrow: false }] };
  const look = traces.length ? layout(x, y) : { ...layout({}, {}), ...empty };
  const named = legend ? { showlegend: true, legend: { orientation: "h", y: 1.12 } } : {};
  window.Plotly.react(id, traces, { ...look, ...named }, settings);
}

const needed = ["plotly.min.js", "curves.js"];
const whenReady = () => (visible.ready ??= Promise.all(needed.map(load)));

// A page at rest fetches and compiles them, which is done beside it, and does not run them.
function readAhead(source) {
  const link = document.createElement("link");
  Object.assign(link, { rel: "preload", as: "script", href: source });
  document.head.append(link);
}

following.steps.push(...needed.map((source) => () => readAhead(source)));

// Ready, and what was waiting for that is drawn and seen: for what may come after it.
const whenSettled = () => whenReady().then(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

// ---- curves --------------------------------------------------------------------------------

// Curves of the kind chosen, of all methods or of some.
function drawCurves(id, only = null) {
  const place = chosen();
  const kind = byId("curve").value;
  const ranks = kind === "precision" || kind === "recall";
  const source = window.hashbenchCurves[kind === "radius" ? "radius" : "rank"];
  const share = (values) => values.map((value) => value / window.hashbenchCurves.scale);
  const wanted = (method) => (only ? only.includes(method) : passes(method) && !visible.hidden.has(method));
  const traces = source.curves.filter((each) => same(each.at, place, 4) && wanted(each.at[4])).map((each) => {
    const method = each.at[4];
    return {
      x: ranks ? source.x[each.x] : share(each.r), y: share(kind === "recall" ? each.r : each.p),
      name: plain(title(method)), mode: "lines",
      line: { color: colour(method), dash: dashes[data.methods[method].dash], width: 2 },
      hovertemplate: "%{fullData.name}<br>%{x:.4~g}, %{y:.4~f}<extra></extra>",
    };
  });
  const x = ranks ? { title: { text: "K", standoff: 8 }, type: "log", dtick: "D2" } : { title: { text: "Recall", standoff: 8 }, range: [0, 1.005] };
  const y = { title: { text: kind === "recall" ? "Recall" : "Precision" }, rangemode: "tozero" };
  draw(id, traces, x, y, Boolean(only));
}

const showCurves = () => drawCurves("curve-chart");

function colourChips() {
  byId("chips").querySelectorAll("line").forEach((line, method) => {
    line.setAttribute("stroke", colour(method));
    line.setAttribute("stroke-dasharray", strokes[data.methods[method].dash]);
  });
}

function hide(methods) {
  visible.hidden = new Set(methods);
  byId("chips").querySelectorAll("input").forEach((box, method) => { box.checked = !visible.hidden.has(method); });
}

function hideAllButTop() {
  const top = new Set(ranking.list.filter((row) => row.rank !== null).slice(0, 8).map((row) => row.method));
  hide(data.methods.map((_, method) => method).filter((method) => !top.has(method)));
}

// Until somebody picks curves, they are those of the best eight, whatever is chosen above.
function followRanking() {
  if (!visible.picked) hideAllButTop();
  byId("chips").querySelectorAll("label").forEach((label, method) => { label.hidden = !passes(method); });
  colourChips();
  redraw();
}

function pick() {
  visible.picked = true;
  redrawCurves();
  writeAddress();
}

// ---- time ----------------------------------------------------------------------------------

// Names beside their points, as far as they do not run into another name or point; the others
// are read by pointing at them. The best methods come first.
function roomyLabels(shown, box) {
  const log = shown.map((row) => Math.log10(row.fit));
  const span = (values) => [Math.min(...values), Math.max(...values) - Math.min(...values) || 1];
  const [[left, width], [low, height]] = [span(log), span(shown.map((row) => row.mean))];
  const points = shown.map((row, i) => ({
    x: ((log[i] - left) / width) * box.width, y: (1 - (row.mean - low) / height) * box.height,
  }));
  const taken = points.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
  const free = ([a, b, c, d], own) => taken.every(([e, f, g, h], i) => i === own || c < e || g < a || d < f || h < b);
  return shown.map((row, i) => {
    const half = 3.4 * short(row.title).length;
    const { x, y } = points[i];
    const places = {
      "top center": [x - half, y - 21, x + half, y - 7], "bottom center": [x - half, y + 7, x + half, y + 21],
      "middle right": [x + 8, y - 7, x + 8 + 2 * half, y + 7], "middle left": [x - 8 - 2 * half, y - 7, x - 8, y + 7],
    };
    const found = Object.entries(places).find(([, place]) => free(place, i));
    if (found) taken.push(found[1]);
    return found ? found[0] : null;
  });
}

function showTime() {
  const shown = ranking.list.filter((row) => row.mean !== null && row.fit !== null && row.fit > 0);
  const chart = byId("time-chart");
  const places = roomyLabels(shown, { width: chart.clientWidth - 120, height: chart.clientHeight - 130 });
  const names = shown.map((row) => plain(short(row.title)));
  const trace = {
    x: shown.map((row) => row.fit), y: shown.map((row) => row.mean), customdata: shown.map((row) => plain(row.title)),
    text: names.map((name, i) => (places[i] ? name : "")), mode: "markers+text",
    textposition: places.map((place) => place ?? "top center"), textfont: { size: 11 }, cliponaxis: false,
    marker: {
      size: 10, color: shown.map((row) => colour(row.method)),
      symbol: shown.map((row) => markers[data.methods[row.method].marker]),
    },
    hovertemplate: "%{customdata}<br>%{x:.3~g} s, %{y:.4~f}<extra></extra>",
  };
  const x = { title: { text: "Training, seconds", standoff: 8 }, type: "log", dtick: "D2" };
  const y = { title: { text: plain(data.measures[chosen()[4]].name) } };
  draw("time-chart", shown.length ? [trace] : [], x, y);
}

// ---- together ------------------------------------------------------------------------------

const charts = {};
const starts = new Map();

function redraw(ids = Object.keys(charts)) {
  for (const id of ids) if (visible.drawn.has(id)) charts[id]();
}

const redrawCurves = () => redraw(["curve-chart", "pair-chart"]);

const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    drawFirst(target.id);
  }
}, { rootMargin: "600px" });

async function drawFirst(id) {
  near.unobserve(byId(id));
  await starts.get(id)();
  if (visible.drawn.has(id)) return;
  visible.drawn.add(id);
  charts[id]();
}

// Charts that are drawn when they come near, as soon as `start` lets them.
function addCharts(more, start = whenReady) {
  Object.assign(charts, more);
  for (const id of Object.keys(more)) {
    starts.set(id, start);
    near.observe(byId(id));
  }
}

const drawAll = () => Promise.all(Object.keys(charts).map(drawFirst));

byId("chips").querySelectorAll("input").forEach((box, method) => {
  box.addEventListener("change", () => {
    if (box.checked) visible.hidden.delete(method); else visible.hidden.add(method);
    pick();
  });
});
byId("curve").addEventListener("change", () => { redrawCurves(); writeAddress(); });
byId("show-all").addEventListener("click", () => { hide([]); pick(); });
byId("show-none").addEventListener("click", () => { hide(data.methods.keys()); pick(); });
byId("show-top").addEventListener("click", () => { visible.picked = false; followRanking(); writeAddress(); });
keepSelect("curve", "curve");
keep("show", () => {
  if (!visible.picked) return "";
  const names = data.methods.filter((_, method) => !visible.hidden.has(method)).map((each) => each.name);
  return names.length ? names.join(" ") : "none";
}, (value) => {
  const wanted = new Set(value.split(" "));
  visible.picked = true;
  hide([...data.methods.keys()].filter((method) => !wanted.has(data.methods[method].name)));
});
readAddress(["curve", "show"]);
onView(followRanking);
followRanking();
addCharts({ "curve-chart": showCurves, "time-chart": showTime });
