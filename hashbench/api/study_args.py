"""From flags or arguments to a study, its folder and its number of processes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hashbench.core.errors import HashbenchError
from hashbench.core.parallel import usable_cores
from hashbench.execution.study import DEFAULT_STUDY, Study, load_study, read_study

RESULTS = "hashbench-results"

#: Flags that define a new study if no study is named.
GRID = ("methods", "datasets", "bits", "seeds")
KEYS = (
    *GRID, "measures", "timeout", "memory", "threads", "jobs", "out", "executor", "scheduler",
    "timing", "tune", "tune_bits", "keep_trials", "published",
)  # fmt: skip


def resolve(study: str | None, plugins: Sequence[str], flags: Mapping[str, Any]) -> Study:
    """Return the study of a name or file with the values of flags."""
    keys = {key: _toml_value(flags[key]) for key in KEYS if flags[key] not in (None, ())}
    base = load_study(DEFAULT_STUDY if study is None else study)
    if study is None and any(key in keys for key in GRID):
        keys["name"] = study_name({**keys, "plugins": list(plugins)})
        base = replace(base, timeout=None)  # the limit of the default study does not apply
    if plugins:
        keys["plugins"] = [*base.plugins, *plugins]
    result = read_study(keys, "the flags", base)
    if result.timing and result.executor != "local":
        raise HashbenchError(
            f"timing: found executor {result.executor!r}; allowed: 'local', because other "
            "programs may run on the machine of a worker"
        )
    return result


def _toml_value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def study_name(keys: Mapping[str, Any]) -> str:
    """Return a unique name for a study from its flags."""
    what = {key: value for key, value in keys.items() if key in (*GRID, "plugins")}
    digest = hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()
    words = [
        re.sub(r"[^A-Za-z0-9]+", "-", str(keys[key])).strip("-")[:30].strip("-")
        for key in GRID
        if key in keys
    ]
    return "-".join([*words, digest[:6]])


def default_out(study: Study) -> Path:
    """Return the folder of a study's results."""
    return Path(study.out or Path(RESULTS) / study.name)


def n_jobs(study: Study) -> int:
    """Return the number of cells that run at once."""
    return 1 if study.timing else study.jobs or max(1, usable_cores() // study.threads)
