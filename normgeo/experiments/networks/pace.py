"""How fast this machine lets networks learn: what an experiment took elsewhere, told for here."""

from __future__ import annotations

from time import perf_counter

import jax

from normgeo.experiments.networks.cells import State, Tree, init_lstm, lstm, rest
from normgeo.experiments.results import LAYER

RUNS, CASES, TIMES, NEURONS, STEPS = 12, 16, 50, 40, 10
TRIES = 3


def pace() -> float:
    """Return the seconds of a fixed piece of work, the least of some tries, once it is compiled.

    An LSTM with layer norm descends in all runs at once, as in the experiments.
    """
    keys = jax.random.split(jax.random.key(0), RUNS)
    cells = jax.vmap(lambda key: init_lstm(key, NEURONS, NEURONS, LAYER))(keys)
    x = jax.random.normal(jax.random.key(1), (TIMES, CASES, NEURONS))

    def loss(cell: Tree) -> jax.Array:
        def step(state: State, x: jax.Array) -> tuple[State, None]:
            return lstm(cell, state, x), None

        h, _ = jax.lax.scan(step, rest(CASES, NEURONS), x)[0]
        return (h * h).sum()

    def descend(_: int, cells: Tree) -> Tree:
        gradients = jax.vmap(jax.grad(loss))(cells)
        after: Tree = jax.tree.map(lambda p, g: p - 0.001 * g, cells, gradients)
        return after

    work = jax.jit(lambda cells: jax.lax.fori_loop(0, STEPS, descend, cells)).lower(cells).compile()
    seconds = []
    for _ in range(TRIES):
        began = perf_counter()
        jax.block_until_ready(work(cells))
        seconds.append(perf_counter() - began)
    return min(seconds)
