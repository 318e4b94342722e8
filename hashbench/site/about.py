"""The title, authors, abstract and links of a study, from its file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Self

from hashbench.analysis.results import Results
from hashbench.core.errors import HashbenchError
from hashbench.execution.study import read_study
from hashbench.site.headline import question


@dataclass(frozen=True)
class About:
    """The head of the page.

    Attributes
    ----------
    title : of the study, or the question that it decides
    authors, abstract : as the study gives them
    links : address by name
    url : where the page is published, or empty
    """

    title: str
    authors: list[str] = field(default_factory=list)
    abstract: str = ""
    links: dict[str, str] = field(default_factory=dict)
    url: str = ""

    @classmethod
    def of(cls, results: Results, heading: str = "") -> Self:
        """Return the head of a study's page; a heading replaces the study's title."""
        path = results.path / "study.toml"
        given = {}
        if path.exists():
            try:
                keys = tomllib.loads(path.read_text(encoding="utf-8"))
            except tomllib.TOMLDecodeError as error:
                raise HashbenchError(f"{path} is not valid TOML: {error}") from error
            given = dict(read_study(keys, f"study {str(path)!r}").about)
        title = heading or given.pop("title", question(results))
        return cls(**{**given, "title": title})
