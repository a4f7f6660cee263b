"""A recorder of a module's training, which the module's own optimizer calls after each step."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self, final

from normgeo.base.arguments import shown
from normgeo.base.closable import Closable
from normgeo.base.refusal import Refusal
from normgeo.dynamics.adam import Adam, AdamW
from normgeo.dynamics.gradient_descent import GradientDescent, Momentum
from normgeo.dynamics.lion import Lion
from normgeo.dynamics.optimizer import Optimizer
from normgeo.measured.table import MeasuredTable
from normgeo.recordings.recorder import Recorder as ArrayRecorder
from normgeo.torch.network import measure, parameters_of, unwrapped


@final
class Recorder(Closable):
    """Records the training of a module: its optimizer calls it after each step that it takes.

    So what is a step is for the optimizer to say: micro-batches whose gradients are accumulated are
    none, and a step that a gradient scaler leaves out is none. η is that of the step, before a
    schedule changes it; gradients are as the step took them, clipped and unscaled.

    Attributes:
        table: what was measured of the module, which says what its blocks are.

    """

    def __init__(self, recorder: ArrayRecorder, model: Any, optimizer: Any, table: Any) -> None:
        self.table: MeasuredTable = table
        self._recorder, self._optimizer = recorder, optimizer
        self._parameters = parameters_of(model)
        self._step()
        self._hook = optimizer.register_step_post_hook(self._step)

    @classmethod
    def of(
        cls,
        model: Any,
        optimizer: Any,
        path: str | os.PathLike[str],
        *,
        batch: Any = None,
        table: MeasuredTable | None = None,
        names: Iterable[str] | None = None,
        every: int = 1,
        append: bool = False,
    ) -> Self:
        """Begin a recording of what an optimizer does to the weights of a module.

        Args:
            model: a `torch.nn.Module`, also compiled or parallel. optimizer: of its parameters.
            path, every, append: as of `normgeo.Recorder`.
            batch: which the module is measured on, as of `normgeo.torch.measure`: that tells which
                weights a norm stands behind. table: of such a measurement, in place of a batch.
            names: of the weights to record; None for all matrices that the optimizer has.

        Raises:
            ValueError: no module, no optimizer, or neither batch nor table.

        """
        inside, optimizer = unwrapped(model), _innermost(optimizer)
        parameters = parameters_of(inside)
        if not callable(getattr(optimizer, "register_step_post_hook", None)):
            raise Refusal(
                "`optimizer` must be one of torch.optim; got {kind}.", kind=type(optimizer).__name__
            )
        if (batch is None) == (table is None):
            raise Refusal(
                "Which weights a norm stands behind is measured: give a `batch` that the "
                "module takes, or the `table` of such a measurement, and not both."
            )
        table = measure(inside, batch) if table is None else table
        stepped = _numbers(optimizer, parameters)
        held = _held(table, stepped, names)
        recorder = ArrayRecorder(
            path, **held, optimizer=_rule(optimizer), every=every, append=append
        )
        return cls(recorder, inside, optimizer, table)

    def close(self) -> None:
        """End the recording; what was recorded stays."""
        self._hook.remove()
        self._recorder.close()

    def _step(self, *_: Any) -> None:
        """Record the weights as they are, with η, λ and gradients of the step that led there."""
        numbers = _numbers(self._optimizer, self._parameters)
        self._recorder.step(
            self._parameters,
            {name: rate for name, (rate, _) in numbers.items()},
            decay={name: decay for name, (_, decay) in numbers.items()},
            gradients={name: one.grad for name, one in self._parameters.items()},
        )


def _innermost(optimizer: Any) -> Any:
    """The optimizer of torch inside of one that another library wraps it in."""
    while (inside := getattr(optimizer, "optimizer", None)) is not None:
        optimizer = inside
    return optimizer


def _numbers(optimizer: Any, parameters: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """η and λ of the parameters that the optimizer has, by name."""
    names = {id(one): name for name, one in parameters.items()}
    return {
        names[id(one)]: (group["lr"], group.get("weight_decay", 0.0))
        for group in optimizer.param_groups
        for one in group["params"]
        if id(one) in names
    }


def _held(
    table: MeasuredTable, numbers: Mapping[str, tuple[Any, Any]], names: Iterable[str] | None
) -> dict[str, Any]:
    """What a recorder is told: blocks of the tensors that are stepped, a bias of the same η and λ.

    A weight whose bias has others is no block that shrinks as one: nothing is predicted of it.
    """
    told = table.recorder()
    wanted = None if names is None else {*names}
    if unknown := sorted((wanted or {*()}) - {*told["blocks"]}):
        raise Refusal(
            "`names` must be of measured matrices, {known!s}; got {unknown!s}.",
            known=shown(sorted(told["blocks"])),
            unknown=shown(unknown),
        )
    blocks, biases = {}, {}
    for name, norm in told["blocks"].items():
        if name not in numbers or (wanted is not None and name not in wanted):
            continue
        bias = told["biases"].get(name)
        together = bias is None or numbers.get(bias) == numbers[name]
        blocks[name] = norm if together else "standard"
        if bias is not None and together:
            biases[name] = bias
    if not blocks:
        raise Refusal(
            "The optimizer must have a matrix of the module; it has none. Check that both are "
            "of the same network."
        )
    return told | {"blocks": blocks, "biases": biases}


def _rule(optimizer: Any) -> Optimizer | None:
    """The optimizer's law, where it is one of `normgeo.OPTIMIZERS` and the same in all groups."""
    rules = [_rule_of(type(optimizer).__name__, group) for group in optimizer.param_groups]
    return rules[0] if all(rule == rules[0] for rule in rules) else None


def _rule_of(kind: str, group: Mapping[str, Any]) -> Optimizer | None:
    other = any(group.get(flag) for flag in ("nesterov", "dampening", "maximize", "amsgrad"))
    if other:
        return None
    if kind == "SGD":
        beta = group["momentum"]
        return Momentum(float(beta)) if beta else GradientDescent()
    if kind in {"Adam", "AdamW"}:
        decoupled = kind == "AdamW" or group.get("decoupled_weight_decay")
        beta1, beta2 = (float(beta) for beta in group["betas"])
        return (AdamW if decoupled else Adam)(beta1, beta2, float(group["eps"]))
    if kind == "Lion":
        beta1, beta2 = (float(beta) for beta in group["betas"])
        return Lion(beta1, beta2)
    return None
