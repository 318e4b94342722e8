"""What the shell offers behind an option: names of plugins, their parameters, measures, studies.

Selections are lists with brackets, so that a completion is the text before the last item and what
may stand in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from hashbench.plugins.registry import Registry


class PluginSelection:
    """Completes selections of plugins of one kind: ``edsh,cca`` and ``edsh[gam``."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(
        self, context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return what may come next."""
        plugins = _found(context).of(self.kind)
        before, item = _last_item(incomplete)
        name, bracket, inner = item.partition("[")
        if not bracket:
            mark = "!" if name.startswith("!") else ""  # leaves out
            titles = {each: plugin.title for each, plugin in plugins.items()}
            if self.kind == "methods":
                from hashbench.execution.grid import RECONSTRUCTIONS

                titles[RECONSTRUCTIONS] = "methods that all leaves out"
            return _items(before + mark, titles, name.removeprefix("!"))
        if name not in plugins:
            return []
        set_before, comma, last = inner.rpartition(",")
        taken = {each.partition("=")[0] for each in set_before.split(",")}
        defaults = plugins[name].cls.defaults()
        own = {
            f"{each}=": f"default {value}"
            for each, value in defaults.items()
            if each not in ("n_bits", "random_state")
        }
        every = {f"{each}=": "" for each in _extras(self.kind)}
        free = {key: said for key, said in (own | every).items() if key[:-1] not in taken}
        return _items(f"{before}{name}[{set_before}{comma}", free, last)


def _extras(kind: str) -> tuple[str, ...]:
    """Return what every plugin of a kind takes besides its own parameters."""
    from hashbench.execution.grid import METHOD_EXTRAS
    from hashbench.plugins.protocol import RESERVED_KEYS

    return {"methods": METHOD_EXTRAS, "datasets": RESERVED_KEYS}.get(kind, ())


def measures(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return measures that may come next."""
    from hashbench.measures.grammar import FAMILIES
    from hashbench.measures.presets import PRESETS

    before, item = _last_item(incomplete)
    known = {name: family.summary for name, family in FAMILIES.items()}
    return _items(before, known | {name: p.stands_for for name, p in PRESETS.items()}, item)


def studies(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the studies that come with the package, and let the shell add files."""
    from hashbench.execution.study import built_in

    found = _items("", dict.fromkeys(built_in(), ""), incomplete)
    return found or [CompletionItem(incomplete, type="file")]


def plugins(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return plugins of every kind by name."""
    registry = _found(context)
    titles = {
        name: plugin.title
        for kind in ("methods", "datasets", "reports")
        for name, plugin in registry.of(kind).items()
    }
    return _items("", titles, incomplete)


def plugins_and_studies(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return plugins of every kind, and the studies that come with the package, by name."""
    from hashbench.execution.study import built_in

    own = _items("", dict.fromkeys(built_in(), "study"), incomplete)
    return [*plugins(context, parameter, incomplete), *own]


def _found(context: click.Context) -> Registry:
    from hashbench.plugins.registry import discover

    return discover(context.params.get("plugins") or ())


def _last_item(text: str) -> tuple[str, str]:
    """Split at the last comma outside brackets: what stands already, and what is being typed."""
    depth, place = 0, 0
    for position, character in enumerate(text, start=1):
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            place = position
    return text[:place], text[place:]


def _items(before: str, known: Mapping[str, str], begun: str) -> list[CompletionItem]:
    return [
        CompletionItem(before + name, help=said or None)
        for name, said in known.items()
        if name.startswith(begun)
    ]
