"""Studies: files and flags to an explicit list of cells."""

import numpy as np
import pytest

from hashbench.core.errors import HashbenchError
from hashbench.execution.grid import expand_grid, resolved
from hashbench.execution.study import Study, built_in, load_study, parse_seeds, read_study
from hashbench.plugins.registry import discover


@pytest.fixture(scope="module")
def registry():
    return discover()


def study(**keys):
    return read_study(keys, "the test")


def rule(**changes):
    return {"methods": "cca", "datasets": "*", "set": {"train_rows": 5}, **changes}


def test_the_grid_is_the_product_in_the_order_of_datasets_seeds_bits_methods(registry):
    asked = study(methods="random,cca", datasets="synthetic", bits="8,16", seeds=2)
    keys = [(d.seed, d.bits, d.method) for d in expand_grid(asked, registry)]
    assert keys == [(s, b, m) for s in (0, 1) for b in (8, 16) for m in ("random", "cca")]


def test_parameters_span_a_grid_and_defaults_are_not_printed(registry):
    asked = study(methods="edsh[gamma=1|10|100]", datasets="synthetic")
    assert [d.params for d in expand_grid(asked, registry)] == ["gamma=1", "", "gamma=100"]
    assert [d.parameters["gamma"] for d in expand_grid(asked, registry)] == [1.0, 10.0, 100.0]


def test_a_parameter_at_its_default_is_no_other_cell(registry):
    asked = study(methods="edsh,edsh[gamma=10],edsh[gamma=10.0]", datasets="synthetic")
    assert len(expand_grid(asked, registry)) == 1


def test_the_distance_is_a_parameter_of_every_linear_method(registry):
    specs = expand_grid(study(methods="cca[distance=hamming|asymmetric]"), registry)
    assert [spec.params for spec in specs] == ["", "distance=asymmetric"]
    assert [spec.parameters.get("distance") for spec in specs] == [None, "asymmetric"]


def test_whole_numbers_for_real_parameters_make_the_same_cell(registry):
    one, other = (
        expand_grid(study(methods=f"edsh[gamma={text}]", datasets="synthetic"), registry)[0]
        for text in ("3", "3.0")
    )
    assert one == other


def test_rules_hold_for_some_methods_on_some_datasets_and_names_win(registry):
    rules = [{"methods": "ed*", "datasets": "synthetic", "set": {"gamma": 3, "train_rows": 50}}]
    asked = study(
        methods="edsh,edsh[gamma=7],cca", datasets="synthetic,synthetic-wiki", rules=rules
    )
    found = {(d.data.name, d.method, d.params): d for d in expand_grid(asked, registry)}
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
    found = expand_grid(asked, registry)
    assert [d.data.protocol.name for d in found] == ["paper", "random-2000"]
    assert [d.data.label for d in found] == [
        "synthetic-mirflickr[preprocess=l2,protocol=paper]",
        "synthetic-mirflickr[preprocess=l2,protocol=random-2000]",
    ]


@pytest.mark.parametrize(
    ("keys", "facts"),
    [
        ({"methods": "edhs"}, ["method", "'edhs'", "'edsh'"]),
        ({"methods": "edsh[gama=1]"}, ["edsh", "'gama'", "'gamma'"]),
        ({"methods": "edsh[train_rows=0]"}, ["train_rows", " 0", "from 1"]),
        ({"methods": "edsh[distance=cosine]"}, ["distance 'cosine'", "asymmetric, hamming"]),
        ({"methods": "ccq[distance=asymmetric]"}, ["ccq", "asymmetric", "project"]),
        ({"datasets": "synthetic[protocol=standart]"}, ["protocol", "synthetic", "'standart'"]),
        ({"methods": "edsh[gamma=x]"}, ["gamma", "edsh", "'x'", "numbers"]),
        ({"methods": "edsh[gamma=nan]"}, ["gamma", "edsh", "nan", "numbers"]),
        ({"methods": "edsh[gamma=true]"}, ["gamma", "edsh", "True", "numbers"]),
        ({"methods": "lcmfh[batch_thresholds=2]"}, ["batch_thresholds", "lcmfh", " 2", "true"]),
        ({"datasets": "synthetic[rows=many]"}, ["rows", "synthetic", "'many'"]),
        ({"rules": [rule(set={"gamma": 1})]}, ["parameter", "cca", "'gamma'", "ridge"]),
        ({"rules": [rule(set={"n_bits": 1})]}, ["parameter", "cca", "'n_bits'", "'noise_bits'"]),
        ({"rules": [rule(methods="ccaa")]}, ["rules", "method", "'ccaa'", "'cca'"]),
        ({"rules": [rule(datasets="sinthetic")]}, ["rules", "dataset", "'sinthetic'"]),
    ],
)
def test_unknown_names_and_wrong_parameters_are_named(registry, keys, facts):
    asked = study(**{"methods": "cca", "datasets": "synthetic", **keys})
    with pytest.raises(HashbenchError) as error:
        expand_grid(asked, registry)
    assert all(fact in str(error.value) for fact in facts), error.value


@pytest.mark.parametrize(
    ("keys", "facts"),
    [
        ({"bits": "16,x"}, ["bits", "'16,x'", "1 to 4096"]),
        ({"bits": "0"}, ["bits", "'0'", "1 to 4096"]),
        ({"bits": []}, ["bits", " []", "1 to 4096"]),
        ({"bits": [8.5]}, ["bits", " [8.5]", "1 to 4096"]),
        ({"bits": True}, ["bits", " True", "1 to 4096"]),
        ({"seeds": -1}, ["seeds", " -1", "1 to 1000"]),
        ({"seeds": 0}, ["seeds", " 0", "1 to 1000"]),
        ({"seeds": "0"}, ["seeds", "'0'", "1 to 1000"]),
        ({"timeout": "soon"}, ["timeout", "'soon'", "durations"]),
        ({"memory": "much"}, ["memory", "'much'", "sizes"]),
        ({"jobs": "1,2"}, ["jobs", "'1,2'", "1 to 1024"]),
        ({"threads": [1]}, ["threads", " [1]", "1 to 1024"]),
        ({"method": "edsh"}, ["key", "'method'", "'methods'"]),
        ({"methods": []}, ["methods", " []", "list"]),
        ({"datasets": ""}, ["datasets", "''", "list"]),
        ({"datasets": 3}, ["datasets", " 3", "list"]),
        ({"measures": ""}, ["measures", "''", "list"]),
        ({"measures": ","}, ["measures", "','", "list"]),
        ({"rules": 3}, ["rules", " 3", "methods, datasets, set"]),
        ({"rules": [{"methods": "a"}]}, ["rules", "{'methods': 'a'}", "methods, datasets, set"]),
        ({"rules": [rule(also=1)]}, ["rules", "'also'", "methods, datasets, set"]),
        ({"rules": [rule(set=3)]}, ["rules", "'set': 3", " set: "]),
        ({"rules": [rule(methods=["cca"])]}, ["rules", "['cca']", " methods and datasets: "]),
        ({"timing": "no"}, ["timing", "'no'", "true or false"]),
        ({"name": "../x"}, ["name", "'../x'", "folder"]),
        ({"out": ""}, ["out", "''"]),
        ({"plugins": {"path": "x"}}, ["plugins", "{'path': 'x'}"]),
        ({"executor": "slurm"}, ["executor", "'slurm'", "dask, local"]),
        (
            {"executor": "local", "scheduler": "tcp://x:1"},
            ["scheduler", "executor 'local'", "'dask'"],
        ),
    ],
)
def test_wrong_keys_and_values_are_named(keys, facts):
    with pytest.raises(HashbenchError) as error:
        study(**keys)
    assert all(fact in str(error.value) for fact in ("the test", *facts)), error.value


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
    with pytest.raises(HashbenchError, match=r"'x'.*a/x\.npz.*b/x\.npz"):
        expand_grid(study(methods="cca", datasets=files), registry)
    named = expand_grid(study(methods="cca", datasets=[files[0], f"y={files[1]}"]), registry)
    assert [d.data.name for d in named] == ["x", "y"]


def test_a_dataset_with_a_default_spelt_out_is_the_same_dataset(registry):
    both = ["synthetic[rows=300]", "synthetic[rows=300,snr=0.5]"]
    (spec,) = expand_grid(study(methods="cca", datasets=both, bits=8, seeds=1), registry)
    assert spec.data.label == "synthetic[rows=300]"


def test_flags_win_over_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('methods = "cca"\nbits = [8, 16]\n[plugins]\npaths = ["here.py"]\n')
    base = load_study(str(path))
    assert (base.name, base.methods, base.bits) == ("mine", ("cca",), (8, 16))
    assert base.plugins == (str(tmp_path / "here.py"),), "seen from the file, not from here"
    assert read_study({"bits": "64"}, "the flags", base).bits == (64,)


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(HashbenchError, match=r"'quik'.*'quick'"):
        load_study("quik")
    with pytest.raises(HashbenchError, match=r"'nowhere\.toml'"):
        load_study("nowhere.toml")
    (tmp_path / "bad.toml").write_text("methods = ")
    with pytest.raises(HashbenchError, match=r"bad\.toml'.*TOML"):
        load_study(str(tmp_path / "bad.toml"))


@pytest.mark.parametrize("name", sorted(built_in()))
def test_built_in_studies_resolve_and_read_back(name, registry, tmp_path):
    if name == "archive-networks":
        pytest.importorskip("torch")
    asked = resolved(load_study(name), registry)
    path = tmp_path / f"{name}.toml"
    path.write_text(asked.to_toml())
    assert load_study(str(path)) == asked
    assert expand_grid(asked, registry) == expand_grid(load_study(name), registry)


def test_the_paper_is_600_cells_and_caps_smfh_on_nuswide_only(registry):
    found = expand_grid(load_study("paper"), registry)
    assert len(found) == 10 * 3 * 4 * 5
    capped = {(d.method, d.data.name) for d in found if d.train_rows is not None}
    assert capped == {("smfh", "nuswide")}


@pytest.mark.parametrize(("name", "seeds"), [("quick", 1), ("compare", 5)])
def test_studies_of_every_method_on_embedded_data(name, seeds, registry):
    found = expand_grid(load_study(name), registry)
    networks = {name for name, plugin in registry.methods.items() if plugin.cls.requires}
    assert {d.method for d in found} == set(registry.methods) - networks - set(
        registry.reconstructions()
    )
    assert {d.data.name for d in found} == {"emoji", "coco"}
    assert {d.seed for d in found} == set(range(seeds))


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
    edsh = "AP(norm=retrieved,ties=index)@100"
    assert study.measures == ("AP(norm=all,ties=index)@10", "P@100", edsh)


def test_pairs_are_refused_because_no_query_is_in_the_database():
    with pytest.raises(HashbenchError, match=r"'R\(relevant=pair\)@1'.*pairs="):
        read_study({"measures": "AP,R(relevant=pair)@1"}, "the flags")


def test_a_wrong_measure_is_refused_at_once():
    with pytest.raises(HashbenchError, match=r"the flags.*'APP'.*'AP'"):
        read_study({"measures": "APP"}, "the flags")


@pytest.mark.parametrize(
    ("methods", "found"), [("all", False), ("all,reconstructions", True), ("qch,acq", True)]
)
def test_reconstructions_are_selected_by_their_word_or_name(registry, methods, found):
    asked = study(methods=methods, datasets="synthetic")
    names = {spec.method for spec in expand_grid(asked, registry)}
    assert set(registry.reconstructions()) == {"acq", "qch"}
    assert ({"acq", "qch"} <= names) is found
    assert found or not {"acq", "qch"} & names
