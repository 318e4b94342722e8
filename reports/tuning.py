"""What tuning has changed: default against tuned, ranks, what was chosen and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hashbench.plugins.report import Entry, Exhibit, Group, NothingToShowError, Report, Table
from hashbench.plugins.selection import TUNED, full_name
from hashbench.plugins.space import at_ends
from hashbench.printing.style import Look
from hashbench.results.summary import grouped, records
from hashbench.studies.tuning import winner

if TYPE_CHECKING:
    import pandas as pd

    from hashbench.results.results import Results

HEADER = ("method", "default", "tuned", "gain", "± splits", "rank", "search", "chosen")


class Tuning(Report):
    """Default against tuned parameters on queries: scores, ranks, what was chosen, its cost."""

    name = "tuning"
    title = "Tuning"
    section = "Tables of scores"

    def data(self, results: Results) -> pd.DataFrame:
        """Return a row a search and code length: both scores, the choice, the seconds it took."""
        import pandas as pd

        if not results.searches:
            raise NothingToShowError("nothing was tuned; run with --tune")
        measure = results.main_measure
        scores = results.scores([measure])
        scores = scores[scores["database"] == "encoded"]
        means = scores.groupby(["dataset", "method", "bits", "seed"])["value"].mean()
        rows = []
        for search in results.searches:
            cell, trials = search.cell, results.store.trials.read(search.id)
            tried = [trials[each.id] for each in search.trials if each.id in trials]
            best = winner(search, trials, results.tune_seconds)
            plugin = results.registry.methods.get(cell.method)
            if best is None or plugin is None:
                continue
            point = search.points[best]
            tuned = full_name(f"{cell.method}{TUNED}", cell.params)
            for bits in results.bits:
                keys = [(cell.dataset, name, bits, cell.seed) for name in (cell.label, tuned)]
                if not all(key in means.index for key in keys):
                    continue
                rows.append(
                    {
                        "measure": measure,
                        "dataset": cell.dataset,
                        "bits": bits,
                        "method": cell.label,
                        "seed": cell.seed,
                        "default": float(means[keys[0]]),
                        "tuned": float(means[keys[1]]),
                        "chosen": search.trials[best].params or "the default",
                        "at_end": ", ".join(at_ends(plugin.cls.space, point.settings)),
                        "trials": len(tried),
                        "seconds": sum(each.fit_seconds for each in tried),
                    }
                )
        if not rows:
            raise NothingToShowError("no method has a default and a tuned score")
        return pd.DataFrame(rows).drop_duplicates(["dataset", "bits", "method", "seed"])

    def draw(self, data: pd.DataFrame, look: Look) -> Sequence[Exhibit]:
        """Return a table a dataset and code length."""
        from scipy.stats import kendalltau

        tables = []
        for (measure, dataset, bits), group in grouped(data, "measure", "dataset", "bits"):
            group = group.assign(gain=group["tuned"] - group["default"])
            means = group.groupby("method")[["default", "tuned", "gain", "seconds"]].mean()
            means["spread"] = group.groupby("method")["gain"].std(ddof=1).fillna(0.0)
            before, after = (
                means[name].rank(ascending=False, method="min") for name in ("default", "tuned")
            )
            rows = []
            for method in means.sort_values("tuned", ascending=False).index:
                mean, own = means.loc[method], group[group["method"] == method]
                texts = [
                    f"{mean['default']:.3f}",
                    f"{mean['tuned']:.3f}",
                    f"{mean['gain']:+.3f}",
                    f"{mean['spread']:.3f}",
                    f"{before[method]:.0f} → {after[method]:.0f}",
                    f"{mean['seconds']:.1f} s",
                    "; ".join(dict.fromkeys(_choice(row) for row in records(own))),
                ]
                rows.append([Entry(look.methods[method].title), *map(Entry, texts)])
            tau = kendalltau(means["default"], means["tuned"]).statistic
            notes = [
                f"mean gain {means['gain'].mean():+.4f}; Kendall's tau between the rankings "
                f"{tau:.2f}; {group['trials'].max()} trials a search at most",
                "!: the parameter lies at the end of its range, a wider one might help",
            ]
            caption = look.summary(
                f"Default and tuned parameters on queries of {look.datasets[dataset].title} at "
                f"{bits} bits, mean of the tasks",
                measure=measure,
                database="encoded",
            )
            header = [(name, 1) for name in HEADER]
            tables.append(
                Table(f"{dataset} {bits}", caption, [header], [Group("", rows)], "lrrrrrrw", notes)
            )
        return tables


def _choice(row: object) -> str:
    ends = getattr(row, "at_end", "")
    return f"{getattr(row, 'chosen', '')}{f' (! {ends})' if ends else ''}"
