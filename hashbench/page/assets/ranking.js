// The selectors and the ranking. Loaded before the body, so that the ranking stands there when the
// page is first seen; charts.js follows. Every text of the study is written with textContent, so
// that no name can become markup.
"use strict";

const data = window.hashbenchData;
const byId = (id) => document.getElementById(id);
const selectors = ["dataset", "task", "bits", "database", "measure"];
const state = { sort: "mean", descending: true, list: [] };

const chosen = () => selectors.map((name) => Number(byId(name).value));
const same = (a, b, length) => a.slice(0, length).every((value, i) => value === b[i]);
const missing = (value) => value === null || value === undefined;

const dark = window.matchMedia("(prefers-color-scheme: dark)");
// what cannot be seen on a dark ground is shown lighter
const lighter = { "#000000": "#d7dde3", "#882255": "#b8508a" };
const colour = (method) => {
  const given = data.methods[method].colour;
  return (dark.matches && lighter[given]) || given;
};

function rankingRows(place) {
  const block = data.scores.find((each) => same(each.at, place, 5));
  const rows = new Map();
  for (const [method, mean, deviation, seeds, low, high, group, atChance] of block ? block.rows : []) {
    rows.set(method, { method, mean, deviation, seeds, low, high, group, atChance, fit: null, wrong: [] });
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
    const tied = i > 0 && row.mean === list[i - 1].mean;
    row.rank = row.mean === null ? null : tied ? list[i - 1].rank : i + 1;
    row.title = data.methods[row.method].title;
    row.undone = row.wrong.reduce((sum, each) => sum + each.cells, 0);
  });
  return { list, chance: block ? block.chance : null };
}

function sortRows(list) {
  const direction = state.descending ? -1 : 1;
  return [...list].sort((a, b) => {
    const [x, y] = [a[state.sort], b[state.sort]];
    if (missing(x)) return missing(y) ? 0 : 1;
    if (missing(y)) return -1;
    return direction * (typeof x === "string" ? x.localeCompare(y) : x - y);
  });
}

const number = (value, digits) => (missing(value) ? "–" : value.toFixed(digits));
const seconds = (value) => (missing(value) ? "–" : value < 0.1 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : value.toFixed(0));

function cell(text, className, kind = "td") {
  const td = document.createElement(kind);
  td.textContent = text;
  if (className) td.className = className;
  return td;
}

function bar(row, chance, most) {
  const td = cell("", "bar");
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
  const th = cell("", "method", "th");
  th.scope = "row";
  const dot = document.createElement("span");
  dot.className = "dot";
  dot.style.background = colour(row.method);
  const name = document.createElement("span");
  name.textContent = row.title;
  th.append(dot, name);
  th.title = [row.title, ...data.methods[row.method].notes].join("\n");
  return th;
}

function rowOf(row, chance, most) {
  const tr = document.createElement("tr");
  if (row.rank === 1) tr.className = "best";
  const wrong = row.wrong.map((each) => `${each.cells} ${each.status}`).join(", ");
  const interval = missing(row.low) ? "–" : `${number(row.low, 3)}–${number(row.high, 3)}`;
  tr.append(
    cell(row.rank ?? "–", "number"), methodCell(row), cell(number(row.mean, 4) + (row.atChance ? "°" : ""), "number"),
    bar(row, chance, most), cell(number(row.deviation, 4), "number"),
    cell(missing(row.group) ? "–" : letters(row.group), ""),
    cell(interval, "number"), cell(seconds(row.fit), "number"), cell(wrong || "–", wrong ? "wrong" : ""),
  );
  if (wrong) tr.lastChild.title = row.wrong.map((each) => each.reason).join("\n");
  return tr;
}

// 0 is A, 25 is Z, 26 is AA
function letters(index) {
  let text = "";
  for (let n = index; n >= 0; n = Math.floor(n / 26) - 1) text = String.fromCharCode(65 + (n % 26)) + text;
  return text;
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
  const most = Math.max(...list.map((row) => (row.mean ?? 0) + (row.deviation ?? 0)), 0.01);
  const rows = sortRows(list).map((row) => rowOf(row, chance, most));
  document.querySelector("#ranking-table tbody").replaceChildren(...rows);
  for (const th of document.querySelectorAll("#ranking-table thead th")) {
    const button = th.querySelector("button");
    if (button && button.dataset.key === state.sort) {
      th.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    } else th.removeAttribute("aria-sort");
  }
  byId("about").textContent = about(place, list, chance);
  state.list = list;
}

// Called by the page when the table is there and nothing below it yet.
function startRanking() {
  // Start where there is something to see: the first of everything, at the bits that are selected.
  const bits = Number(byId("bits").value);
  const order = (a, b) => a.map((value, i) => value - b[i]).find((each) => each !== 0) ?? 0;
  const places = data.scores.map((block) => block.at).sort(order);
  const first = places.find((at) => at[2] === bits) ?? places[0];
  if (first) selectors.forEach((name, i) => { byId(name).value = first[i]; });
  selectors.forEach((name) => byId(name).addEventListener("change", showRanking));
  for (const button of document.querySelectorAll("#ranking-table thead button")) {
    button.addEventListener("click", () => {
      const key = button.dataset.key;
      if (state.sort === key) state.descending = !state.descending;
      else { state.sort = key; state.descending = ["mean", "deviation", "low", "undone"].includes(key); }
      showRanking();
    });
  }
  dark.addEventListener("change", showRanking);
  showRanking();
}
