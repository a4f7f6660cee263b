"""The recurrences that are compared: their weights, their inputs and their first step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.models.recurrence import Recurrence, digit_rows, run_recurrence
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.settings import Settings

RADII = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0)
COMPARED = ("standard", "layer")  # and the chosen method, where it treats a case by itself
NEURONS, LARGEST = 32, 64
SEQUENCES = 5
STAYS = 2.0  # decades by which a change may grow or shrink in T steps and still be said to stay


def compared(settings: Settings) -> dict[str, Normalizer]:
    """The methods side by side, by key; the one without normalization is the first."""
    chosen, H = NORMALIZERS[settings.method], settings.neurons or NEURONS
    keys = dict.fromkeys(COMPARED)
    if not chosen.undefined(1, H, H + sequences().shape[2]) and H % chosen.groups == 0:
        keys[settings.method] = None
    return {key: NORMALIZERS[key] for key in keys}


class Setup(NamedTuple):
    """What runs.

    Attributes:
        methods: by key; the one without normalization is the first.
        neurons: H. rows: steps of a sequence, after which it is read again. steps: T.

    """

    methods: dict[str, Normalizer]
    neurons: int
    rows: int
    steps: int

    @classmethod
    def of(cls, settings: Settings) -> Setup:
        """What the settings ask for."""
        H, rows = settings.neurons or NEURONS, sequences().shape[1]
        return cls(compared(settings), H, rows, settings.length)

    @property
    def names(self) -> dict[str, str]:
        """What each method is called beside the others, by key."""
        plain, *others = self.methods
        return {
            plain: text("without normalization"),
            **{key: text("with {name}", name=self.methods[key].title) for key in others},
        }

    @property
    def about(self) -> str:
        """In a line."""
        return text(
            "digits read row by row, all {rows} rows {n:.3g} times: T = {T} steps; {H} neurons",
            T=self.steps,
            n=self.steps / self.rows,
            rows=self.rows,
            H=self.neurons,
        )


def recurrences(settings: Settings, radius: float, activation: str = "") -> dict[str, Recurrence]:
    """The recurrence with each method, by key: the same weights at one spectral radius.

    Its f is that of the settings where none is named.

    Raises:
        ValueError: too many neurons, or one only, which is its own mean.

    """
    H = settings.neurons or NEURONS
    if H > LARGEST:
        raise Refusal(
            "A recurrence is drawn with up to {most} neurons, as the products of its "
            "Jacobians take H³ operations per step: {H} are too many. Use fewer.",
            most=LARGEST,
            H=H,
        )
    return {
        key: Recurrence.random(
            normalizer,
            H,
            sequences().shape[2],
            np.random.default_rng(settings.seed),
            spectral_radius=radius,
            activation=activation or settings.activation,
        )
        for key, normalizer in compared(settings).items()
    }


def sequences() -> Array:
    """Digits as sequences of their rows, (5, 8, 8)."""
    return digit_rows(DATASETS["digits"].load(), range(SEQUENCES))


def first_state(settings: Settings) -> Array:
    """h⁰ of the sequences, (5, H): standard normal, from the seed."""
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
    """The numbers of the first step at the starting radius; raises as the picture does."""
    layer = recurrences(settings, settings.radius)["layer"]
    X, h0 = sequences(), first_state(settings)
    run = run_recurrence(layer, X[:, :1], h0)
    a, W = run.summed_inputs[0, 0], layer.layer.W
    recurrent = float(W[0, : layer.neurons] @ h0[0])
    z = (a[0] - a.mean()) / a.std()
    try:
        run_recurrence(layer, np.zeros_like(X[:1]))
        undefined = ""
    except Refusal as error:
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
