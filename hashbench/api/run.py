"""Run studies from Python, with classes, objects and data in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hashbench.api.job import prepare_job, run_job
from hashbench.api.notebook_plugins import plugin_file
from hashbench.api.results import StudyResults
from hashbench.api.study_args import KEYS, RESULTS, resolve
from hashbench.core.errors import HashbenchError
from hashbench.core.validation import is_file_name, listed
from hashbench.data.export import write_data
from hashbench.execution.grid import FIXED
from hashbench.execution.progress import make_progress
from hashbench.neural.device import trained_on
from hashbench.plugins.dataset import Data
from hashbench.plugins.method import Method
from hashbench.plugins.registry import Registry, discover
from hashbench.plugins.selection import Selection

if TYPE_CHECKING:
    import pandas as pd

#: Folder in the folder of results for classes and data that were given in memory.
MEMORY = "given"


def run(
    methods: Any = None,
    datasets: Any = None,
    bits: int | Sequence[int] | str | None = None,
    seeds: int | Sequence[int] | str | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    plugins: str | Path | Sequence[str | Path] = (),
    report: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    force: bool = False,
    replace: bool = False,
    retry: str | Sequence[str] = (),
    device: str | None = None,
    **flags: Any,
) -> StudyResults:
    """Run a study and return its results; the flags of ``hashbench run`` are the parameters.

    Parameters
    ----------
    methods : names and selections as on the command line, classes, or objects with parameters
        set; one or a list
    datasets : names, selections and paths, `hashbench.Data` in memory, or name -> data
    bits : code length or list of code lengths
    seeds : number of seeds, or a list of seeds
    study : a study's name or file; other arguments replace its values
    out : folder of the results; if None, a folder in hashbench-results named after the study
    plugins : files and folders with plugins
    report : also write the page
    quiet, verbose : show no progress, or a log of all that happens with times
    force, retry : run every cell again, or those that ended as failed, timeout, memory or skipped
    replace : write the tables of this study in place of those of another one in `out`
    device : where networks are trained: auto, cpu, cuda, cuda:1, mps
    flags : measures, published, jobs, timeout, memory, threads, timing, tune, tune_bits,
        keep_trials, executor, scheduler
    """
    for name in flags:
        if name not in KEYS:
            raise HashbenchError(f"run: found {name}; allowed: {', '.join(sorted(KEYS))}")
    paths = listed(plugins)
    registry = discover(paths)
    given = Path(out) if out is not None else None
    items = listed(methods), listed(datasets)
    memory = (given or Path(RESULTS)) / MEMORY
    texts = [_method_text(each, registry, paths, memory) for each in items[0]]
    data = [_dataset_text(each, memory) for each in items[1]]
    arguments = {
        **dict.fromkeys(KEYS),
        **flags,
        "methods": texts or None,
        "datasets": [text for each in data for text in each] or None,
        "bits": bits if bits is None or isinstance(bits, str) else listed(bits),
        "seeds": list(seeds) if isinstance(seeds, range) else seeds,
        "out": None if out is None else str(out),
    }
    progress = make_progress(quiet, verbose=verbose)
    with trained_on(device):
        job = prepare_job(
            resolve(
                None if study is None else str(study), [str(path) for path in paths], arguments
            ),
            progress.message,
            retry=listed(retry),
            force=force,
            replace=replace,
        )
        if out is None:
            progress.message(f"results: {job.out}")
        done, _, _ = run_job(job, progress)
    if report:
        from hashbench.site.exhibits import publish

        publish(done)
    return StudyResults(done.path, done.registry, done.plan, done.stored)


def _method_text(method: Any, registry: Registry, paths: list[str | Path], memory: Path) -> str:
    """Return the selection of a method; a class that is no plugin becomes one."""
    if isinstance(method, str):
        return method
    cls = method if isinstance(method, type) else type(method)
    if not issubclass(cls, Method) or not hasattr(cls, "name"):
        raise HashbenchError(
            f"methods: found {method!r}; allowed: names, subclasses of hashbench.Method with a "
            "name, and objects of these"
        )
    known = registry.methods.get(cls.name)
    if known is None or (known.cls is not cls and known.cls.__qualname__ != cls.__qualname__):
        paths.append(plugin_file(cls, memory / "plugins"))
    if isinstance(method, type):
        return str(cls.name)
    defaults = cls.defaults()
    changed = {
        key: value
        for key, value in method.get_params().items()
        if key not in FIXED and repr(value) != repr(defaults[key])
    }
    return str(Selection(cls.name, tuple(sorted(changed.items()))))


def _dataset_text(dataset: Any, memory: Path) -> list[str]:
    """Return the selections of datasets; data in memory are written to files."""
    if isinstance(dataset, str | Path):
        return [str(dataset)]
    named: Mapping[str, Any] = dataset if isinstance(dataset, Mapping) else {"data": dataset}
    texts = []
    for name, data in named.items():
        if not isinstance(data, Data):
            raise HashbenchError(
                f"datasets: found {type(data).__name__}; allowed: names, paths, hashbench.Data, or "
                "a dictionary of these by name"
            )
        if not is_file_name(name):
            raise HashbenchError(f"datasets: found name {name!r}; allowed: no / and no \\ in it")
        path = memory / "data" / f"{name}-{data.fingerprint}.npz"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_data(data, path)
        texts.append(f"{name}={path}")
    return texts


def score(
    method: Method,
    data: Any,
    *,
    protocol: str | None = None,
    seed: int = 0,
    measures: str | Sequence[str] = ("AP", "P@100"),
) -> pd.DataFrame:
    """Fit a method on a split of data in this process and score its codes in every task.

    Parameters
    ----------
    method : an object with its parameters, ``EDSH(n_bits=32)``; it is fitted
    data : `hashbench.Data`, or the name or path of a dataset
    protocol : one of the dataset's, or ``query=500``; what `hashbench run` would take if None
    seed : of the split
    measures : names of measures

    Returns
    -------
    DataFrame
        task, database ("unseen", "seen" or "all"), measure, value
    """
    import pandas as pd

    from hashbench.api.in_memory_data import split_of
    from hashbench.measures import evaluate

    views, labels, split, names = split_of(data, protocol, seed)
    train = [X[split.train] for X in views]
    method.fit(train, labels[split.train] if method.supervised else None)
    rows = []
    for query, X in enumerate(views):
        for database, Z in enumerate(views):
            if query == database:
                continue
            codes = method.encode(X[split.query], query), method.encode(Z[split.database], database)
            for part in split.parts:
                chosen = split.positions(part)
                relevant = labels[split.query], labels[split.database[chosen]]
                copies = split.copies[query] if len(split.copies) else None
                found = evaluate(codes[0], codes[1][chosen], *relevant, measures, left_out=copies)
                about = {"task": f"{names[query]}->{names[database]}", "database": part}
                rows += [{**about, "measure": name, "value": found[name]} for name in found.scores]
    return pd.DataFrame(rows)
