"""Invariance and geometry of normalization methods (Ba, Kiros and Hinton 2016, section 5).

Letters, here and in every module: N cases, D features, H neurons, P parameters; inputs X (N, D),
weights W (H, D), bias b (H,), gain g (H,); summed inputs A = X Wᵀ (N, H).
"""

from normgeo.divergence import kl
from normgeo.dynamics import OPTIMIZERS, Trajectory, descend
from normgeo.families import FAMILIES
from normgeo.fisher import Fisher, fisher
from normgeo.invariance import certify, invariance_table, sweep
from normgeo.model import Fit, NormalizedGLM, fit
from normgeo.normalizers import GRID, NORMALIZERS, Normalized, Normalizer
from normgeo.transforms import TABLE_1, TRANSFORMS
from normgeo.turn import TurnCurve, turn_against_norm
from normgeo.witness import Witness, smallest_witness

__version__ = "0.1.0"

__all__ = [
    "FAMILIES",
    "GRID",
    "NORMALIZERS",
    "OPTIMIZERS",
    "TABLE_1",
    "TRANSFORMS",
    "Fisher",
    "Fit",
    "Normalized",
    "NormalizedGLM",
    "Normalizer",
    "Trajectory",
    "TurnCurve",
    "Witness",
    "certify",
    "descend",
    "fisher",
    "fit",
    "invariance_table",
    "kl",
    "smallest_witness",
    "sweep",
    "turn_against_norm",
]
