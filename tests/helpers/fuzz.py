"""A mutating driver: seeded damage to files, each handed to the command that people would type.

:func:`mutants` makes the bytes. :func:`read` types ``hashbench data describe`` or ``evaluate`` at
files of data, and :func:`load` loads most of them as these commands do; :func:`style` types
``status`` at a folder of results of which one file is damaged, and compares what reports are made
of. All say what became of each, if they live: they belong into a child.
"""

from __future__ import annotations

import contextlib
import io
import re
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from unittest import mock

import numpy as np

from hashbench.data.splits import Searched

#: Words that stand where files keep lengths, types and signs.
WORDS = (b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\xff" * 8)

#: What may become of a damaged file; "contained" is a line about a reader that crashed.
ALLOWED = {"accepted", "line", "contained", "named"}

#: One of so many is typed where that takes long.
TYPED = 25


def mutants(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield damaged copies: bits flipped, words put in, parts cut out, doubled or exchanged."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        data = bytearray(content)
        for _ in range(int(rng.integers(1, 5))):
            place = int(rng.integers(len(data)))
            length = int(min(rng.geometric(0.05), len(data) - place))
            kind = rng.integers(6)
            if kind == 0:
                data[place] ^= 1 << int(rng.integers(8))
            elif kind == 1:
                data[place] = int(rng.integers(256))
            elif kind == 2:
                word = WORDS[rng.integers(len(WORDS))]
                data[place : place + len(word)] = word
            elif kind == 3 and len(data) > length:
                del data[place : place + length]
            elif kind == 4:
                data[place:place] = data[place : place + length]
            else:
                other = int(rng.integers(len(data)))
                data[place : place + length] = data[other : other + length]
            if not data:
                break
        yield bytes(data)


entry_points = cache(metadata.entry_points)


def typed(words: Sequence[str]) -> tuple[int, str, str]:
    """Type a command; return its exit code and what it printed to both streams.

    What a person would see as a traceback has the exit code -1.
    """
    from hashbench.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        # the same every time, and most of the time
        mock.patch("importlib.metadata.entry_points", entry_points),
    ):
        try:
            main(list(words))
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            code = -1
            traceback.print_exc()
    if "Traceback" in err.getvalue():
        code = -1
    return code, out.getvalue(), err.getvalue()


def outcome(code: int, said: str) -> str:
    """Say in a word what a command made of a damaged file, or quote what is neither."""
    if code == 0:
        return "accepted"
    lines = said.splitlines()
    if code == 2 and len(lines) == 1 and lines[0].startswith("hashbench: "):
        return "contained" if re.search(r"crashed \(|ended the process", said) else "line"
    return f"exit code {code}: {said[-2000:]}"


def read(commands: Sequence[Sequence[str]]) -> list[str]:
    """Type commands at damaged files, one after the other; return what became of each."""
    return [outcome(code, err) for code, _, err in map(typed, commands)]


def load(commands: Sequence[Sequence[str]]) -> list[str]:
    """Load what is typed as the commands do, but here; type one in so many as well."""
    from hashbench.core.errors import HashbenchError
    from hashbench.data.formats import parse_file_selection

    said = []
    for k, words in enumerate(commands):
        try:
            parse_file_selection(words[-1])[1].load()
            said.append("accepted")
        except HashbenchError as error:
            said.append("line" if "\n" not in str(error) else f"lines: {error}")
        except Exception:
            said.append(traceback.format_exc())
        if k % TYPED == TYPED - 1 and said[-1] in ALLOWED:
            said[-1] = read([words])[0]
    return said


def style(
    out: Path, name: str, contents: Sequence[bytes], folder: Path, typing: bool = True
) -> list[str]:
    """Put contents in the place of a file of results, one after the other, and look at them."""
    place, said = out / name, []
    whole, right = place.read_bytes(), numbers(out)
    for k, content in enumerate(contents):
        place.write_bytes(content)
        code, _, err = typed(["status", str(out)])
        seen = "named" if code == 1 and err == "" else outcome(code, err)
        said.append(seen if seen not in ALLOWED else judged(out, right))
        if typing and k % TYPED == 0 and said[-1] in ALLOWED:
            report = ["report", str(out), "map-table", "--format", "csv", "-o", str(folder)]
            seen = outcome(*typed(report)[::2])
            said[-1] = said[-1] if seen in ALLOWED else f"report: {seen}"
        place.write_bytes(whole)
    return said


def numbers(out: Path) -> tuple[str, ...]:
    """Return every number that reports are made of, and those by query."""
    import hashbench
    from hashbench.analysis.per_query import per_query

    with mock.patch("importlib.metadata.entry_points", entry_points):
        results = hashbench.open(out)
    about = (Searched("seen", "encoded"), results.main_measure)
    queries = [
        per_query(results, stored, task, *about).tolist()
        for stored in results.done()
        for task in results.tasks
    ]
    tables = (results.scores(), results.curves(), results.code_statistics(), results.history())
    runs = results.runs().drop(columns="reason")
    return (*(each.to_csv() for each in (*tables, runs)), str(queries), str(results.damaged))


def judged(out: Path, right: tuple[str, ...]) -> str:
    """Say what became of the numbers: the same, a line, a cell that is named; or quote the rest."""
    from hashbench.core.errors import HashbenchError

    try:
        found = numbers(out)
    except HashbenchError as error:
        return "line" if "\n" not in str(error) else f"lines: {error}"
    except Exception:
        return traceback.format_exc()
    if found[-1] != right[-1]:
        return "named"
    return "accepted" if found == right else "other numbers in silence"
