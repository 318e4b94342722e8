"""The study: a grid of methods, datasets, code lengths and seeds, from a TOML file or from flags.

A study's keys are the names of the command's flags, and flags win. :mod:`hashbench.execution.grid`
makes the explicit list of cells of it.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

import tomli_w

from hashbench.core.errors import HashbenchError, unknown
from hashbench.core.units import parse_duration, parse_size
from hashbench.core.validation import is_file_name
from hashbench.measures import DEFAULT_MEASURES, parse_many
from hashbench.plugins.protocol import EITHER, ENCODED

DEFAULT_STUDY = "quick"
EXECUTORS = ("local", "dask")
TUNE_BITS = ("middle", "each")

#: Largest numbers allowed: a seed typed as a number of seeds must not fill the memory.
MAX_SEEDS, MAX_BITS, MAX_PROCESSES, MAX_POINTS = 1000, 4096, 1024, 10_000

ABOUT = ("title", "authors", "abstract", "links", "url")


@dataclass(frozen=True)
class Rule:
    """Parameters for some methods on some datasets, such as ``smfh`` on ``nuswide``."""

    methods: str
    datasets: str
    set: Mapping[str, Any] = field(hash=False)

    def applies(self, method: str, dataset: str) -> bool:
        """Return whether the rule applies to a method on a dataset; both may be patterns."""
        return fnmatch.fnmatchcase(method, self.methods) and fnmatch.fnmatchcase(
            dataset, self.datasets
        )


@dataclass(frozen=True)
class Study:
    """A grid of cells, with limits and measures.

    Attributes
    ----------
    name : name of the folder of results
    methods, datasets : selections, see :mod:`hashbench.plugins.selection`
    bits, seeds : numbers
    measures : names of measures
    rules : parameters for some methods on some datasets
    plugins : the user's files and folders with plugins
    published : CSV files with numbers that papers print
    timeout, memory : limits of a cell in seconds and bytes, or None
    threads : number of threads per cell
    jobs : number of cells at once; the number of cores if None
    out : the folder of results; named after the study if None
    executor, scheduler : where cells are computed
    timing : run one cell at a time, and those again that ran with others
    tune : number of points per search, or None
    tune_bits : "middle" tunes at the middle code length for all, "each" at every one
    keep_trials : store the codes of trials, not only their scores
    codes : the codes that tables and the page show first: "encoded", or "learned-or-encoded" as
        papers compare
    about : texts for the page: title, authors, abstract, links, url
    """

    name: str = "custom"
    methods: tuple[str, ...] = ("all",)
    datasets: tuple[str, ...] = ("emoji",)
    bits: tuple[int, ...] = (16,)
    seeds: tuple[int, ...] = (0,)
    measures: tuple[str, ...] = DEFAULT_MEASURES
    rules: tuple[Rule, ...] = ()
    plugins: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    timeout: float | None = None
    memory: int | None = None
    threads: int = 1
    jobs: int | None = None
    out: str | None = None
    executor: str = "local"
    scheduler: str | None = None
    timing: bool = False
    tune: int | None = None
    tune_bits: str = TUNE_BITS[0]
    keep_trials: bool = False
    codes: str = ENCODED
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_toml(self) -> str:
        """Return the content of a file that defines the same study."""
        keys = {key: value for key, value in asdict(self).items() if key != "out"}
        return tomli_w.dumps({key: v for key, v in keys.items() if v not in (None, (), False, {})})


def built_in() -> dict[str, Path]:
    """Return the files of the studies that ship with the package, by name."""
    folder = Path(str(resources.files("hashbench.resources"))) / "studies"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def load_study(name: str) -> Study:
    """Return a study that ships with the package, or the study of a TOML file."""
    known = built_in()
    path = known.get(name, Path(name))
    if not path.is_file():
        if name.endswith(".toml"):
            raise HashbenchError(f"study file {name!r} does not exist")
        raise unknown("study", name, [*known, "a TOML file"])
    try:
        keys = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HashbenchError(f"study {name!r} is not valid TOML: {error}") from error
    study = read_study({"name": path.stem, **keys}, where=f"study {name!r}")
    # paths are relative to the file
    return replace(
        study,
        plugins=tuple(str(path.parent / each) for each in study.plugins),
        published=tuple(str(path.parent / each) for each in study.published),
    )


def read_study(keys: Mapping[str, Any], where: str, base: Study | None = None) -> Study:
    """Return a study from the keys of a file or the flags; other values come from `base`.

    `where` names the file or the flags in errors.
    """
    allowed = [each.name for each in fields(Study)]
    values: dict[str, Any] = {}
    for key, value in keys.items():
        if key not in allowed:
            raise HashbenchError(f"{where}: {unknown('key', key, allowed)}")
        try:
            values[key] = _READERS[key](value)
        except HashbenchError as error:  # it names the value
            raise HashbenchError(f"{where}: {error}") from error
        except ValueError as error:
            raise HashbenchError(f"{where}: {key}: found {value!r}; {error}") from error
    if "scheduler" in values and values.setdefault("executor", "dask") != "dask":
        raise HashbenchError(
            f"{where}: found a scheduler with executor {values['executor']!r}; allowed: 'dask'"
        )
    return replace(base or Study(), **values)


def parse_seeds(value: Any) -> tuple[int, ...]:
    """Return seeds: one number is how many, from 0; a list or text with commas are the seeds.

    Examples
    --------
    >>> parse_seeds(3), parse_seeds("3"), parse_seeds("3,5"), parse_seeds([7])
    ((0, 1, 2), (0, 1, 2), (3, 5), (7,))
    """
    several = isinstance(value, list | tuple) or (isinstance(value, str) and "," in value)
    try:
        return (
            _parse_numbers(value, 0, 2**63 - 1)
            if several
            else tuple(range(_parse_number(value, 1, MAX_SEEDS)))
        )
    except ValueError:
        raise ValueError(
            f"allowed: how many seeds, 1 to {MAX_SEEDS}; or which ones, from 0 up, as in 3,5 or 3,"
        ) from None


def _parse_number(value: Any, least: int, most: int) -> int:
    """Return an integer given as int or text; true and 8.5 are errors."""
    number = int(value) if isinstance(value, str) and value.strip().isdecimal() else value
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise ValueError(f"allowed: a whole number from {least} to {most}")
    return number


def _parse_numbers(value: Any, least: int, most: int) -> tuple[int, ...]:
    parts = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    try:
        listed = parts if isinstance(parts, list | tuple) else [parts]
        numbers = dict.fromkeys(_parse_number(part, least, most) for part in listed)
    except ValueError:
        numbers = {}
    if not numbers:
        raise ValueError(f"allowed: whole numbers from {least} to {most}")
    return tuple(numbers)


def _check_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("allowed: a text that is not empty")
    return value


def _check_texts(value: Any) -> tuple[str, ...]:
    texts = value if isinstance(value, list | tuple) else [value]
    if not texts or not all(isinstance(text, str) and text.strip(" ,") for text in texts):
        raise ValueError("allowed: a name or a list of names")
    return tuple(texts)


def _check_measures(value: Any) -> tuple[str, ...]:
    names = [measure for text in _check_texts(value) for measure in parse_many(text)]
    for measure in names:
        if measure.needs_pairs:
            raise HashbenchError(
                f"measure {str(measure)!r} needs each query's partner in the database, which "
                "holds no query of a study; use hashbench.evaluate(..., pairs=positions)"
            )
    return tuple(str(measure) for measure in parse_many(names))


def _check_rules(value: Any) -> tuple[Rule, ...]:
    keys = [each.name for each in fields(Rule)]
    rules = []
    for rule in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(rule, dict) or sorted(rule) != sorted(keys):
            raise ValueError(f"allowed: tables with the keys {', '.join(keys)}")
        if not rule["set"] or not isinstance(rule["set"], dict):
            raise ValueError("allowed as set: a table of parameters")
        if not isinstance(rule["methods"], str) or not isinstance(rule["datasets"], str):
            raise ValueError("allowed as methods and datasets: a name or a pattern")
        rules.append(Rule(**rule))
    return tuple(rules)


def _check_plugins(value: Any) -> tuple[str, ...]:
    if isinstance(value, dict):
        if list(value) != ["paths"]:
            raise ValueError("allowed: a path, a list of paths, or a table with the key paths")
        value = value["paths"]
    return _check_texts(value) if value != [] else ()


def _check_about(value: Any) -> dict[str, Any]:
    """Return texts about a study; links must be web addresses."""
    if not isinstance(value, dict):
        raise ValueError(f"allowed: a table with the keys {', '.join(ABOUT)}")
    for key in value:
        if key not in ABOUT:
            raise unknown("key", key, ABOUT)
    about = {**value}
    about |= {key: _check_text(value[key]) for key in ("title", "abstract") if key in value}
    if "authors" in value:
        about["authors"] = list(_check_texts(value["authors"]))
    links = value.get("links", {})
    if not isinstance(links, dict):
        raise ValueError('allowed as links: a table of addresses, as { Paper = "https://..." }')
    for address in (*links.values(), *([value["url"]] if "url" in value else [])):
        if not isinstance(address, str) or not address.startswith(("https://", "http://")):
            raise ValueError(f"allowed as an address: https://...; found {address!r}")
    return about


def _check_name(value: Any) -> str:
    if not isinstance(value, str) or not is_file_name(value):
        raise ValueError("allowed: a name that a folder can have")
    return value


def _check_one_of(key: str, allowed: Sequence[str]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in allowed:
            raise unknown(key, str(value), allowed)
        return str(value)

    return read


def _check_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("allowed: true or false")
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "name": _check_name,
    "methods": _check_texts,
    "datasets": _check_texts,
    "bits": lambda value: _parse_numbers(value, 1, MAX_BITS),
    "seeds": parse_seeds,
    "measures": _check_measures,
    "codes": _check_one_of("codes", (ENCODED, EITHER)),
    "rules": _check_rules,
    "plugins": _check_plugins,
    "published": lambda value: _check_texts(value) if value else (),
    "timeout": parse_duration,
    "memory": parse_size,
    "threads": lambda value: _parse_number(value, 1, MAX_PROCESSES),
    "jobs": lambda value: _parse_number(value, 1, MAX_PROCESSES),
    "out": _check_text,
    "executor": _check_one_of("executor", EXECUTORS),
    "scheduler": _check_text,
    "timing": _check_flag,
    "tune": lambda value: _parse_number(value, 2, MAX_POINTS),
    "tune_bits": _check_one_of("tune_bits", TUNE_BITS),
    "keep_trials": _check_flag,
    "about": _check_about,
}
