"""Write ``docs/research/fidelity.md``: how near our methods come to their originals.

    python -m research.fidelity         # docs/research/fidelity.csv
    python -m research.fidelity_doc

Every number in the text is computed here.
"""

from __future__ import annotations

import pandas as pd

from hashbench.plugins.registry import discover
from hashbench.plugins.selection import parse_item
from research import fidelity, freshness
from research.equivalence import BIAS_LEVEL, DIFFERENT, ONE_RUN, TOLERANCE, VISIBLE
from research.fidelity_originals import DEFAULT, originals
from research.fidelity_words import VERDICTS, by_form
from research.markdown_text import number, table

ARROWS = ("i→t", "t→i")


def counts(rows: pd.DataFrame) -> list[int]:
    """Return how many comparisons are equivalent, open and different."""
    return [int((rows["verdict"] == word).sum()) for word in VERDICTS]


def short(rows: pd.DataFrame) -> str:
    """Return the summary at the top of the page: five lines."""
    forms = by_form(rows)
    default = forms[forms["form"].eq(DEFAULT) & ~forms["method"].str.contains("[", regex=False)]

    def named(word: str) -> str:
        names = default.loc[default["word"] == word, "method"]
        return f"{len(names)} *{word}*" + (
            f" ({', '.join(f'`{name}`' for name in names)})" if 0 < len(names) < 10 else ""
        )

    ours = rows[rows["form"].eq(DEFAULT) & ~rows["beyond_rank"]]
    equal, open_, different = counts(ours)
    ways = forms[forms["form"].ne(DEFAULT) & forms["word"].eq("equivalent")]
    helped = [name for name in default.loc[default["word"] == "differs", "method"]
              if name in set(ways["method"])]  # fmt: skip
    biased = default[default["biased"]]
    papers = [plugin.cls.paper.fidelity for plugin in discover().methods.values()]
    lines = [
        f"{len(default)} methods are compared with other code: {named('equivalent')}, "
        f"{named('equivalent, biased')}, {named('consistent')}, {named('differs')}.",
        f"{len(ours)} comparisons by default within {TOLERANCE:g}: {equal} equivalent, {open_} "
        f"open, {different} different.",
        f"Of those that differ, {', '.join(f'`{name}`' for name in helped) or 'none'} "
        "do so on purpose: equivalent in the original's way, see below.",
        "Biased by default: "
        + ("; ".join(
            f"`{row.method}` ({row.mean:+.3f}, higher in {row.above} and lower in {row.below} "
            "rankings)" for row in biased.itertuples()
        ) or "none") + ".",
        f"{papers.count('paper only')} methods are written from the paper only; "
        f"{papers.count('reconstruction')} are reconstructions, which `all` leaves out.",
    ]  # fmt: skip
    return "\n".join(f"- {line}" for line in lines)


def age(rows: pd.DataFrame) -> str:
    """Return how many comparisons are of the present code and have all runs that the rule asks."""
    now = freshness.present()
    code = rows["method"].map(lambda typed: now.get(parse_item(typed)[0]))
    present = rows["source"].fillna("").eq(code)
    noisy = rows.groupby(["dataset", "method", "form", "bits"])["ours_std"].transform("max")
    short_of = noisy.gt(fidelity.NOISY) & rows["seeds"].eq(len(fidelity.SEEDS))
    new = dict.fromkeys(rows.loc[present, "method"].map(lambda typed: parse_item(typed)[0]))
    names = f" ({', '.join(f'`{name}`' for name in new)})" if 0 < len(new) < 12 else ""
    return (
        f"**Not done yet.** {int(present.sum())} of {len(rows)} comparisons, in all forms, were "
        f"computed with the present code{names}. {int(short_of.sum())} of noisy methods still have "
        "five runs instead of twenty: more of these may become equivalent, or different."
        if not present.all() or short_of.any()
        else "All comparisons are of the present code and have all their runs."
    )


def words(rows: pd.DataFrame) -> str:
    """Return one line per method and form: its word and what it rests on."""
    lines = [
        [
            f"`{row.method}`", "" if row.form == DEFAULT else f"`{row.form}`", row.word,
            row.equivalent, row.open, row.different, f"{row.mean:+.4f}", row.above, row.below,
            f"{row.p_value:.2g}",
        ]
        for row in by_form(rows).itertuples()
    ]  # fmt: skip
    header = ["method", "the original's way", "word", *VERDICTS, "mean", "higher", "lower", "p"]
    return table(header, lines)


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
        mark = "^" if fidelity.claims_rank_only(method) else ""
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
        lines.append([dataset, f"`{method}`{mark}", *counts(claimed), beyond or "–", best, *cells])
    header = ["data", "method", *VERDICTS, "beyond rank", "database codes"]
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
            f"{row.low:+.4f} to {row.high:+.4f}", row.compared,
        ]
        for row in rows.itertuples()
    ]  # fmt: skip
    return table([*header, "difference", "90 % interval", "compared"], lines)


def explained(rows: pd.DataFrame) -> pd.Series:
    """Say of each comparison of our defaults whether the original's way does not differ."""
    keys = [key for key in fidelity.KEYS if key != "form"]
    other = rows[(rows["form"] != DEFAULT) & (rows["verdict"] != DIFFERENT)]
    found = rows[keys].merge(other[keys].drop_duplicates(), on=keys, how="left", indicator=True)
    return pd.Series(found["_merge"].eq("both").to_numpy(), index=rows.index)


#: Why a method is biased by default, as far as it is known.
REASONS = {
    "cca-itq": "The reference's CCA adds a ridge of 1e-4 to scatter matrices, ours to covariances, "
    "as Gong's program does, which is n - 1 times as much. With the reference's ridge the bias "
    "is gone (the table above).",
    "seph": "Its kernel logistic regressions reach their optimum here, and stop after 500 steps in "
    "the original. This can explain encoded codes; learned codes are higher as well, for a reason "
    "that is not known.",
}


def biases(rows: pd.DataFrame) -> str:
    """Return what is known of every method that is biased by default."""
    forms = by_form(rows)
    biased = forms[forms["biased"] & forms["form"].eq(DEFAULT)]
    lines = [
        f"- `{row.method}`: {row.mean:+.4f} on average, higher in {row.above} and lower in "
        f"{row.below} rankings. {REASONS.get(parse_item(row.method)[0], 'The reason is unknown.')}"
        for row in biased.itertuples()
    ]
    return "\n".join(lines) or "None."


def parts(rows: pd.DataFrame) -> dict[str, str]:
    """Return what the page says of the record, by its place in the template."""
    ours, different = rows["form"].eq(DEFAULT), rows["verdict"].eq(DIFFERENT)
    return {
        "short": short(rows),
        "totals": totals(rows),
        "age": age(rows),
        "words": words(rows),
        "biases": biases(rows),
        "summary": summary(rows),
        "both": both(rows),
        "unexplained": single_rows(rows[different & ours & ~explained(rows)]),
    }


def main() -> None:
    """Write the document."""
    template = (fidelity.ROOT / "research" / "fidelity.md.in").read_text(encoding="utf-8")
    text = template.format(
        **parts(pd.read_csv(fidelity.RECORD)),
        tolerance=TOLERANCE,
        noisy=fidelity.NOISY,
        visible=VISIBLE,
        bias_level=BIAS_LEVEL,
        ranks=", ".join(f"{fidelity.rank(name)} on {name}" for name in fidelity.SOURCES),
    )
    path = fidelity.ROOT / "docs" / "research" / "fidelity.md"
    path.write_text(text, encoding="utf-8")
    record = pd.read_csv(fidelity.RECORD)
    freshness.record(path, freshness.of_rows(record))


if __name__ == "__main__":
    main()
