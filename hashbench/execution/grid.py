"""Expand a study into the explicit list of its cells, before any dataset is loaded.

A :class:`CellSpec` lacks what depends on the data: their fingerprint and the rows of the split.
Parameters equal to their defaults are left out of what tables print: they make no other cell.
"""

from __future__ import annotations

import fnmatch
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from hashbench.core.errors import HashbenchError, unknown
from hashbench.data.formats import FileDataset, parse_file_selection
from hashbench.data.prepare import DataSpec, SplitRequest
from hashbench.execution import external
from hashbench.execution.cell import ASYMMETRIC, DISTANCE, DISTANCES, HAMMING
from hashbench.execution.study import Rule, Study
from hashbench.plugins.allowed import check_parameters
from hashbench.plugins.dataset import Dataset
from hashbench.plugins.protocol import RESERVED_KEYS, ROW_KEYS, Protocol
from hashbench.plugins.registry import Plugin, Registry
from hashbench.plugins.requirements import unavailable
from hashbench.plugins.selection import Selection, format_value, parse_item, select, split_items

#: Keys that a selection may set on every method, in addition to its parameters.
METHOD_EXTRAS = ("train_rows", DISTANCE)

#: Selects the methods that are reconstructions, which ``all`` does not.
RECONSTRUCTIONS = "reconstructions"

#: Parameters of every method that the grid sets.
FIXED = ("n_bits", "random_state")


@dataclass(frozen=True)
class DataChoice:
    """A dataset with the protocol and the preprocessing that a study selects."""

    spec: DataSpec
    name: str
    label: str
    protocol: Protocol
    preprocess: str | tuple[str, ...]


@dataclass(frozen=True)
class CellSpec:
    """A cell whose dataset has not been loaded yet."""

    data: DataChoice
    method: str
    params: str
    parameters: Mapping[str, Any] = field(hash=False)
    train_rows: int | None
    bits: int
    seed: int
    codes: str = ""  # the file of an external method's codes

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """The key of the cell: what identifies it in tables."""
        return (self.data.label, self.method, self.params, self.bits, self.seed)

    @property
    def split(self) -> SplitRequest:
        """The split it needs."""
        return SplitRequest(self.data.protocol, self.seed, self.train_rows)


def resolved(study: Study, registry: Registry) -> Study:
    """Return the study with patterns replaced by the names that they match."""
    names, files = _separate_files(study.datasets)
    chosen = select(names, settable(registry.datasets, RESERVED_KEYS), "dataset") if names else []
    return replace(
        study,
        methods=tuple(_method_text(each, registry) for each in _select_methods(study, registry)),
        datasets=(*files, *map(str, chosen)),
        plugins=tuple(map(str, registry.paths)),
        published=tuple(str(Path(path).absolute()) for path in study.published),
    )


def expand_grid(study: Study, registry: Registry) -> list[CellSpec]:
    """Return every cell of a study: by dataset, then seed, then bits, then method."""
    methods = _select_methods(study, registry)
    data = select_datasets(study, registry)
    for rule in study.rules:
        _check_rule(rule, registry.methods, {*registry.datasets, *(each.name for each in data)})
    grid = itertools.product(data, study.seeds, study.bits, methods)
    specs = (_make_cell_spec(study.rules, registry, *point) for point in grid)
    return list({spec.key: spec for spec in specs}.values())


def _check_rule(rule: Rule, methods: Iterable[str], datasets: Iterable[str]) -> None:
    """Raise an error if a rule names no method or dataset that exists."""
    for kind, pattern, names in (
        ("method", rule.methods, methods),
        ("dataset", rule.datasets, datasets),
    ):
        if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
            raise HashbenchError(f"rules: {unknown(kind, pattern, names)}")


def _select_methods(
    study: Study, registry: Registry, *, all_matches: bool = False
) -> list[Selection]:
    """Return the selected methods; external ones are added to the registry.

    `all_matches`: also those that patterns match and that cannot run here.
    """
    names = []
    for item in itertools.chain.from_iterable(map(split_items, study.methods)):
        name, pattern = external.parse_external(item) or (item, None)
        if pattern is not None:
            external.register(name, pattern, registry)
        names.append(name)
    known = settable(registry.methods, METHOD_EXTRAS)
    absent = {} if all_matches else unavailable(registry.methods)
    return select(names, known, "method", absent, {RECONSTRUCTIONS: registry.reconstructions()})


def _method_text(choice: Selection, registry: Registry) -> str:
    """Return a selected method as a study file writes it."""
    plugin = registry.methods[choice.name]
    return f"{choice.name}={plugin.path}" if plugin.origin == external.ORIGIN else str(choice)


def methods_left_out(study: Study, registry: Registry) -> dict[str, list[str]]:
    """Return the methods that patterns match but that cannot run here, by what they need."""
    needs = unavailable(registry.methods)
    found: dict[str, list[str]] = {}
    matches = _select_methods(study, registry, all_matches=True)
    for name in dict.fromkeys(choice.name for choice in matches if choice.name in needs):
        found.setdefault(needs[name], []).append(name)
    return found


def _separate_files(selections: Iterable[str]) -> tuple[list[str], dict[str, FileDataset]]:
    """Split a selection of datasets into names and files."""
    names: list[str] = []
    files: dict[str, FileDataset] = {}
    for item in itertools.chain.from_iterable(map(split_items, selections)):
        found = None if item.startswith("!") else parse_file_selection(item)
        if found is None:
            names.append(item)
        else:
            files[item] = found[1]
    return names, files


def _make_cell_spec(
    rules: Iterable[Rule],
    registry: Registry,
    data: DataChoice,
    seed: int,
    bits: int,
    method: Selection,
) -> CellSpec:
    """Return one cell of the grid, with the rules that apply to it."""
    plugin = registry.methods[method.name]
    if plugin.origin == external.ORIGIN:
        codes = external.codes_path(plugin, data.name, bits, seed)
        return CellSpec(data, method.name, external.MARK, {}, None, bits, seed, codes)
    defaults = plugin.cls.defaults()
    allowed = _settable(plugin, METHOD_EXTRAS)
    settings: dict[str, Any] = {}
    for rule in rules:
        if rule.applies(method.name, data.name):
            settings.update(rule.set)
    settings.update(method.settings)  # the selection wins over rules
    for name in settings:
        if name not in allowed:
            raise unknown(f"parameter of {method.name}", name, allowed)
    train_rows = settings.pop("train_rows", None)
    if train_rows is not None and (type(train_rows) is not int or train_rows < 1):
        raise HashbenchError(f"train_rows: found {train_rows!r}; allowed: whole numbers from 1 up")
    distance = HAMMING if DISTANCE in defaults else settings.pop(DISTANCE, HAMMING)
    _check_distance(plugin, distance)
    parameters = _complete(method.name, defaults, settings)
    check_parameters(plugin.cls, parameters)
    printed = _changed(defaults, parameters)
    if distance != HAMMING:
        parameters[DISTANCE] = printed[DISTANCE] = distance
    if train_rows is not None:
        printed["train_rows"] = train_rows
    params = ",".join(f"{key}={format_value(printed[key])}" for key in sorted(printed))
    return CellSpec(data, method.name, params, parameters, train_rows, bits, seed)


def _check_distance(plugin: Plugin, distance: Any) -> None:
    """Raise an error unless a method can be searched with a distance."""
    if distance not in DISTANCES:
        raise unknown("distance", str(distance), DISTANCES)
    if distance == ASYMMETRIC and not hasattr(plugin.cls, "project"):
        raise HashbenchError(
            f"method {plugin.name}: found {DISTANCE}={distance}; allowed: methods with `project`, "
            "as linear hash functions have"
        )


def select_datasets(study: Study, registry: Registry) -> list[DataChoice]:
    """Return the selected datasets; every item that names a file is one dataset."""
    known = settable(registry.datasets, RESERVED_KEYS)
    chosen: dict[DataChoice, None] = {}
    names, files = _separate_files(study.datasets)
    for item, dataset in files.items():
        settings = parse_item(item)[1][0]
        params = {k: v for k, v in dataset.get_params().items() if v is not None}
        spec = DataSpec(None, tuple(sorted(params.items())))
        shown = {k: v for k, v in settings.items() if k not in RESERVED_KEYS}
        chosen[_data_choice(dataset, spec, shown, settings)] = None
    for choice in select(names, known, "dataset") if names else []:
        cls = registry.datasets[choice.name].cls
        own = {k: v for k, v in choice.params if k not in RESERVED_KEYS}
        parameters = _complete(choice.name, cls.defaults(), own)
        changed = _changed(cls.defaults(), parameters)
        spec = DataSpec(choice.name, tuple(sorted(changed.items())))
        chosen[_data_choice(cls(**changed), spec, changed, choice.settings)] = None
    specs: dict[str, DataSpec] = {}
    for each in chosen:
        if specs.setdefault(each.label, each.spec) != each.spec:
            raise HashbenchError(
                f"two datasets named {each.label!r}: {specs[each.label]} and {each.spec}; "
                "give a file another name, as in -d other=FILE"
            )
    return list(chosen)


def _data_choice(
    dataset: Dataset, spec: DataSpec, shown: Mapping[str, Any], settings: Mapping[str, Any]
) -> DataChoice:
    default = dataset.default_protocol()
    own = dataset.defaults()
    protocol = Protocol.select({k: v for k, v in settings.items() if k not in own}, default)
    if protocol.rows and "protocol" in settings:
        raise HashbenchError(
            f"dataset {dataset.name}: found protocol={settings['protocol']} with {protocol.base}; "
            "allowed: one of them"
        )
    if not protocol.rows and protocol.name not in dataset.protocols:
        raise unknown(f"protocol of {dataset.name}", protocol.name, dataset.protocols)
    preprocess = settings.get("preprocess", dataset.preprocessing)
    if preprocess is None:  # how a selection reads the word
        preprocess = "none"
    shown = dict(shown)
    if protocol.rows:
        shown |= {k: settings[k] for k in ROW_KEYS if k in settings}
    elif protocol.name != default:
        shown["protocol"] = protocol.name
    if "preprocess" in settings:
        shown["preprocess"] = preprocess
    shown |= protocol.options
    if protocol.copies:
        shown["copies"] = protocol.copies
    label = str(Selection(dataset.name, tuple(sorted(shown.items()))))
    return DataChoice(spec, dataset.name, label, protocol, preprocess)


def settable(plugins: Mapping[str, Plugin], extras: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the parameters that a selection may set, by plugin."""
    return {name: _settable(plugin, extras) for name, plugin in plugins.items()}


def _settable(plugin: Plugin, extras: tuple[str, ...]) -> list[str]:
    """Return the parameters of a plugin, and others, that a selection may set."""
    return [key for key in (*plugin.cls.defaults(), *extras) if key not in FIXED]


def _complete(
    name: str, defaults: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all parameters; an int for a float parameter becomes a float."""
    parameters = {
        key: value.item() if isinstance(value, np.generic) else value  # JSON knows no numpy scalars
        for key, value in defaults.items()
        if key not in FIXED
    }
    for key, value in settings.items():
        _check_kind(f"parameter {key} of {name}", defaults[key], value)
        real = type(value) is int and isinstance(defaults[key], float)
        parameters[key] = float(value) if real else value
    return parameters


def _check_kind(what: str, default: Any, value: Any) -> None:
    """Raise an error if the type of a value is not that of the default; None is always allowed."""
    if value is None:
        return
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise HashbenchError(f"{what}: found {value!r}; allowed: true or false")
    elif isinstance(default, int | float):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or math.isnan(value):
            raise HashbenchError(f"{what}: found {value!r}; allowed: numbers")


def _changed(defaults: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    return {key: value for key, value in parameters.items() if repr(value) != repr(defaults[key])}
