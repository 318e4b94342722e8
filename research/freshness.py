"""Say which pages have numbers from older code than the present one.

    python -m research.freshness                        # list stale pages; exit 1 if one is too old
    python -m research.freshness --record PAGE METHOD...  # after its numbers were computed again
    python -m research.freshness --old PAGE               # say in the page that they are old

``docs/research/sources.json`` has, for every page whose numbers no command prints beside them, the
commit that computed them and the hash of each method's code there. A page is too old if the code of
more than :data:`MOST_CHANGED` of its methods has changed since. Then its numbers are computed
again, or the page says that they are old (:data:`NOTICE`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from hashbench.analysis.results import Results
from hashbench.plugins.registry import discover
from hashbench.plugins.selection import bare_name
from hashbench.plugins.source_hash import git_state, source_hash

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs" / "research" / "sources.json"

#: The share of a page's methods whose code may have changed since its numbers were computed.
MOST_CHANGED = 0.5

#: What a page that is too old says below its title.
NOTICE = (
    "> **Old numbers**: the code of most methods has changed since commit `{commit}` computed them."
)
#: What any other page says there.
STAMP = "> The numbers on this page were computed at commit `{commit}`."

_LINE = re.compile(
    r"^> (?:\*\*Old numbers\*\*: the code of|The numbers on this page were) .*$", re.M
)

Pages = dict[str, dict[str, Any]]


def present() -> dict[str, str]:
    """Return the hash of every method's code as it is now."""
    return {name: source_hash(plugin) for name, plugin in discover().methods.items()}


def read(path: Path = RECORD) -> Pages:
    """Return the record: page -> commit, hash by method, and whether the page says it is old."""
    found: Pages = json.loads(path.read_text(encoding="utf-8"))
    return found


def changed(sources: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the methods whose code is not what it was, or that are gone."""
    return [name for name, known in sources.items() if now.get(name) != known]


def too_old(page: Mapping[str, Any], now: Mapping[str, str]) -> bool:
    """Say whether the code of too many of a page's methods has changed."""
    return len(changed(page["sources"], now)) > MOST_CHANGED * len(page["sources"])


def problems(pages: Pages, now: Mapping[str, str], root: Path = ROOT) -> list[str]:
    """Return what has to be done before the pages may be shown, one line each."""
    found = []
    for name, page in pages.items():
        text = (root / name).read_text(encoding="utf-8")
        if too_old(page, now) and not page.get("old"):
            count = f"{len(changed(page['sources'], now))} of {len(page['sources'])}"
            found.append(
                f"{name}: the code of {count} methods has changed since {page['commit']}; allowed: "
                f"{MOST_CHANGED:.0%}. Compute its numbers again, or mark the page as old"
            )
        if line(page) not in text:
            found.append(f"{name}: found no line {line(page)!r}")
    known = {path.name for path in (root / "docs" / "research").glob("*.md")}
    for name in sorted(known - {Path(page).name for page in pages}):
        found.append(f"docs/research/{name}: found no entry in {RECORD.name}")
    return found


def line(page: Mapping[str, Any]) -> str:
    """Return what a page says of the age of its numbers."""
    return (NOTICE if page.get("old") else STAMP).format(commit=page["commit"])


def stamped(text: str, page: Mapping[str, Any]) -> str:
    """Return the text of a page with that line where it was, or below the title."""
    if _LINE.search(text):
        return _LINE.sub(line(page), text, count=1)
    title, _, rest = text.partition("\n\n")
    return f"{title}\n\n{line(page)}\n\n{rest}"


def record(
    path: Path,
    sources: Mapping[str, str],
    commit: str = "",
    old: bool = False,
    root: Path = ROOT,
) -> None:
    """Store the code that computed the numbers of a page, and put the commit into the page.

    Scripts that write pages call this. ``commit`` is the present one if none is given; where some
    numbers were not computed again, the one that the page had. A page that is old stays so until
    most of its numbers are new.
    """
    store = root / RECORD.relative_to(ROOT)
    pages = read(store) if store.exists() else {}
    name = str(path.resolve().relative_to(root))
    known = pages.get(name, {})
    page: dict[str, Any] = {"sources": dict(sorted(sources.items()))}
    if not commit:
        now = present()
        old = old or (bool(known.get("old")) and too_old(page, now))
        kept = known.get("commit") if changed(sources, now) else None
        commit = kept or git_state().removesuffix("-dirty")[:7]
    pages[name] = {"commit": commit, **({"old": True} if old else {}), **page}
    store.write_text(json.dumps(dict(sorted(pages.items())), indent=1) + "\n", encoding="utf-8")
    text = stamped(path.read_text(encoding="utf-8"), pages[name])
    path.write_text(text, encoding="utf-8")


def of_methods(names: Iterable[str]) -> dict[str, str]:
    """Return the present code of methods, for numbers that were just computed."""
    now = present()
    return {name: now[name] for name in names}


def of_study(*studies: Results) -> dict[str, str]:
    """Return the code that computed the cells of studies."""
    return {cell.method: cell.source for results in studies for cell in results.plan.cells}


def of_rows(table: pd.DataFrame) -> dict[str, str]:
    """Return the code that computed the rows of a record; the oldest if a method has several."""
    names = table["method"].map(bare_name)
    now = present()
    found: dict[str, str] = {}
    for name, source in zip(names, table["source"].fillna(""), strict=True):
        if found.get(name, now.get(name)) == now.get(name):
            found[name] = source
    return found


def main() -> None:
    """List what is stale, or record of which code a page's numbers are."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--record", type=Path, metavar="PAGE")
    parser.add_argument("--old", type=Path, metavar="PAGE")
    parser.add_argument("methods", nargs="*", help="with --record; those recorded, if none")
    options = parser.parse_args()
    pages, now = read(), present()
    if options.record:
        known = pages.get(str(options.record.resolve().relative_to(ROOT)), {}).get("sources", {})
        record(options.record, of_methods(options.methods or known))
        return
    if options.old:
        page = pages[str(options.old.resolve().relative_to(ROOT))]
        record(options.old, page["sources"], page["commit"], old=True)
        return
    for name, page in pages.items():
        if stale := changed(page["sources"], now):
            count = f"{len(stale)} of {len(page['sources'])}"
            print(f"{name} (commit {page['commit']}): changed: {count}: {', '.join(stale)}")
    wrong = problems(pages, now)
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
