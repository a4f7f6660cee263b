"""A recorder of a Keras model's training, which reads η, λ and steps from its optimizer."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self, final

from normgeo.base.closable import Closable
from normgeo.dynamics.adam import Adam, AdamW
from normgeo.dynamics.gradient_descent import GradientDescent, Momentum
from normgeo.dynamics.lion import Lion
from normgeo.dynamics.optimizer import Optimizer
from normgeo.measured.table import MeasuredTable
from normgeo.recordings.recorder import Recorder as ArrayRecorder


@final
class Recorder(Closable):
    """Records the training of a compiled model; gradients are not known, as Keras keeps none.

    How many steps there were is what the optimizer counts, so micro-batches whose gradients are
    accumulated are none.
    """

    def __init__(self, recorder: ArrayRecorder, model: Any) -> None:
        self._recorder, self._model, self._last = recorder, model, -1
        self._rate = model.optimizer.learning_rate

    @classmethod
    def of(
        cls,
        model: Any,
        path: str | os.PathLike[str],
        *,
        table: MeasuredTable,
        every: int = 1,
        append: bool = False,
    ) -> Self:
        """Begin a recording, with the weights as they are.

        Args:
            model: compiled, so that it has an optimizer. path, every, append: as of
                `normgeo.Recorder`. table: of `normgeo.keras.measure`, which tells the blocks.

        """
        held = table.recorder()
        rule = _rule(model.optimizer)
        begun = cls(ArrayRecorder(path, **held, optimizer=rule, every=every, append=append), model)
        begun.step()
        return begun

    def before_step(self) -> None:
        """Take η of the step to come: afterwards a schedule has moved on."""
        self._rate = self._model.optimizer.learning_rate

    def step(self) -> None:
        """Record the weights, if the optimizer has taken a step since the last call."""
        if callable(synchronized := getattr(self._model, "jax_state_sync", None)):
            synchronized()  # while `fit` runs on JAX, the variables hold what they were before
        optimizer = self._model.optimizer
        now = int(optimizer.iterations)
        if now == self._last:
            return
        self._last = now
        self._recorder.step(
            {v.path: v.value for v in self._model.trainable_variables},
            float(self._rate),
            decay=float(optimizer.weight_decay or 0.0),
            at=now,
        )
        self.before_step()

    def close(self) -> None:
        """End the recording; what was recorded stays."""
        self._recorder.close()


def _rule(optimizer: Any) -> Optimizer | None:
    """The optimizer's law; decay of Keras is always apart from the gradient, θ ← (1 − ηλ)θ."""
    decays = bool(optimizer.weight_decay)
    found: dict[str, Callable[[], Optimizer | None]] = {
        "SGD": lambda: _descent(optimizer, decays),
        "Adam": lambda: (AdamW if decays else Adam)(*_betas(optimizer), optimizer.epsilon),
        "AdamW": lambda: AdamW(*_betas(optimizer), optimizer.epsilon),
        "Lion": lambda: Lion(*_betas(optimizer)),
    }
    rule = found.get(type(optimizer).__name__)
    plain = not getattr(optimizer, "amsgrad", False) and not getattr(optimizer, "nesterov", False)
    return rule() if rule and plain else None


def _descent(optimizer: Any, decays: bool) -> Optimizer | None:
    if not optimizer.momentum:
        return GradientDescent()
    return None if decays else Momentum(optimizer.momentum)


def _betas(optimizer: Any) -> tuple[float, float]:
    return optimizer.beta_1, optimizer.beta_2
