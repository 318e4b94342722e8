"""The first lines of the page: a question, what was run, and which method leads."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from hashbench.analysis.evidence import Evidence, split_words
from hashbench.analysis.results import Results
from hashbench.render.style import Style

if TYPE_CHECKING:
    import pandas as pd

#: Datasets that a sentence names; of more it says the number.
MOST_NAMED = 3

#: The view whose items are called pictures.
IMAGE = "image"


def question(results: Results) -> str:
    """Return the title of a study without one: the question that its results decide."""
    bits = results.bits
    if len(bits) == 1:
        codes = f"{bits[0]}-bit codes"
    else:
        codes = f"codes of {bits[0]} to {bits[-1]} bits" if bits else "codes"
    searched = {task.split("->")[1] for task in results.tasks}
    return f"Which {codes} find the right {'picture' if IMAGE in searched else 'item'}?"


def what_was_run(style: Style, evidence: Evidence) -> str:
    """Return one sentence about the study."""
    titles = [dataset.title for dataset in style.datasets.values()]
    if len(titles) > MOST_NAMED:
        where = f"{len(titles)} datasets"
    else:
        where = " and ".join([", ".join(titles[:-1]), titles[-1]] if titles[1:] else titles)
    designs = {split_words(evidence.count(n), evidence.seeds(n)) for n in style.datasets}
    design = f"; {designs.pop()}" if len(designs) == 1 else ""
    count = len(style.methods)
    return (
        "Cross-modal hashing finds pictures by text, and text by pictures, with short binary "
        f"codes. Here {count} method{'s' if count != 1 else ''} ran on {where}{design}."
    )


def leader_words(rows: pd.DataFrame, slices: int, style: Style, has_codes: Collection[str]) -> Any:
    """Return which method leads and by how much, or None if no method has every slice.

    Parameters
    ----------
    rows : mean ranks and mean scores, one row per method, best first
    slices : their number
    has_codes : methods whose codes are searched by Hamming distance; others do not lead
    """
    ranked = rows[rows["meanRank"].notna() & rows.index.isin(list(has_codes))].iloc[:2]
    if ranked.empty:
        return None
    best, *others = ranked.itertuples()
    words = (
        f"Mean rank {_one_digit(best.meanRank)} and mean score {best.meanScore:.3f} over {slices} "
    )
    words += "slices (dataset, direction, bits)." if slices > 1 else "slice."
    for other in others:
        title = style.methods[other.Index].title
        words += f" Next: {title}, {_one_digit(other.meanRank)} and {other.meanScore:.3f}."
    title = f"{style.methods[best.Index].title} leads"
    return {"name": best.Index, "title": title, "words": words}


def _one_digit(value: float) -> str:
    """Return a number as the page's script rounds it: 5.25 to 5.3, not to the even digit."""
    return f"{math.floor(10 * value + 0.5) / 10:.1f}"
