"""How far one step of gradient descent turns the weights, and what becomes of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo import Trajectory, descend
from normgeo._arrays import Array
from normgeo.blocks import Blocks, lengths
from normgeo.figures.descent import descent_figure
from normgeo.figures.template import Figure
from normgeo.figures.turn import turn_figure
from normgeo.loss_plane import LossPlane, loss_plane
from normgeo.normalizers import Normalizer
from normgeo.scales import SCALES
from normgeo.settings import Settings
from normgeo.tables import Table
from normgeo.text import text
from normgeo.turn import TurnCurve, turn_against_norm
from normgeo.views.block import BLOCK, at_norm, subject
from normgeo.views.view import DATA, Progress, View

STARTS = (1.0, 2.0, 4.0)
FIRST_TURN = 0.5  # tan θ of the first step at ‖w‖ = 1, where the settings leave η open


def _rate(settings: Settings, *gradients: Array) -> float:
    """Return η: as set, or one with which the longest of some first steps is half as long as ŵ."""
    return settings.rate or FIRST_TURN / max(float(lengths(gradient)) for gradient in gradients)


class TurnPicture(NamedTuple):
    """One step of gradient descent at several norms of a block.

    Attributes:
        normalizer: the method. curve: measured at the norms of the slider.
        planes: the loss by angle at one norm, or at several where ε makes it depend on the norm.
        name, symbol: of the block and its norm. start: where the slider opens.
        notes: what a reader should know, in sentences.

    """

    normalizer: Normalizer
    curve: TurnCurve
    planes: tuple[LossPlane, ...]
    name: str
    symbol: str
    start: float
    notes: tuple[str, ...]


def _turn(settings: Settings) -> TurnPicture:
    it = subject(settings)
    rate = _rate(settings, it.objective.at(it.objective.own).gradient)
    norms = _norms(settings.growth)
    model, X, y, block = it.model, it.scene.X, it.scene.y, it.block
    curve = turn_against_norm(model, X, y, norms, rate, block=block)
    softened = model.normalizer.eps > 0 and SCALES[model.normalizer.scale].takes_eps
    radii, count = ((0.25, 0.5, 1.0, 2.0, 4.0, 16.0), 49) if softened else ((1.0,), 121)
    angles = np.linspace(-np.pi, np.pi, count)
    planes = tuple(loss_plane(model, X, y, block=block, angles=angles, norm=r) for r in radii)
    return TurnPicture(
        model.normalizer, curve, planes, it.name, it.symbol, settings.growth, it.scene.notes
    )


def _norms(start: float) -> list[float]:
    """Return the norms of the slider: half octaves from 1 to 16, or as far as the start needs."""
    halves = 2 * np.log2(start)
    low, high = min(0, int(np.ceil(halves - 1e-3))), max(8, int(np.floor(halves + 1e-3)))
    norms = [2.0 ** (i / 2) for i in range(low, high + 1)]
    return norms if np.isclose(start, norms, rtol=1e-3).any() else sorted([*norms, start])


def _turn_figure(picture: TurnPicture, theme: str) -> Figure:
    return turn_figure(
        picture.curve,
        picture.planes,
        picture.normalizer,
        name=picture.name,
        symbol=picture.symbol,
        start=picture.start,
        theme=theme,
    )


def _turn_table(picture: TurnPicture) -> Table:
    curve = picture.curve
    columns = {
        "norm": curve.norms,
        "loss": curve.loss,
        "gradient_norm": curve.gradient_norms,
        "predicted_gradient_norm": curve.predicted_gradient_norms,
        "angle": curve.angles,
        "predicted_angle": curve.predicted_angles,
        "halved_angle": curve.halved_angles,
    }
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    title = text("{method}, {name}, η = {rate:g}; angles in radians, losses in nats per case",
                 method=picture.normalizer.title, name=picture.name, rate=curve.rate)  # fmt: skip
    return Table(tuple(columns), tuple(rows), title=title)


TURN = View(
    "turn",
    text("One gradient step turns a large weight vector less"),
    (*DATA, *BLOCK, "rate", "growth"),
    _turn,
    _turn_figure,
    _turn_table,
)


class DescentPicture(NamedTuple):
    """Runs from one function at ‖w‖ = 1, 2, 4.

    Attributes:
        runs: one from each norm. block: whose norm and angle are shown.
        name, symbol: of the block and its norm. notes: sentences for the reader.

    """

    runs: tuple[Trajectory, ...]
    block: int
    name: str
    symbol: str
    notes: tuple[str, ...]


def _descent(settings: Settings, tell: Progress = lambda done, steps: None) -> DescentPicture:
    it = subject(settings)
    model, X, y = it.model, it.scene.X, it.scene.y
    gradient = model.gradient(X, y)
    dW, db, dg = model.layout.split(gradient)
    blocks = Blocks.of(model.normalizer, len(model.W)).vectors(dW)
    rate = _rate(settings, *blocks, db, np.zeros(1) if dg is None else dg)
    total, stopped = len(STARTS) * settings.steps, False

    def run(place: int, norm: float) -> Trajectory:
        def watch(step: int, loss: float) -> None:
            nonlocal stopped
            if not stopped:
                try:
                    tell(place * settings.steps + step, total)
                    return
                except StopIteration:
                    stopped = True
            raise StopIteration

        start = at_norm(model, norm)
        return descend(start, X, y, steps=settings.steps, rate=rate, callback=watch)

    runs = tuple(run(place, norm) for place, norm in enumerate(STARTS))
    return DescentPicture(runs, it.block, it.name, it.symbol, it.scene.notes)


def _descent_figure(picture: DescentPicture, theme: str) -> Figure:
    return descent_figure(
        picture.runs, picture.block, name=picture.name, symbol=picture.symbol, theme=theme
    )


def _descent_table(picture: DescentPicture) -> Table:
    """Return a row for each run and step; the angle is that of the step to come."""
    rows: list[tuple[float | int | None, ...]] = []
    for norm, run in zip(STARTS, picture.runs, strict=True):
        by_step = (run.gradient_norms, run.angles, run.predicted_angles)
        measured = [[*values[:, picture.block].tolist(), None] for values in by_step]
        norms = (values[:, picture.block].tolist() for values in (run.norms, run.predicted_norms))
        columns = (run.loss.tolist(), *norms, *measured)
        rows += [(norm, step, *row) for step, row in enumerate(zip(*columns, strict=True))]
    names = ("start", "step", "loss", "norm", "predicted_norm", "gradient_norm", "angle",
             "predicted_angle")  # fmt: skip
    notes = tuple(
        f"{norm:g}: {run.diverged.step}: {run.diverged.reason}"
        for norm, run in zip(STARTS, picture.runs, strict=True)
        if run.diverged
    )
    title = text("Gradient descent, η = {rate:g}; angles in radians", rate=picture.runs[0].rate)
    return Table(names, tuple(rows), title=title, notes=notes)


DESCENT = View(
    "descent",
    text("Gradient descent from three norms of the weights"),
    (*DATA, *BLOCK, "rate", "steps"),
    _descent,
    _descent_figure,
    _descent_table,
    watched=_descent,
)
