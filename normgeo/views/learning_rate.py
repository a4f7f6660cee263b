"""The pictures of the Learning rate page: how far one step turns, and what follows of it."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from normgeo._arrays import Array
from normgeo.blocks import Blocks, lengths
from normgeo.doubling import DoublingRow, doubling_table
from normgeo.dynamics import Trajectory, descend
from normgeo.ellipse import EqualKLPicture, equal_kl
from normgeo.figures.descent import descent_figure
from normgeo.figures.doubling import doubling_figure
from normgeo.figures.ellipse import ellipse_figure
from normgeo.figures.template import Figure
from normgeo.figures.turn import turn_figure
from normgeo.loss_plane import LossPlane, loss_plane
from normgeo.model import NormalizedGLM
from normgeo.normalizers import Normalizer
from normgeo.objective import BlockObjective
from normgeo.scales import SCALES
from normgeo.scene import Scene, scene
from normgeo.settings import Settings
from normgeo.tables import Table
from normgeo.text import text
from normgeo.turn import TurnCurve, turn_against_norm
from normgeo.views.view import DATA, View

BLOCK = ("method", "groups", "eps", "statistics", "neuron")
STARTS = (1.0, 2.0, 4.0)
FIRST_TURN = 0.5  # tan θ of the first step at ‖w‖ = 1, where the settings leave η open
FLAT = 1e-11  # of the loss: a smaller slope, per radian, is rounding


class Subject(NamedTuple):
    """One homogeneous block of a model on data, all blocks scaled to norm 1.

    Attributes:
        scene: the data, and the model as it was. model: the same function at ‖w‖ = 1.
        block: the number of the block. objective: the loss as a function of it.
        name: of the block, "neuron 3". symbol: of its norm.

    """

    scene: Scene
    model: NormalizedGLM
    block: int
    objective: BlockObjective
    name: str
    symbol: str


def subject(settings: Settings) -> Subject:
    """Return the block that the settings name.

    Raises:
        ValueError: no such neuron, no homogeneous block, or a block that nothing can turn.

    """
    here = scene(settings, "standardized")
    method, H = here.model.normalizer, len(here.model.W)
    if settings.neuron >= H:
        raise ValueError(
            text(
                "Neurons are numbered from 0 to {last} here; got neuron={neuron}. Choose another.",
                last=H - 1,
                neuron=settings.neuron,
            )
        )
    blocks = method.homogeneous_blocks(H)
    if not blocks:
        raise ValueError(_no_block(method))
    block = next(i for i, neurons in enumerate(blocks) if settings.neuron in neurons)
    here.model.linearize(here.X)  # undefined z is the better complaint
    model = at_norm(here.model, 1.0)
    objective = BlockObjective(model, here.X, here.y, block)
    point = objective.at(objective.own)
    if lengths(point.gradient) * objective.own_norm <= FLAT * max(1.0, abs(point.loss)):
        raise ValueError(_flat(method, len(blocks[block])))
    return Subject(here, model, block, objective, *_name(method, blocks[block], len(blocks)))


def at_norm(model: NormalizedGLM, norm: float) -> NormalizedGLM:
    """Return the same function with every homogeneous block scaled to one norm (at ε = 0)."""
    blocks = Blocks.of(model.normalizer, len(model.W))
    blocks.require_direction(model.W)
    vectors = blocks.vectors(model.W)
    W = blocks.replaced(model.W, norm * vectors / lengths(vectors)[:, None])
    return model.unpack(model.layout.pack(W, model.b, model.g))


def _name(method: Normalizer, neurons: Array, blocks: int) -> tuple[str, str]:
    """Return how to call a block, and the symbol of its norm."""
    symbol = "‖W̃‖" if method.center in ("layer", "weight") else "‖W‖"
    if len(neurons) == 1:
        return text("weights of neuron {h}", h=neurons[0]), symbol.lower()
    if blocks == 1:
        return text("weights of the layer"), symbol
    return text("weights of neurons {a}–{b}", a=neurons[0], b=neurons[-1]), symbol


def _no_block(method: Normalizer) -> str:
    if method.scale == "none":
        return text(
            "{method} does not divide by a scale, so a longer weight vector is another function, "
            "with a larger output: no law ties the turn of a step to ‖w‖. Choose a method with a "
            "scale: batch norm, weight norm or layer norm.",
            method=method.title.capitalize(),
        )
    return text(
        "With frozen statistics {method} divides by a constant, so a longer weight vector is "
        "another function: no law ties the turn of a step to ‖w‖. Choose current statistics.",
        method=method.title,
    )


def _flat(method: Normalizer, neurons: int) -> str:
    if method.words == ("layer", "layer") and neurons == 2:
        return text(
            "With two neurons to a group, {method} makes z = ±1 whatever the weights, so the loss "
            "has no gradient and no step turns anything. Take three neurons or more to a group.",
            method=method.title,
        )
    return text(
        "The loss does not change where these weights turn: their gradient is zero, so no step "
        "turns them. Choose another method, another neuron or other data.",
    )


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


def _descent(settings: Settings) -> DescentPicture:
    it = subject(settings)
    model, X, y = it.model, it.scene.X, it.scene.y
    gradient = model.gradient(X, y)
    dW, db, dg = model.layout.split(gradient)
    blocks = Blocks.of(model.normalizer, len(model.W)).vectors(dW)
    rate = _rate(settings, *blocks, db, np.zeros(1) if dg is None else dg)
    runs = tuple(
        descend(at_norm(model, norm), X, y, steps=settings.steps, rate=rate) for norm in STARTS
    )
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
)


class EllipsePicture(NamedTuple):
    """Equal KL around a block before and after it doubles.

    Attributes:
        normalizer: the method. measured: at ‖w‖ = 1 and 2.
        name, symbol: of the block and its norm. notes: sentences for the reader.

    """

    normalizer: Normalizer
    measured: EqualKLPicture
    name: str
    symbol: str
    notes: tuple[str, ...]


def _ellipse(settings: Settings) -> EllipsePicture:
    it = subject(settings)
    rng = np.random.default_rng((settings.seed, 1))  # the weights were drawn from the seed itself
    measured = equal_kl(it.model, it.scene.X, it.scene.y, (1.0, 2.0), block=it.block, rng=rng)
    return EllipsePicture(it.model.normalizer, measured, it.name, it.symbol, it.scene.notes)


def _ellipse_figure(picture: EllipsePicture, theme: str) -> Figure:
    return ellipse_figure(
        picture.measured,
        picture.normalizer,
        name=picture.name,
        symbol=picture.symbol,
        theme=theme,
    )


def _ellipse_table(picture: EllipsePicture) -> Table:
    rows = tuple(
        (at.norm, *quadratic, *true)
        for at in picture.measured.at
        for quadratic, true in zip(at.ellipse.tolist(), at.contour.tolist(), strict=True)
    )
    names = ("norm", "ellipse_along_gradient", "ellipse_across", "kl_along_gradient", "kl_across")
    title = text("Steps dw with KL = {c:g} nats", c=picture.measured.level)
    return Table(names, rows, title=title)


ELLIPSE = View(
    "ellipse",
    text("Equal KL around the weights, before and after they double"),
    (*DATA, *BLOCK),
    _ellipse,
    _ellipse_figure,
    _ellipse_table,
)


class DoublingPicture(NamedTuple):
    """What doubling a block does.

    Attributes:
        normalizer: the method. rows: a quantity each, predicted and measured.
        name, symbol: of the block and its norm. notes: sentences for the reader.

    """

    normalizer: Normalizer
    rows: tuple[DoublingRow, ...]
    name: str
    symbol: str
    notes: tuple[str, ...]


def _doubling(settings: Settings) -> DoublingPicture:
    it = subject(settings)
    rows = doubling_table(it.model, it.scene.X, it.scene.y, it.block)
    return DoublingPicture(it.model.normalizer, rows, it.name, it.symbol, it.scene.notes)


def _doubling_figure(picture: DoublingPicture, theme: str) -> Figure:
    return doubling_figure(picture.rows, picture.normalizer, name=picture.name, theme=theme)


def _doubling_table(picture: DoublingPicture) -> Table:
    half = Fraction(1, 2)
    rows = tuple(
        (text(row.quantity), _factor(row.predicted), row.measured,
         "✓" if row.predicted == half else "✗", text(row.reason))
        for row in picture.rows
    )  # fmt: skip
    title = text("{method}, {name} doubled", method=picture.normalizer.title, name=picture.name)
    names = ("quantity", "predicted", "measured", "the paper's ½ fits", "why no measurement")
    return Table(names, rows, title)


def _factor(predicted: Fraction) -> str:
    return {"1/4": "× ¼", "1/2": "× ½", "1": "× 1"}.get(str(predicted), str(predicted))


DOUBLING = View(
    "doubling",
    text("What doubling the weights does"),
    (*DATA, *BLOCK),
    _doubling,
    _doubling_figure,
    _doubling_table,
)
