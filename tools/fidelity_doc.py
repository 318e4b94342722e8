"""Write ``docs/fidelity.md``: how near our methods come to their originals, row by row.

    python tools/fidelity.py                                    # docs/fidelity.csv
    hashbench run paper-wiki -d "wiki-cnn,wiki[protocol=paper]" -o OUT
    python tools/fidelity_doc.py OUT

The first part is made of ``docs/fidelity.csv``, ours against the authors' code; the second of the
results of that study, ours against the numbers that the EDSH paper prints.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

import fidelity
import pandas as pd
from fidelity_reasons import UNKNOWN, reason

from hashbench.plugins.selection import parse_item

PAPER_MEASURE = "AP(ties=index)@100"
ARROWS = ("i→t", "t→i")
DATASETS = {"wiki-cnn": "CNN-like features", "wiki[protocol=paper]": "SIFT features"}


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(header)} |", f"|{'|'.join(['---'] * len(header))}|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines)


def number(value: float, digits: int = 3) -> str:
    """Return a number without its leading zero, or a dash."""
    return "–" if pd.isna(value) else f"{value:.{digits}f}".replace("0.", ".", 1)


def summary(rows: pd.DataFrame) -> str:
    """Return a line a method: how many comparisons hold, and AP at 16 and 32 bits."""
    lines = []
    for (dataset, method), each in rows.groupby(["dataset", "method"], sort=True):
        within, again = int(each["within"].sum()), int(each["again_within"].sum())
        second = f"{again} of {len(each) - within}" if within < len(each) else "–"
        best = "learned" if (each["database"] == "learned").any() else "encoded"
        shown = each[(each["measure"] == "AP") & (each["database"] == best)]
        cells = []
        for bits in (16, 32):
            for task in fidelity.TASKS:
                found = shown[(shown["bits"] == bits) & (shown["task"] == task)]
                pair = found[["ours", "theirs"]].iloc[0] if len(found) else None
                cells.append(
                    "–" if pair is None else f"{number(pair['ours'])} / {number(pair['theirs'])}"
                )
        lines.append([dataset, f"`{method}`", f"{within} of {len(each)}", second, best, *cells])
    header = ["data", "method", "hold", "second look", "database codes"]
    return table([*header, *(f"{bits} bits {task}" for bits in (16, 32) for task in ARROWS)], lines)


def outside(rows: pd.DataFrame) -> str:
    """Return every comparison that does not hold, below the reason for it."""
    wrong = rows[~rows["within"]]
    parts = []
    reasons = pd.Series({i: reason(row) or UNKNOWN for i, row in wrong.iterrows()}, dtype=object)
    for why in reasons.unique():
        part = wrong[reasons == why]
        lines = [
            [
                row.dataset, f"`{row.method}`", row.bits, row.task.replace("->", "→"),
                row.database, row.measure, number(row.ours, 4), number(row.theirs, 4),
                f"{row.difference:+.4f}", number(row.tolerance, 4), number(row.again, 4),
                number(row.again_std, 4), "yes" if row.again_within else "**no**",
            ]
            for row in part.itertuples()
        ]  # fmt: skip
        header = ["data", "method", "bits", "task", "database", "measure", "ours", "theirs"]
        header += ["difference", "tolerance", "again", "std", "holds"]
        agree = int(part["again_within"].sum())
        found = f"Then {agree} of these {len(part)} hold."
        parts.append(f"**{why.text}** {found}\n\n{table(header, lines)}")
    return "\n\n".join(parts)


def published() -> pd.DataFrame:
    """Return the scores that the EDSH paper prints for Wiki."""
    path = Path(str(resources.files("hashbench.shipped"))) / "published" / "edsh.csv"
    table = pd.read_csv(path)
    return table[(table["dataset"] == "wiki") & (table["quantity"] == "mAP@100")]


def paper(out: Path) -> str:
    """Return the EDSH paper's Wiki scores beside ours on both feature sets."""
    printed, ours = (
        published(),
        pd.read_csv(out / "results.csv").query(f"measure == {PAPER_MEASURE!r}"),
    )
    keys = ["dataset", "method", "bits", "task", "database"]
    ours = ours.groupby(keys)["value"].mean()
    parts = []
    for task in fidelity.TASKS:
        lines = []
        for method in dict.fromkeys(printed["method"]):
            for bits in (8, 16, 24, 32):
                theirs = printed.query("method == @method and bits == @bits and task == @task")
                value = theirs["value"].iloc[0]
                cells: list[str] = []
                for dataset in DATASETS:
                    for database in ("learned", "encoded"):
                        mine = ours.get((dataset, method, bits, task, database), float("nan"))
                        gap = "" if pd.isna(mine) else f" ({mine - value:+.3f})"
                        cells.append(number(mine) + gap)
                lines.append([f"`{method}`", bits, number(value), *cells])
        header = ["method", "bits", "printed"]
        header += [
            f"{name}, {kind}" for name in DATASETS.values() for kind in ("learned", "encoded")
        ]
        parts.append(f"### {task.replace('->', '→')}\n\n{table(header, lines)}")
    return "\n\n".join(parts)


def conjecture(out: Path) -> str:
    """Return how far the printed scores are from ours, by feature set and group of methods."""
    printed, ours = (
        published(),
        pd.read_csv(out / "results.csv").query(f"measure == {PAPER_MEASURE!r}"),
    )
    keys = ["method", "bits", "task"]
    best = ours.groupby(["dataset", "database", *keys])["value"].mean().reset_index()
    lines = []
    for task in fidelity.TASKS:
        for name, chosen in (("nine baselines", printed["method"] != "edsh"),
                             ("EDSH", printed["method"] == "edsh")):  # fmt: skip
            for dataset, words in DATASETS.items():
                gaps = []
                for database in ("learned", "encoded"):
                    mine = best[best["dataset"].eq(dataset) & best["database"].eq(database)]
                    pairs = printed[chosen & (printed["task"] == task)].merge(mine, on=keys)
                    gap = (pairs["value_y"] - pairs["value_x"]).mean()
                    size = (pairs["value_y"] - pairs["value_x"]).abs().mean()
                    gaps += [f"{gap:+.3f}", number(size)]
                lines.append([task.replace("->", "→"), name, words, *gaps])
    header = ["task", "methods", "our features", "learned: mean difference", "mean distance"]
    return table([*header, "encoded: mean difference", "mean distance"], lines)


def main() -> None:
    """Write the document."""
    rows = pd.read_csv(fidelity.RECORD)
    for column in ("within", "again_within"):
        rows[column] = rows[column].eq(True)
    template = (fidelity.ROOT / "tools" / "fidelity.md.in").read_text(encoding="utf-8")
    text = template.format(
        compared=len(rows),
        within=int(rows["within"].sum()),
        methods=rows["method"].map(lambda typed: parse_item(typed)[0]).nunique(),
        summary=summary(rows),
        wrong=int((~rows["within"]).sum()),
        again=int(rows["again_within"].sum()),
        outside=outside(rows),
        paper=paper(Path(sys.argv[1])),
        conjecture=conjecture(Path(sys.argv[1])),
    )
    (fidelity.ROOT / "docs" / "fidelity.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
