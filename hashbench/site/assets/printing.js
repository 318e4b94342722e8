// Printing: what is on the screen, or everything. Charts are drawn first, wherever one has scrolled
// to; a browser's own menu gives no time for that, so that they are also drawn once the page rests.
"use strict";

const printing = { whole: false, folded: [], rest: 4000 };

const resize = (sizes) => visible.drawn.forEach((id) => window.Plotly.relayout(id, sizes));

async function printPage(whole) {
  printing.whole = whole;
  await drawAll();
  window.print();
}

window.addEventListener("beforeprint", () => {
  heatUp();
  readAllFolded();
  document.body.classList.toggle("whole", printing.whole);
  if (printing.whole) {
    printing.folded.push(...document.querySelectorAll("details:not([open])"));
    for (const each of printing.folded) each.open = true;
  }
  resize({ width: 640, height: 400 }); // paper is narrower: 17 cm
});
window.addEventListener("afterprint", () => {
  for (const each of printing.folded.splice(0)) each.open = false;
  document.body.classList.remove("whole");
  printing.whole = false;
  resize({ width: null, height: null, autosize: true });
});
window.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "p") return;
  event.preventDefault();
  printPage(false);
});
byId("print-short").addEventListener("click", () => printPage(false));
byId("print-whole").addEventListener("click", () => printPage(true));
setTimeout(() => whenIdle().then(drawAll), printing.rest);
