// Tables and figures of the reports. Of each report those of the selected slice are shown, and all
// of them if none is.
"use strict";

function showsSlice(exhibit, slice) {
  const slices = JSON.parse(exhibit.dataset.slices);
  return selectors.every((name, i) => !slices[name] || slices[name].includes(slice[i]));
}

function showExhibits() {
  const slice = selectedSlice();
  for (const report of document.querySelectorAll("details.report")) {
    const exhibits = [...report.querySelectorAll("figure[data-slices]")];
    const fitting = exhibits.filter((exhibit) => byId("everything").checked || showsSlice(exhibit, slice));
    for (const exhibit of exhibits) exhibit.hidden = fitting.length > 0 && !fitting.includes(exhibit);
    const hidden = exhibits.filter((exhibit) => exhibit.hidden).length;
    report.querySelector(".follows").textContent = !fitting.length
      ? "Not made for this choice; shown as it was made."
      : hidden ? `${hidden} more for other choices.` : "";
  }
}

if (byId("everything")) {
  byId("everything").addEventListener("change", () => { showExhibits(); writeAddress(); });
  keepCheckbox("all", "everything");
  listeners.push(showExhibits);
  showExhibits();
}
