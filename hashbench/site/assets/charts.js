// The charts. plotly's script and the curves are large: they are loaded when a chart comes near the
// window, and each chart is drawn then. Until then an empty box has its size.
"use strict";

const dashes = ["solid", "dash", "dot", "dashdot"];
const svgDashes = ["", "6 3", "2 2", "6 2 2 2"];
// Escape a text: plotly reads some markup in its texts.
const escapeMarkup = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const shorten = (text) => (text.length > 24 ? `${text.slice(0, 23)}…` : text);
const cssValue = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- plotly --------------------------------------------------------------------------------

// The buttons are listed because one of plotly's default buttons sends the data to a server.
const plotlySettings = {
  displaylogo: false, responsive: true, showSendToCloud: false, plotlyServerURL: "",
  modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
};

function drawChart(id, traces, x, y, { legend = false, empty = "Nothing to show" } = {}) {
  const axis = { gridcolor: cssValue("--line"), zerolinecolor: cssValue("--line"), automargin: true, visible: traces.length > 0 };
  window.Plotly.react(id, traces, {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: cssValue("--text"), size: 13 },
    margin: { l: 60, r: 20, t: 36, b: 60 }, hovermode: "closest", showlegend: legend, legend: { orientation: "h", y: 1.12 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: cssValue("--soft"), activecolor: cssValue("--accent") },
    xaxis: { ...axis, ...x }, yaxis: { ...axis, ...y },
    annotations: traces.length ? [] : [{ text: escapeMarkup(empty), showarrow: false }],
  }, plotlySettings);
}

const drawn = new Map(); // the function that draws a chart, once it has come near the window

function addChart(id, draw) {
  whenNear(id, async () => {
    await Promise.all([loadScript("plotly.min.js"), loadScript("curves.js")]);
    drawn.set(id, draw);
    draw();
  });
}

function redraw(...ids) {
  for (const id of ids) drawn.get(id)?.();
}

// ---- curves --------------------------------------------------------------------------------

// Draw the selected kind of curve for some methods.
function drawCurves(id, methods, { lineOf, legend }) {
  const kind = byId("curve").value;
  const overRanks = kind === "precision" || kind === "recall";
  const { scale, rank, radius } = window.hashbenchCurves;
  const scaled = (values) => values.map((value) => value / scale);
  const slice = selectedSlice().slice(0, 4);
  const curves = (kind === "radius" ? radius : rank).filter((each) => sameSlice(each.at, slice) && methods.includes(each.method));
  const traces = curves.map(({ method, x, precision, recall }) => ({
    x: overRanks ? x : scaled(recall), y: scaled(kind === "recall" ? recall : precision),
    name: escapeMarkup(methodTitle(method)), mode: "lines",
    line: { ...lineOf(method), width: 2 },
    hovertemplate: "%{fullData.name}<br>%{x:.4~g}, %{y:.4~f}<extra></extra>",
  }));
  const x = overRanks ? { title: { text: "K", standoff: 8 }, type: "log", dtick: "D2" } : { title: { text: "Recall", standoff: 8 }, range: [0, 1.005] };
  drawChart(id, traces, x, { title: { text: kind === "recall" ? "Recall" : "Precision" }, rangemode: "tozero" }, { legend });
}

const ownLine = (method) => ({ color: methodColour(method), dash: dashes[data.methods[method].dash] });

// The methods whose curves are drawn: the best eight of the ranking until somebody selects others.
let curveMethods = null;

const shownCurves = () => curveMethods ?? ranking.rows.filter((row) => row.rank).slice(0, 8).map((row) => row.method);

function showCurves() {
  byId("chips").querySelectorAll("label").forEach((label, method) => {
    label.hidden = !isShown(method);
    label.querySelector("input").checked = shownCurves().includes(method);
    label.querySelector("line").setAttribute("stroke", methodColour(method));
    label.querySelector("line").setAttribute("stroke-dasharray", svgDashes[data.methods[method].dash]);
  });
  redraw("curve-chart");
}

function selectCurves(methods) {
  curveMethods = methods;
  showCurves();
  writeAddress();
}

// ---- together ------------------------------------------------------------------------------

byId("chips").addEventListener("change", () => {
  const boxes = [...byId("chips").querySelectorAll("input")];
  selectCurves([...boxes.keys()].filter((method) => boxes[method].checked));
});
byId("curve").addEventListener("change", () => { redraw("curve-chart", "pair-chart"); writeAddress(); });
byId("show-all").addEventListener("click", () => selectCurves([...data.methods.keys()]));
byId("show-none").addEventListener("click", () => selectCurves([]));
byId("show-top").addEventListener("click", () => selectCurves(null));
keepSelect("curve", "curve");
keepInAddress("show", () => (curveMethods ? curveMethods.map((method) => data.methods[method].name).join(" ") || "none" : ""), (value) => {
  curveMethods = value.split(" ").map(findMethod).filter((method) => method >= 0);
});
addChart("curve-chart", () => drawCurves("curve-chart", shownCurves().filter(isShown), { lineOf: ownLine, legend: false }));
listeners.push(showCurves);
showCurves();
