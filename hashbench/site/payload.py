"""The numbers, names and colours that the page shows, as plain JSON.

Values are means over seeds, rounded to what a reader can see. Datasets, tasks, code lengths,
measures and methods are named by their position in the page's lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hashbench.analysis.chance import at_chance
from hashbench.analysis.range_tests import RangeTests
from hashbench.analysis.results import Results
from hashbench.analysis.summary import by_seed, mean_ranks
from hashbench.data.splits import SEARCHED, Searched
from hashbench.plugins.method import Method
from hashbench.plugins.registry import Plugin
from hashbench.plugins.selection import bare_name
from hashbench.render.colours import DASHES
from hashbench.render.daggers import NOT_HAMMING
from hashbench.render.style import Style, arrow, measure_words
from hashbench.site.headline import leader_words
from hashbench.site.positions import CODES, DATABASES, SLICE, Positions

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ("seeds", "pessimistic", "optimistic")
NUMBERS = ["value", "pessimistic", "optimistic", "chance", "chance_error"]


def payload(results: Results, style: Style, positions: Positions) -> dict[str, Any]:
    """Return everything that the selectors, the dot plot and the table of a study need."""
    scores, runs = results.scores(), results.runs()
    return tables_payload(
        scores, runs, style, positions, RangeTests(results), results.registry.methods
    )


def tables_payload(
    scores: pd.DataFrame,
    runs: pd.DataFrame,
    style: Style,
    positions: Positions,
    range_tests: RangeTests,
    plugins: Mapping[str, Plugin],
) -> dict[str, Any]:
    """Return what `payload` does, from tables with the columns of `Results.scores` and `runs`."""
    listed = positions.values
    return {
        "methods": [_method(plugins, style, name) for name in positions.methods],
        "datasets": [
            {"name": name, "title": style.datasets[name].title, "facts": style.datasets[name].facts}
            for name in listed["dataset"]
        ],
        "tasks": [{"name": task, "title": arrow(task)} for task in listed["task"]],
        "bits": listed["bits"],
        "measures": [{"name": name, "words": measure_words(name)} for name in listed["measure"]],
        "databases": [
            {
                "name": str(each),
                **each._asdict(),
                "words": f"{DATABASES[each.database]}; {CODES[each.codes]}",
            }
            for each in listed["database"]
        ],
        "scores": _scores(scores, positions, range_tests),
        "overview": _overview(scores, runs, style, positions),
        "runs": _runs(runs, positions),
    }


def _method(plugins: Mapping[str, Plugin], style: Style, name: str) -> dict[str, Any]:
    plugin = plugins.get(bare_name(name))
    shown = style.methods[name]
    about: dict[str, Any] = {
        "name": name,
        "title": shown.label,
        "colour": shown.colour,
        "dash": DASHES.index(shown.dash),
        "notes": [f"{dagger} {text}" for dagger, text in shown.notes.items()],
        "hasCodes": NOT_HAMMING not in shown.notes,
    }
    return {**about, **_facts(name, None if plugin is None else plugin.cls)}


def _facts(name: str, method: type[Method] | None) -> dict[str, str]:
    """Return what a reader may filter methods by."""
    settings = "tuned" if bare_name(name) != name.partition("[")[0] else "default"
    if method is None:
        return {**dict.fromkeys(("labels", "kind", "fidelity"), "not known"), "settings": settings}
    kinds = {
        "deep": "torch" in method.requires,
        "kernel": method.kernel,
        "linear": method.linear,
        "other": True,
    }
    return {
        "labels": "supervised" if method.supervised else "unsupervised",
        "kind": next(kind for kind, holds in kinds.items() if holds),
        "fidelity": method.paper.fidelity,
        "settings": settings,
    }


def _scores(
    scores: pd.DataFrame, positions: Positions, range_tests: RangeTests
) -> list[dict[str, Any]]:
    """Return the ranking of every slice: its position, chance level, and one row per method."""
    groups = scores.groupby([*SLICE, "method"], sort=False, observed=True)
    means = groups[NUMBERS].mean()
    means["seeds"] = groups["seed"].size()
    means = means.reset_index()
    slices = means.groupby(SLICE, sort=False, observed=True)
    blocks = []
    for (_, rows), (values, wide) in zip(slices, by_seed(scores, SLICE), strict=True):
        names = dict(zip(SLICE, values, strict=True))
        searched = Searched(*(names[each] for each in SEARCHED))
        about = (names["task"], names["bits"], searched)
        tested = range_tests.compare(wide, names["dataset"], [about], names["measure"])
        half = np.nan if tested.test is None else tested.test.critical_difference / 2
        chance = rows["chance"].mean()
        blocks.append(
            {
                "at": positions.of(names),
                "chance": None if np.isnan(chance) else round(chance, 7),
                "test": tested.over,
                # of two methods whose intervals of this half width overlap, none is shown better
                "half": round(float(half), 7) if np.isfinite(half) else None,
                "rows": [
                    {
                        "method": positions.methods.index(row["method"]),
                        "mean": row["value"],
                        **{key: row[key] for key in SHOWN},
                        "group": tested.groups.get(row["method"]),
                        "atChance": at_chance([row]),
                    }
                    for row in _records(rows)
                ],
            }
        )
    return blocks


def _overview(
    scores: pd.DataFrame, runs: pd.DataFrame, style: Style, positions: Positions
) -> list[dict[str, Any]]:
    """Return mean ranks and mean scores over all slices of a database, its codes and a measure.

    Rows are in the order of `mean_ranks`; methods that lack a slice come last, without a rank.
    Seconds of training are the geometric mean over datasets and code lengths.
    """
    import pandas as pd

    fits = runs.groupby(["dataset", "bits", "method"])["fit_seconds"].mean()
    fit_seconds = np.exp(np.log(fits[fits > 0]).groupby("method").mean())
    has_codes = set(runs.loc[runs["hamming"].eq(True), "method"])
    means = scores.groupby([*SLICE, "method"], observed=True)["value"].mean().round(7)
    found = []
    keys = [*SEARCHED, "measure"]
    for values, part in means.groupby(keys):
        names = dict(zip(keys, values, strict=True))
        table = part.unstack("method")
        slices: list[Any] = [row.dropna().to_dict() for _, row in table.iterrows()]
        ranks = mean_ranks(slices)
        order = [*ranks, *(name for name in table.columns if name not in ranks)]
        rows = pd.DataFrame(
            {
                "meanRank": pd.Series({name: mean.rank for name, mean in ranks.items()}),
                "meanScore": table.mean(),
                "slices": table.notna().sum(),
                "fit": fit_seconds.reindex(table.columns),
            },
            index=order,
        )
        leader = leader_words(ranks, len(table), style, has_codes)
        rows["method"] = [positions.methods.index(name) for name in rows.index]
        found.append(
            {
                "at": positions.of(names),
                "slices": len(table),
                "leader": leader,
                "rows": _records(rows),
            }
        )
    return sorted(found, key=lambda block: block["at"])


def _runs(runs: pd.DataFrame, positions: Positions) -> list[dict[str, Any]]:
    """Return one row per dataset, method and code length: training time, and what failed."""
    found = []
    for names, own in runs.groupby(["dataset", "bits", "method"], sort=False):
        dataset, bits, method = names
        if dataset not in positions.values["dataset"] or bits not in positions.values["bits"]:
            continue
        fit, size = own["fit_seconds"].mean(), own["item_bytes"].mean()
        failed = own[own["status"] != "done"].groupby("status")["reason"].agg(["size", "first"])
        found.append(
            {
                "at": positions.of({"dataset": dataset, "bits": bits}),
                "method": positions.methods.index(str(method)),
                "fit": None if np.isnan(fit) else round(fit, 5),
                "bytes": None if np.isnan(size) else round(size, 1),
                "failed": [
                    {"status": status, "cells": int(count), "reason": str(reason)}
                    for status, count, reason in failed.itertuples()
                ],
            }
        )
    return found


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, rounded, with None where there is no number."""
    table = table.round(7)
    found: list[Any] = table.astype(object).where(table.notna(), None).to_dict("records")
    return found
