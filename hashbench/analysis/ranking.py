"""One method among the methods of the archive: ranks, and which differences are significant."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from hashbench.analysis import tests
from hashbench.analysis.summary import grouped

if TYPE_CHECKING:
    import pandas as pd

#: What the method that is ranked is against another: a significant difference, or none.
BETTER, WORSE, UNDECIDED = "better", "worse", "-"

#: Columns of scores that `rank_among` reads.
COLUMNS = ["dataset", "bits", "label", "split", "overlap", "task", "value", "fit_seconds",
           "item_bytes", "hamming"]  # fmt: skip


def rank_among(scores: pd.DataFrame, own: str) -> pd.DataFrame:
    """Rank methods on the splits that one of them has, for each dataset and code length.

    Methods are compared by their mean over tasks and splits, and tested over splits
    (`tests.range_test`); with fewer than three splits nothing is decided.

    Parameters
    ----------
    scores : one row per method, split and task, with the columns `COLUMNS`
    own : the label of the method that the others are compared with

    Methods that lack some of these splits are not ranked.

    Returns
    -------
    DataFrame
        dataset, bits, splits, rank (missing if not ranked), method, one column per task, mean,
        against (how `own` differs from the method: better, worse or "-"), p_value (nan without a
        test), fit_seconds, item_bytes, hamming
    """
    import pandas as pd

    parts = [_rank(part, own, *key) for key, part in grouped(scores, "dataset", "bits")]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def _rank(scores: pd.DataFrame, own: str, dataset: str, bits: int) -> pd.DataFrame:
    import pandas as pd

    wide = scores.pivot_table(index="split", columns=["label", "task"], values="value")
    if own not in set(scores["label"]):
        return pd.DataFrame()
    has = wide.notna().to_numpy()
    labels = np.array(wide.columns.get_level_values(0), dtype=object)
    on = has[:, labels == own].all(axis=1)  # the splits that it has
    wide = wide.iloc[np.flatnonzero(on)]
    missing = set(labels[~has[on].all(axis=0)])
    tasks = list(dict.fromkeys(scores["task"]))
    counts = Counter(labels)
    every = list(dict.fromkeys(labels))
    complete = [name for name in every if name not in missing and counts[name] == len(tasks)]
    by_split = np.stack(
        [wide.loc[:, labels == name].to_numpy().mean(axis=1) for name in complete], axis=1
    )
    means = by_split.mean(axis=0)
    p_values = np.full(len(complete), np.nan)
    place = complete.index(own)
    if len(wide) >= tests.LEAST_BLOCKS and len(complete) > 1:
        test = tests.range_test(by_split, float(scores["overlap"].max()))
        p_values = test.p_values[place]
        p_values[place] = np.nan
    differ = p_values <= tests.ALPHA
    against = np.where(means < means[place], BETTER, WORSE)
    order = [*complete, *(name for name in every if name not in complete)]
    outside = len(order) - len(complete)
    facts = scores.groupby("label")[["fit_seconds", "item_bytes", "hamming"]].min().loc[order]
    table = pd.DataFrame(
        {
            "dataset": dataset,
            "bits": bits,
            "splits": len(wide),
            "rank": [*(1 + (means[None, :] > means[:, None]).sum(axis=1)), *[pd.NA] * outside],
            "method": order,
            **{task: [_mean(wide, name, task) for name in order] for task in tasks},
            "mean": [*means, *[np.nan] * outside],
            "against": [*np.where(differ, against, UNDECIDED), *[UNDECIDED] * outside],
            "p_value": [*p_values, *[np.nan] * outside],
            "fit_seconds": facts["fit_seconds"].to_numpy(),
            "item_bytes": facts["item_bytes"].to_numpy(),
            "hamming": facts["hamming"].to_numpy().astype(bool),
        }
    ).astype({"rank": "Int64"})
    return table.sort_values(["rank", "method"], kind="stable").reset_index(drop=True)


def _mean(wide: pd.DataFrame, label: str, task: str) -> float:
    return float(wide[label, task].mean()) if (label, task) in wide.columns else np.nan
