"""scikit-learn's rules for parameters, for datasets and reports.

``__init__`` only stores its keyword parameters and ``get_params`` reads them back. Methods derive
from scikit-learn's ``BaseEstimator`` and take only ``defaults`` from here; datasets and reports are
no estimators.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Self

from hashbench.core.errors import unknown


@cache  # called for every cell of a grid
def _defaults(init: Callable[..., None]) -> dict[str, Any]:
    signature = inspect.signature(init)
    return {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if name != "self"
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


class Parametrised:
    """Anything with keyword parameters that are stored under their own names."""

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the parameters of ``__init__`` with their defaults, in order."""
        return dict(_defaults(cls.__init__))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of this object, as scikit-learn does."""
        return {name: getattr(self, name) for name in self.defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name and return self."""
        allowed = self.defaults()
        for name, value in params.items():
            if name not in allowed:
                raise unknown(f"parameter of {type(self).__name__}", name, allowed)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(self.defaults()[name])
        )
        return f"{type(self).__name__}({', '.join(changed)})"
