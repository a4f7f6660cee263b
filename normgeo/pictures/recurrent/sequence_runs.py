"""The runs that pictures of learning cells show: what is trained, on what, and what it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.claims.examples import with_eps
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.recurrent.recurrences import LARGEST, NEURONS
from normgeo.pictures.work import BASE
from normgeo.sequences.cell import Cell
from normgeo.sequences.cells import CELLS
from normgeo.sequences.model import SequenceModel
from normgeo.sequences.tasks import TASKS, Sequences, load_sequences
from normgeo.sequences.training import TESTED, SequenceHistory, train_sequences
from normgeo.settings import Settings

COMPARED = ("standard", "layer", "batch")  # and the chosen method
STEPS = {"rows": 120, "letters": 80, "pixels": 30}
SEEDS = 3
RATE, EPS = 0.02, 1e-5
TESTS = 4
USES = ("task", "rnn", "sequences", "first_gain", "method", "neurons", "rate", "seed")

# Seconds of a step of a sequence, there and back, by product: of calls and of each entry.
STEP_CALLS, STEP_ENTRY = 8e-5, 5e-8
HELD = 6  # arrays of a product that a run keeps


class Setup(NamedTuple):
    """What is trained: the cell, H, m, the first gain, η and the seed of the first run."""

    task: str
    cell: Cell
    neurons: int
    size: int
    gain: float
    rate: float
    seed: int

    @classmethod
    def of(cls, settings: Settings) -> Setup:
        """What the settings ask for.

        Raises:
            ValueError: more neurons than a page trains.

        """
        H = settings.neurons or NEURONS
        if not 1 < H <= LARGEST:
            raise Refusal(
                text(
                    "Cells are trained with 2 to {most} neurons here; got neurons={H}. Use "
                    "`train_sequences` for others.",
                    most=LARGEST,
                    H=H,
                )
            )
        rate = settings.rate or RATE
        cell, seed = CELLS[settings.rnn], settings.seed
        return cls(settings.task, cell, H, settings.sequences, settings.first_gain, rate, seed)

    @property
    def steps(self) -> int:
        """How many steps a run takes."""
        return STEPS[self.task]

    @property
    def about(self) -> str:
        """In a line."""
        return text(
            "{cell} of {H} neurons, {task}; batches of {m}, first gain {gain}, Adam at η = {rate}, "
            "ε = {eps}; mean of {seeds} seeds, band: lowest to highest",
            cell=self.cell.title,
            H=self.neurons,
            task=TASKS[self.task].title,
            m=self.size,
            gain=number(self.gain),
            rate=number(self.rate),
            eps=number(EPS),
            seeds=SEEDS,
        )

    def data(self, place: int, steps: int | None = None) -> Sequences:
        """The sequences of one of the seeds, with so many steps; as they are trained for None."""
        return load_sequences(self.task, steps=steps, seed=self.seed + place)

    def run(self, method: Normalizer, place: int, progress: Progress) -> SequenceHistory:
        """Train with a method, from one of the seeds; raises where it has no z."""
        data, rng = self.data(place), np.random.default_rng(self.seed + place)
        sizes = self.neurons, data.features, data.classes
        start = SequenceModel.random(self.cell, with_eps(method, EPS), *sizes, rng, gain=self.gain)
        return train_sequences(
            start,
            data,
            batch_size=self.size,
            steps=self.steps,
            rate=self.rate,
            seed=self.seed + place,
            tests=TESTS,
            progress=progress,
        )


class Runs(NamedTuple):
    """The runs of one method from each seed, as far as they came; why there are none, or ""."""

    normalizer: Normalizer
    histories: tuple[SequenceHistory, ...]
    reason: str


def methods(settings: Settings) -> dict[str, Normalizer]:
    """What is compared, by key."""
    return {key: NORMALIZERS[key] for key in dict.fromkeys((*COMPARED, settings.method))}


def runs(settings: Settings, progress: Progress) -> Iterator[Runs]:
    """Train every method from every seed; a stop ends with the runs that there are."""
    setup, compared = Setup.of(settings), methods(settings)
    total = len(compared) * SEEDS
    for i, normalizer in enumerate(compared.values()):
        histories, reason = [], ""
        for place in range(SEEDS):
            part = progress.part(i * SEEDS + place, total)
            try:
                history = setup.run(normalizer, place, part)
            except Refusal as error:
                reason = str(error)
                break
            if history.ended is not None:
                reason = history.ended.reason
            elif history.steps == setup.steps:
                histories.append(history)
            if progress.stopped:
                break
        yield Runs(normalizer, tuple(histories), reason)
        if progress.stopped:
            return


def cost(settings: Settings, read: float = 0.0) -> Cost:
    """Steps of all runs with their tests, and so many more steps of sequences that are read."""
    setup = Setup.of(settings)
    T, H = TASKS[setup.task].steps, setup.neurons
    products = setup.cell.products
    width = H * sum(product.gates for product in products)
    trained = setup.steps * T
    seconds = trained * (STEP_CALLS * len(products) + STEP_ENTRY * setup.size * width)
    told = TESTS * T + read
    seconds += told * (STEP_CALLS * len(products) + STEP_ENTRY * TESTED * width) / 2
    held = 8 * HELD * width * max(2 * T * setup.size + T * TESTED, read / 2 * TESTED)
    return BASE + Cost(bytes=held, seconds=len(methods(settings)) * SEEDS * seconds)
