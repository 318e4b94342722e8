// What is taken away from the page: a link to the view, a table, citations.
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

// ---- tables --------------------------------------------------------------------------------

// The texts of a table, line by line; a field over several columns is followed by empty ones.
function tableTexts(table) {
  return [...table.rows].map((tr) => [...tr.cells].filter((each) => each.getAttribute("aria-hidden") !== "true")
    .flatMap((each) => [each.textContent.trim(), ...Array(each.colSpan - 1).fill("")]));
}

const texSigns = {
  "\\": "\\textbackslash{}", "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_", "{": "\\{", "}": "\\}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
  "→": "$\\rightarrow$", "±": "$\\pm$", "–": "--", "−": "$-$", "°": "$^\\circ$", "†": "$^\\dagger$", "‡": "$^\\ddagger$", "≤": "$\\le$",
};
const tex = (text) => text.replace(/[\\&%$#_{}~^→±–−°†‡≤]/g, (sign) => texSigns[sign]);

const writers = {
  LaTeX: (head, body) => {
    const columns = Math.max(...[...head, ...body].map((row) => row.length));
    const line = (row) => `${row.map(tex).join(" & ")} \\\\`;
    return [`\\begin{tabular}{l${"r".repeat(columns - 1)}}`, "\\toprule", ...head.map(line), "\\midrule", ...body.map(line), "\\bottomrule", "\\end{tabular}"].join("\n");
  },
  Markdown: (head, body) => {
    const line = (row) => `| ${row.map((text) => text.replace(/[\\|]/g, "\\$&")).join(" | ")} |`;
    const last = head.at(-1) ?? [];
    return [line(last), `|${last.map((_, i) => (i ? "---:" : "---")).join("|")}|`, ...body.map(line)].join("\n");
  },
  CSV: (head, body) => {
    const field = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
    return [...head, ...body].map((row) => row.map(field).join(",")).join("\n");
  },
};

function copyTable(table, kind) {
  const lines = tableTexts(table);
  const heads = table.tHead?.rows.length ?? 0;
  return writers[kind](lines.slice(0, heads), lines.slice(heads));
}

document.addEventListener("click", ({ target }) => {
  if (!target.matches(".copies button")) return;
  const table = target.closest(".copies").previousElementSibling.querySelector("table");
  copyText(copyTable(table, target.textContent), `Table as ${target.textContent}`);
});

// ---- citations -----------------------------------------------------------------------------

const citations = () => [...document.querySelectorAll(".bibtex")];

function followCitations() {
  for (const each of citations()) each.hidden = each.dataset.method !== undefined && !passes(Number(each.dataset.method));
}

byId("copy-bibtex").addEventListener("click", () => {
  readFolded(document.querySelector("#cite details"));
  const shown = citations().filter((each) => !each.hidden).map((each) => each.textContent);
  copyText([...new Set(shown)].join("\n\n"), "BibTeX");
});
onView(followCitations);
followCitations();
