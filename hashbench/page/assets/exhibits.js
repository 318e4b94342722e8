// Tables and figures for print follow the selectors: of each report those are shown that are of
// what is chosen; all of them if none is, with a line that says so.
"use strict";

const isOf = (exhibit, place) => {
  const slices = JSON.parse(exhibit.dataset.slices);
  return selectors.every((name, i) => !slices[name] || slices[name].includes(place[i]));
};

function followSelectors() {
  const place = chosen();
  const everything = byId("everything").checked;
  for (const report of document.querySelectorAll("details.report")) {
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
  onView(followSelectors);
  followSelectors();
}
