"""Studies: files and flags to an explicit list of cells."""

from __future__ import annotations

import numpy as np
import pytest

from hashbench.base.errors import HashbenchError
from hashbench.plugins.registry import discover
from hashbench.studies.grid import drafts, resolved
from hashbench.studies.study import Study, built_in, load_study, parse_seeds, read_study


@pytest.fixture(scope="module")
def registry():
    return discover()


def study(**keys):
    return read_study(keys, "the test")


def rule(**changes):
    return {"methods": "cca", "datasets": "*", "set": {"train_rows": 5}, **changes}


def test_the_grid_is_the_product_in_the_order_of_datasets_seeds_bits_methods(registry):
    asked = study(methods="random,cca", datasets="synthetic", bits="8,16", seeds=2)
    keys = [(d.seed, d.bits, d.method) for d in drafts(asked, registry)]
    assert keys == [(s, b, m) for s in (0, 1) for b in (8, 16) for m in ("random", "cca")]


def test_parameters_span_a_grid_and_defaults_are_not_printed(registry):
    asked = study(methods="edsh[gamma=1|10|100]", datasets="synthetic")
    assert [d.params for d in drafts(asked, registry)] == ["gamma=1", "", "gamma=100"]
    assert [d.parameters["gamma"] for d in drafts(asked, registry)] == [1.0, 10.0, 100.0]


def test_a_parameter_at_its_default_is_no_other_cell(registry):
    asked = study(methods="edsh,edsh[gamma=10],edsh[gamma=10.0]", datasets="synthetic")
    assert len(drafts(asked, registry)) == 1


def test_whole_numbers_for_real_parameters_make_the_same_cell(registry):
    one, other = (
        drafts(study(methods=f"edsh[gamma={text}]", datasets="synthetic"), registry)[0]
        for text in ("3", "3.0")
    )
    assert one == other


def test_rules_hold_for_some_methods_on_some_datasets_and_names_win(registry):
    rules = [{"methods": "ed*", "datasets": "synthetic", "set": {"gamma": 3, "train_rows": 50}}]
    asked = study(
        methods="edsh,edsh[gamma=7],cca", datasets="synthetic,synthetic-wiki", rules=rules
    )
    found = {(d.data.name, d.method, d.params): d for d in drafts(asked, registry)}
    assert set(found) == {
        ("synthetic", "edsh", "gamma=3,train_rows=50"),
        ("synthetic", "edsh", "gamma=7,train_rows=50"),
        ("synthetic", "cca", ""),
        ("synthetic-wiki", "edsh", ""),
        ("synthetic-wiki", "edsh", "gamma=7"),
        ("synthetic-wiki", "cca", ""),
    }
    assert found["synthetic", "edsh", "gamma=3,train_rows=50"].train_rows == 50


def test_protocol_and_preprocessing_are_chosen_like_parameters(registry):
    asked = study(
        methods="cca", datasets="synthetic-mirflickr[protocol=paper|random-2000,preprocess=l2]"
    )
    found = drafts(asked, registry)
    assert [d.data.protocol for d in found] == ["paper", "random-2000"]
    assert [d.data.label for d in found] == [
        "synthetic-mirflickr[preprocess=l2]",
        "synthetic-mirflickr[preprocess=l2,protocol=random-2000]",
    ]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"methods": "edhs"}, "unknown method 'edhs'; did you mean 'edsh'?"),
        ({"methods": "edsh[gama=1]"}, "unknown parameter of edsh 'gama'; did you mean 'gamma'?"),
        ({"methods": "edsh[train_rows=0]"}, "train_rows: found 0; allowed: whole numbers from 1"),
        ({"datasets": "synthetic[protocol=standart]"}, "unknown protocol of synthetic 'standart'"),
        ({"methods": "edsh[gamma=x]"}, "parameter gamma of edsh: found 'x'; allowed: numbers"),
        ({"methods": "edsh[gamma=nan]"}, "parameter gamma of edsh: found nan; allowed: numbers"),
        ({"methods": "edsh[gamma=true]"}, "parameter gamma of edsh: found True; allowed: numbers"),
        ({"methods": "lcmfh[batch_thresholds=2]"}, "found 2; allowed: true or false"),
        ({"datasets": "synthetic[rows=many]"}, "parameter rows of synthetic: found 'many'"),
        ({"rules": [rule(set={"gamma": 1})]}, "unknown parameter of cca 'gamma'"),
        ({"rules": [rule(set={"n_bits": 1})]}, "unknown parameter of cca 'n_bits'"),
        ({"rules": [rule(methods="ccaa")]}, "rules: unknown method 'ccaa'; did you mean 'cca'?"),
        ({"rules": [rule(datasets="sinthetic")]}, "rules: unknown dataset 'sinthetic'; did you"),
    ],
)
def test_what_does_not_exist_is_named(registry, keys, message):
    asked = study(**{"methods": "cca", "datasets": "synthetic", **keys})
    with pytest.raises(HashbenchError, match=r".") as error:
        drafts(asked, registry)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"bits": "16,x"}, "the test: bits: found '16,x'; allowed: whole numbers from 1 to"),
        ({"bits": "0"}, "allowed: whole numbers from 1 to"),
        ({"seeds": -1}, "seeds: found -1"),
        ({"timeout": "soon"}, "timeout: found 'soon'; allowed: durations like"),
        ({"memory": "much"}, "memory: found 'much'; allowed: sizes like"),
        ({"method": "edsh"}, "the test: unknown key 'method'; did you mean 'methods'?"),
        ({"rules": [{"methods": "a"}]}, "rules: found"),
        ({"rules": 3}, "rules: found 3; allowed: tables with the keys methods, datasets, set"),
        ({"rules": [rule(also=1)]}, "allowed: tables with the keys methods, datasets, set"),
        ({"rules": [rule(set=3)]}, "allowed as set: a table of parameters"),
        ({"rules": [rule(methods=["cca"])]}, "allowed as methods and datasets: a name or a patt"),
        ({"bits": []}, "bits: found []; allowed: whole numbers from 1 to"),
        ({"bits": [8.5]}, "bits: found [8.5]; allowed: whole numbers from 1 to"),
        ({"bits": True}, "bits: found True; allowed: whole numbers from 1 to"),
        ({"seeds": 0}, "seeds: found 0; allowed: how many seeds, 1 to 1000; or which ones"),
        ({"seeds": "0"}, "seeds: found '0'; allowed: how many seeds, 1 to 1000; or which ones"),
        ({"jobs": "1,2"}, "jobs: found '1,2'; allowed: a whole number from 1 to"),
        ({"threads": [1]}, "threads: found [1]; allowed: a whole number from 1 to"),
        ({"methods": []}, "methods: found []; allowed: a name or a list of names"),
        ({"datasets": ""}, "datasets: found ''; allowed: a name or a list of names"),
        ({"datasets": 3}, "datasets: found 3; allowed: a name or a list of names"),
        ({"measures": ""}, "measures: found ''; allowed: a name or a list of names"),
        ({"measures": ","}, "measures: found ','; allowed: a name or a list of names"),
        ({"timing": "no"}, "timing: found 'no'; allowed: true or false"),
        ({"name": "../x"}, "name: found '../x'; allowed: a name that a folder can have"),
        ({"out": ""}, "out: found ''; allowed"),
        ({"plugins": {"path": "x"}}, "plugins: found {'path': 'x'}; allowed: a path, a list of"),
        ({"executor": "slurm"}, "the test: unknown executor 'slurm'; allowed: dask, local"),
        (
            {"executor": "local", "scheduler": "tcp://x:1"},
            "the test: found a scheduler with executor 'local'; allowed: 'dask'",
        ),
    ],
)
def test_wrong_keys_and_values_are_named(keys, message):
    with pytest.raises(HashbenchError) as error:
        study(**keys)
    assert message in str(error.value)


def test_a_scheduler_means_dask_unless_a_flag_wins():
    base = study(scheduler="tcp://x:1")
    assert base.executor == "dask"
    assert read_study({"executor": "local"}, "the flags", base).executor == "local"
    assert study(executor="dask").scheduler is None


def test_two_files_of_one_name_are_an_error(registry, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        np.savez(
            tmp_path / folder / "x.npz", XAll=np.ones((4, 2)), YAll=np.ones((4, 2)),
            LAll=np.ones((4, 1)),
        )  # fmt: skip
    files = [f"{tmp_path}/{folder}/x.npz" for folder in ("a", "b")]
    with pytest.raises(HashbenchError, match=r"two datasets named 'x.*a/x.npz and .*b/x.npz"):
        drafts(study(methods="cca", datasets=files), registry)
    named = drafts(study(methods="cca", datasets=[files[0], f"y={files[1]}"]), registry)
    assert [d.data.name for d in named] == ["x", "y"]


def test_a_dataset_with_a_default_spelt_out_is_the_same_dataset(registry):
    both = ["synthetic[rows=300]", "synthetic[rows=300,snr=0.5]"]
    (draft,) = drafts(study(methods="cca", datasets=both, bits=8, seeds=1), registry)
    assert draft.data.label == "synthetic[rows=300]"


def test_flags_win_over_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('methods = "cca"\nbits = [8, 16]\n[plugins]\npaths = ["here.py"]\n')
    base = load_study(str(path))
    assert (base.name, base.methods, base.bits) == ("mine", ("cca",), (8, 16))
    assert base.plugins == (str(tmp_path / "here.py"),), "seen from the file, not from here"
    assert read_study({"bits": "64"}, "the flags", base).bits == (64,)


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(HashbenchError, match="unknown study 'quik'; did you mean 'quick'"):
        load_study("quik")
    with pytest.raises(HashbenchError, match="does not exist"):
        load_study("nowhere.toml")
    (tmp_path / "bad.toml").write_text("methods = ")
    with pytest.raises(HashbenchError, match="is not valid TOML"):
        load_study(str(tmp_path / "bad.toml"))


@pytest.mark.parametrize("name", sorted(built_in()))
def test_built_in_studies_resolve_and_read_back(name, registry, tmp_path):
    asked = resolved(load_study(name), registry)
    path = tmp_path / f"{name}.toml"
    path.write_text(asked.to_toml())
    assert load_study(str(path)) == asked
    assert drafts(asked, registry) == drafts(load_study(name), registry)


def test_the_paper_is_600_cells_and_caps_smfh_on_nuswide_only(registry):
    found = drafts(load_study("paper"), registry)
    assert len(found) == 10 * 3 * 4 * 5
    capped = {(d.method, d.data.name) for d in found if d.train_rows is not None}
    assert capped == {("smfh", "nuswide")}


def test_quick_is_every_method_on_emoji(registry):
    found = drafts(load_study("quick"), registry)
    networks = {name for name, plugin in registry.methods.items() if plugin.cls.requires}
    assert {d.method for d in found} == set(registry.methods) - networks
    assert {d.data.name for d in found} == {"emoji"}


def test_seeds_are_a_number_or_a_list():
    assert parse_seeds(3) == parse_seeds("3") == (0, 1, 2)
    assert parse_seeds("3,") == (3,)
    assert parse_seeds([0, 4, 0]) == (0, 4)


def test_a_study_survives_its_own_file_with_every_key(tmp_path):
    asked = Study(
        "all-keys", ("a", "b[c=1]"), ("d",), (8,), (1,), ("AP",), (), ("/ü😀.py",),
        ("/mine.csv",), 1.5, 7, 2, 3,
        None, "dask", "tcp://x:1", True,
    )  # fmt: skip
    path = tmp_path / "all-keys.toml"
    path.write_text(asked.to_toml())
    assert load_study(str(path)) == asked


@pytest.mark.parametrize(
    "value",
    ["AP(norm=all,ties=index)@10,P@100,edsh,P@100", ["AP(ties=index,norm=all)@10", "P@100,edsh"]],
)
def test_measures_come_in_a_text_or_a_list(value):
    study = read_study({"measures": value}, "the flags")
    assert study.measures == ("AP(norm=all,ties=index)@10", "P@100", "AP(ties=index)@100")


def test_a_wrong_measure_is_refused_at_once():
    with pytest.raises(HashbenchError, match="did you mean 'AP'"):
        read_study({"measures": "APP"}, "the flags")
