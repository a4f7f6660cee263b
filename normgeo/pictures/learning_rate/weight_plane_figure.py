"""The plane of a weight vector and its gradient: the loss as an image, steps as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.dynamics.loss_plane import LossPlane
from normgeo.pictures.learning_rate.angular_update import APART, SHOWN, AngularUpdate
from normgeo.pictures.style.colors import blend
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.png import data_uri, indexed
from normgeo.pictures.style.template import THEMES

LEVELS = 9  # of the loss, each in a color of its own
DARKEST = 0.62  # share of the method's color: words are read on it
PIXELS = (940, 680)  # of the image, across and up
ACROSS, UP = (-0.75, 1.6), (-0.75, 0.95)  # what it covers, in units of the reach
VIEW = (-0.12, 1.0), (-0.15, 0.45)  # what a frame shows of it, at least, and at most upward
LEAST_UP, WORDS = 0.19, 0.11  # upward at least, and over the longest arrow
LENGTH = 0.37  # of the arrow at norm 1 where the vertical axis is stretched to show it
SEEN, STRETCHED = (0.12, 1.5), 2.0**10  # lengths that need no stretch; the most it stretches
PLANE, HEAD = 280, 0.8  # pixels of the reach at least; of an arrow, at most: none is all head
ARC, SEEN_ARC = 0.6, 4  # of the norm; pixels of a mark of an angle at least
NUMBERS = 5  # beside the vertical axis, at most
DIGITS = 6  # of a number, at most

Trace = dict[str, Any]  # of a frame: plotly checks it once, where an object is checked twice


class Plane(NamedTuple):
    """How the plane is drawn.

    Attributes:
        stretch: of the axis across the weights. reaches: how far each frame shows.
        top: how far upward, as a share of that.
        sources: images of the loss, different ones. image: which of them a frame shows.

    """

    stretch: float
    reaches: tuple[float, ...]
    top: float
    sources: tuple[str, ...]
    image: tuple[int, ...]

    @classmethod
    def of(cls, result: AngularUpdate, color: str, theme: str) -> Plane:
        """The plane of a result, the loss in shades of a color."""
        steps, stretch = range(len(result.curve.norms)), stretch_of(result)
        reaches = tuple(_reach(result, step, stretch) for step in steps)
        # Wedges look the same at any zoom.
        seen = (1.0,) if result.same_along_rays else tuple(sorted(set(reaches)))
        shades = [
            blend(THEMES[theme].paper, color, DARKEST * i / LEVELS) for i in range(LEVELS + 1)
        ]
        sources = tuple(
            data_uri(indexed(level, shades)) for level in _levels(result.planes, seen, stretch)
        )
        places = [0 if len(seen) == 1 else seen.index(reach) for reach in reaches]
        longest = max(
            result.way(step)[1] * stretch / reach
            for step, reach in zip(steps, reaches, strict=True)
        )
        top = float(np.clip(longest + WORDS, LEAST_UP, VIEW[1][1]))
        return cls(stretch, reaches, top, sources, tuple(places))

    def view(self, step: int) -> tuple[tuple[str, list[float]], tuple[str, list[float]]]:
        """The part of the plane that a frame shows, by axis."""
        reach = self.reaches[step]
        up = reach / self.stretch
        (left, right), (low, _) = VIEW
        return ("xaxis", [left * reach, right * reach]), ("yaxis", [low * up, self.top * up])

    def pixels(self, wide: float, high: float) -> float:
        """The pixels of the reach on a panel: as many across as up."""
        (left, right), (low, _) = VIEW
        return min(wide / (right - left), high / (self.top - low))

    def still(self, result: AngularUpdate, step: int) -> list[int]:
        """The steps beside its own that a frame can show apart: at norm 1, then at larger norms."""
        shown: list[float] = []
        for norm in (SHOWN[0], *reversed(SHOWN[1:])):
            if all(abs(norm - other) > APART * self.reaches[step] for other in shown):
                shown.append(norm)
        return [result.place(norm) for norm in shown]

    @property
    def longest(self) -> str:
        """A number as long as the longest of all frames beside the axis."""
        return "−" + "0" * max(map(self._digits, range(len(self.reaches))))

    def _digits(self, step: int) -> int:
        """The length of the numbers of a frame, with a point; plotly counts in 1, 2, 5."""
        _, (_, (low, high)) = self.view(step)
        part = (high - low) / NUMBERS
        decimals = -int(np.floor(np.log10(part)))
        if part * 10.0**decimals > 5:
            decimals -= 1
        whole = 1 + max(0, int(np.log10(high)))
        return min(whole + (1 + decimals) * (decimals > 0), DIGITS)

    def images(self, step: int) -> list[Trace]:
        """The places of the images in a frame, which shows one of them; `sources` fill them."""
        reach, (width, height) = self.reaches[step], PIXELS
        dx = reach * (ACROSS[1] - ACROSS[0]) / width
        dy = reach * (UP[1] - UP[0]) / height / self.stretch
        return [
            {
                "type": "image",
                "x0": reach * ACROSS[0] + dx / 2,
                "y0": reach * UP[0] / self.stretch + dy / 2,
                "dx": dx,
                "dy": dy,
                "zsmooth": "fast",
                "hoverinfo": "skip",
                "visible": place == self.image[step],
            }
            for place in range(len(self.sources))
        ]


def stretch_of(result: AngularUpdate) -> float:
    """The power of 2 that brings the arrow at norm 1 to a length that is seen."""
    _, across = result.way(result.place(1.0))
    if SEEN[0] <= across <= SEEN[1] or across * STRETCHED < SEEN[0]:
        return 1.0
    return float(2.0 ** np.round(np.log2(LENGTH / across)))


def _reach(result: AngularUpdate, step: int, stretch: float) -> float:
    """How far the plane must show for a step's arrow to be seen."""
    _, across = result.way(step)
    return max(4.8, 1.2 * float(result.curve.norms[step]), 3.2 * across * stretch)


# The loss.


def _levels(
    planes: Sequence[LossPlane], reaches: Sequence[float], stretch: float
) -> list[NDArray[np.uint8]]:
    """The number of the shade of each pixel, the lowest row first; 0 where z is undefined.

    Between planes at several norms the loss is interpolated in log r.
    """
    losses = np.stack([plane.loss for plane in planes])
    if len(planes) == 1:
        edges = np.linspace(np.nanmin(losses), np.nanmax(losses), LEVELS + 1)[1:-1]
    else:  # far out the loss may be any number: each shade has as much of the plane
        edges = np.nanquantile(losses, np.linspace(0, 1, LEVELS + 1)[1:-1])
    logs, angles = np.log([plane.norm for plane in planes]), planes[0].angles
    images = []
    for reach in reaches:
        x = reach * np.linspace(*ACROSS, PIXELS[0])
        y = reach / stretch * np.linspace(*UP, PIXELS[1])[:, None]
        angle = np.arctan2(y, x)
        if len(planes) == 1:
            loss = np.interp(angle, angles, losses[0])
        else:
            radius = np.log(np.hypot(x, y) + 1e-12)
            places = (
                np.interp(radius, logs, np.arange(len(logs))),
                np.interp(angle, angles, np.arange(len(angles))),
            )
            loss = map_coordinates(losses, places, order=1, mode="nearest")
        level = 1 + np.searchsorted(edges, loss)
        images.append(np.where(np.isnan(loss), 0, level).astype(np.uint8))
    return images


# Steps.


def step_traces(
    result: AngularUpdate, plane: Plane, step: int, color: str, ink: str
) -> list[Trace]:
    """The gradient steps in the plane as a frame shows them, its own last."""
    still = plane.still(result, step)
    return [
        *_arrows(result, plane, step, still, {"color": ink, "width": 2.0}),
        *_arrows(result, plane, step, [step], {"color": color, "width": 3.0}),
    ]


def _arrows(
    result: AngularUpdate, plane: Plane, step: int, shown: Sequence[int], line: dict[str, Any]
) -> tuple[Trace, Trace]:
    """Return the rays that steps end on with the angles to them, and the steps from their feet."""
    curve, gap = result.curve, np.full((1, 2), np.nan)
    turns: list[Array] = []
    arrows: list[Array] = []
    heads: list[float] = []
    words: list[str] = []
    for place in shown:
        norm, angle = float(curve.norms[place]), float(curve.angles[place])
        along, across = result.way(place)
        tip = [norm + along, across]
        arc = np.linspace(0, angle, 9)
        mark = ARC * norm * np.column_stack([np.cos(arc), np.sin(arc)])
        turns += [np.array([[0.0, 0.0], tip]), gap]
        if mark[-1, 1] * plane.stretch / plane.reaches[step] * PLANE >= SEEN_ARC:
            turns += [mark, gap]
        arrows += [np.array([[norm, 0.0], tip]), gap]
        length = float(np.hypot(along, across * plane.stretch))
        head = min(7 + line["width"], max(3.0, HEAD * length / plane.reaches[step] * PLANE))
        heads += [5 + line["width"], head, 0]
        words += 3 * [_hover(result, place)]
    rays, points = np.concatenate(turns[:-1]), np.concatenate(arrows[:-1])
    plain: Trace = {"type": "scatter", "showlegend": False, "line": line}
    return (
        {
            **plain,
            "x": rounded(rays[:, 0]),
            "y": rounded(rays[:, 1]),
            "mode": "lines",
            "line": {**line, "width": line["width"] / 2},
            "hoverinfo": "skip",
        },
        {
            **plain,
            "x": rounded(points[:, 0]),
            "y": rounded(points[:, 1]),
            "mode": "lines+markers",
            "marker": {
                "symbol": [("circle", "arrow", "circle")[i % 3] for i in range(len(points))],
                "size": heads[:-1],
                "angleref": "previous",
                "color": line["color"],
                "opacity": 1,
                "line": {"width": 0},
            },
            "hoverinfo": "text",
            "text": words[:-1],
        },
    )


def _hover(result: AngularUpdate, step: int) -> str:
    curve = result.curve
    return text(
        "norm {norm}: loss {loss}, gradient {gradient}, turn {angle}°",
        norm=number(float(curve.norms[step]), 4),
        loss=number(float(curve.loss[step]), 6),
        gradient=number(float(curve.gradient_norms[step]), 4),
        angle=number(float(np.degrees(curve.angles[step])), 4),
    )
