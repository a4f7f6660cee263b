"""Run a network: changes of its parameters go in, its outputs come out as one vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from normgeo.base.arguments import shown
from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.refusal import Refusal
from normgeo.measured.parameters import Neurons, measurable, tensors_of
from normgeo.measured.tree import given_back, is_array, kind_of, leaves, viewed, with_leaves
from normgeo.normalizers.blocks import lengths

Changes = Mapping[str, Array]
"""Names of tensors → what they are changed to."""

ROUNDING = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Types of numbers → the largest relative error of one rounding."""


@final
class Running:
    """A function of parameters that counts its calls, and refuses what is no network.

    Attributes:
        tensors: what can be changed, by name. base: outputs without a change.
        calls: of the function so far. kinds: types of numbers that it runs in.
        wide: whether it runs in float64 though its parameters have another type. told: is called
            after each call.

    """

    def __init__(
        self,
        function: Callable[..., Any],
        parameters: Any,
        inputs: Sequence[Any] | None,
        neurons: Neurons,
        matrices: Sequence[str] | None = None,
        *,
        widen: bool,
    ) -> None:
        self.calls = 0
        self.told: Callable[[], None] | None = None
        self._function, self._tree, self._inputs = function, parameters, inputs
        self.leaves = measurable(parameters)
        self.tensors = tensors_of(self.leaves, neurons, matrices)
        self.wide = False
        self.kinds: set[str] = set()
        self._shape: tuple[int, ...] | None = None
        narrow = any(kind_of(leaf) != "float64" for leaf in self.leaves.values())
        self._prints = {name: _fingerprint(leaf) for name, leaf in self.leaves.items()}
        self._require_finite()
        if not (widen and narrow and self._widened()):
            self._kept = self._converted(wide=False)
        self.base = self._first()

    def _require_finite(self) -> None:
        for name, sums in self._prints.items():
            if (
                not np.isfinite(sums).all()
                and not np.isfinite(viewed(name, self.leaves[name])).all()
            ):
                raise Refusal(
                    "{name!r} must hold finite numbers; got NaN or infinite ones.", name=name
                )

    def _converted(self, *, wide: bool) -> dict[str, Any]:
        """The arrays that stay unchanged: the user's own, which nobody may write to, or copies."""
        return {
            name: given_back(leaf, viewed(name, leaf), wide=wide)
            if wide or isinstance(leaf, np.ndarray)
            else leaf
            for name, leaf in self.leaves.items()
        }

    def _widened(self) -> bool:
        """Try to run in float64; return whether the outputs are then float64."""
        self._kept, self.wide = self._converted(wide=True), True
        if {kind_of(leaf) for leaf in self._kept.values()} == {"float64"}:
            try:
                self.outputs()
            except Exception:
                self.kinds = set()
            else:
                if self.kinds == {"float64"}:
                    return True
        self.wide, self._shape, self.kinds = False, None, set()
        return False

    def _first(self) -> Array:
        first, second = self.outputs(), self.outputs()
        for name, leaf in self.leaves.items():
            if _fingerprint(leaf) != self._prints[name]:
                raise Refusal(
                    "The function must leave its parameters as they are; it wrote to {name!r}. "
                    "Let it write to a copy.",
                    name=name,
                )
        if not np.isfinite(first).all():
            raise Refusal(
                "The outputs must be finite numbers; got {bad} NaN or infinite among {size}. "
                "Look at the parameters and inputs first.",
                bad=int(first.size - np.isfinite(first).sum()),
                size=first.size,
            )
        if not np.any(first):
            raise Refusal(
                "Changes are measured as shares of the outputs, and all {size} of them are 0. "
                "Give the function inputs that it answers.",
                size=first.size,
            )
        self.disagreement = moved(first, second)
        if not self.disagreement <= 1000 * self.unit:
            raise Refusal(
                "Two calls with the same parameters must agree; their outputs differ by "
                "{share} of their size. Switch dropout and other noise off, or give the "
                "function a fixed seed.",
                share=number(self.disagreement, 2),
            )
        return first

    @property
    def unit(self) -> float:
        """The largest relative error of one rounding, in the coarsest type that it runs in."""
        kinds = self.kinds | {kind_of(leaf) for leaf in self._kept.values()}
        return max(ROUNDING.get(kind, 2.0**-53) for kind in kinds)

    def outputs(self, changes: Changes | None = None) -> Array:
        """Return the outputs with some tensors changed, as one vector of float64."""
        given = dict(self._kept)
        for name, values in (changes or {}).items():
            for other, transposed in ((name, False), *self.tensors[name].tied):
                one = values.T if transposed else values
                given[other] = given_back(self.leaves[other], one, wide=self.wide)
        tree = with_leaves(self._tree, given)
        calls = [(tree,)] if self._inputs is None else [(tree, x) for x in self._inputs]
        found = []
        for arguments in calls:
            self.calls += 1
            try:
                with np.errstate(all="ignore"):
                    answer = self._function(*arguments)
            except ValueError as error:
                if "read-only" not in str(error):
                    raise
                raise Refusal(
                    "The function must leave its parameters as they are; it tried to write to "
                    "one. Let it write to a copy."
                ) from error
            found.append(self._vector(answer))
            if self.told:
                self.told()
        one = np.concatenate(found)
        if self._shape not in (None, one.shape):
            raise Refusal(
                "The function must answer with as many numbers after a change; got {after} "
                "after {before}.",
                before=self._shape[0] if self._shape else 0,
                after=one.size,
            )
        self._shape = one.shape
        return one

    def _vector(self, answer: Any) -> Array:
        found = []
        for name, leaf in leaves(answer, "outputs").items():
            array = viewed(name, leaf) if is_array(leaf) or isinstance(leaf, float) else None
            if array is None or array.dtype.kind != "f":
                raise Refusal(
                    "The function must return arrays of real floats, which move a little where "
                    "parameters do; got {kind}: {leaf}. Return the summed inputs of the last "
                    "layer, for example.",
                    kind=kind_of(leaf),
                    leaf=shown(leaf),
                )
            self.kinds.add(kind_of(leaf) if is_array(leaf) else "float64")
            found.append(np.asarray(array, dtype=np.float64).ravel())
        if not sum(part.size for part in found):
            raise Refusal("The function must return arrays; got none with an entry.")
        return np.concatenate(found)


def _fingerprint(leaf: Any) -> tuple[float, ...]:
    """Two sums that a write to the array changes."""
    values = viewed("parameters", leaf)
    flat = values.ravel(order="K")
    with np.errstate(all="ignore"):
        return tuple(float(part.sum(dtype=np.float64)) for part in (flat, flat[: len(flat) // 2]))


def moved(before: Array, after: Array) -> float:
    """Return ‖after − before‖/‖before‖, infinite if it is no number."""
    if np.array_equal(before, after):
        return 0.0
    with np.errstate(all="ignore"):
        share = float(np.divide(length(after - before), length(before)))
    return share if np.isfinite(share) else np.inf


def length(vector: Array) -> float:
    """Return ‖v‖, even if v² is beyond floats."""
    return float(lengths(vector[None])[0])
