"""What is compiled of an experiment: steps of Adam on random batches, and the figures.

The runs of a method are a leading axis R = rates × seeds of every parameter, so that they compile
once. Random numbers follow from the seed and the number of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp
import optax

from normgeo.experiments.networks.cells import Tree
from normgeo.experiments.results import LAYER, NONE

LONGEST = 10.0  # the norm that gradients are clipped to
ADAM = optax.chain(optax.clip_by_global_norm(LONGEST), optax.scale_by_adam())

LIGHTLY = {"xla_backend_optimization_level": 1}
SIMPLY = {"xla_cpu_use_fusion_emitters": False}
"""Options of XLA that shorten compilation. Some versions and devices do not have SIMPLY."""


@final
@dataclass(frozen=True)
class Experiment:
    """A network, its data and its loss.

    Attributes:
        name, data, unit, measure: as of a Result.
        init: (key, method) → parameters. loss: (parameters, cases, key) → a number to descend.
        cases: (where) → trees of arrays (N, …) to learn from, for validation, for the test; of what
            ships, for None. own: what else `where` may name, in words; "" for nothing.
        moving: (best parameters by method, test cases) → what moves on the page.
        batch: cases of a step. steps, rates: of the result that ships. methods: words of METHODS.
        figures: (parameters, cases, key) → the figure that judges, where lower is better, and
            others; None for the loss. others: what they measure, each with its unit. Further
            numbers of `figures` are watched: kept at each evaluation, for `beside`.
        sized: (cases to learn from) → an `init` that fits them, where data of one's own have other
            sizes; None for `init` itself.
        further_batches: sizes of batches that are tried beside `batch`.
        beside: (each way to learn, what it has come to and what was watched; validation cases) →
            what also moves on the page.

    """

    name: str
    data: str
    unit: str
    measure: str
    init: Callable[[jax.Array, str], Tree]
    loss: Callable[[Tree, Tree, jax.Array], jax.Array]
    cases: Callable[[str | None], tuple[Tree, Tree, Tree]]
    moving: Callable[[dict[str, Tree], Tree], dict[str, list[Any]]]
    batch: int
    steps: int
    rates: tuple[float, ...]
    methods: tuple[str, ...] = (NONE, LAYER)
    figures: Callable[[Tree, Tree, jax.Array], Sequence[jax.Array]] | None = None
    others: tuple[str, ...] = ()
    own: str = ""
    sized: Callable[[Tree], Callable[[jax.Array, str], Tree]] | None = None
    further_batches: tuple[int, ...] = ()
    beside: Callable[[Mapping[str, Mapping[str, Any]], Tree], dict[str, list[Any]]] | None = None

    def fitting(self, learned: Tree) -> Experiment:
        """Return the experiment with parameters that fit the cases to learn from."""
        return self if self.sized is None else replace(self, init=self.sized(learned))

    def judged(self, params: Tree, cases: Tree, key: jax.Array) -> jax.Array:
        """Return the figures (1 + others + watched,), the one that judges first."""
        if self.figures is None:
            return self.loss(params, cases, key)[None]
        return jnp.concatenate([*map(jnp.atleast_1d, self.figures(params, cases, key))])


def lightly(function: Callable[..., Any], **given: Any) -> Any:
    """Return what jax.jit does, compiled soon, for what runs a few times."""
    return jax.jit(function, compiler_options=_options(), **given)


@cache
def _options() -> dict[str, Any]:
    try:
        jax.jit(lambda: 0, compiler_options=LIGHTLY | SIMPLY)()
    except jax.errors.JaxRuntimeError:
        return LIGHTLY
    return LIGHTLY | SIMPLY


class Runs(NamedTuple):
    """All runs of a method: parameters, Adam's memory, and the best figures (R,), and where."""

    params: Tree
    memory: Any
    best: jax.Array
    best_params: Tree


def first_runs(experiment: Experiment, seeds: jax.Array, method: str) -> Runs:
    """Return the runs before their first step; `seeds` (R,)."""
    params = jax.vmap(lambda seed: experiment.init(jax.random.key(seed), method))(seeds)
    # With a type of its own, as after a step: else the first step compiles once more.
    best = jnp.full(len(seeds), jnp.inf, jnp.result_type(float))
    return Runs(params, jax.vmap(ADAM.init)(params), best, params)


def evaluate(experiment: Experiment, runs: Runs, cases: Tree) -> tuple[Runs, jax.Array]:
    """Return runs that know their best, and the figures of each, always with one noise."""
    key = jax.random.key(0)
    figures = jax.vmap(lambda params: experiment.judged(params, cases, key))(runs.params)
    better = figures[:, 0] < runs.best  # not so for one that is not a number

    def kept(old: jax.Array, new: jax.Array) -> jax.Array:
        return jnp.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    best_params = jax.tree.map(kept, runs.best_params, runs.params)
    best = jnp.where(better, figures[:, 0], runs.best)
    return runs._replace(best=best, best_params=best_params), figures


def learn(
    experiment: Experiment,
    runs: Runs,
    rates: jax.Array,
    seeds: jax.Array,
    between: tuple[jax.Array, jax.Array],
    cases: Tree,
) -> Runs:
    """Take steps number `between[0]` to `between[1]` − 1, at rates (R,) and with seeds (R,)."""
    count = len(next(iter(cases.values())))

    def run(params: Tree, memory: Any, rate: jax.Array, seed: jax.Array) -> tuple[Tree, Any]:
        def step(at: jax.Array, now: tuple[Tree, Any]) -> tuple[Tree, Any]:
            params, memory = now
            draw, noise = jax.random.split(jax.random.fold_in(jax.random.key(seed), at))
            drawn = jax.random.randint(draw, (experiment.batch,), 0, count)
            batch = jax.tree.map(lambda each: each[drawn], cases)
            gradient = jax.grad(experiment.loss)(params, batch, noise)
            turned, memory = ADAM.update(gradient, memory)
            return jax.tree.map(lambda p, u: p - rate * u, params, turned), memory

        after: tuple[Tree, Any] = jax.lax.fori_loop(*between, step, (params, memory))
        return after

    params, memory = jax.vmap(run)(runs.params, runs.memory, rates, seeds)
    return runs._replace(params=params, memory=memory)
