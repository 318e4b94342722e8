"""What is asked for, by flags or by arguments: one study, its folder, its number of processes."""

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

#: Flags that make a study of their own if no study is named.
GRID = ("methods", "datasets", "bits", "seeds")
KEYS = (
    *GRID, "measures", "timeout", "memory", "threads", "jobs", "out", "executor", "scheduler",
    "timing", "tune", "tune_time", "tune_bits", "keep_trials", "published",
)  # fmt: skip


def resolve(study: str | None, plugins: Sequence[str], flags: Mapping[str, Any]) -> Study:
    """Return the study that a name or file and the flags ask for."""
    keys = {key: _plain(flags[key]) for key in KEYS if flags[key] not in (None, ())}
    base = load_study(DEFAULT_STUDY if study is None else study)
    if study is None and any(key in keys for key in GRID):
        keys["name"] = study_name({**keys, "plugins": list(plugins)})
        base = replace(base, timeout=None)  # a limit that nobody set is none
    if plugins:
        keys["plugins"] = [*base.plugins, *plugins]
    asked = read_study(keys, "the flags", base)
    if asked.timing and asked.executor != "local":
        raise HashbenchError(
            f"timing: found executor {asked.executor!r}; allowed: 'local', because nobody can tell "
            "what else runs beside a worker"
        )
    return asked


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def study_name(keys: Mapping[str, Any]) -> str:
    """Return a name for a study from flags that says what it is, and is no other study's."""
    what = {key: value for key, value in keys.items() if key in (*GRID, "plugins")}
    digest = hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()
    said = [
        re.sub(r"[^A-Za-z0-9]+", "-", str(keys[key])).strip("-")[:30].strip("-")
        for key in GRID
        if key in keys
    ]
    return "-".join([*said, digest[:6]])


def default_out(study: Study) -> Path:
    """Return the folder of a study's results."""
    return Path(study.out or Path(RESULTS) / study.name)


def jobs_of(study: Study) -> int:
    """Return how many cells run at once."""
    return 1 if study.timing else study.jobs or max(1, usable_cores() // study.threads)
