"""Invariance and geometry of normalization methods (Ba, Kiros and Hinton 2016, section 5).

Letters, here and in every module: N cases, D features, H neurons, P parameters; inputs X (N, D),
weights W (H, D), bias b (H,), gain g (H,); summed inputs A = X Wᵀ (N, H).
"""

from typing import Any
from warnings import warn

from normgeo.base.interruption import leave_quietly

leave_quietly()

# ruff: noqa: E402
from normgeo.checkpoints.loading import load_layer
from normgeo.checkpoints.place import PLACES
from normgeo.checkpoints.report import LayerReport, layer_report
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.datasets.hold_out import hold_out
from normgeo.datasets.rows import Rows
from normgeo.dynamics.angular_update import AngularUpdates, angular_updates
from normgeo.dynamics.descent import Trajectory, descend
from normgeo.dynamics.doubling import DoublingRow, doubling_table
from normgeo.dynamics.equilibrium import Balance, simulate_balance
from normgeo.dynamics.exponential_schedule import DecayAsSchedule, decay_as_schedule
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.plane_path import PlanePath, plane_path
from normgeo.dynamics.rotational_equilibrium import RotationalEquilibrium, rotational_equilibrium
from normgeo.dynamics.schedules import Constant, Exponential
from normgeo.dynamics.training import History, train
from normgeo.dynamics.trajectory import Comparison, compare
from normgeo.fisher.gain_metric import GainMetric, gain_metric
from normgeo.fisher.kl import kl
from normgeo.fisher.operator import Fisher, fisher
from normgeo.fisher.spectrum import Spectrum, spectrum
from normgeo.invariance.certificate import certify, invariance_table
from normgeo.invariance.floating_point import sweep
from normgeo.invariance.smallest_witness import smallest_witness
from normgeo.invariance.transforms import TABLE_1, TRANSFORMS
from normgeo.invariance.witness import Witness
from normgeo.measured.measuring import MeasuringCost, measure, measuring_cost
from normgeo.measured.table import MeasuredTable
from normgeo.models.families import FAMILIES
from normgeo.models.fitting import Fit, fit
from normgeo.models.glm import NormalizedGLM
from normgeo.models.jacobian_norms import jacobian_norms
from normgeo.models.network import Network
from normgeo.models.recurrence import Recurrence, run_recurrence
from normgeo.networks.attention import AttentionHead
from normgeo.networks.attention_ignored import attention_ignored
from normgeo.networks.convolution import ConvolutionalNetwork, image_windows
from normgeo.networks.ignored import residual_ignored
from normgeo.networks.image_norm import ImageNorm
from normgeo.networks.images import Images
from normgeo.networks.place_statistics import PlaceStatistics, place_statistics
from normgeo.networks.residual import ResidualNetwork
from normgeo.networks.signals import Signals, signals
from normgeo.networks.training import ConvolutionHistory, train_convolution
from normgeo.networks.verdict import Ignored
from normgeo.normalizers.batch_statistics import batch_drift, batch_noise
from normgeo.normalizers.named import GRID, NORMALIZERS
from normgeo.normalizers.normalizer import Normalized, Normalizer
from normgeo.normalizers.shared_statistics import shared_statistics
from normgeo.null_directions.dimension import expected_dimension
from normgeo.null_directions.explanation import Explanation, explain
from normgeo.null_directions.null_space import NullSpace, null_space
from normgeo.recordings.checkpoints import record_checkpoints
from normgeo.recordings.findings import BlockFinding, findings
from normgeo.recordings.recorder import Recorder
from normgeo.recordings.recording import Recording, read_recording
from normgeo.sequences.cell_run import CellRun
from normgeo.sequences.cells import CELLS
from normgeo.sequences.layer import CellLayer
from normgeo.sequences.model import SequenceModel
from normgeo.sequences.state_jacobians import cell_jacobian_norms
from normgeo.sequences.step_statistics import StepStatistics
from normgeo.sequences.tasks import load_sequences
from normgeo.sequences.through_time import run_cell
from normgeo.sequences.training import SequenceHistory, train_sequences

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 - grouped as the packages, from the bottom up
    # datasets
    "Rows",
    "hold_out",
    # normalizers
    "GRID",
    "NORMALIZERS",
    "Normalized",
    "Normalizer",
    "batch_drift",
    "batch_noise",
    "shared_statistics",
    # invariance
    "TABLE_1",
    "TRANSFORMS",
    "Witness",
    "certify",
    "invariance_table",
    "smallest_witness",
    "sweep",
    # models
    "FAMILIES",
    "Fit",
    "Network",
    "NormalizedGLM",
    "Recurrence",
    "fit",
    "jacobian_norms",
    "run_recurrence",
    # fisher
    "Fisher",
    "GainMetric",
    "Spectrum",
    "fisher",
    "gain_metric",
    "kl",
    "spectrum",
    # null_directions
    "Explanation",
    "NullSpace",
    "expected_dimension",
    "explain",
    "null_space",
    # dynamics
    "OPTIMIZERS",
    "AngularUpdates",
    "Balance",
    "Comparison",
    "Constant",
    "DecayAsSchedule",
    "DoublingRow",
    "Exponential",
    "History",
    "PlanePath",
    "RotationalEquilibrium",
    "Trajectory",
    "angular_updates",
    "compare",
    "decay_as_schedule",
    "descend",
    "doubling_table",
    "plane_path",
    "rotational_equilibrium",
    "simulate_balance",
    "train",
    # networks
    "AttentionHead",
    "ConvolutionHistory",
    "ConvolutionalNetwork",
    "Ignored",
    "ImageNorm",
    "Images",
    "PlaceStatistics",
    "ResidualNetwork",
    "Signals",
    "attention_ignored",
    "image_windows",
    "place_statistics",
    "residual_ignored",
    "signals",
    "train_convolution",
    # sequences
    "CELLS",
    "CellLayer",
    "CellRun",
    "SequenceHistory",
    "SequenceModel",
    "StepStatistics",
    "cell_jacobian_norms",
    "load_sequences",
    "run_cell",
    "train_sequences",
    # recordings
    "BlockFinding",
    "Recorder",
    "Recording",
    "findings",
    "read_recording",
    "record_checkpoints",
    # checkpoints
    "PLACES",
    "LayerReport",
    "TrainedLayer",
    "layer_report",
    "load_layer",
    # measured
    "MeasuredTable",
    "MeasuringCost",
    "measure",
    "measuring_cost",
]

_RENAMED = {
    "TurnCurve": "AngularUpdates",
    "Twin": "DecayAsSchedule",
    "exponential_twin": "decay_as_schedule",
    "turn_against_norm": "angular_updates",
}
"""Names of version 0.1 → what they are now; they go with the next version."""


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    now = _RENAMED[name]
    warn(f"normgeo.{name} is called normgeo.{now} now.", DeprecationWarning, stacklevel=2)
    return globals()[now]
