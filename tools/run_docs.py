"""Run the commands and code of README and docs, and compare what they print with the pages.

    python tools/run_docs.py [PAGE ...]            # compare
    python tools/run_docs.py --write [PAGE ...]    # put what is printed now into the pages
    python tools/run_docs.py --list                # the blocks that are not run, and why
    python tools/run_docs.py --printed FILE        # compare what README's first command printed

How blocks are read:

- ``console``: lines after ``$ `` are commands, the lines below each are what it prints; ``...``
  matches anything. No lines below: it only has to end well. A command that is meant to fail is
  followed by ``[exit 2]`` on its last line.
- ``python``: run, one block after the other in one namespace; a block with ``>>>`` is compared
  line by line; with ``title="FILE"`` it is written to that file instead.
- Marks in a comment just above a block: ``not run: WHY`` leaves it alone; ``planned: WHY`` gives
  ``--plan`` to every ``hashbench run``, which checks all but the computing; ``needs data`` and
  ``needs torch`` run it if these are available; ``slow`` only with ``--slow``.
- A comment ``<!-- before`` holds Python that prepares the blocks below and is not shown.

Every page has a folder of its own, in which its blocks run in order. Code in any other form, such
as an indented command, is an error: nothing that looks like a command escapes.

Numbers with a decimal point have to be equal where the pages were written: same versions of the
numeric libraries, same kernels of the BLAS (`docs/written-on.json`). Elsewhere the numbers on a
line may differ by what rounding was measured to do to the methods that the line names (LEAST or
more), or by TOLERANCE if it names none.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import importlib.util
import io
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN_ON = ROOT / "docs" / "written-on.json"

#: How far numbers may differ on a line that names no method, for instance means over methods.
TOLERANCE = 0.01

#: How far any number may differ: one more digit than methods that are called steady move.
LEAST = 0.002

_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>\w*)(?P<about>[^\n]*)\n(?P<body>.*?)^```$"
    r"|^<!-- before\n(?P<before>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)
_INDENTED = re.compile(r"(?:\A|\n\n)((?: {4}[^\n]*\n)+)")
_NUMBER = re.compile(r"-?\d*\.\d+(?:e[+-]\d+)?")
_COMMANDS = ("hashbench", "pip", "python", "python3", "pytest", "dask", "eval", "$")


@dataclass
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    line : where it begins
    language, title : what follows the fence
    body : its lines
    mark : the words of a comment just above it
    place : where the body begins and ends in the page
    """

    line: int
    language: str
    title: str
    body: str
    mark: str
    place: tuple[int, int] = field(repr=False)

    @property
    def marks(self) -> list[str]:
        """What is said of it, without the reason."""
        return [word.strip() for word in self.mark.partition(":")[0].split(",")]

    @property
    def is_code(self) -> bool:
        """Whether it is of a kind that is run."""
        return self.language in ("console", "python")

    def can_run(self, slow: bool) -> bool:
        """Whether it is to be run, and can be here."""
        has = {
            "not run": False,
            "needs data": bool(os.environ.get("HASHBENCH_DATA")),
            "needs torch": importlib.util.find_spec("torch") is not None,
            "slow": slow,
        }
        return self.is_code and all(has.get(mark, True) for mark in self.marks)


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page, and what prepares them, in their order."""
    for match in _FENCE.finditer(text):
        group = "body" if match["before"] is None else "before"
        line, place = text.count("\n", 0, match.start(group)), match.span(group)
        if group == "before":
            yield Block(line, "python", "", match["before"], "", place)
            continue
        title = re.search(r'title="([^"]+)"', match["about"])
        words = match["language"], title[1] if title else "", match["body"], match["mark"] or ""
        yield Block(line, *words, place)


def unmarked(text: str) -> Iterator[tuple[int, str]]:
    """Yield the places of commands that are neither run nor marked."""
    for block in blocks(text):
        first = block.body.split()[:1]
        if not block.is_code and first and first[0] in _COMMANDS and "not run" not in block.marks:
            yield block.line, first[0]
    rest = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in _INDENTED.finditer(rest):
        first = match[1].split()[:1]
        if first and first[0] in _COMMANDS:
            yield rest.count("\n", 0, match.start(1)) + 1, first[0]


def pages() -> list[Path]:
    """Return README and every page of the documentation."""
    return [
        ROOT / "README.md",
        *sorted(page for page in (ROOT / "docs").rglob("*.md") if "made" not in page.parts),
    ]


def commands(body: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what it prints."""
    found: list[tuple[str, str]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            command, output = found[-1]
            found[-1] = (command, f"{output}{line}\n")
    return found


def here() -> dict[str, str]:
    """Return what numbers depend on: libraries, and the kernels that the BLAS has chosen."""
    import numpy  # noqa: F401
    import threadpoolctl

    names = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
    found = {name: metadata.version(name) for name in names}
    pools = threadpoolctl.threadpool_info()
    kernels = sorted({pool["architecture"] for pool in pools if "architecture" in pool})
    return {**found, "kernels": ", ".join(kernels), "machine": platform.machine()}


@cache
def exact() -> bool:
    """Say whether numbers have to be equal here, because the pages were written here."""
    return here() == json.loads(WRITTEN_ON.read_text(encoding="utf-8"))


def tolerance(line: str) -> float:
    """Return by how much the numbers on a line may differ here."""
    if exact():
        return 0.0
    from hashbench.plugins.numerical_tolerance import measured

    named = [measured()[word].largest for word in re.findall(r"[\w-]+", line) if word in measured()]
    return max(LEAST, *named) if named else TOLERANCE


def same(expected: str, printed: str, allowed: Callable[[str], float] = lambda line: 0.0) -> bool:
    """Say whether a text is what is expected: equal words, near numbers, ``...`` for anything.

    ``allowed`` says by how much the numbers on a line may differ.

    Examples
    --------
    >>> same("AP 0.5012\\n", "AP 0.5012\\n"), same("AP 0.5012\\n", "AP 0.5013\\n")
    (True, False)
    >>> near = lambda line: 0.01 if line.startswith("AP") else 0.0
    >>> same("AP 0.5012\\n", "AP 0.5034\\n", near), same("P 0.5012\\n", "P 0.5034\\n", near)
    (True, False)
    >>> same("took ... s\\nAP 0.5\\n", "took 12 s\\nAP 0.5\\n")
    True
    >>> same("took ... s\\nAP 0.5\\n", "took 12 s\\nAP 0.6\\n")
    False
    """
    want, got = _lines(expected), _lines(printed)
    parts = [re.escape(part) for part in re.split(r"(?:\.\.\.)|" + _NUMBER.pattern, want)]
    found = list(re.finditer(r"\.\.\.|" + _NUMBER.pattern, want))
    holes = [each[0] for each in found]
    pattern = parts[0]
    for hole, part in zip(holes, parts[1:], strict=True):
        pattern += (".*?" if hole == "..." else f"({_NUMBER.pattern})") + part
    match = re.fullmatch(pattern, got, re.DOTALL)
    if match is None:
        return False
    lines = want.splitlines()
    numbers = [each for each in found if each[0] != "..."]
    return all(
        math.isclose(
            float(each[0]),
            float(other),
            rel_tol=0,
            abs_tol=allowed(lines[want.count("\n", 0, each.start())]),
        )
        for each, other in zip(numbers, match.groups(), strict=True)
    )


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def run_page(page: Path, write: bool = False, slow: bool = False) -> list[str]:
    """Run the blocks of a page; return a text for each that prints something else."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT)
    wrong = [f"{name}:{n}: {word!r} is neither run nor marked" for n, word in unmarked(text)]
    changes: list[tuple[tuple[int, int], str]] = []
    namespace: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks(text):
            where = f"{name}:{block.line}"
            if not block.can_run(slow):
                continue
            if block.title:
                (Path(folder) / block.title).write_text(block.body, encoding="utf-8")
                continue
            run = _run_python if block.language == "python" else _run_console
            body, said = run(block, folder, namespace)
            wrong += [f"{where}: {each}" for each in said]
            changes.append((block.place, body))
    if write:
        for (start, end), body in reversed(changes):
            text = text[:start] + body + text[end:]
        page.write_text(text, encoding="utf-8")
    return wrong


def _run_console(block: Block, folder: str, _: dict[str, object]) -> tuple[str, list[str]]:
    """Return the block as it is now, and what was otherwise."""
    body, wrong = "", []
    for command, expected in commands(block.body):
        typed = command
        if "planned" in block.marks:
            typed = command.replace("hashbench run", "hashbench run --plan")
        printed = _run_command(typed, folder, "Page: " in expected)
        if not expected.strip():
            wrong += [f"$ {typed}\n{printed}"] if "[exit" in printed else []
            body += f"$ {command}\n{expected}"
        elif same(expected, printed, tolerance):
            body += f"$ {command}\n{expected}"
        else:
            wrong.append(f"$ {typed}\nexpected\n{expected}found\n{printed}")
            body += f"$ {command}\n{printed}"
    return body, wrong


def _run_python(block: Block, folder: str, namespace: dict[str, object]) -> tuple[str, list[str]]:
    """Return the block as it is now, and what was otherwise or went wrong."""
    before, body, wrong = Path.cwd(), block.body, []
    examples = doctest.DocTestParser().get_examples(block.body)
    try:
        os.chdir(folder)
        if not examples:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.body, "block", "exec"), namespace)
        for example in examples:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(example.source, "block", "single"), namespace)
            found = printed.getvalue()
            if not same(example.want, found, tolerance):
                wrong.append(f">>> {example.source}expected\n{example.want}found\n{found}")
                if example.want:
                    body = body.replace(example.want, found)
    except Exception as error:  # whatever the example raises is its reader's trouble
        wrong.append(f"{type(error).__name__}: {error}")
    finally:
        os.chdir(before)
    return body, wrong


def _run_command(command: str, folder: str, page: bool) -> str:
    """Return what a command prints, standard output alone, as a terminal of 80 columns has it.

    A run writes its page where the documentation shows that it does: pages take seconds.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    set_here = {"PATH": path, "COLUMNS": "80", "HASHBENCH_REPORT": str(int(page))}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **set_here},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
    )
    if done.returncode == 0:
        return done.stdout
    return f"{done.stdout}{done.stderr}[exit {done.returncode}]\n"


def printed_by_readme(printed: str) -> list[str]:
    """Compare what README's first command printed with the block that shows it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = [each.body for each in blocks(text) if each.mark.startswith("printed by")]
    if exact():
        right = same(f"...{shown.rstrip()}...", printed)
        return [] if right else [f"README.md shows\n{shown}\nfound\n{printed}"]
    print("README was written with other libraries or kernels: rows are compared within rounding")
    rows, wrong = _rows(printed), []
    for name, line in _rows(shown).items():  # rounding may change the order, and the last row
        if name in rows and not same(line, rows[name], tolerance):
            wrong.append(f"README.md shows\n{line}\nfound\n{rows[name]}")
    return wrong


def _rows(text: str) -> dict[str, str]:
    """Return the first row of each method in printed tables, with single spaces."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and all(_NUMBER.fullmatch(word) for word in words[1:]):
            found.setdefault(words[0], " ".join(words))
    return found


def main() -> None:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="put what is printed into the pages")
    parser.add_argument("--slow", action="store_true", help="run slow blocks, too")
    parser.add_argument("--list", action="store_true", help="show what is not run")
    parser.add_argument("--printed", type=Path, help="what README's first command printed")
    options = parser.parse_args()
    if options.printed:
        wrong = printed_by_readme(options.printed.read_text(encoding="utf-8"))
    elif options.list:
        wrong = []
        for page in pages():
            for block in blocks(page.read_text(encoding="utf-8")):
                if block.mark and set(block.marks) & {"not run", "planned", "slow"}:
                    print(f"{page.relative_to(ROOT)}:{block.line}: {block.mark}")
    else:
        chosen = [page.resolve() for page in options.pages] or pages()
        wrong = [each for p in chosen for each in run_page(p, options.write, options.slow)]
        if options.write:
            WRITTEN_ON.write_text(json.dumps(here(), indent=2) + "\n", encoding="utf-8")
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong) and not options.write)


if __name__ == "__main__":
    main()
