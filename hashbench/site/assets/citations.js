// BibTeX of the methods that the filters leave, and the buttons that copy.
"use strict";

async function copyText(text, what) {
  const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  byId("copied").textContent = copied ? `${what} copied` : "The browser does not allow copying";
}

function showCitations() {
  for (const each of document.querySelectorAll(".bibtex[data-method]")) each.hidden = !isShown(Number(each.dataset.method));
}

byId("copy-link").addEventListener("click", () => {
  writeAddress();
  copyText(location.href, "Link");
});
byId("copy-bibtex").addEventListener("click", () => {
  const entries = [...document.querySelectorAll(".bibtex:not([hidden])")].map((each) => each.textContent);
  copyText([...new Set(entries)].join("\n\n"), "BibTeX");
});
listeners.push(showCitations);
showCitations();
