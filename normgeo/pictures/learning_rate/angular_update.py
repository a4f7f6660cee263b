"""How far one step of gradient descent turns the weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.dynamics.angular_update import TurnCurve, turn_against_norm
from normgeo.dynamics.loss_plane import LossPlane, loss_plane
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import SCALES
from normgeo.pictures.learning_rate.angular_update_figure import turn_figure
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.rates import rate_for_block
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import DATA, View
from normgeo.settings import Settings
from normgeo.tables.table import Table


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
    it = block_on_data(settings)
    rate = rate_for_block(settings, it.objective.at(it.objective.own).gradient)
    norms = _norms(settings.growth)
    model, X, y, block = it.model, it.X, it.y, it.block
    curve = turn_against_norm(model, X, y, norms, rate, block=block)
    softened = model.normalizer.eps > 0 and SCALES[model.normalizer.scale].takes_eps
    radii, count = ((0.25, 0.5, 1.0, 2.0, 4.0, 16.0), 49) if softened else ((1.0,), 121)
    angles = np.linspace(-np.pi, np.pi, count)
    planes = tuple(loss_plane(model, X, y, block=block, angles=angles, norm=r) for r in radii)
    return TurnPicture(
        model.normalizer, curve, planes, it.name, it.symbol, settings.growth, it.notes
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
    title = text(
        "{method}, {name}, η = {rate:g}; angles in radians, losses in nats per case",
        method=picture.normalizer.title,
        name=picture.name,
        rate=curve.rate,
    )
    return Table(tuple(columns), tuple(rows), title=title)


TURN = View(
    "turn",
    text("One gradient step turns a large weight vector less"),
    (*DATA, *BLOCK, "rate", "growth"),
    _turn,
    _turn_figure,
    _turn_table,
)
