"""Tables and numbers as the pages that tools write show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(header)} |", f"|{'|'.join(['---'] * len(header))}|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines)


def number(value: float, digits: int = 3) -> str:
    """Return a number without its leading zero, or a dash."""
    return "–" if pd.isna(value) else f"{value:.{digits}f}".replace("0.", ".", 1)
