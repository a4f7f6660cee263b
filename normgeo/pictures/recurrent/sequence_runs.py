"""The runs that pictures of learning cells show: what is trained, on what, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

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

# Seconds of an update, and of a step of a sequence, there and back, by product: of calls and of
# each entry.
UPDATE_CALLS, STEP_CALLS, STEP_ENTRY = 2.1e-3, 3.2e-5, 4.2e-8
HELD = 6  # arrays of a product that a run keeps


Seen = TypeVar("Seen")


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
                "Cells are trained with 2 to {most} neurons here, not with {H}. Use "
                "`train_sequences` for others.",
                most=LARGEST,
                H=H,
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

    def run(
        self,
        method: Normalizer,
        place: int,
        steps: int,
        progress: Progress,
        before: SequenceHistory | None = None,
    ) -> SequenceHistory:
        """Take steps with a method from one of the seeds, or from where a run was before.

        Raises where the method has no z.
        """
        data, rng = self.data(place), np.random.default_rng(self.seed + place)
        if before is not None:
            return train_sequences(before, data, steps=steps, tests=TESTS, progress=progress)
        sizes = self.neurons, data.features, data.classes
        start = SequenceModel.random(self.cell, with_eps(method, EPS), *sizes, rng, gain=self.gain)
        return train_sequences(
            start,
            data,
            batch_size=self.size,
            steps=steps,
            rate=self.rate,
            seed=self.seed + place,
            tests=TESTS,
            progress=progress,
        )


class Runs(NamedTuple):
    """The runs of one method, as far as they came.

    Attributes:
        normalizer: the method. histories: by the place of their seed, from 0.
        reason: why one is missing or ended early, or "".

    """

    normalizer: Normalizer
    histories: Mapping[int, SequenceHistory]
    reason: str

    def compared(self, stretch: int) -> tuple[int, dict[int, SequenceHistory]]:
        """How many whole stretches of steps a run came to, and those that came as far."""
        ends = {
            place: max((step for step in run.test_steps if step % stretch == 0), default=0)
            for place, run in self.histories.items()
        }
        last = int(max(ends.values(), default=0))
        return last, {p: run for p, run in self.histories.items() if last and ends[p] == last}

    def missing(self, place: int, goal: int) -> int:
        """How many steps a run still has to take, 0 for one that cannot."""
        run = self.histories.get(place)
        if run is None:
            return 0 if self.reason else goal
        return 0 if run.ended else goal - run.steps


def methods(settings: Settings) -> dict[str, Normalizer]:
    """What is compared, by key."""
    return {key: NORMALIZERS[key] for key in dict.fromkeys((*COMPARED, settings.method))}


def runs(
    settings: Settings, progress: Progress, goal: int, before: Sequence[Runs]
) -> Iterator[Runs]:
    """Train every method from every seed; a stop ends with the runs as far as they came.

    Args:
        settings, progress: of the runs. goal: steps that each is to have.
        before: runs to go on with, of the first methods or of all.

    """
    setup = Setup.of(settings)
    known = [Runs(normalizer, {}, "") for normalizer in methods(settings).values()]
    known[: len(before)] = before
    total = sum(found.missing(place, goal) for found in known for place in range(SEEDS))
    done = 0
    for found in known:
        histories, reason = dict(found.histories), found.reason
        for place in range(SEEDS):
            steps = found.missing(place, goal)
            if not steps:
                continue
            part = progress.after(done, total)
            done += steps
            try:
                history = setup.run(found.normalizer, place, steps, part, histories.get(place))
            except Refusal as error:
                reason = str(error)
                break
            histories[place] = history
            if history.ended is not None:
                reason = history.ended.reason
            if progress.stopped:
                break
        yield Runs(found.normalizer, histories, reason)
        if progress.stopped:
            return


class Course(NamedTuple):
    """The runs of all methods, to go on with.

    Attributes:
        runs: of each method. goal: the steps that each was to have.
        paused: whether some have fewer.

    """

    runs: tuple[Runs, ...]
    goal: int
    paused: bool


def trained(
    settings: Settings,
    progress: Progress,
    look: Callable[[Runs], Seen],
    before: Course | None = None,
) -> tuple[tuple[Seen, ...], Course]:
    """Train every method from every seed, or go on: to the goal, or as many steps again after it.

    A stop keeps the runs as far as they came. Each method is looked at as soon as its runs are
    there, so that the bar does not stand at its end while all are.
    """
    setup = Setup.of(settings)
    known = before.runs if before else ()
    goal = before.goal if before else 0
    if before is None or not before.paused:
        goal += setup.steps
    found = [(one, look(one)) for one in runs(settings, progress, goal, known)]
    found += [(one, look(one)) for one in known[len(found) :]]
    course = Course(tuple(one for one, _ in found), goal, progress.stopped)
    return tuple(seen for _, seen in found), course


def cost(settings: Settings, read: float = 0.0) -> Cost:
    """Steps of all runs with their tests, and so many more steps of sequences that are read."""
    setup = Setup.of(settings)
    T, H = TASKS[setup.task].steps, setup.neurons
    products = setup.cell.products
    width = H * sum(product.gates for product in products)
    trained = setup.steps * T
    seconds = setup.steps * UPDATE_CALLS
    seconds += trained * (STEP_CALLS * len(products) + STEP_ENTRY * setup.size * width)
    told = TESTS * T + read
    seconds += told * (STEP_CALLS * len(products) + STEP_ENTRY * TESTED * width) / 2
    held = 8 * HELD * width * max(2 * T * setup.size + T * TESTED, read / 2 * TESTED)
    return BASE + Cost(bytes=held, seconds=len(methods(settings)) * SEEDS * seconds)
