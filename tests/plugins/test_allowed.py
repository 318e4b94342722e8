import numpy as np
import pytest

from hashbench import COUNT, FRACTION, NON_NEGATIVE, POSITIVE, Bounds, Choice, LinearMethod
from hashbench.core.errors import HashbenchError
from hashbench.plugins.allowed import allowed_values, check_parameters
from hashbench.plugins.registry import check_class, discover


class Base(LinearMethod):
    supervised = False
    allowed = {"gamma": POSITIVE, "steps": COUNT}  # noqa: RUF012


class Bounded(Base):
    name = "bounded"
    allowed = {"kind": Choice("a", "b"), "rows": COUNT}  # noqa: RUF012

    def __init__(self, n_bits=4, random_state=None, gamma=1.0, kind="a", rows=None):
        self.n_bits, self.random_state = n_bits, random_state
        self.gamma, self.kind, self.rows = gamma, kind, rows

    def fit(self, views, labels=None):
        data = self.begin_fit(views, labels)
        self.projections_ = [np.ones((X.shape[1], self.n_bits)) for X in data.views]
        return self


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        (POSITIVE, [1e-9, 3, np.float32(2)], [0, -1, float("inf"), float("nan"), True, "1", None]),
        (NON_NEGATIVE, [0, 0.0], [-1e-9]),
        (COUNT, [1, np.int64(7)], [0, 1.0, 2.5]),
        (FRACTION, [0, 0.5, 1], [1.01]),
        (Bounds(gt=0, lt=1), [0.5], [0, 1]),
        (Bounds(le=-2, whole=True), [-2, -7], [-1]),
    ],
)
def test_numbers_within_bounds(bounds, inside, outside):
    assert all(value in bounds for value in inside)
    assert not any(value in bounds for value in outside)


def test_a_class_has_the_declarations_of_its_bases_for_its_own_parameters():
    assert allowed_values(Bounded) == {
        "gamma": POSITIVE,
        "kind": Bounded.allowed["kind"],
        "rows": COUNT,
    }


@pytest.mark.parametrize(
    ("parameters", "refused"),
    [
        ({}, None),
        ({"rows": None}, None),  # the default
        ({"gamma": None}, "gamma"),
        ({"gamma": 0.0}, "gamma"),
        ({"kind": "c"}, "kind"),
        ({"rows": 0}, "rows"),
    ],
)
def test_values_that_are_not_allowed_are_refused_by_name(parameters, refused):
    method = Bounded(**parameters)
    views = [np.eye(4), np.eye(4)]
    if refused is None:
        assert method.fit(views).encode(views[0], 0).all()
        return
    with pytest.raises(HashbenchError, match=f"parameter {refused} of bounded"):
        method.fit(views)
    with pytest.raises(HashbenchError, match=f"parameter {refused} of bounded"):
        check_parameters(Bounded, {**Bounded.defaults(), **parameters})


@pytest.mark.parametrize(
    ("allowed", "facts"),
    [
        (COUNT, "dictionary"),
        ({"beta": POSITIVE}, "'beta'.*gamma"),
        ({"gamma": (0, 1)}, r"gamma=\(0, 1\)"),
        ({"gamma": Bounds(gt=1)}, "default.*gamma"),
    ],
)
def test_a_method_with_wrong_declarations_is_broken(allowed, facts, monkeypatch):
    check_class("methods", Bounded)
    monkeypatch.setattr(Bounded, "allowed", allowed)
    with pytest.raises(HashbenchError, match=rf"Bounded\.allowed.*{facts}"):
        check_class("methods", Bounded)


def test_built_in_methods_declare_every_number():
    free = {"tolerance", "left", "right", "low", "high"}  # any number has a meaning
    for name, plugin in discover().methods.items():
        known = allowed_values(plugin.cls)
        for parameter, default in plugin.cls.defaults().items():
            number = isinstance(default, int | float) and not isinstance(default, bool)
            if number and parameter not in {"n_bits", *free}:
                assert parameter in known, f"{name}: {parameter}"


def test_the_grid_refuses_them_before_anything_is_written(hashbench, tmp_path):
    out = tmp_path / "out"
    done = hashbench("run", "-m", "cca,edsh[gamma=-1]", "-d", "synthetic", "-o", out)
    assert done.returncode == 2
    assert "gamma of edsh: found -1" in done.stderr
    assert not out.exists()
