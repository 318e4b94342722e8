// Tables: cells, and columns that can be sorted. Every text of the study is written with
// textContent, so that no name can become markup.
"use strict";

const formatNumber = (value, digits) => (isMissing(value) ? "–" : value.toFixed(digits));
const formatSeconds = (value) => formatNumber(value, value < 0.1 ? 3 : value < 10 ? 2 : 0);

function makeElement(kind, className, text = "") {
  const element = document.createElement(kind);
  element.className = className;
  element.textContent = text;
  return element;
}

const makeCell = (text, className = "") => makeElement("td", className, text);
const numberCell = (text) => makeCell(text, "number");

function headCell(text, scope, className = "") {
  const th = makeElement("th", className, text);
  th.scope = scope;
  return th;
}

function methodCell({ method }) {
  const { link } = data.methods[method];
  const th = headCell(link ? "" : methodTitle(method), "row", "method");
  if (link) {
    const a = makeElement("a", "", methodTitle(method));
    a.href = link;
    th.append(a);
  }
  th.title = [methodTitle(method), ...data.methods[method].notes].join("\n");
  return th;
}

// Return rows in the order of a column; rows without a value come last.
function sortRows(rows, { key, descending }) {
  const direction = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[key], b[key]];
    if (isMissing(x) || isMissing(y)) return Number(isMissing(x)) - Number(isMissing(y));
    return direction * (typeof x === "string" ? x.localeCompare(y) : x - y);
  });
}

// Return a header of buttons that sort. A column has a key, a head, whether it sorts in descending
// order first, and a function that makes its cell of a row.
function sortHeader(columns, order, changed) {
  const tr = document.createElement("tr");
  for (const column of columns) {
    const th = headCell("", "col", column.className ?? "");
    if (column.head) {
      const button = makeElement("button", "", column.head);
      button.type = "button";
      button.dataset.key = column.key;
      if (column.about) button.title = column.about;
      button.addEventListener("click", () => {
        order.descending = order.key === column.key ? !order.descending : Boolean(column.descending);
        order.key = column.key;
        changed();
      });
      th.append(button);
    } else th.setAttribute("aria-hidden", "true");
    if (column.key === order.key) th.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
    tr.append(th);
  }
  return tr;
}

// Sort a table by a column and keep the focus on the button that was pressed.
function sortedBy(table, order, show) {
  show();
  table.querySelector(`[data-key="${order.key}"]`)?.focus();
  writeAddress();
}
