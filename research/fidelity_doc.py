"""Write ``docs/research/fidelity.md``: how near our methods come to their originals.

    python -m research.fidelity                                    # docs/research/fidelity.csv
    hashbench run paper-wiki -d "wiki-cnn,wiki[protocol=paper]" -o OUT
    python -m research.fidelity_doc OUT

The first part comes from ``docs/research/fidelity.csv``, ours against other code; the second from
the results of that study, ours against the numbers that the EDSH paper prints. Every number in the
text is computed here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from hashbench.plugins.registry import discover
from hashbench.plugins.selection import parse_item
from research import fidelity
from research.equivalence import DIFFERENT, EQUIVALENT, ONE_RUN, OPEN
from research.fidelity_originals import DEFAULT, originals
from research.fidelity_paper import Study
from research.markdown_text import number, table

ARROWS = ("i→t", "t→i")
VERDICTS = (EQUIVALENT, OPEN, DIFFERENT)


def counts(rows: pd.DataFrame) -> list[int]:
    """Return how many comparisons are equivalent, open and different."""
    return [int((rows["verdict"] == word).sum()) for word in VERDICTS]


def nearest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons that a method's word rests on: see the page."""
    last = rows["method"].map(lambda typed: fidelity.forms(typed)[-1])
    return rows[rows["form"].eq(last) & ~rows["beyond_rank"] & rows["compared"].ne(ONE_RUN)]


def totals(rows: pd.DataFrame) -> str:
    """Return how many comparisons there are, and how they came out."""
    ours = rows[rows["form"] == DEFAULT]
    inside, beyond = ours[~ours["beyond_rank"]], ours[ours["beyond_rank"]]
    names = ours["method"].map(lambda typed: parse_item(typed)[0]).nunique()
    single = inside[inside["compared"] == ONE_RUN]
    higher = int((beyond["difference"] > 0).sum())
    words = "{} are equivalent, {} open and {} different"
    return (
        f"Of {len(inside)} comparisons of {names} methods by default, "
        f"{words.format(*counts(inside))}; of the {len(single)} among them with a single run of "
        f"something random {words.format(*counts(single))}. Beyond the rank, where nothing is "
        f"claimed, {words.format(*counts(beyond))} of {len(beyond)}; ours is higher in {higher}."
    )


def summary(rows: pd.DataFrame) -> str:
    """Return one line per method: its verdicts, and AP at 16 and 32 bits."""
    lines = []
    ours = rows[rows["form"] == DEFAULT]
    for (dataset, method), each in ours.groupby(["dataset", "method"], sort=True):
        cls = discover().get("methods", parse_item(method)[0]).cls
        word = cls.paper.fidelity + ("^" if cls.paper.up_to_rank else "")
        claimed = each[~each["beyond_rank"]]
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
        beyond = len(each) - len(claimed)
        lines.append([dataset, f"`{method}`", word, *counts(claimed), beyond or "–", best, *cells])
    header = ["data", "method", "word", *VERDICTS, "beyond rank", "database codes"]
    return table([*header, *(f"{bits} bits {task}" for bits in (16, 32) for task in ARROWS)], lines)


def both(rows: pd.DataFrame) -> str:
    """Return our default next to the original's form, one line per reason."""
    parts = []
    typed = [name for name in dict.fromkeys(rows["method"]) if originals(name)]
    for reasons in dict.fromkeys(originals(name) for name in typed):
        names = [name for name in typed if originals(name) == reasons]
        forms = [DEFAULT, *(each.form for each in reasons)]
        lines = []
        part = rows[rows["method"].isin(names)]
        for (dataset, method, bits), each in part.groupby(["dataset", "method", "bits"]):
            cells = []
            for form in forms:
                own = each[each["form"] == form]
                gap = own["difference"]
                came = " ".join(map(str, counts(own)))
                cells.append(f"{number(gap.abs().max())}, {gap.mean():+.3f}; {came}")
            rank = "yes" if each["beyond_rank"].any() else ""
            lines.append([dataset, f"`{method}`", bits, rank, *cells])
        header = ["data", "method", "bits", "beyond rank", "by default"]
        header += [f"`{each.form}`" for each in reasons]
        said = "\n\n".join(each.text for each in reasons)
        claimed = part[~part["beyond_rank"]]
        gaps = {form: claimed.loc[claimed["form"] == form, "difference"] for form in forms}
        means = "; ".join(
            f"{form} {gap.mean():+.4f}, below in {int((gap < 0).sum())} of {len(gap)}"
            for form, gap in gaps.items()
        )
        names_said = ", ".join(f"`{name}`" for name in dict.fromkeys(part["method"]))
        parts.append(
            f"{said}\n\n{table(header, lines)}\n\nMean difference of {names_said}, up to the rank "
            f"where that is the claim: {means}."
        )
    return "\n\n".join(parts)


def single_rows(rows: pd.DataFrame) -> str:
    """Return comparisons one by one."""
    if rows.empty:
        return "None."
    header = ["data", "method", "form", "bits", "task", "database", "measure", "ours", "theirs"]
    lines = [
        [
            row.dataset, f"`{row.method}`", row.form, row.bits, row.task.replace("->", "→"),
            row.database, row.measure, f"{number(row.ours, 4)} ({number(row.ours_std, 4)})",
            f"{number(row.theirs, 4)} ({number(row.theirs_std, 4)})", f"{row.difference:+.4f}",
            f"{row.low:+.4f} to {row.high:+.4f}", number(row.tolerance, 4), row.compared,
        ]
        for row in rows.itertuples()
    ]  # fmt: skip
    return table([*header, "difference", "90 % interval", "tolerance", "compared"], lines)


def explained(rows: pd.DataFrame) -> pd.Series:
    """Say of each comparison of our defaults whether the original's way does not differ."""
    keys = [key for key in fidelity.KEYS if key != "form"]
    other = rows[(rows["form"] != DEFAULT) & (rows["verdict"] != DIFFERENT)]
    found = rows[keys].merge(other[keys].drop_duplicates(), on=keys, how="left", indicator=True)
    return pd.Series(found["_merge"].eq("both").to_numpy(), index=rows.index)


def parts(rows: pd.DataFrame) -> dict[str, str]:
    """Return what the page says of the record, by its place in the template."""
    ours, different = rows["form"].eq(DEFAULT), rows["verdict"].eq(DIFFERENT)
    methods = discover().methods
    compared = dict.fromkeys(parse_item(typed)[0] for typed in rows["method"])
    third = [f"`{name}`" for name in compared if methods[name].cls.paper.fidelity == "third-party"]
    return {
        "third": ", ".join(third),
        "totals": totals(rows),
        "summary": summary(rows),
        "both": both(rows),
        "unexplained": single_rows(rows[different & ours & ~explained(rows)]),
        "apart": single_rows(rows[ours & rows["verdict"].eq(OPEN) & ~rows["within"]]),
    }


def main() -> None:
    """Write the document."""
    study = Study(Path(sys.argv[1]))
    template = (fidelity.ROOT / "research" / "fidelity.md.in").read_text(encoding="utf-8")
    text = template.format(
        **parts(pd.read_csv(fidelity.RECORD)),
        tolerance=fidelity.TOLERANCE,
        ranks=", ".join(f"{fidelity.rank(name)} on {name}" for name in fidelity.SOURCES),
        paper=study.paper(),
        conjecture=study.conjecture(),
        borne_out=study.borne_out(),
        lead=study.lead(),
    )
    (fidelity.ROOT / "docs" / "research" / "fidelity.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
