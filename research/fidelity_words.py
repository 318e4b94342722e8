"""The words that ``hashbench list`` has for the fidelity of methods, as the records earn them."""

from __future__ import annotations

import pandas as pd

from research import fidelity, fidelity_deep
from research.equivalence import DIFFERENT, EQUIVALENT, OPEN, sign_test, word
from research.fidelity_originals import DEFAULT

VERDICTS = (EQUIVALENT, OPEN, DIFFERENT)


def by_form(record: pd.DataFrame) -> pd.DataFrame:
    """Return counts, sign test and word of every method as it is typed, in every form.

    Comparisons beyond the rank of the data are left out where a method claims nothing there.
    """
    lines = []
    claimed = record[~record["beyond_rank"]]
    for (method, form), rows in claimed.groupby(["method", "form"], sort=False):
        bias = sign_test(rows)
        counts = {verdict: int(rows["verdict"].eq(verdict).sum()) for verdict in VERDICTS}
        lines.append(
            {
                "method": method, "form": form, "word": word(rows), **counts,
                "mean": rows["difference"].mean(), "above": bias.above, "below": bias.below,
                "p_value": bias.p_value, "biased": bias.shown,
            }
        )  # fmt: skip
    return pd.DataFrame(lines).sort_values(["method", "form"], kind="stable", ignore_index=True)


def earned() -> dict[str, str]:
    """Return the word of every method that was compared: by default, without parameters."""
    forms = by_form(pd.read_csv(fidelity.RECORD))
    ours = forms[forms["form"].eq(DEFAULT) & ~forms["method"].str.contains("[", regex=False)]
    deep = fidelity_deep.verdicts(pd.read_csv(fidelity_deep.RECORD))
    return {
        **dict(zip(ours["method"], ours["word"], strict=True)),
        **{name: word(rows) for name, rows in deep.groupby("method")},
    }
