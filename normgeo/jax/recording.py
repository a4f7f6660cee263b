"""A recorder of training in JAX, which reads what optax keeps of the steps."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self, final

from normgeo.base.closable import Closable
from normgeo.dynamics.optimizer import Optimizer
from normgeo.jax.network import named_leaves
from normgeo.measured.table import MeasuredTable
from normgeo.recordings.recorder import Recorder as ArrayRecorder


@final
class Recorder(Closable):
    """Records the training of a tree of parameters by optax.

    How many steps there were is what the optimizer's state counts, so micro-batches of
    `optax.MultiSteps` are none. η and λ are those of `optax.inject_hyperparams`, where the state
    has them, else as stated here: no other state of optax keeps them.
    """

    def __init__(self, recorder: ArrayRecorder, rate: Any, decay: Any) -> None:
        self._recorder, self._rate, self._decay = recorder, rate, decay
        self._calls, self._last = 0, -1

    @classmethod
    def of(
        cls,
        parameters: Any,
        state: Any,
        path: str | os.PathLike[str],
        *,
        table: MeasuredTable,
        optimizer: str | Optimizer | None = None,
        rate: float | Callable[[int], Any] = 0.0,
        decay: float = 0.0,
        every: int = 1,
        append: bool = False,
    ) -> Self:
        """Begin a recording, with the parameters before their first step.

        Args:
            parameters, state: of the optimizer's `init`.
            table: of `normgeo.jax.measure`, which tells what the blocks are.
            path, optimizer, every, append: as of `normgeo.Recorder`.
            rate: η, or a schedule of it. decay: λ.

        """
        held = table.recorder()
        recorder = ArrayRecorder(path, **held, optimizer=optimizer, every=every, append=append)
        begun = cls(recorder, rate, decay)
        begun.step(parameters, state)
        return begun

    def step(self, parameters: Any, state: Any, gradients: Any = None) -> None:
        """Record the parameters, if the optimizer has taken a step since the last call.

        Args:
            parameters, state: after the update. gradients: of the step, a tree as of the
                parameters; of accumulated ones only their mean is of use.

        """
        import optax

        def kept(name: str, otherwise: Any) -> Any:
            found = optax.tree_utils.tree_get_all_with_path(state, name)
            return found[0][1] if found else otherwise

        now = int(kept("gradient_step", kept("count", self._calls)))
        self._calls += 1
        if now == self._last:
            return
        self._last = now
        before = max(now - 1, 0)
        stated = self._rate(before) if callable(self._rate) else self._rate
        self._recorder.step(
            named_leaves(parameters),
            kept("learning_rate", stated),
            decay=kept("weight_decay", self._decay),
            gradients=None if gradients is None else named_leaves(gradients),
            at=now,
        )

    def close(self) -> None:
        """End the recording; what was recorded stays."""
        self._recorder.close()
