"""The pictures of the Recurrent page: the size of the state, and how far it is remembered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.models.jacobian_norms import jacobian_norms
from normgeo.models.recurrence import Recurrence, Run, digit_rows, run_recurrence
from normgeo.normalizers.normalizer import NORMALIZERS
from normgeo.pictures.recurrent.radii_figure import radii_figure
from normgeo.pictures.recurrent.recurrence_figure import Curves, recurrence_figure
from normgeo.pictures.view import Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

METHODS = ("standard", "layer")
RADII = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0)
NEURONS, LARGEST = 32, 64
SEQUENCES = 5
POINTS = 65  # of a curve: more than a screen tells apart are left out

USES = ("seed", "neurons", "activation", "length", "radius")


class RecurrencePicture(NamedTuple):
    """Runs at growing spectral radius, with and without layer norm.

    Attributes:
        curves: by radius, then by method; medians over the sequences. start: where it opens.
        radii: asked for; fewer curves where the computation was stopped.
        neurons: H. features, rows: of the sequences. activation: f. steps: T.
        notes: sentences for the reader.

    """

    curves: dict[float, dict[str, Curves]]
    start: float
    radii: tuple[float, ...]
    neurons: int
    features: int
    rows: int
    activation: str
    steps: int
    notes: tuple[str, ...]


def recurrences(settings: Settings, radius: float) -> dict[str, Recurrence]:
    """Return the recurrence without and with layer norm: the same weights at one radius.

    Raises:
        ValueError: too many neurons, or one only, which is its own mean.

    """
    H = settings.neurons or NEURONS
    if H > LARGEST:
        raise ValueError(
            text(
                "A recurrence is drawn with up to {most} neurons, as the products of its Jacobians "
                "take H³ operations a step; got neurons={H}. Use fewer.",
                most=LARGEST,
                H=H,
            )
        )
    rows = sequences()
    return {
        key: Recurrence.random(
            NORMALIZERS[key],
            H,
            rows.shape[2],
            np.random.default_rng(settings.seed),
            spectral_radius=radius,
            activation=settings.activation,
        )
        for key in METHODS
    }


def sequences() -> Array:
    """Return digits as sequences of their rows, (5, 8, 8)."""
    return digit_rows(DATASETS["digits"].load(), range(SEQUENCES))


def first_state(settings: Settings) -> Array:
    """Return h⁰ of the sequences, (5, H): standard normal, from the seed."""
    rng = np.random.default_rng((settings.seed, 3))
    return rng.standard_normal((SEQUENCES, settings.neurons or NEURONS))


class FirstStep(NamedTuple):
    """The first step of neuron 0 on the first sequence, with layer norm.

    Attributes:
        recurrent, driven: W_hh h⁰ and W_xh x¹ of the neuron. summed_input: a¹, their sum.
        mu, sigma: over the neurons. z: (a¹ − μ)/σ. hidden: h¹ = f(z).
        undefined: what the step is without state and input, in a sentence.

    """

    recurrent: float
    driven: float
    summed_input: float
    mu: float
    sigma: float
    z: float
    hidden: float
    undefined: str


def first_step(settings: Settings) -> FirstStep:
    """Return the numbers of the first step at the starting radius; raises as the picture does."""
    layer = recurrences(settings, settings.radius)["layer"]
    X, h0 = sequences(), first_state(settings)
    run = run_recurrence(layer, X[:, :1], h0)
    a, W = run.summed_inputs[0, 0], layer.layer.W
    recurrent = float(W[0, : layer.neurons] @ h0[0])
    z = (a[0] - a.mean()) / a.std()
    try:
        run_recurrence(layer, np.zeros_like(X[:1]))
        undefined = ""
    except ValueError as error:
        undefined = str(error)
    return FirstStep(
        recurrent,
        float(a[0]) - recurrent,
        float(a[0]),
        float(a.mean()),
        float(a.std()),
        float(z),
        float(run.hidden[1, 0, 0]),
        undefined,
    )


def _recurrence(settings: Settings, callback: Progress | None = None) -> RecurrencePicture:
    radii = tuple(sorted({*RADII, settings.radius}))
    # A stopped picture has its starting frame.
    order = sorted(radii, key=lambda radius: abs(radius - settings.radius))
    steps, total = settings.length, len(METHODS) * len(radii)
    X, h0 = sequences(), first_state(settings)
    curves: dict[float, dict[str, Curves]] = {}
    notes: dict[str, None] = {}
    for radius in order:
        found: dict[str, Curves] = {}
        for key, recurrence in recurrences(settings, radius).items():
            run = run_recurrence(recurrence, X, h0, steps=steps)
            found[key] = _curves(run, notes)
        curves[radius] = found
        if callback is not None:
            try:
                callback(len(METHODS) * len(curves), total)
            except StopIteration:
                break
    return RecurrencePicture(
        dict(sorted(curves.items())),
        settings.radius,
        radii,
        len(h0[0]),
        X.shape[2],
        X.shape[1],
        settings.activation,
        steps,
        tuple(notes),
    )


def _curves(run: Run, notes: dict[str, None]) -> Curves:
    """Return medians over the sequences; adds what there is to know to the notes."""
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
    )


def _recurrence_table(picture: RecurrencePicture) -> Table:
    rows: list[tuple[object, ...]] = []
    for radius, methods in picture.curves.items():
        for key, curves in methods.items():
            title = NORMALIZERS[key].title
            for i, t in enumerate(curves.times.tolist()):
                summed = float(curves.summed_inputs[i - 1]) if t else None
                log = float(curves.log10_norms[i])
                known = np.isfinite(log)
                predicted = float((curves.times[-1] - t) * np.log10(radius))
                rows.append(
                    (
                        radius,
                        title,
                        t,
                        summed,
                        float(curves.hidden[i]),
                        log if known else None,
                        predicted if key == "standard" else None,
                        "" if known else text("no change of the state arrives: the norm is 0"),
                    )
                )
    columns = (
        "radius",
        "method",
        "t",
        "rms_a",
        "rms_h",
        "log10_norm",
        "predicted_log10_norm",
        "reason",
    )
    title = text(
        "{H} neurons, {f}, T = {T}; medians over {S} digits; norm of ∂h^T/∂h^t",
        H=picture.neurons,
        f=picture.activation,
        T=picture.steps,
        S=SEQUENCES,
    )
    return Table(columns, tuple(rows), title, notes=picture.notes)


RECURRENCE = View(
    "recurrence",
    text("A recurrent state and its memory against the spectral radius"),
    USES,
    _recurrence,
    lambda picture, theme: recurrence_figure(
        picture.curves, start=picture.start, rows=picture.rows, about=about(picture), theme=theme
    ),
    _recurrence_table,
    watched=_recurrence,
)


def about(picture: RecurrencePicture) -> str:
    """Return what runs, in a line; and how much of it there is, where it was stopped."""
    words = text(
        "digits row by row, T = {T} = {n:.3g} × {rows} rows; {H} neurons, f = {f}",
        T=picture.steps,
        n=picture.steps / picture.rows,
        rows=picture.rows,
        H=picture.neurons,
        f=picture.activation,
    )
    if len(picture.curves) == len(picture.radii):
        return words
    return text(
        "{words}; stopped with {done} of {all} radii",
        words=words,
        done=len(picture.curves),
        all=len(picture.radii),
    )


def _rates(picture: RecurrencePicture) -> dict[str, list[float]]:
    """Return decades a step of ‖∂h^T/∂h⁰‖, by method, for each radius."""
    return {
        key: [
            float(methods[key].log10_norms[0] / methods[key].times[-1])
            for methods in picture.curves.values()
        ]
        for key in METHODS
    }


def _radii_table(picture: RecurrencePicture) -> Table:
    rates = _rates(picture)
    rows = tuple(
        (radius, *(rate if np.isfinite(rate) else None for rate in both), float(np.log10(radius)))
        for radius, *both in zip(picture.curves, *(rates[key] for key in METHODS), strict=True)
    )
    columns = ("radius", "without", "with_layer_norm", "predicted_without")
    return Table(columns, rows, text("Decades a step of the norm of ∂h^T/∂h⁰"))


RADII_VIEW = View(
    "radii",
    text("How fast memory fades or explodes, against the spectral radius"),
    USES,
    _recurrence,
    lambda picture, theme: radii_figure(
        list(picture.curves), _rates(picture), about=about(picture), theme=theme
    ),
    _radii_table,
    watched=_recurrence,
)
