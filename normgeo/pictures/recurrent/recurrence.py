"""A recurrent state over time and its memory, with and without normalization, by radius."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number, power_of_ten
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.jacobian_norms import jacobian_norms
from normgeo.models.mean_field import mean_field_growth
from normgeo.models.recurrence import Run, run_recurrence
from normgeo.pictures.picture import Study
from normgeo.pictures.recurrent.recurrences import (
    COMPARED,
    LARGEST,
    NEURONS,
    RADII,
    SEQUENCES,
    STAYS,
    Setup,
    first_state,
    recurrences,
    sequences,
)
from normgeo.pictures.work import BASE, CALLS, PRODUCTS
from normgeo.settings import Settings
from normgeo.tables.table import Table

EVEN = np.log10(1.05)  # a change by less is not told
POINTS = 33  # of a curve: more than a screen tells apart are left out

USES = ("seed", "neurons", "activation", "length", "radius", "method")


class Curves(NamedTuple):
    """A run of T steps at some times, medians over the sequences.

    Attributes:
        times: t, (K,), from 0 to T. summed_inputs: rms of a^t for t > 0, (K−1,).
        hidden: rms of h^t, (K,). log10_norms: of ∂h^T/∂h^t, (K,), −∞ for a norm of 0.
        predicted: log₁₀ of the factor per step in a wide layer, None where there is no theory.

    """

    times: Array
    summed_inputs: Array
    hidden: Array
    log10_norms: Array
    predicted: float | None

    @property
    def factor(self) -> float:
        """The factor per step of a small change of h⁰; 0 where it is lost."""
        return float(10 ** (self.log10_norms[0] / self.times[-1]))

    @property
    def growth(self) -> float:
        """How many decades the state itself grows by; −∞ where it is lost."""
        return float(np.log10(last / self.hidden[0])) if (last := self.hidden[-1]) else -np.inf


class Recurrences(NamedTuple):
    """Runs at growing spectral radius, without and with normalization.

    Attributes:
        curves: by radius, then by the key of the method. start: the radius that is asked for.
        radii: asked for; fewer curves where the computation was stopped.
        setup: what runs. activation: f. notes: sentences for the reader.

    """

    curves: dict[float, dict[str, Curves]]
    start: float
    radii: tuple[float, ...]
    setup: Setup
    activation: str
    notes: tuple[str, ...]

    @property
    def opening(self) -> int:
        """The place of the radius at which it opens: the nearest one that there is."""
        return int(np.abs(np.array([*self.curves]) - self.start).argmin())

    @property
    def opens_at(self) -> float:
        """The radius at which it opens."""
        return [*self.curves][self.opening]

    def verdict(self, radius: float) -> str:
        """What becomes of the state, or of a small change of it, without and with each method."""
        curves, names = self.curves[radius], self.setup.names
        (_, first), *normed = ((names[key], each.growth) for key, each in curves.items())
        if any(_is_gone(first) != _is_gone(growth) for _, growth in normed):
            told = "; ".join(f"{name} it {_fate(growth)}" for name, growth in normed)
            (*_, last) = curves.values()
            change = float(last.log10_norms[0])
            if len(normed) == 1 and _is_gone(change):  # of more, the panels tell it
                told = text("{told}, but a change of it {fate}", told=told, fate=_fate(change))
            return text("Without a norm the state {fate}; {told}", fate=_fate(first), told=told)
        (_, without), *others = (
            (names[key], _fate(float(each.log10_norms[0]))) for key, each in curves.items()
        )
        steps = self.setup.steps
        if {without} == {fate for _, fate in others}:
            return text(
                "In {steps} steps a change of the state {fate}, with a norm or without",
                steps=steps,
                fate=without,
            )
        within = [text("{name} it {fate}", name=name, fate=fate) for name, fate in others]
        return text(
            "In {steps} steps a change of the state {fate}; {within}",
            steps=steps,
            fate=without,
            within="; ".join(map(str, within)),
        )

    @property
    def about(self) -> str:
        """What runs, in a line; and how much of it there is, where it was stopped."""
        words = text(
            "{activation}; {about}",
            activation=ACTIVATIONS[self.activation].title,
            about=self.setup.about,
        )
        if len(self.curves) == len(self.radii):
            return words
        return text(
            "{words}; stopped with {done} of {all} radii",
            words=words,
            done=len(self.curves),
            all=len(self.radii),
        )


def _is_gone(log: float) -> bool:
    """Whether what grows by so many decades explodes or dies."""
    return abs(log) > STAYS


def _fate(log: float) -> str:
    """What becomes of a state, or of a change of it, that grows by so many decades."""
    if log == -np.inf:
        return text("is lost")
    if _is_gone(log):
        return text("explodes") if log > 0 else text("dies")
    if abs(log) < EVEN:
        return text("keeps its size")
    if log > 0:
        return text("grows {factor}-fold", factor=number(10**log, 2))
    return text("shrinks to {share}%", share=number(100 * 10**log, 2))


def compute(settings: Settings, progress: Progress) -> Recurrences:
    """Runs at all radii, the nearest to the starting one first."""
    radii = tuple(sorted({*RADII, settings.radius}))
    # A stopped picture has its starting frame.
    order = sorted(radii, key=lambda radius: abs(radius - settings.radius))
    X, h0 = sequences(), first_state(settings)
    curves: dict[float, dict[str, Curves]] = {}
    notes: dict[str, None] = {}
    for radius in progress.over(order):
        curves[radius] = {
            key: _curves(
                run_recurrence(recurrence, X, h0, steps=settings.length),
                mean_field_growth(
                    recurrence.layer.normalizer, settings.activation, X, radius, settings.length
                ),
                notes,
            )
            for key, recurrence in recurrences(settings, radius).items()
        }
    return Recurrences(
        dict(sorted(curves.items())),
        settings.radius,
        radii,
        Setup.of(settings),
        settings.activation,
        tuple(notes),
    )


def _curves(run: Run, predicted: Array | None, notes: dict[str, None]) -> Curves:
    """Medians over the sequences; adds what there is to know to the notes."""
    memory = jacobian_norms(run, points=POINTS)
    notes.update(dict.fromkeys(memory.notes))
    if run.ended:
        notes[run.ended.reason] = None
    times = memory.times
    at = times[times > 0] - 1
    return Curves(
        times,
        np.median(run.rms_summed_inputs[at], axis=1),
        np.median(run.rms_hidden[times], axis=1),
        np.median(memory.log10_norms, axis=1),
        None if predicted is None else float(np.median(predicted)),
    )


def _table(result: Recurrences) -> Table:
    rows: list[tuple[object, ...]] = []
    for radius, methods in result.curves.items():
        for key, curves in methods.items():
            title = result.setup.methods[key].title
            for i, t in enumerate(curves.times.tolist()):
                summed = float(curves.summed_inputs[i - 1]) if t else None
                log = float(curves.log10_norms[i])
                known = np.isfinite(log)
                law = curves.predicted
                predicted = None if law is None else (float(curves.times[-1]) - t) * law
                rows.append(
                    (
                        radius,
                        title,
                        t,
                        summed,
                        float(curves.hidden[i]),
                        log if known else None,
                        predicted,
                        "" if known else text("no change of the state arrives: the norm is 0"),
                    )
                )
    columns = "radius method t rms_a rms_h log10_norm predicted_log10_norm reason"
    title = text(
        "{H} neurons, {f}, T = {T}; medians over {S} digits; norm of ∂h^T/∂h^t, predicted for "
        "wide layers",
        H=result.setup.neurons,
        f=result.activation,
        T=result.setup.steps,
        S=SEQUENCES,
    )
    return Table(tuple(columns.split()), tuple(rows), title, notes=result.notes)


def _observed(result: Recurrences) -> str:
    """Say at the least and the largest radius how large the last state is, and its memory."""
    sentences = [
        text(
            "At radius {radius:g}, {name}, the state ends with rms {hidden}, and the norm of "
            "∂h^T/∂h^0 is {norm}.",
            radius=radius,
            name=result.setup.names[key],
            hidden=number(float(curves.hidden[-1]), 2),
            norm=power_of_ten(float(curves.log10_norms[0]), 2),
        )
        for radius in dict.fromkeys((min(result.curves), result.opens_at, max(result.curves)))
        for key, curves in result.curves[radius].items()
    ]
    return " ".join(map(str, sentences))


def cost(settings: Settings) -> Cost:
    """Runs at all radii with their Jacobians, whose products take H³ operations a step."""
    H, runs = settings.neurons or NEURONS, (1 + len(RADII)) * (1 + len(COMPARED))
    step = 0.8 * CALLS + 3 * SEQUENCES * H**3 / PRODUCTS
    return BASE + Cost(seconds=runs * settings.length * step if H <= LARGEST else 0.0)


STUDY = Study(
    name="recurrence",
    title=text("A recurrent state and its memory against the spectral radius"),
    source=text("section 3.1, Eq. 4"),
    alt=text(
        "Without and with normalization, over the steps: the size of the state, and how much of a "
        "small change of an earlier state reaches the last one. Beside them, the growth of a small "
        "change per step against the spectral radius, with dots at the radius of the slider."
    ),
    uses=USES,
    compute=compute,
    table=_table,
    observed=_observed,
    cost=cost,
    slider="radius",
    frames=lambda settings: RADII,
)
