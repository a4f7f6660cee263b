"""What doubling the weights does to the Fisher information, and to where the KL is equal."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.dynamics.doubling import DoublingRow, doubling_table
from normgeo.fisher.ellipse import EqualKLPicture, equal_kl
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.doubling_figure import doubling_figure
from normgeo.pictures.learning_rate.ellipse_figure import ellipse_figure
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import DATA, View
from normgeo.settings import Settings
from normgeo.tables.table import Table


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
    it = block_on_data(settings)
    rng = np.random.default_rng((settings.seed, 1))  # the weights were drawn from the seed itself
    measured = equal_kl(it.model, it.X, it.y, (1.0, 2.0), block=it.block, rng=rng)
    return EllipsePicture(it.model.normalizer, measured, it.name, it.symbol, it.notes)


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
    it = block_on_data(settings)
    rows = doubling_table(it.model, it.X, it.y, it.block)
    return DoublingPicture(it.model.normalizer, rows, it.name, it.symbol, it.notes)


def _doubling_figure(picture: DoublingPicture, theme: str) -> Figure:
    return doubling_figure(picture.rows, picture.normalizer, name=picture.name, theme=theme)


def _doubling_table(picture: DoublingPicture) -> Table:
    half = Fraction(1, 2)
    rows = tuple(
        (
            text(row.quantity),
            _factor(row.predicted),
            row.measured,
            "✓" if row.predicted == half else "✗",
            text(row.reason),
        )
        for row in picture.rows
    )
    title = text("{method}, {name} doubled", method=picture.normalizer.title, name=picture.name)
    names = ("quantity", "predicted", "measured", "½ fits", "why no measurement")
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
