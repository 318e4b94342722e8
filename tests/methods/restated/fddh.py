"""FDDH with items as columns, as its paper has them."""

import numpy as np
from scipy.spatial.distance import cdist

from tests.methods.restated.common import sign

PARAMETERS = {"anchors": 50, "mu": 0.05, "gamma": 2.0, "iterations": 5}
