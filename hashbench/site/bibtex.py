"""BibTeX entries of hashbench and of the papers of methods."""

from __future__ import annotations

import re
import unicodedata

import hashbench
from hashbench.plugins.method import Citation

#: Characters that BibTeX does not read as text.
SPECIAL = {each: f"\\{each}" for each in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\^{}"}

#: Words in the names of journals; other venues are proceedings.
JOURNALS = re.compile(r"\b(trans|transactions|journal|letters|T[A-Z]{2,4}|IJCV|PAMI|arXiv)\b", re.I)


def bibtex(citation: Citation) -> str:
    """Return a paper as a BibTeX entry.

    Examples
    --------
    >>> print(bibtex(Citation("G. Irie, H. Arai", "Alternating co-quantization", "ICCV", 2015)))
    @inproceedings{irie2015alternating,
      author = {G. Irie and H. Arai},
      title = {{Alternating co-quantization}},
      booktitle = {ICCV},
      year = {2015},
    }
    """
    journal = bool(JOURNALS.search(citation.venue))
    authors = re.split(r", (?=\S)| and ", citation.authors)
    entries = {
        "author": " and ".join(map(_latex_text, authors)),
        "title": f"{{{_latex_text(citation.title)}}}",
        "journal" if journal else "booktitle": _latex_text(citation.venue),
        "year": str(citation.year),
    }
    surname = re.sub(r"\W", "", _ascii(authors[0].split()[-1]))
    word = next(iter(re.findall(r"[a-z]{4,}", _ascii(citation.title).lower())), "paper")
    key = f"{surname.lower()}{citation.year}{word}"
    return _entry("article" if journal else "inproceedings", key, entries)


def own_bibtex() -> str:
    """Return hashbench itself as a BibTeX entry."""
    entries = {
        "author": "{The hashbench contributors}",
        "title": "{hashbench: a benchmark suite for cross-modal hashing}",
        "note": f"Version {hashbench.__version__}",
    }
    return _entry("software", "hashbench", entries)


def _entry(kind: str, key: str, entries: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in entries.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _latex_text(text: str) -> str:
    return "".join(SPECIAL.get(sign, sign) for sign in text.replace("\\", " "))


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
