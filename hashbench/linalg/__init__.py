"""Mathematics that several methods use.

Pure functions on arrays whose rows are items. Features may be float32; small systems are solved in
float64. No function allocates an (n, n) array. Methods import from this package: names that are
not listed below are internal to their module.
"""

from hashbench.linalg.cca import (
    CanonicalPairs,
    cca,
    scatter_precision,
    scatter_whitening,
    whitening,
)
from hashbench.linalg.clustering import kmeans, multiview_kmeans
from hashbench.linalg.dictionary import bounded_basis
from hashbench.linalg.discrete import discrete_descent, random_codes, signs
from hashbench.linalg.features import (
    RBF,
    UnitRows,
    anchor_maps,
    anchor_rows,
    mean_squared_distance,
    squared_distances,
    unit_rows,
)
from hashbench.linalg.graph import nearest_rows, neighbour_graph
from hashbench.linalg.lasso import lasso
from hashbench.linalg.logistic import kernel_logistic, lbfgs_logistic
from hashbench.linalg.multiview import correlated_directions, noise_directions
from hashbench.linalg.pca import pca, principal, row_coordinates
from hashbench.linalg.products import (
    centred_blocks,
    column_means,
    cross_product,
    gram,
    project,
    row_blocks,
    squared_norm,
)
from hashbench.linalg.ridge import Factor, Ridge
from hashbench.linalg.rotation import itq, procrustes, random_rotation, stiefel
from hashbench.linalg.spectral import eigen, singular, turns, upright
from hashbench.linalg.svm import linear_svms
from hashbench.linalg.sylvester import Laplacian, sylvester

__all__ = [
    "RBF",
    "CanonicalPairs",
    "Factor",
    "Laplacian",
    "Ridge",
    "UnitRows",
    "anchor_maps",
    "anchor_rows",
    "bounded_basis",
    "cca",
    "centred_blocks",
    "column_means",
    "correlated_directions",
    "cross_product",
    "discrete_descent",
    "eigen",
    "gram",
    "itq",
    "kernel_logistic",
    "kmeans",
    "lasso",
    "lbfgs_logistic",
    "linear_svms",
    "mean_squared_distance",
    "multiview_kmeans",
    "nearest_rows",
    "neighbour_graph",
    "noise_directions",
    "pca",
    "principal",
    "procrustes",
    "project",
    "random_codes",
    "random_rotation",
    "row_blocks",
    "row_coordinates",
    "scatter_precision",
    "scatter_whitening",
    "signs",
    "singular",
    "squared_distances",
    "squared_norm",
    "stiefel",
    "sylvester",
    "turns",
    "unit_rows",
    "upright",
    "whitening",
]
