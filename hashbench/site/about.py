"""What a study says of itself: title, authors, abstract and links, from its file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Self

from hashbench.core.errors import HashbenchError
from hashbench.analysis.results import Results
from hashbench.execution.study import read_study


@dataclass(frozen=True)
class About:
    """What stands at the top of the page.

    Attributes
    ----------
    title : of the study, or its folder's name
    authors, abstract, links : as the study gives them, links by their names
    url : where the page is published, if that is known
    """

    title: str
    authors: list[str] = field(default_factory=list)
    abstract: str = ""
    links: dict[str, str] = field(default_factory=dict)
    url: str = ""

    @classmethod
    def of(cls, results: Results, heading: str = "") -> Self:
        """Return what is known; a heading given now wins."""
        path = results.path / "study.toml"
        given = {}
        if path.exists():
            try:
                keys = tomllib.loads(path.read_text(encoding="utf-8"))
            except tomllib.TOMLDecodeError as error:
                raise HashbenchError(f"{path} is not valid TOML: {error}") from error
            given = dict(read_study(keys, f"study {str(path)!r}").about)
        title = heading or given.pop("title", f"hashbench: {results.path.resolve().name}")
        return cls(**{**given, "title": title})
