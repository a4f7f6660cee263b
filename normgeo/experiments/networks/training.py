"""How an experiment learns: Adam on random batches, all rates and seeds at once, with checkpoints.

Methods take turns, block by block: what there is at any time compares. A run that goes on from a
checkpoint has the numbers of one that was never stopped.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from platform import python_version
from typing import Any, final
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np
import optax

from normgeo import __version__
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.base.writing import write_bytes
from normgeo.experiments.networks.cells import Tree
from normgeo.experiments.networks.compiled import (
    Experiment,
    Runs,
    evaluate,
    first_runs,
    learn,
    lightly,
)
from normgeo.experiments.networks.devices import most_memory, placements
from normgeo.experiments.networks.pace import pace

POINTS = 30  # of a curve, about
LEAST = 10  # steps between two of them, at least
COMPILERS = 2  # at once
QUICK = 100  # steps below which a run takes less time than to compile it well


@final
class Training:
    """An experiment that runs: all methods, rates and seeds, block by block.

    Attributes:
        experiment: that it is of. asked: steps, seeds, rates and methods. done: steps taken.
        ways: to learn, each a method and a size of batches; that of the experiment has the method's
            name. steps: before each evaluation. figures: on the validation set for each way,
            (R, 1 + others + watched) at each evaluation. seconds: of all blocks, and of what was
            compiled for them.

    """

    def __init__(
        self,
        experiment: Experiment,
        *,
        steps: int,
        seeds: Sequence[int],
        rates: Sequence[float],
        methods: Sequence[str],
        where: str | None = None,
    ) -> None:
        self.asked: dict[str, Any] = {
            "name": experiment.name,
            "steps": steps,
            "seeds": [*seeds],
            "rates": [*rates],
            "methods": [*methods],
            "data": where,
        }
        began = time.monotonic()
        self.done, self.steps = 0, [0]
        grid = [(rate, seed) for rate in rates for seed in seeds]
        self._spread, copied = placements(len(grid))
        self._rates, self._seeds = (
            jnp.array(each, device=self._spread) for each in zip(*grid, strict=True)
        )
        self._learned, self._validation, self._test = jax.device_put(
            experiment.cases(where), copied
        )
        self.experiment = experiment = experiment.fitting(self._learned)
        self._quick = steps < QUICK
        compiled = lightly if self._quick else jax.jit
        self._block = compiled(
            self._learn_and_evaluate, static_argnums=5, out_shardings=self._spread
        )
        self._alike = _shapes(self._test) == _shapes(self._validation)
        self.ways = {
            method if batch == experiment.batch else f"{method} {batch}": (method, batch)
            for batch in (experiment.batch, *experiment.further_batches)
            for method in methods
        }
        self.runs: dict[str, Runs] = {}
        self.figures: dict[str, list[Any]] = {way: [] for way in self.ways}
        first = self._compile()
        # One after the other: two at once take twice the memory, and XLA can wait for ever.
        for way, (method, _) in self.ways.items():
            self._go(way, first[method], 0)
        self.seconds = time.monotonic() - began

    def _compile(self) -> dict[str, Runs]:
        """Return the first runs of each method, while all else compiles.

        Ways compile beside each other; what tests them compiles last, while they learn.
        """
        pool = ThreadPoolExecutor(COMPILERS)

        def compiled(function: Any, *given: Any) -> Future[Callable[..., Any]]:
            return pool.submit(lambda: function.lower(*given).compile())

        # All at once, as the methods draw the same random numbers.
        begin = lightly(
            lambda seeds: {
                method: first_runs(self.experiment, seeds, method)
                for method in self.asked["methods"]
            },
            out_shardings=self._spread,
        )
        begun, shapes = compiled(begin, self._seeds), begin.eval_shape(self._seeds)
        start = 0, 0, self._learned, self._validation
        self._blocks = {
            way: compiled(self._block, shapes[method], *start, batch)
            for way, (method, batch) in self.ways.items()
        }
        tested = lightly(partial(evaluate, self.experiment))
        self._tests = {
            method: None if self._alike else compiled(tested, runs, self._test)
            for method, runs in shapes.items()
        }
        pool.shutdown(wait=False)
        first: dict[str, Runs] = begun.result()(self._seeds)
        return first

    def _go(self, way: str, runs: Runs, last: int) -> None:
        """Take the steps of a way before number `last`, and evaluate."""
        given = self.done, last, self._learned, self._validation
        self.runs[way], figures = self._blocks[way].result()(runs, *given)
        self.figures[way].append(figures.tolist())

    def _learn_and_evaluate(
        self, runs: Runs, first: jax.Array, last: jax.Array, learned: Tree, cases: Tree, batch: int
    ) -> tuple[Runs, jax.Array]:
        """One function, so that a way compiles once: to evaluate alone is to learn 0 steps.

        Cases for the test of other sizes would compile all of it again, and have `_tests`.
        """
        steps, experiment = (first, last), replace(self.experiment, batch=batch)
        after = learn(experiment, runs, self._rates, self._seeds, steps, learned)
        return evaluate(experiment, after, cases)

    def go(self, keep: Path | None = None, progress: Report | Progress | None = None) -> None:
        """Take the steps that are left, with a checkpoint in `keep` after each block.

        It ends after a block on a report's request.

        Raises:
            OSError: a checkpoint that can't be written.

        """
        steps, progress = self.asked["steps"], Progress.of(progress)
        every = max(LEAST, steps // POINTS)
        while progress.tell(self.done, steps) and self.done < steps:
            began, last = time.monotonic(), min(self.done + every, steps)
            for way, runs in self.runs.items():
                self._go(way, runs, last)
            self.done = last
            self.steps.append(last)
            self.seconds += time.monotonic() - began
            if keep is not None:
                write_bytes(self.checkpoint(), keep)

    def checkpoint(self) -> bytes:
        """Return all that `resume` needs, as a file of NumPy."""
        file, leaves = io.BytesIO(), jax.tree.leaves(self.runs)
        said = {
            name: getattr(self, name) for name in ("asked", "done", "steps", "seconds", "figures")
        }
        named = {f"leaf{at}": np.asarray(leaf) for at, leaf in enumerate(leaves)}
        np.savez(file, allow_pickle=False, said=np.array(json.dumps(said)), **named)
        return file.getvalue()

    def resume(self, path: Path) -> None:
        """Go back to a checkpoint.

        Raises:
            ValueError: no checkpoint of this training. OSError: a file that can't be read.

        """
        leaves, structure = jax.tree.flatten(self.runs)
        try:
            with np.load(io.BytesIO(path.read_bytes())) as file:
                said = json.loads(str(file["said"]))
                found = [
                    jax.device_put(file[f"leaf{at}"], self._spread) for at in range(len(leaves))
                ]
        except (ValueError, KeyError, EOFError, BadZipFile) as error:
            raise Refusal("{path!s} is no checkpoint of an experiment.", path=path) from error
        if said["asked"] != self.asked:
            raise Refusal(
                "{path!s} is a checkpoint of another run, {got!s}, and this one is {asked!s}. "
                "Give its options, or another file.",
                path=path,
                got=json.dumps(said["asked"]),
                asked=json.dumps(self.asked),
            )
        self.runs = jax.tree.unflatten(structure, found)
        for name in ("done", "steps", "seconds", "figures"):
            setattr(self, name, said[name])

    def result(self, command: str, *, moves: bool = True) -> dict[str, Any]:
        """Return what a file of results holds: each method at its best rate on validation.

        What moves on the page is left out where it need not be there, as it takes a while.
        """
        found: dict[str, dict[str, Any]] = {}
        best: dict[str, Tree] = {}
        beside: dict[str, dict[str, Any]] = {}
        for way, (method, batch) in self.ways.items():
            learned, params, watched = self._judged(way)
            beside[way] = {"method": method, "batch": batch, **learned, "watched": watched}
            if batch == self.experiment.batch:
                found[method], best[method] = learned, params
        moving = self.experiment.moving(best, self._test) if moves else {}
        if moves and self.experiment.beside:
            moving |= self.experiment.beside(beside, self._validation)
        return {
            "name": self.experiment.name,
            "command": command,
            "versions": {"normgeo": __version__, **_versions()},
            "data": self.asked["data"] or self.experiment.data,
            "seeds": self.asked["seeds"],
            "seconds": round(self.seconds),
            "pace": 0.0 if self._quick else round(pace(), 4),
            "bytes": most_memory(),
            "device": jax.default_backend(),
            "unit": self.experiment.unit,
            "measure": self.experiment.measure,
            "steps": self.steps,
            "methods": found,
            "moving": moving,
        }

    def _judged(self, way: str) -> tuple[dict[str, Any], Tree, np.ndarray[Any, Any]]:
        """Return a way at its best rate as a file holds it, the first seed's best parameters, and
        what was watched of that seed, (evaluations, watched).
        """
        runs, S, method = self.runs[way], len(self.asked["seeds"]), self.ways[way][0]
        means = np.asarray(runs.best, dtype=float).reshape(-1, S).mean(axis=1)
        at = int(means.argmin())
        mine = slice(at * S, at * S + S)
        at_best = runs._replace(params=runs.best_params)
        tested = self._tests[method]
        _, test = (
            self._blocks[way].result()(at_best, 0, 0, self._learned, self._test)
            if tested is None
            else tested.result()(at_best, self._test)
        )
        figures = np.array(self.figures[way])[:, mine]
        judging, *others = figures.transpose(2, 1, 0)[: 1 + len(self.experiment.others)]
        tested, *further = np.asarray(test).T[: 1 + len(others), mine]
        measured = zip(self.experiment.others, others, further, strict=True)
        learned = {
            "rates": dict(zip(map(str, self.asked["rates"]), _short(means), strict=True)),
            "rate": self.asked["rates"][at],
            "validation": [*map(_short, judging)],
            "test": _short(tested),
            "others": {
                name: {"validation": [*map(_short, curves)], "test": _short(at_end)}
                for name, curves, at_end in measured
            },
        }
        params = jax.tree.map(lambda leaf: leaf[mine.start], runs.best_params)
        return learned, params, figures[:, 0, 1 + len(others) :]


def _versions() -> dict[str, str]:
    return {"jax": jax.__version__, "optax": optax.__version__, "python": python_version()}


def _shapes(cases: Tree) -> Tree:
    shapes: Tree = jax.tree.map(jnp.shape, cases)
    return shapes


def _short(figures: Any) -> list[float | None]:
    """Numbers for a file: five digits, and None for what is not finite."""
    return [float(f"{each:.5g}") if np.isfinite(each) else None for each in figures]
