"""The documentation as a site: `sphinx-build -W docs site`.

Sphinx, because it is kept up, reads our docstrings as they are, and its pages and their search
work from a folder without a network; Furo, because it is plain, works on a phone and in the dark
and loads nothing from other hosts. The pages are the Markdown files that people read in the
repository; those that are made rather than written come from `pages.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import api_reference
import pages

import hashbench

project = "hashbench"
author = copyright = "The hashbench contributors"
release = version = hashbench.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # MathJax's files, so that no other host is contacted
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["made/*.txt"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]

napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False  # the words of a docstring say more than the annotation
autodoc_typehints = "none"
autodoc_member_order = "bysource"
default_role = "code"
smartquotes_action = "D"  # dashes alone: X'X is a product, not a quotation
highlight_language = "none"  # most blocks without a language are tables

html_theme = "furo"
html_title = f"hashbench {version}"
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]

# The leaderboard is a page of its own; Sphinx wants the folder before pages.py fills it.
html_extra_path = ["made/site"]
(Path(__file__).parent / "made" / "site").mkdir(parents=True, exist_ok=True)
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True


def setup(app):
    """Write the pages that are made before the others are read; read docstrings as ours are."""
    app.connect("builder-inited", lambda app: pages.write_all(Path(app.srcdir)))
    api_reference.connect(app)
