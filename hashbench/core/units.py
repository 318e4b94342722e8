"""Durations, sizes and counts as people write them: ``10m``, ``1h30m``, ``8G``, ``1 cell``.

And numbers as JSON writes them.
"""

from __future__ import annotations

import re
from typing import Any

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_duration(value: Any) -> float:
    """Return seconds.

    Examples
    --------
    >>> parse_duration("10m"), parse_duration("1h30m"), parse_duration(2.5)
    (600.0, 5400.0, 2.5)
    """
    text = str(value).strip().lower()
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("allowed: durations like 90s, 10m or 1h30m")
    seconds = sum(float(number) * SECONDS[unit or "s"] for number, unit in parts)
    if seconds <= 0:
        raise ValueError("allowed: durations above 0")
    return seconds


def parse_size(value: Any) -> int:
    """Return bytes; units are powers of 1024.

    Examples
    --------
    >>> parse_size("8G"), parse_size("1.5M"), parse_size("512MB")
    (8589934592, 1572864, 536870912)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", str(value).strip().upper())
    if match is None or float(match[1]) <= 0:
        raise ValueError("allowed: sizes like 512M or 8G")
    return int(float(match[1]) * BYTES[match[2]])


def format_duration(seconds: float) -> str:
    """Write a duration briefly.

    Examples
    --------
    >>> format_duration(0.034), format_duration(7.2), format_duration(75), format_duration(7260)
    ('34 ms', '7.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def format_count(number: int, noun: str) -> str:
    """Write how many there are of something.

    Examples
    --------
    >>> format_count(1, "cell"), format_count(12, "cell"), format_count(2, "search")
    ('1 cell', '12 cells', '2 searches')
    """
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def format_size(size: float) -> str:
    """Write a number of bytes briefly.

    Examples
    --------
    >>> format_size(900), format_size(1572864), format_size(8 << 30)
    ('900 B', '1.5 MB', '8.0 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"


def json_number(value: Any) -> float | None:
    """Return a number, or None for nan, which JSON does not know.

    Examples
    --------
    >>> json_number(0.5), json_number(float("nan")), json_number(None)
    (0.5, None, None)
    """
    return None if value is None or value != value else float(value)
