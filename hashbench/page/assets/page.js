// The page's behaviour: five selectors, a sortable ranking, and two charts.
// Every text of the study is written with textContent, so that no name can become markup.
"use strict";

const data = window.hashbenchData;
const byId = (id) => document.getElementById(id);
const selectors = ["dataset", "task", "bits", "database", "measure"];
const state = { sort: "mean", descending: true, hidden: new Set() };

const lists = {
  dataset: data.datasets.map((each) => each.title),
  task: data.tasks.map((each) => each.title),
  bits: data.bits.map(String),
  database: data.databases.map((each) => each.name),
  measure: data.measures.map((each) => each.name),
};

function fillSelectors() {
  for (const name of selectors) {
    byId(name).replaceChildren(...lists[name].map((text, index) => new Option(text, index)));
    byId(name).addEventListener("change", update);
  }
  const usual = data.bits.indexOf(16);
  byId("bits").value = usual >= 0 ? usual : Math.floor(data.bits.length / 2);
  // Start where there is something to see.
  const first = data.scores.find((block) => block.at[2] === Number(byId("bits").value)) || data.scores[0];
  if (first) selectors.forEach((name, i) => { byId(name).value = first.at[i]; });
}

const chosen = () => selectors.map((name) => Number(byId(name).value));
const same = (a, b, length) => a.slice(0, length).every((value, i) => value === b[i]);

// ---- the ranking ---------------------------------------------------------------------------

function rankingRows(place) {
  const block = data.scores.find((each) => same(each.at, place, 5));
  const rows = new Map();
  for (const [method, mean, deviation, seeds, low, high, group] of block ? block.rows : []) {
    rows.set(method, { method, mean, deviation, seeds, low, high, group, fit: null, wrong: [] });
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
  const list = [...rows.values()];
  list.sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1));
  list.forEach((row, i) => {
    row.rank = row.mean === null ? null : i + 1;
    row.title = data.methods[row.method].title;
  });
  return { list, chance: block ? block.chance : null };
}

function sortRows(list) {
  const value = (row) => (state.sort === "wrong" ? row.wrong.length : row[state.sort]);
  const direction = state.descending ? -1 : 1;
  return [...list].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || x === undefined) return y === null || y === undefined ? 0 : 1;
    if (y === null || y === undefined) return -1;
    return direction * (typeof x === "string" ? x.localeCompare(y) : x - y);
  });
}

const number = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits));
const seconds = (value) => (value === null || value === undefined ? "–" : value < 10 ? value.toFixed(2) : value.toFixed(0));

function cell(text, className) {
  const td = document.createElement("td");
  td.textContent = text;
  if (className) td.className = className;
  return td;
}

function bar(row, chance, most) {
  const td = document.createElement("td");
  td.className = "bar";
  td.setAttribute("aria-hidden", "true");
  const track = document.createElement("div");
  track.className = "track";
  const add = (name, style) => {
    const part = document.createElement("div");
    part.className = name;
    Object.assign(part.style, style);
    track.append(part);
  };
  const share = (value) => `${(100 * Math.max(0, Math.min(1, value / most))).toFixed(2)}%`;
  if (row.mean !== null) {
    add("fill", { width: share(row.mean) });
    if (row.deviation) {
      const from = Math.max(0, row.mean - row.deviation);
      add("spread", { left: share(from), width: share(row.mean + row.deviation - from) });
    }
  }
  if (chance !== null) add("chance", { left: share(chance) });
  td.append(track);
  return td;
}

function methodCell(row) {
  const td = cell("", "");
  const dot = document.createElement("span");
  dot.className = "dot";
  dot.style.background = colour(row.method);
  const name = document.createElement("span");
  name.textContent = row.title;
  td.append(dot, name);
  td.title = [row.title, ...data.methods[row.method].notes].join("\n");
  return td;
}

function showRanking(place) {
  const { list, chance } = rankingRows(place);
  const most = Math.max(...list.map((row) => (row.mean ?? 0) + (row.deviation ?? 0)), 0.01);
  const rows = sortRows(list).map((row) => {
    const tr = document.createElement("tr");
    if (row.rank === 1) tr.className = "best";
    const wrong = row.wrong.map((each) => `${each.cells} ${each.status}`).join(", ");
    const interval = row.low === null ? "–" : `${number(row.low, 3)}–${number(row.high, 3)}`;
    tr.append(
      cell(row.rank ?? "–", "number"), methodCell(row), cell(number(row.mean, 4), "number"),
      bar(row, chance, most), cell(number(row.deviation, 4), "number"),
      cell(row.group === null || row.group === undefined ? "–" : letters(row.group), ""),
      cell(interval, "number"), cell(seconds(row.fit), "number"), cell(wrong || "–", wrong ? "wrong" : ""),
    );
    if (wrong) tr.lastChild.title = row.wrong.map((each) => each.reason).join("\n");
    return tr;
  });
  document.querySelector("#ranking-table tbody").replaceChildren(...rows);
  for (const th of document.querySelectorAll("#ranking-table th")) {
    const button = th.querySelector("button");
    if (button && button.dataset.key === state.sort) {
      th.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    } else th.removeAttribute("aria-sort");
  }
  const dataset = data.datasets[place[0]];
  const seeds = Math.max(0, ...list.map((row) => row.seeds));
  byId("about").textContent = data.scores.length && list.length
    ? `${data.measures[place[4]].words}; ${data.tasks[place[1]].title}, ${data.bits[place[2]]} bits; `
      + `database codes: ${data.databases[place[3]].words}; mean over ${seeds} seed${seeds === 1 ? "" : "s"}. `
      + `${dataset.title}: ${dataset.facts}.${chance === null ? "" : ` Chance: ${number(chance, 4)}.`}`
    : "Nothing was computed for this choice.";
  return list;
}

function letters(index) {
  let text = "";
  for (let n = index; n >= 0; n = Math.floor(n / 26) - 1) text = String.fromCharCode(65 + (n % 26)) + text;
  return text;
}

function makeSortable() {
  for (const button of document.querySelectorAll("#ranking-table thead button")) {
    button.addEventListener("click", () => {
      const key = button.dataset.key;
      if (state.sort === key) state.descending = !state.descending;
      else { state.sort = key; state.descending = ["mean", "deviation", "low", "wrong"].includes(key); }
      showRanking(chosen());
    });
  }
}

// ---- the charts ----------------------------------------------------------------------------

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const colour = (method) => {
  const given = data.methods[method].colour;
  return dark.matches && given.toLowerCase() === "#000000" ? "#d7dde3" : given;
};
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dashes = ["solid", "dash", "dot", "dashdot"];
const markers = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star"];
// plotly reads a little markup in texts; nothing of the study may be read as such
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function layout(x, y) {
  const axis = { gridcolor: css("--line"), zerolinecolor: css("--line"), automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: css("--text"), size: 13 },
    margin: { l: 60, r: 20, t: 36, b: 60 }, showlegend: false, hovermode: "closest",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--accent") },
    xaxis: { ...axis, ...x }, yaxis: { ...axis, ...y },
  };
}
const settings = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d"] };

function showCurves(place) {
  if (!window.Plotly || !window.hashbenchCurves) return;
  const kind = byId("curve").value;
  const source = window.hashbenchCurves[kind === "radius" ? "radius" : "rank"];
  const traces = source.filter((each) => same(each.at, place, 4)).map((each) => {
    const method = each.at[4];
    const x = kind === "precision" || kind === "recall" ? each.x : each.r;
    const y = kind === "recall" ? each.r : each.p;
    return {
      x, y, name: plain(data.methods[method].title), method, mode: "lines",
      visible: state.hidden.has(method) ? "legendonly" : true,
      line: { color: colour(method), dash: dashes[Math.floor(method / 8) % 4], width: 2 },
      hovertemplate: "%{fullData.name}<br>%{x:.4~g}, %{y:.4~f}<extra></extra>",
    };
  });
  const ranks = kind === "precision" || kind === "recall";
  const x = ranks ? { title: { text: "K" }, type: "log", dtick: "D2" } : { title: { text: "Recall" }, range: [0, 1] };
  const y = { title: { text: kind === "recall" ? "Recall" : "Precision" }, rangemode: "tozero" };
  window.Plotly.react("curve-chart", traces, layout(x, y), settings);
}

function showTime(place, list) {
  if (!window.Plotly) return;
  const shown = list.filter((row) => row.mean !== null && row.fit !== null && row.fit > 0);
  const trace = {
    x: shown.map((row) => row.fit), y: shown.map((row) => row.mean),
    text: shown.map((row) => plain(row.title)), mode: "markers+text", textposition: "top center",
    textfont: { size: 11 }, cliponaxis: false,
    marker: {
      size: 10, color: shown.map((row) => colour(row.method)),
      symbol: shown.map((row) => markers[row.method % markers.length]),
    },
    hovertemplate: "%{text}<br>%{x:.3~g} s, %{y:.4~f}<extra></extra>",
  };
  const x = { title: { text: "Training, seconds" }, type: "log", dtick: "D2" };
  const y = { title: { text: plain(data.measures[place[4]].name) } };
  window.Plotly.react("time-chart", [trace], layout(x, y), settings);
}

function makeChips() {
  const chips = data.methods.map((method, index) => {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.dataset.method = index;
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(index); else state.hidden.add(index);
      showCurves(chosen());
    });
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.background = colour(index);
    const name = document.createElement("span");
    name.textContent = method.title;
    label.append(box, dot, name);
    return label;
  });
  byId("chips").append(...chips);
}

function hide(methods) {
  state.hidden = new Set(methods);
  for (const box of byId("chips").querySelectorAll("input")) {
    box.checked = !state.hidden.has(Number(box.dataset.method));
  }
}

function hideAllButTop(list) {
  const top = new Set(list.filter((row) => row.rank !== null && row.rank <= 8).map((row) => row.method));
  hide(data.methods.map((_, index) => index).filter((index) => !top.has(index)));
}

// ---- together ------------------------------------------------------------------------------

let current = [];

function update() {
  const place = chosen();
  current = showRanking(place);
  showCurves(place);
  showTime(place, current);
}

fillSelectors();
makeSortable();
makeChips();
current = showRanking(chosen());
hideAllButTop(current);
byId("curve").addEventListener("change", () => showCurves(chosen()));
byId("show-all").addEventListener("click", () => { hide([]); update(); });
byId("show-none").addEventListener("click", () => { hide(data.methods.keys()); update(); });
byId("show-top").addEventListener("click", () => { hideAllButTop(current); update(); });
dark.addEventListener("change", () => {
  byId("chips").querySelectorAll(".dot").forEach((dot, index) => { dot.style.background = colour(index); });
  update();
});
// The charts come when plotly has been read; the ranking does not wait for it.
window.addEventListener("load", update);
