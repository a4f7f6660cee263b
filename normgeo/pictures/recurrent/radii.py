"""By what factor a step multiplies a small change of the state, against the spectral radius."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS, Activation
from normgeo.models.growth import growth
from normgeo.models.mean_field import mean_field_growth
from normgeo.models.recurrence import Recurrence, run_recurrence
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.picture import Study
from normgeo.pictures.recurrent.recurrences import (
    LARGEST,
    NEURONS,
    RADII,
    SEQUENCES,
    STAYS,
    Setup,
    compared,
    first_state,
    recurrences,
    sequences,
)
from normgeo.pictures.work import BASE, CALLS, ENTRIES, PRODUCTS
from normgeo.settings import Settings
from normgeo.tables.table import Table

PANELS = ("identity", "tanh", "relu")
YES, PARTLY, NO = text("Yes"), text("Partly"), text("No")


class Curve(NamedTuple):
    """The factor per step at each radius: its log₁₀, (R,), and what theory says, or None."""

    measured: Array
    predicted: Array | None


class Radii(NamedTuple):
    """How a small change of the state grows, without and with normalization.

    Attributes:
        radii: ρ, (R,). curves: by activation, then by the key of the method.
        setup: what runs. notes: sentences for the reader.

    """

    radii: Array
    curves: dict[str, dict[str, Curve]]
    setup: Setup
    notes: tuple[str, ...]

    @property
    def stays(self) -> float:
        """By how much log₁₀ of the factor may differ from 0 for a change that stays."""
        return STAYS / self.setup.steps

    def rates(self, key: str) -> Array:
        """log₁₀ of the factor with a method, (panels, R)."""
        return np.array([curves[key].measured for curves in self.curves.values()])

    def kept_from(self, key: str) -> tuple[str, str]:
        """Whether a method keeps a change from exploding, and from dying, in a word each."""
        without, within = self.rates(next(iter(self.setup.methods))), self.rates(key)
        return (
            _kept(without, within, self.stays) or text("Nothing explodes here"),
            _kept(-without, -within, self.stays) or text("Nothing dies here"),
        )

    @property
    def answers(self) -> tuple[str, ...]:
        """The answer of each method to the question of the page."""
        _, *others = self.setup.methods
        return tuple(
            text(
                "Does {method} keep a state from exploding? {exploding}. From dying? {dying}.",
                method=self.setup.methods[key].title,
                exploding=exploding,
                dying=dying,
            )
            for key in others
            for exploding, dying in [self.kept_from(key)]
        )


def _kept(without: Array, within: Array, stays: float) -> str:
    """In a word, whether less is beyond what stays with a method than without; "" for nothing.

    In part where it is so at fewer places, or by less at each of them.
    """
    before, after = without > stays, within > stays
    if not after.any():
        return YES if before.any() else ""
    fewer, less = not after[before].all(), bool((within[before] < without[before]).all())
    return PARTLY if before.any() and (fewer or less) else NO


def compute(settings: Settings, progress: Progress) -> Radii:
    """Runs of each activation and method, at all radii at once; a stop ends it after a panel."""
    X, h0, setup = sequences(), first_state(settings), Setup.of(settings)
    curves: dict[str, dict[str, Curve]] = {}
    notes: dict[str, None] = {}
    for place, name in enumerate(PANELS):
        if progress.stopped:
            break
        f, panel = ACTIVATIONS[name], progress.part(place, len(PANELS))
        curves[name] = {
            key: Curve(
                _measured(settings, key, f, X, h0, notes, panel.part(i, len(setup.methods)).tell),
                _predicted(normalizer, f, X, settings.length),
            )
            for i, (key, normalizer) in enumerate(setup.methods.items())
        }
    return Radii(np.array(RADII), curves, setup, tuple(notes))


def _measured(
    settings: Settings,
    key: str,
    f: Activation,
    X: Array,
    h0: Array,
    notes: dict[str, None],
    tell: Callable[[int, int], object],
) -> Array:
    """The median over the sequences of log₁₀ of the factor, at each radius."""

    def run(recurrence: Recurrence, factors: Array, place: int, runs: int) -> Array:
        found = growth(
            recurrence,
            X,
            h0,
            factors=factors,
            steps=settings.length,
            progress=lambda done, steps: tell(place * steps + done, runs * steps),
        )
        notes.update(dict.fromkeys(found.notes))
        median: Array = np.median(found.log10_factors, axis=1)
        return median

    def at(radius: float) -> Recurrence:
        return recurrences(settings, radius, f.key)[key]

    if not _sees_weights(at, X, h0):
        return run(at(1.0), np.array(RADII), 0, 1)
    runs = [run(at(rho), np.ones(1), i, len(RADII)) for i, rho in enumerate(RADII)]
    return np.concatenate(runs)


def _sees_weights(at: Callable[[float], Recurrence], X: Array, h0: Array) -> bool:
    """Whether twice the recurrent weights do anything that twice the state does not."""
    weights, states = (
        run_recurrence(at(radius), X, factor * h0, steps=1).hidden[1]
        for radius, factor in ((2.0, 1.0), (1.0, 2.0))
    )
    return not np.allclose(weights, states)


def _predicted(normalizer: Normalizer, f: Activation, X: Array, steps: int) -> Array | None:
    found = [mean_field_growth(normalizer, f, X, radius, steps) for radius in RADII]
    known = [float(np.median(each)) for each in found if each is not None]
    return np.array(known) if known else None


def _table(result: Radii) -> Table:
    rows = []
    for name, curves in result.curves.items():
        for key, curve in curves.items():
            for i, radius in enumerate(result.radii.tolist()):
                log = float(curve.measured[i])
                predicted = None if curve.predicted is None else float(10 ** curve.predicted[i])
                title = result.setup.methods[key].title
                factor = float(10**log)
                rows.append((name, title, radius, factor, predicted))
    columns = ("activation", "method", "radius", "factor_per_step", "predicted_for_wide_layers")
    title = text("Factor per step of a small change of the state, ‖∂h^T/∂h⁰‖^(1/T)")
    return Table(columns, tuple(rows), title, notes=result.notes)


def _observed(result: Radii) -> str:
    """Say what each method keeps, and how fast a change grows at both ends of each panel."""
    sentences = [*result.answers]
    first, last = result.radii[[0, -1]].tolist()
    for name, curves in result.curves.items():
        for key, curve in curves.items():
            least, most = (number(float(10**log), 2) for log in curve.measured[[0, -1]])
            sentences.append(
                text(
                    "{activation}, {name}: × {least} per step at radius {first:g}, × {most} at "
                    "radius {last:g}.",
                    activation=ACTIVATIONS[name].title,
                    name=result.setup.names[key],
                    least=least,
                    first=first,
                    most=most,
                    last=last,
                )
            )
    return " ".join(map(str, sentences))


def cost(settings: Settings) -> Cost:
    """Products of Jacobians of all radii at once; of a method that sees weights, one by one."""
    H = settings.neurons or NEURONS
    if not 1 < H <= LARGEST:
        recurrences(settings, RADII[0])  # which says why there are none
    cases = len(RADII) * SEQUENCES
    step = cases * H * H * ((H + 8) / PRODUCTS + 3 / ENTRIES)
    scales = [normalizer.scaling for normalizer in compared(settings).values()]
    runs = sum(
        len(RADII) if scale.divides and not scale.shared_by_neurons else 1 for scale in scales
    )
    seconds = len(PANELS) * settings.length * (runs * CALLS + len(scales) * step)
    return BASE + Cost(bytes=8 * 16 * cases * H * H, seconds=seconds)


STUDY = Study(
    name="radii",
    title=text("How fast memory fades or explodes, against the spectral radius"),
    source=text("section 3.1, Eq. 4; Poole et al. 2016"),
    alt=text(
        "Three panels, for the identity, tanh and ReLU: the factor by which a step multiplies a "
        "small change of the state, against the spectral radius, without and with normalization. "
        "Solid lines are measured, dashed ones predicted for infinite width. Above 1 a change "
        "explodes, below 1 it dies."
    ),
    uses=("seed", "neurons", "length", "method"),
    compute=compute,
    table=_table,
    observed=_observed,
    cost=cost,
)
