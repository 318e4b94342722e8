"""The mathematics that methods share, once.

Pure functions on arrays, rows are items. Features may be float32; small systems are solved in
float64. Nothing here ever holds an array with the rows of the data on both sides.
"""

from hashbench.linalg.cca import CCA, cca, whitening
from hashbench.linalg.discrete import discrete_descent, signs
from hashbench.linalg.features import (
    RBF,
    UnitRows,
    anchor_rows,
    centre,
    mean_squared_distance,
    squared_distances,
    unit_rows,
)
from hashbench.linalg.pca import pca
from hashbench.linalg.ridge import Ridge, regress
from hashbench.linalg.rotation import itq, procrustes, random_rotation, stiefel

__all__ = [
    "CCA",
    "RBF",
    "Ridge",
    "UnitRows",
    "anchor_rows",
    "cca",
    "centre",
    "discrete_descent",
    "itq",
    "mean_squared_distance",
    "pca",
    "procrustes",
    "random_rotation",
    "regress",
    "signs",
    "squared_distances",
    "stiefel",
    "unit_rows",
    "whitening",
]
