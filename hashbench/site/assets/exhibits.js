// Tables and figures for print. What is folded waits as text until the page rests or somebody asks
// for it. They follow the selectors: of each report those are shown that are of what is chosen; all
// of them if none is, with a line that says so.
"use strict";

// ---- what is folded -------------------------------------------------------------------------

function readFolded(details) {
  const waiting = details.querySelector(":scope > noscript");
  if (!waiting) return;
  waiting.outerHTML = waiting.textContent;
  if (details.matches(".report")) followSelectors([details]);
  else followCitations();
}

const readAllFolded = () => document.querySelectorAll("details").forEach(readFolded);

document.addEventListener("toggle", ({ target }) => { if (target.open) readFolded(target); }, true);
following.steps.push(...[...document.querySelectorAll("details")].map((details) => () => readFolded(details)));

// ---- what is chosen ------------------------------------------------------------------------

const isOf = (exhibit, place) => {
  const slices = JSON.parse(exhibit.dataset.slices);
  return selectors.every((name, i) => !slices[name] || slices[name].includes(place[i]));
};

function followSelectors(reports = document.querySelectorAll("details.report")) {
  const place = chosen();
  const everything = byId("everything").checked;
  for (const report of reports) {
    if (report.querySelector(":scope > noscript")) continue; // follows when it is read
    const exhibits = [...report.querySelectorAll("figure[data-slices]")];
    const fitting = new Set(exhibits.filter((exhibit) => everything || isOf(exhibit, place)));
    for (const exhibit of exhibits) exhibit.hidden = fitting.size > 0 && !fitting.has(exhibit);
    const hidden = exhibits.filter((exhibit) => exhibit.hidden).length;
    report.querySelector(".follows").textContent = !fitting.size
      ? "Not made for this choice; shown as it was made."
      : hidden ? `${hidden} more for other choices.` : "";
  }
}

if (byId("everything")) {
  byId("everything").addEventListener("change", () => { followSelectors(); writeAddress(); });
  keep("all", () => (byId("everything").checked ? "1" : ""), (value) => { byId("everything").checked = value === "1"; });
  readAddress(["all"]);
  onView(() => followSelectors());
  followSelectors();
}
