"""Write the generated pages of the documentation, each time the site is built.

One page per method from its plugin, its comparisons and its scores on the embedded data; a gallery
of all reports; the Python reference (`api_reference.py`); contributing and changelog as the
repository has them. Scores come from the default study, pictures from two small ones. All three are
run first, which computes what is not there yet for the methods and data of this commit, and reports
are drawn anew: what the site shows is of this commit.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import api_reference
from gallery import gallery, run_hashbench
from method_pages import Figures, method_list, method_page

from hashbench.analysis.archive import read_about
from hashbench.plugins.registry import discover

ROOT = Path(__file__).parents[1]

#: The study that scores are taken from, where `hashbench run` leaves it.
STUDY = ROOT / "hashbench-results" / "quick"


def forward_to(edition: str) -> str:
    """Return a page that leads to the leaderboard of an edition."""
    return f'<meta http-equiv="refresh" content="0; url={edition}/index.html">\n'


def write_all(docs: Path) -> None:
    """Write every page into the folder `made`."""
    run_hashbench("run", "quick", "-o", str(STUDY), "--no-report", "--quiet")
    made = docs / "made"
    shutil.rmtree(made, ignore_errors=True)
    (made / "methods").mkdir(parents=True)
    figures = Figures.read(STUDY, docs)
    methods = discover().methods
    for name, plugin in methods.items():
        page = method_page(plugin, figures)
        (made / "methods" / f"{name}.md").write_text(page, encoding="utf-8")
    (made / "methods.md").write_text(method_list(methods, figures), encoding="utf-8")
    (made / "gallery.md").write_text(gallery(docs, STUDY.parent), encoding="utf-8")
    for page in (made / "gallery").glob("*.md"):
        page.unlink()  # its text is in the gallery
    leaderboard = made / "site" / "leaderboard"
    run_hashbench("archive", "site", str(leaderboard))
    (leaderboard / "index.html").write_text(forward_to(read_about().edition), encoding="utf-8")
    (made / "api.md").write_text(api_reference.page(), encoding="utf-8")
    for name in ("contributing", "changelog"):
        text = (ROOT / f"{name.upper()}.md").read_text(encoding="utf-8")
        (made / f"{name}.md").write_text(text.replace("(docs/", "(../"), encoding="utf-8")
