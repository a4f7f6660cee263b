"""The colors of methods: each named normalizer has one of its own, on light and on dark paper."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from normgeo.base.arrays import Array
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.shared_statistics import SHARINGS

PAPERS = {"light": "#FFFFFF", "dark": "#15181B"}
READ = 4.5  # of WCAG 2.2, 1.4.3, between words and their paper
LEAST_CONTRAST = 3.0  # of WCAG 2.2, 1.4.11, between a graphical object and what is around it
BRIGHT = 5.5  # that of a color on dark paper, where saturated colors of 4 look dim

# Okabe and Ito's hues first, each shifted until it reaches the contrast on both papers.
GRAY, BLUE, VERMILION, GREEN, PINK = "#767F8C", "#0B7ABD", "#D55E00", "#009469", "#BE5C88"
PALETTE = (GRAY, BLUE, VERMILION, GREEN, PINK, "#9A55DD", "#D92253", "#6E8B00")
"""In the order of `NORMALIZERS`, which grows at its end."""

OTHER = "#A56E00"  # of what has no name

CLASSES = ("#5560FF", "#D01FD0", "#0090A0")
"""Of the classes of cases: colors that no method has."""

ONLY_SHARED = ("#FF00AA",)
"""Of the methods that have a row in `SHARINGS` alone, such as instance norm, in their order."""


def method_color(normalizer: Normalizer, theme: str) -> str:
    """The color of a normalizer, the same on every page; lighter on dark paper.

    ε, frozen statistics and another number of groups leave a method its color; two words without
    a name share one.
    """
    named = [known.name for known in NORMALIZERS.values()]
    if normalizer.name in named:
        return name_color(normalizer.name, theme)
    kinds = [(known.words, known.groups > 1) for known in NORMALIZERS.values()]
    kind = normalizer.words, normalizer.groups > 1
    return on_paper(_colors(len(kinds))[kinds.index(kind)] if kind in kinds else OTHER, theme)


def name_color(name: str, theme: str) -> str:
    """The color of the normalizer or the way to share of this name, or that of what has no name."""
    named = [known.name for known in NORMALIZERS.values()]
    if name in named:
        return on_paper(_colors(len(named))[named.index(name)], theme)
    shared = [sharing.title for sharing in SHARINGS.values() if sharing.title not in named]
    return on_paper(dict(zip(shared, ONLY_SHARED, strict=False)).get(name, OTHER), theme)


@lru_cache(maxsize=8192)
def on_paper(color: str, theme: str) -> str:
    """The color "#rrggbb" as a theme draws it: on dark paper as much lighter as `BRIGHT` asks.

    The hue stays: lightness in Oklab grows by 0.005 a step, and chroma shrinks where the screen has
    no such color.
    """
    if theme == "light" or contrast(color, PAPERS[theme]) >= BRIGHT:
        return color
    steps = (_lighter(color, up) for up in np.arange(0.005, 0.5, 0.005).tolist())
    return next(one for one in steps if contrast(one, PAPERS[theme]) >= BRIGHT)


def contrast(one: str, other: str) -> float:
    """The contrast of two colors "#rrggbb", from 1 to 21.

    Source: WCAG 2.2, (L + 0.05)/(L' + 0.05) with the relative luminance L.

    >>> contrast("#000000", "#FFFFFF")
    21.0

    """
    low, high = sorted(float(_linear(color) @ (0.2126, 0.7152, 0.0722)) for color in (one, other))
    return round((high + 0.05) / (low + 0.05), 9)


def legible(color: str, paper: str, ink: str) -> str:
    """The color, with as much of the ink as words on a paper need to be read.

    Source: WCAG 2.2, 1.4.3, a contrast of 4.5.
    """
    shares = np.arange(0, 1.05, 0.05).tolist()
    mixed = (blend(color, ink, share) for share in shares)
    return next(one for one in mixed if contrast(one, paper) >= READ)


def difference(one: str, other: str) -> float:
    """How far two colors "#rrggbb" are from each other as people see them: distance in Oklab.

    Source: Ottosson, A perceptual color space for image processing, 2020.
    """
    return float(np.linalg.norm(_oklab(one) - _oklab(other)))


def blend(paper: str, color: str, share: float) -> str:
    """The mixture of two colors "#rrggbb" with a share of the second."""
    pairs = ((int(paper[i : i + 2], 16), int(color[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * a + share * b):02x}" for a, b in pairs)


def see_through(color: str, share: float) -> str:
    """A color "#rrggbb" that hides only a share of what is under it."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


@lru_cache
def _colors(count: int) -> tuple[str, ...]:
    """The palette, and beyond it one color after the other, far from all before it."""
    if count <= len(PALETTE):
        return PALETTE
    before = _colors(count - 1)
    others = (*before, OTHER, *ONLY_SHARED)

    def apart(color: str) -> float:
        pairs = ((on_paper(color, t), on_paper(other, t)) for t in PAPERS for other in others)
        return min(difference(one, other) for one, other in pairs)

    return (*before, max(_candidates(), key=apart))


@lru_cache
def _candidates() -> tuple[str, ...]:
    """Colors all over the cube that reach the contrast on both papers."""
    cube = (f"#{r:02X}{g:02X}{b:02X}" for r, g, b in product(range(0, 256, 34), repeat=3))
    return tuple(
        color
        for color in cube
        if min(contrast(color, p) for p in PAPERS.values()) >= LEAST_CONTRAST
    )


def _linear(color: str) -> Array:
    """Red, green and blue from 0 to 1, proportional to light."""
    share = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    light: Array = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return light


_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_AXES = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@lru_cache(maxsize=8192)
def _oklab(color: str) -> Array:
    lab: Array = _AXES @ np.cbrt(_CONES @ _linear(color))
    return lab


def _lighter(color: str, up: float) -> str:
    lightness, *chroma = _oklab(color)
    for share in np.arange(1, 0, -0.02):
        lab = np.array([lightness + up, share * chroma[0], share * chroma[1]])
        light = np.linalg.solve(_CONES, np.linalg.solve(_AXES, lab) ** 3)
        if light.min() > -0.001 and light.max() < 1.001:
            break
    light = light.clip(0, 1)
    red_green_blue = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * one):02X}" for one in red_green_blue)
