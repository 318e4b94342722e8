"""The first lines of the page: a question, what was run, and which method leads."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from hashbench.analysis.evidence import Evidence, split_words
from hashbench.analysis.results import Results
from hashbench.analysis.summary import MeanRank
from hashbench.render.style import Style

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


def leader_words(
    ranks: Mapping[str, MeanRank], slices: int, style: Style, has_codes: Collection[str]
) -> dict[str, str] | None:
    """Return which method leads and by how much, or None if no method has every slice.

    Parameters
    ----------
    ranks : best first
    slices : their number
    has_codes : methods whose codes are searched by Hamming distance; others do not lead
    """
    found = [name for name in ranks if name in has_codes]
    if not found:
        return None
    best, others = found[0], found[1:2]
    rank, score = ranks[best]
    words = f"Mean rank {_one_digit(rank)} and mean score {score:.3f} over {slices} "
    words += "slices (dataset, direction, bits)." if slices > 1 else "slice."
    for other in others:
        rank, score = ranks[other]
        words += f" Next: {style.methods[other].title}, {_one_digit(rank)} and {score:.3f}."
    return {"name": best, "title": f"{style.methods[best].title} leads", "words": words}


def _one_digit(value: float) -> str:
    """Return a number as the page's script rounds it: 5.25 to 5.3, not to the even digit."""
    return f"{math.floor(10 * value + 0.5) / 10:.1f}"
