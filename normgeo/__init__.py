"""Invariance and geometry of normalization methods (Ba, Kiros and Hinton 2016, section 5).

Letters, here and in every module: N cases, D features, H neurons, P parameters; inputs X (N, D),
weights W (H, D), bias b (H,), gain g (H,); summed inputs A = X Wᵀ (N, H).
"""

from normgeo.axes import shared_statistics
from normgeo.batch import batch_drift, batch_noise
from normgeo.comparisons import Comparison, compare
from normgeo.divergence import kl
from normgeo.doubling import DoublingRow, doubling_table
from normgeo.dynamics import Trajectory, descend
from normgeo.equilibrium import Balance, simulate_balance
from normgeo.families import FAMILIES
from normgeo.fisher import Fisher, fisher
from normgeo.fitting import Fit, fit
from normgeo.invariance import certify, invariance_table, sweep
from normgeo.magnitude import GainMetric, gain_metric
from normgeo.memory import jacobian_norms
from normgeo.model import NormalizedGLM
from normgeo.network import Network
from normgeo.normalizers import GRID, NORMALIZERS, Normalized, Normalizer
from normgeo.null_space import NullSpace, expected_dimension, null_space
from normgeo.optimizers import OPTIMIZERS
from normgeo.recurrent import Recurrence, run_recurrence
from normgeo.schedules import Constant, Exponential
from normgeo.spectrum import Spectrum, spectrum
from normgeo.spiral import PlanePath, plane_path
from normgeo.symmetry import Explanation, explain
from normgeo.training import History, hold_out, train
from normgeo.transforms import TABLE_1, TRANSFORMS
from normgeo.turn import TurnCurve, turn_against_norm
from normgeo.twin import Twin, exponential_twin
from normgeo.witness import Witness, smallest_witness

__version__ = "0.1.0"

__all__ = [
    "FAMILIES",
    "GRID",
    "NORMALIZERS",
    "OPTIMIZERS",
    "TABLE_1",
    "TRANSFORMS",
    "Balance",
    "Comparison",
    "Constant",
    "DoublingRow",
    "Explanation",
    "Exponential",
    "Fisher",
    "Fit",
    "GainMetric",
    "History",
    "Network",
    "Normalized",
    "NormalizedGLM",
    "Normalizer",
    "NullSpace",
    "PlanePath",
    "Recurrence",
    "Spectrum",
    "Trajectory",
    "TurnCurve",
    "Twin",
    "Witness",
    "batch_drift",
    "batch_noise",
    "certify",
    "compare",
    "descend",
    "doubling_table",
    "expected_dimension",
    "explain",
    "exponential_twin",
    "fisher",
    "fit",
    "gain_metric",
    "hold_out",
    "invariance_table",
    "jacobian_norms",
    "kl",
    "null_space",
    "plane_path",
    "run_recurrence",
    "shared_statistics",
    "simulate_balance",
    "smallest_witness",
    "spectrum",
    "sweep",
    "train",
    "turn_against_norm",
]
