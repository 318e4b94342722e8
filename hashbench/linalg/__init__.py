"""The mathematics that methods share, once.

Pure functions on arrays, rows are items. Features may be float32; small systems are solved in
float64. Nothing here ever holds an array with the rows of the data on both sides.

Methods import from here: what is not in the list below is a module's own business.
"""

from hashbench.linalg.cca import CCA, cca, scatter_precision, scatter_whitening, whitening
from hashbench.linalg.clustering import kmeans, multiview_kmeans
from hashbench.linalg.dictionary import bounded_basis
from hashbench.linalg.discrete import discrete_descent, renew_bits, signs
from hashbench.linalg.features import (
    RBF,
    UnitRows,
    anchor_rows,
    centre,
    mean_squared_distance,
    squared_distances,
    unit_rows,
)
from hashbench.linalg.graph import either_way, nearest_rows, neighbour_graph
from hashbench.linalg.kernels import anchor_maps, training_features
from hashbench.linalg.kit import (
    column_means,
    each,
    gaussian,
    inner,
    project,
    random_codes,
    squared_norm,
    times,
    together,
)
from hashbench.linalg.lasso import lasso
from hashbench.linalg.logistic import kernel_logistic, unfinished_logistic
from hashbench.linalg.multiview import correlated_directions, noise_directions
from hashbench.linalg.pca import pca, principal, row_coordinates
from hashbench.linalg.products import blocks, cross, gram, normal_equations
from hashbench.linalg.ridge import Factor, Ridge, regress
from hashbench.linalg.rotation import itq, procrustes, random_rotation, stiefel
from hashbench.linalg.spectral import eigen, singular, turns, upright
from hashbench.linalg.svm import linear_svms
from hashbench.linalg.sweep import Sweep, sides, swept
from hashbench.linalg.sylvester import Laplacian, sylvester
from hashbench.linalg.threads import CACHED_ROWS, add_up, row_blocks, share_out

__all__ = [
    "CACHED_ROWS",
    "CCA",
    "RBF",
    "Factor",
    "Laplacian",
    "Ridge",
    "Sweep",
    "UnitRows",
    "add_up",
    "anchor_maps",
    "anchor_rows",
    "blocks",
    "bounded_basis",
    "cca",
    "centre",
    "column_means",
    "correlated_directions",
    "cross",
    "discrete_descent",
    "each",
    "eigen",
    "either_way",
    "gaussian",
    "gram",
    "inner",
    "itq",
    "kernel_logistic",
    "kmeans",
    "lasso",
    "linear_svms",
    "mean_squared_distance",
    "multiview_kmeans",
    "nearest_rows",
    "neighbour_graph",
    "noise_directions",
    "normal_equations",
    "pca",
    "principal",
    "procrustes",
    "project",
    "random_codes",
    "random_rotation",
    "regress",
    "renew_bits",
    "row_blocks",
    "row_coordinates",
    "scatter_precision",
    "scatter_whitening",
    "share_out",
    "sides",
    "signs",
    "singular",
    "squared_distances",
    "squared_norm",
    "stiefel",
    "swept",
    "sylvester",
    "times",
    "together",
    "training_features",
    "turns",
    "unfinished_logistic",
    "unit_rows",
    "upright",
    "whitening",
]
