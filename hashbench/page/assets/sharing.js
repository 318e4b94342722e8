// What is taken away from the page: a link to the view.
"use strict";

function say(text) {
  byId("said").textContent = text;
  setTimeout(() => { if (byId("said").textContent === text) byId("said").textContent = ""; }, 4000);
}

async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // no clipboard without a secure address: the old way, through a field
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  say(`${what} copied`);
}

byId("copy-link").addEventListener("click", () => {
  writeAddress();
  copyText(location.href, "Link");
});
