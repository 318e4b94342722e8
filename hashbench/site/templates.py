"""Templates of the page, and data written as scripts.

A browser refuses to fetch data from a ``file://`` address, but runs scripts from there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from hashbench.core.io import atomic_write


def template(name: str) -> Any:
    """Return a template of the page, which escapes the values that it is given."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hashbench.site", "assets"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)


def write_assets(folder: Path, scripts: Sequence[str]) -> None:
    """Write the style of a page, and the parts of its script as one file."""
    assets = resources.files("hashbench.site") / "assets"
    write_text(folder / "page.css", (assets / "page.css").read_text(encoding="utf-8"))
    parts = [(assets / name).read_text(encoding="utf-8") for name in scripts]
    write_text(folder / "page.js", "\n".join(parts))


def write_script(path: Path, name: str, value: Any) -> None:
    """Write a value as a script that sets a property of the window."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    # browsers parse JSON in a string several times as fast as a literal; "<" could end the script
    literal = json.dumps(text).replace("<", "\\u003c")
    write_text(path, f"window.{name} = JSON.parse({literal});\n")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically."""
    with atomic_write(path) as stream:
        stream.write(text)
