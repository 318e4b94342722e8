// Tables: fields, columns that can be sorted, and bars. Every text of the study is written with
// textContent, so that no name can become markup.
"use strict";

const number = (value, digits) => (missing(value) ? "–" : value.toFixed(digits));
const seconds = (value) => (missing(value) ? "–" : value < 0.1 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : value.toFixed(0));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function deviation(values) {
  if (values.length < 2) return null;
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

function cell(text, className, kind = "td") {
  const td = document.createElement(kind);
  td.textContent = text;
  if (className) td.className = className;
  return td;
}

function methodCell(row) {
  const th = cell("", "method", "th");
  th.scope = "row";
  const dot = document.createElement("span");
  dot.className = "dot";
  dot.style.background = colour(row.method);
  const name = document.createElement("span");
  name.textContent = title(row.method);
  th.append(dot, name);
  th.title = [title(row.method), ...data.methods[row.method].notes].join("\n");
  return th;
}

// A bar from 0 to a value, a thin line for the spread around it, a dotted one for chance.
function bar({ value, spread, chance, most }) {
  const td = cell("", "bar");
  td.setAttribute("aria-hidden", "true");
  const track = document.createElement("div");
  track.className = "track";
  const share = (part) => `${(100 * Math.max(0, Math.min(1, part / most))).toFixed(2)}%`;
  const add = (name, style) => {
    const part = document.createElement("div");
    part.className = name;
    part.style.cssText = style;
    track.append(part);
  };
  if (!missing(value)) add("fill", `width:${share(value)}`);
  if (!missing(chance)) add("chance", `margin-left:${share(chance)}`);
  if (!missing(value) && spread) {
    const from = Math.max(0, value - spread);
    add("spread", `margin-left:${share(from)};width:${share(value + spread - from)}`);
  }
  td.append(track);
  return td;
}

// Equal values share their rank; nothing has none. Rows come best first.
function giveRanks(rows, key) {
  rows.forEach((row, i) => {
    const tied = i > 0 && row[key] === rows[i - 1][key];
    row.rank = missing(row[key]) ? null : tied ? rows[i - 1].rank : i + 1;
  });
}

function sorted(rows, { key, descending }) {
  const direction = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = a[key];
    const y = b[key];
    if (missing(x)) return missing(y) ? 0 : 1;
    if (missing(y)) return -1;
    return direction * (typeof x === "string" ? x.localeCompare(y) : x - y);
  });
}

// A header of buttons that sort. A column has a key, a head, how it begins (descending or not),
// a class, and a function that makes its field of a row.
function sortHeader(columns, order, changed) {
  const tr = document.createElement("tr");
  for (const column of columns) {
    const th = cell("", column.className, "th");
    th.scope = "col";
    if (column.head) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = column.head;
      button.dataset.key = column.key;
      if (column.about) button.title = column.about;
      button.addEventListener("click", () => {
        order.descending = order.key === column.key ? !order.descending : Boolean(column.descending);
        order.key = column.key;
        changed();
        tr.parentNode?.querySelector(`[data-key="${column.key}"]`)?.focus();
      });
      th.append(button);
    } else th.setAttribute("aria-hidden", "true");
    if (column.key === order.key) th.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
    tr.append(th);
  }
  return tr;
}
