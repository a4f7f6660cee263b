"""The true KL around the weights, against the quadratic form of the Fisher information."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from normgeo._arrays import Array
from normgeo.ellipse import round_number
from normgeo.figures.contours import contours_figure
from normgeo.figures.growth import growth_figure
from normgeo.figures.template import Figure
from normgeo.kl_contours import LENGTHS, RAYS, Contours, block_directions, kl_contours
from normgeo.neighbourhood import Neighbourhood
from normgeo.normalizers import Normalizer
from normgeo.scene import Scene
from normgeo.settings import Settings
from normgeo.tables import Table
from normgeo.text import text
from normgeo.views.pair import USES, about, neurons_of, pair, unusual, which_fisher
from normgeo.views.view import Progress, View

SIZES = np.array([1.0, 2.0, 3.0])  # of the ellipses, over that of the first
REACH = 0.3  # of ‖w‖: how far the first ellipse reaches in the direction at random


class Stand(NamedTuple):
    """A model, where it stands, and the directions from there.

    Attributes:
        normalizer, unusual: its method. around: KL and quadratic form.
        norm: ‖w‖ of the block. directions: ŵ, the steepest across it, one at random, (k, P).

    """

    normalizer: Normalizer
    unusual: str
    around: Neighbourhood
    norm: float
    directions: Array


class Standing(NamedTuple):
    """Both models of a picture, the standard one first, and what is said of them."""

    stands: tuple[Stand, ...]
    name: str
    about: str
    which: str
    notes: tuple[str, ...]


def _standing(settings: Settings) -> Standing:
    both = pair(settings)
    W = both.normalized.model.W
    neurons = neurons_of(settings.normalizer, len(W), settings.neuron)
    stands = tuple(_stand(it, neurons, settings.seed) for it in both.scenes.values())
    name = (
        text("weights of neuron {h}", h=neurons[0])
        if len(neurons) == 1
        else text("weights of neurons {a} to {b}, one vector", a=neurons[0], b=neurons[-1])
    )
    here = about(both.normalized)
    return Standing(stands, name, here, which_fisher(stands[-1].around.F), both.notes)


def _stand(it: Scene, neurons: Array, seed: int) -> Stand:
    around = Neighbourhood.of(it.model, it.X)
    rng = np.random.default_rng((seed, 3))  # the weights were drawn from the seed itself
    norm = float(np.linalg.norm(it.model.W[neurons]))
    return Stand(it.model.normalizer, unusual(it.model.normalizer), around, norm,
                 block_directions(around, neurons, rng))  # fmt: skip


class EqualKLPicture(NamedTuple):
    """Contours of the KL in two planes for each model.

    Attributes:
        standing: the models. levels: c, nats per case.
        across, along: in the plane across the weights, and in the one that contains them, a model
            each, in units of ‖w‖; None where there is no such plane, or the search was stopped.

    """

    standing: Standing
    levels: Array
    across: tuple[Contours | None, ...]
    along: tuple[Contours | None, ...]


def _equal_kl(settings: Settings, callback: Progress | None = None) -> EqualKLPicture:
    standing = _standing(settings)
    last = standing.stands[-1]
    # In units of ‖w‖, by which the norms of the two models need not agree.
    curvature = last.around.F.quad(last.norm * last.directions[-1])
    levels = round_number(curvature * REACH**2 / 2) * SIZES**2
    tell = _counter(callback, len(standing.stands))
    found: dict[str, list[Contours | None]] = {"across": [], "along": []}
    stopped = False
    for stand in standing.stands:
        along, *others = stand.norm * stand.directions
        for part, plane in (("across", others[::-1]), ("along", [along, others[0]])):
            contours = None
            if len(plane) == 2 and not stopped:
                try:
                    contours = kl_contours(stand.around, np.stack(plane), levels, within=0.95,
                                           callback=tell)  # fmt: skip
                except StopIteration:
                    stopped = True
            found[part].append(contours)
    return EqualKLPicture(standing, levels, tuple(found["across"]), tuple(found["along"]))


def _counter(callback: Progress | None, models: int) -> Callable[[], None]:
    done, total = 0, models * (RAYS + 2 * LENGTHS)

    def tell() -> None:
        nonlocal done
        done = min(done + 1, total)
        if callback is not None:
            callback(done, total)

    return tell


def _equal_kl_figure(picture: EqualKLPicture, theme: str) -> Figure:
    it = picture.standing
    return contours_figure(
        [(s.normalizer, s.unusual) for s in it.stands], picture.across, picture.along,
        name=it.name, about=it.about, which=it.which, theme=theme,
    )  # fmt: skip


def _equal_kl_table(picture: EqualKLPicture) -> Table:
    rows: list[tuple[object, ...]] = []
    for plane, sides in (("across", picture.across), ("along", picture.along)):
        for stand, contours in zip(picture.standing.stands, sides, strict=True):
            if contours is None:
                continue
            for level, quadratic, true in zip(
                contours.levels.tolist(), contours.quadratic, contours.true, strict=True
            ):
                rows += [
                    (stand.normalizer.title, plane, level, *(None if np.isnan(v) else float(v)
                                                             for v in (*q, *t)))
                    for q, t in zip(quadratic, true, strict=True)
                    if np.isfinite(q).all()
                ]  # fmt: skip
    columns = ("method", "plane", "level", "quadratic_x", "quadratic_y", "kl_x", "kl_y")
    title = text("Steps in units of ‖w‖ with ½ δᵀFδ = c, and with KL = c nats; {name}",
                 name=picture.standing.name)  # fmt: skip
    return Table(columns, tuple(rows), title, notes=(picture.standing.which,))


EQUAL_KL = View(
    "equal_kl",
    text("Contours of the KL and ellipses of its quadratic form"),
    (*USES, "neuron"),
    _equal_kl,
    _equal_kl_figure,
    _equal_kl_table,
    watched=_equal_kl,
)


class GrowthPicture(NamedTuple):
    """The KL of ever longer steps.

    Attributes:
        standing: the models. lengths: of the steps over ‖w‖, (n,).
        kl, quadratic: for each model and direction, (M, k, n); NaN where there are no outputs.

    """

    standing: Standing
    lengths: Array
    kl: Array
    quadratic: Array


LONGEST = np.logspace(-3, 1, 25)


def _growth(settings: Settings) -> GrowthPicture:
    standing = _standing(settings)
    kl, quadratic = [], []
    for stand in standing.stands:
        for direction in stand.norm * stand.directions:
            kl.append([_kl(stand.around, length * direction) for length in LONGEST])
            quadratic.append(stand.around.quadratic(direction) * LONGEST**2)
    shape = (len(standing.stands), -1, len(LONGEST))
    return GrowthPicture(standing, LONGEST, np.reshape(kl, shape), np.reshape(quadratic, shape))


def _kl(around: Neighbourhood, step: Array) -> float:
    try:
        return around.kl(step)
    except ValueError:
        return float("nan")


def _growth_figure(picture: GrowthPicture, theme: str) -> Figure:
    it = picture.standing
    return growth_figure(
        [(s.normalizer, s.unusual) for s in it.stands], picture.lengths, picture.kl,
        picture.quadratic, name=it.name, about=it.about, which=it.which, theme=theme,
    )  # fmt: skip


NAMES = ("along ŵ", "steepest", "at random")


def _growth_table(picture: GrowthPicture) -> Table:
    rows = tuple(
        (stand.normalizer.title, NAMES[k], float(length),
         None if np.isnan(kl) else float(kl), float(quadratic))
        for m, stand in enumerate(picture.standing.stands)
        for k in range(picture.kl.shape[1])
        for length, kl, quadratic in zip(
            picture.lengths, picture.kl[m, k], picture.quadratic[m, k], strict=True)
    )  # fmt: skip
    title = text("KL of a step over ‖w‖, and ½ δᵀFδ, nats per case; {name}",
                 name=picture.standing.name)  # fmt: skip
    columns = ("method", "direction", "length", "kl", "half_quadratic_form")
    return Table(columns, rows, title, notes=(picture.standing.which,))


GROWTH = View(
    "growth",
    text("KL against its quadratic form as the step grows"),
    (*USES, "neuron"),
    _growth,
    _growth_figure,
    _growth_table,
)
