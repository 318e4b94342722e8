// Unpack codes, and rank a database by Hamming distance as hashbench does.
"use strict";

const bitsIn = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest; rest >>= 1) count += rest & 1;
  return count;
});

const bytesOf = (base64) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
const floatsOf = (base64) => new Float32Array(bytesOf(base64).buffer);

// Return the distances from one code to all codes of a database, both as bytes.
function distances(code, database) {
  const width = code.length;
  const found = new Uint16Array(database.length / width);
  for (let item = 0, at = 0; item < found.length; item += 1) {
    let sum = 0;
    for (let byte = 0; byte < width; byte += 1, at += 1) sum += bitsIn[code[byte] ^ database[at]];
    found[item] = sum;
  }
  return found;
}

// Return the items by distance, those at one distance in the order of the database, and how many
// items have each distance.
function rankItems(found, bits) {
  const counts = new Uint32Array(bits + 1);
  for (const distance of found) counts[distance] += 1;
  const next = new Uint32Array(bits + 1);
  for (let distance = 1; distance <= bits; distance += 1) next[distance] = next[distance - 1] + counts[distance - 1];
  const order = new Uint32Array(found.length);
  found.forEach((distance, item) => { order[next[distance]++] = item; });
  return { order, counts };
}

// Return the positions of a part of the database: all rows, the seen or the unseen ones.
function searchedRows(items, database) {
  const all = [...items.seen.keys()];
  return database === "all" ? all : all.filter((row) => Boolean(items.seen[row]) === (database === "seen"));
}

// Return what one method finds for a query in a part of the database, in order; its items are
// positions in the whole database. A part is the script of a cell.
function retrieve(part, items, item, task, searched) {
  const [from, to] = task.split("->").map((view) => part.views.indexOf(view));
  const width = Math.ceil(part.bits / 8);
  part.unpacked ??= {};
  const unpacked = (role, view) => (part.unpacked[`${role} ${view}`] ??= bytesOf(part[role][view]));
  const learned = searched.codes === "learned"; // seen rows only
  const view = learned && part.learned.length === 1 ? 0 : to;
  const isQuery = item < items.queries;
  const source = unpacked(isQuery ? "query" : "encoded", from);
  const row = isQuery ? item : item - items.queries;
  const rows = searchedRows(items, searched.database);
  const code = source.subarray(row * width, (row + 1) * width);
  const database = unpacked(searched.codes, view);
  const every = distances(code, database);
  const found = learned ? every : Uint16Array.from(rows, (each) => every[each]);
  const { order, counts } = rankItems(found, part.bits);
  const distanceOf = new Map(rows.map((each, i) => [each, found[i]]));
  const positions = new Map(rows.map((each, i) => [each, learned ? i : each]));
  const codeOf = (each) => database.subarray(positions.get(each) * width, (positions.get(each) + 1) * width);
  return { code, codeOf, distances: distanceOf, order: Array.from(order, (i) => rows[i]), counts };
}

// Draw a code as one square per bit, 16 on a line: filled for 1, in orange where it differs from
// another code.
function drawCode(code, bits, other = code) {
  const size = 4;
  const paths = { set: "", unset: "", "differs set": "", "differs unset": "" };
  for (let bit = 0; bit < bits; bit += 1) {
    const value = (of) => (of[bit >> 3] >> (bit & 7)) & 1;
    const kind = `${value(code) === value(other) ? "" : "differs "}${value(code) ? "set" : "unset"}`;
    paths[kind] += `M${(bit % 16) * size + 0.5} ${Math.floor(bit / 16) * size + 0.5}h3v3h-3z`;
  }
  const create = (kind) => document.createElementNS("http://www.w3.org/2000/svg", kind);
  const svg = create("svg");
  svg.setAttribute("viewBox", `0 0 ${Math.min(bits, 16) * size} ${Math.ceil(bits / 16) * size}`);
  svg.setAttribute("class", "code");
  svg.setAttribute("aria-hidden", "true");
  for (const [kind, d] of Object.entries(paths)) {
    if (!d) continue;
    const path = create("path");
    path.setAttribute("class", kind);
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

// Return the evaluator's score of every query, or null if the cell has no such codes.
function queryScores(part, task, searched) {
  const name = `${task} ${searched}`;
  part.read ??= {};
  if (!(name in part.read)) part.read[name] = part.scores[name] ? floatsOf(part.scores[name]) : null;
  return part.read[name];
}
