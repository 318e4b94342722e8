"""Run the commands and code of README and docs, and compare what they print with what stands there.

    python tools/run_docs.py [PAGE ...]            # compare
    python tools/run_docs.py --write [PAGE ...]    # put what is printed now into the pages
    python tools/run_docs.py --list                # the blocks that are not run, and why

How blocks are read:

- ``console``: lines after ``$ `` are commands, the lines below each are what it prints; ``...``
  stands for anything. No lines below: it only has to end well. A command that is meant to fail is
  followed by ``[exit 2]`` on its last line.
- ``python``: run, one block after the other in one namespace; with ``title="FILE"`` the block is
  written to that file instead.
- A block below ``<!-- not run: WHY -->`` is left alone; one below ``<!-- needs data -->`` is run
  where ``HASHBENCH_DATA`` is set. Blocks of other languages are no code to run, and may not begin
  with a command.

Every page has a folder of its own, in which its blocks run in order. Words have to be equal;
numbers with a decimal point may differ by what another processor makes of a score.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: By how much a score may differ: what a library of another version or processor makes of it.
TOLERANCE = 0.02

_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>\w*)(?P<about>[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"-?\d*\.\d+")
_COMMANDS = ("hashbench", "pip", "python", "python3", "pytest", "dask", "mkdocs", "$")


@dataclass
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    line : where it begins
    language, title : what stands behind the fence
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
    def is_run(self) -> bool:
        """Whether it is code that is to be run."""
        return self.language in ("console", "python") and not self.mark.startswith("not run")

    @property
    def can_run(self) -> bool:
        """Whether it can be run here."""
        return self.mark != "needs data" or bool(os.environ.get("HASHBENCH_DATA"))


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in their order."""
    for match in _FENCE.finditer(text):
        title = re.search(r'title="([^"]+)"', match["about"])
        yield Block(
            text.count("\n", 0, match.start("body")),
            match["language"],
            title[1] if title else "",
            match["body"],
            match["mark"] or "",
            match.span("body"),
        )


def pages() -> list[Path]:
    """Return README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


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


def same(expected: str, printed: str) -> bool:
    """Say whether a text is what is expected: equal words, near numbers, ``...`` for anything.

    Examples
    --------
    >>> same("AP 0.5012\\n", "AP 0.5034\\n"), same("AP 0.5012\\n", "AP 0.5512\\n")
    (True, False)
    >>> same("took ... s\\ndone\\n", "took 12 s\\ndone\\n")
    True
    """
    want, got = (_NUMBER.sub("#.#", _lines(text)) for text in (expected, printed))
    pattern = "(.*?)".join(map(re.escape, want.split("...")))
    if not re.fullmatch(pattern, got, re.DOTALL):
        return False
    if "..." in want:  # which numbers belong together is known only where all stand
        return True
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(printed), strict=True)
    return all(math.isclose(float(a), float(b), abs_tol=TOLERANCE) for a, b in pairs)


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def run_page(page: Path, write: bool = False) -> list[str]:
    """Run the blocks of a page; return a text for each that prints something else."""
    text = page.read_text(encoding="utf-8")
    wrong: list[str] = []
    changes: list[tuple[tuple[int, int], str]] = []
    namespace: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks(text):
            where = f"{page.relative_to(ROOT)}:{block.line}"
            if block.language not in ("console", "python"):
                first = block.body.split()[:1]
                if first and first[0] in _COMMANDS and not block.mark.startswith("not run"):
                    wrong.append(f"{where}: begins with {first[0]!r}, is neither run nor marked")
            elif not block.is_run or not block.can_run:
                continue
            elif block.title:
                (Path(folder) / block.title).write_text(block.body, encoding="utf-8")
            elif block.language == "python":
                wrong += _run_python(block, folder, namespace, where)
            else:
                body = ""
                for command, expected in commands(block.body):
                    printed = _run_command(command, folder)
                    body += f"$ {command}\n{_keep(expected, printed)}"
                    if expected.strip() and not same(expected, printed):
                        wrong.append(f"{where}: $ {command}\nexpected\n{expected}found\n{printed}")
                    elif not expected.strip() and "[exit" in printed:
                        wrong.append(f"{where}: $ {command}\n{printed}")
                changes.append((block.place, body))
    if write:
        for (start, end), body in reversed(changes):
            text = text[:start] + body + text[end:]
        page.write_text(text, encoding="utf-8")
    return wrong


def _keep(expected: str, printed: str) -> str:
    """Return what a page is to show: as it is if that holds or nothing is shown, else anew."""
    return expected if not expected.strip() or same(expected, printed) else printed


def _run_python(block: Block, folder: str, namespace: dict[str, object], where: str) -> list[str]:
    before = Path.cwd()
    try:
        os.chdir(folder)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block.body, where, "exec"), namespace)
    except Exception as error:  # whatever the example raises is its reader's trouble
        return [f"{where}: {type(error).__name__}: {error}"]
    finally:
        os.chdir(before)
    return []


def _run_command(command: str, folder: str) -> str:
    """Return what a command prints, standard output alone, as a terminal of 80 columns has it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "HASHBENCH_REPORT": "1"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
    )
    if done.returncode == 0:
        return done.stdout
    return f"{done.stdout}{done.stderr}[exit {done.returncode}]\n"


def main() -> None:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="put what is printed into the pages")
    parser.add_argument("--list", action="store_true", help="show what is not run")
    options = parser.parse_args()
    chosen = [page.resolve() for page in options.pages] or pages()
    wrong = []
    for page in chosen:
        if options.list:
            for block in blocks(page.read_text(encoding="utf-8")):
                if block.mark.startswith("not run"):
                    print(f"{page.relative_to(ROOT)}:{block.line}: {block.mark}")
        else:
            wrong += run_page(page, options.write)
    print("\n".join(wrong))
    sys.exit(bool(wrong) and not options.write)


if __name__ == "__main__":
    main()
