"""A recorder of training runs: called once a step, it writes what each block of weights does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from errno import ENOSPC
from math import prod
from typing import IO, Any, final

import numpy as np

from normgeo.base.arguments import entry_of, file_path, flag, real_number, shown, whole_number
from normgeo.base.arrays import Array
from normgeo.base.closable import Closable
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.recordings.foreign import GRADIENTS, WEIGHTS, found_in
from normgeo.recordings.format import HAS_GRADIENT, HAS_TURN, Header, frame, read_file
from normgeo.recordings.lock import lock
from normgeo.recordings.tensors import Tensor
from normgeo.recordings.turning import Turning

Numbers = float | Mapping[str, float]
"""One number for all tensors, or one for each name."""


THREADS = 4
"""At most, that look at the weights of a step; each takes a tensor at a time."""

FEW = 2**20
"""Numbers that are looked at sooner than another thread begins."""


@final
class Recorder(Closable):
    """Writes norm, angular update and gradient length of each block of weights to a file.

    It keeps the weights of one step, holds the file open and writes a record at a time, so that
    the file can be read while it grows and after a crash.

    Args:
        path: of the file, which must not be there yet, unless `append`.
        blocks: what is recorded: the name of each array of weights, with the key of NORMALIZERS, or
            the normalizer, of the norm that its summed inputs pass through. "batch" and "weight"
            make each neuron a block, "layer", "rms" and "group" the layer; "standard" stands
            for no norm, where each neuron is recorded and nothing predicted.
        optimizer: one of OPTIMIZERS, or its key, for readers of the file. None leaves it open.
        every: records each k-th step, its angle included; still call `step` at each one.
        neurons: the axis of the neurons, 0 as in PyTorch or −1 as in Flax; or a mapping of the
            names of some weights to theirs, where that of the others is 0.
        append: continues an existing file, after its last step.
        biases: for weights with a bias before a layer, RMS or group norm, its name: W and b are
            then one block, as W alone can't be scaled without changing z. Batch norm removes a
            bias, and weight norm adds it afterwards: leave these out.

    Raises:
        ValueError: bad arguments, another recorder that writes the file, or a file that is there.

    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        blocks: Mapping[str, str | Normalizer],
        *,
        optimizer: str | Optimizer | None = None,
        every: int = 1,
        neurons: int | Mapping[str, int] = 0,
        append: bool = False,
        biases: Mapping[str, str] | None = None,
    ) -> None:
        given: object = blocks
        if not isinstance(given, Mapping) or not given or not all(map(_is_name, given)):
            raise Refusal(
                "`blocks` must name the recorded weights with the norm behind each, as in "
                "{{'fc.weight': 'batch'}}; got {given}.",
                given=shown(given),
            )
        self._path = file_path("path", path)
        self._blocks = {
            name: entry_of("blocks", norm, NORMALIZERS, Normalizer) for name, norm in blocks.items()
        }
        self._biases = _biases_of(biases, self._blocks)
        self._optimizer = None if optimizer is None else optimizer_of(optimizer)
        self._every = whole_number("every", every, 1)
        axes = neurons if isinstance(neurons, Mapping) else dict.fromkeys(blocks, neurons)
        self._axes = {name: whole_number("neurons", axes.get(name, 0), -1, 0) for name in blocks}
        self._append = flag("append", append)
        self._file: IO[bytes] | None = None
        self._header: Header | None = None
        self._turning: list[Turning] = []
        self._threads: ThreadPoolExecutor | None = None
        self._step, self._seen = 0, -1
        self._open()

    def step(
        self,
        weights: Any,
        rate: Numbers,
        *,
        decay: Numbers = 0.0,
        gradients: Any = None,
        at: int | None = None,
    ) -> None:
        """Record a step; call it once before the first step of the optimizer, then after each.

        Args:
            weights: the mapping that holds them now; names with "/" lead into nested ones.
            rate: η of the step that led here. decay: λ. One number for all, or by name.
            gradients: those of that step, in a mapping like that of the weights; None for an
                unknown one, as before the first step.
            at: how many steps the optimizer has taken, if you do not call this at each; an angle
                then covers the steps between.

        Raises:
            ValueError: an unknown name, another shape than at first, no numbers, or a closed
                recorder; such a call does not count as a step. OSError: a full disk.

        """
        if self._file is None:
            raise Refusal("This recorder is closed. Begin another one, with append=True.")
        now = self._step if at is None else whole_number("at", at, self._step)
        found = [self._found_in(weights, name) for name in self._blocks]
        rates = np.array(
            [[_of(rate, "rate", name), _of(decay, "decay", name)] for name in self._blocks]
        )
        header = self._header or self._header_of(found)
        phase = now % self._every
        if phase and phase != self._every - 1:
            self._step = now + 1
            return
        # Refuse everything that can be refused before any tensor measures from other weights.
        arrays = [
            tuple(of.array(values) for of, values in zip(_parts(tensor), both, strict=True))
            for tensor, both in zip(header.tensors, found, strict=True)
        ]
        turnings = self._turning or [Turning(tensor) for tensor in header.tensors]
        known, span = (0, 0) if self._seen < 0 else (HAS_TURN, now - self._seen)
        blocks = np.full((sum(header.counts), header.numbers), np.nan)
        if gradients is not None and not phase:
            pairs = zip(turnings, self._blocks, strict=True)
            blocks[:, 3] = np.concatenate(
                self._each(lambda of: self._length(of[0], gradients, of[1]), pairs)
            )
            known |= HAS_GRADIENT
        if self._header is None:
            self._write(header.encoded())
            self._header = header
        self._turning, self._seen = turnings, -1
        if phase:
            for turning, both in zip(turnings, arrays, strict=True):
                turning.keep(*both)
        else:
            looks = self._each(lambda of: of[0].look(*of[1]), zip(turnings, arrays, strict=True))
            parts = zip(*looks, strict=True)
            norms, angles, steps, before = (np.concatenate(part) for part in parts)
            found_of = [norms, angles, steps, blocks[:, 3], before][: header.numbers]
            self._write(frame(header, now, span, known, rates, np.column_stack(found_of)))
        self._seen, self._step = now, now + 1

    def close(self) -> None:
        """Close the file, and keep the records."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> None:
        """Open the file for this recorder alone, and continue after its records."""
        there = self._path.exists() and self._path.stat().st_size > 0
        if there and not self._append:
            raise Refusal(
                "{path!s} is there already. Record to another file, or go on with this one "
                "with append=True.",
                path=self._path,
            )
        file = self._path.open("ab", buffering=0)
        try:
            if not lock(file):
                raise Refusal(
                    "Another recorder writes {path!s}. Close it first, or record to another file.",
                    path=self._path,
                )
            if there:
                contents = read_file(self._path)
                file.truncate(contents.size)
                self._require_same(contents.header)
                self._header = contents.header
                self._turning = [Turning(tensor) for tensor in contents.header.tensors]
                if len(contents.records):
                    self._step = int(contents.records["step"][-1]) + 1
        except BaseException:
            file.close()
            raise
        self._file = file

    def _each(self, look: Callable[[Any], Any], tensors: Iterable[Any]) -> list[Any]:
        """Look at each tensor, by several threads where there is much to look at."""
        of = [*tensors]
        header = self._header
        if header is None or sum(prod(tensor.shape) for tensor in header.tensors) < FEW:
            return [*map(look, of)]
        if self._threads is None:
            self._threads = ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1))
        return [*self._threads.map(look, of)]

    def _header_of(self, found: list[tuple[Any, ...]]) -> Header:
        """Set up everything that depends on the shapes of the first weights."""
        tensors = tuple(
            Tensor.of(name, values, self._axes[name], normalizer, self._biases.get(name))
            for (name, normalizer), (values, *_) in zip(self._blocks.items(), found, strict=True)
        )
        return Header(tensors, self._optimizer)

    def _found_in(self, arrays: Any, name: str, what: str = WEIGHTS) -> tuple[Any, ...]:
        """The array of a name, and that of its bias if it has one."""
        names = [name, self._biases[name]] if name in self._biases else [name]
        return tuple(found_in(arrays, each, what) for each in names)

    def _length(self, turning: Turning, gradients: Any, name: str) -> Array:
        """‖G‖ of each block of a tensor; NaN if it, or its bias, has no gradient yet."""
        both = self._found_in(gradients, name, GRADIENTS)
        if any(values is None for values in both):
            return np.full(len(turning.tensor.blocks.neurons), np.nan)
        return turning.lengths(*both)

    def _write(self, data: bytes) -> None:
        """Write all bytes or none, so that records stay aligned."""
        file = self._file
        assert file is not None  # noqa: S101 - refused before
        place = file.seek(0, os.SEEK_END)
        if file.write(data) != len(data):
            file.truncate(place)
            raise OSError(ENOSPC, os.strerror(ENOSPC), str(self._path))

    def _require_same(self, header: Header) -> None:
        """Refuse to continue a file of other weights or other measurements."""
        there = [tensor.name for tensor in header.tensors]
        if there != [*self._blocks]:
            raise Refusal(
                "A recording goes on with the weights that it began with, {there!s}; got "
                "{given!s}. Begin another file.",
                there=", ".join(there),
                given=", ".join(self._blocks),
            )
        pairs: list[tuple[str, object, object]] = []
        if self._optimizer is not None:
            pairs.append((text("the optimizer"), header.optimizer, self._optimizer))
        for tensor in header.tensors:
            name, own = tensor.name, self._blocks[tensor.name]
            then, now = ((*norm.words, norm.groups) for norm in (tensor.normalizer, own))
            pairs.append((text("the norm of {name!r}", name=name), then, now))
            biases = tensor.bias, self._biases.get(name)
            pairs.append((text("the bias of {name!r}", name=name), *biases))
            axes = tensor.axis, self._axes[name]
            pairs.append((text("the axis of the neurons of {name!r}", name=name), *axes))
        for what, there_is, here in pairs:
            if there_is != here:
                raise Refusal(
                    "A recording goes on as it began: {what} was {then} and is {now} here. "
                    "State the same, or begin another file.",
                    what=what,
                    then=shown(there_is),
                    now=shown(here),
                )


def _parts(tensor: Tensor) -> list[Tensor]:
    """A tensor, and its bias if it has one."""
    return [part for part in (tensor, tensor.of_bias) if part is not None]


def _biases_of(biases: object, blocks: Mapping[str, Normalizer]) -> dict[str, str]:
    """The name of each bias that the norm sees, by that of its weights."""
    if biases is None:
        return {}
    if not isinstance(biases, Mapping) or not all(map(_is_name, [*biases, *biases.values()])):
        raise Refusal(
            "`biases` must name the bias of each of the weights that have one, as in "
            "{{'fc.weight': 'fc.bias'}}; got {given}.",
            given=shown(biases),
        )
    for name in biases:
        if name not in blocks:
            raise Refusal(
                "`biases` must be of weights that are recorded; {name!r} is not among "
                "`blocks`. Name it there as well.",
                name=name,
            )
        if not blocks[name].takes_bias:
            raise Refusal(
                "A bias is a part of the block where a norm divides by a scale that the bias "
                "is in; that of {name!r}, {norm}, does not. Leave the bias out.",
                name=name,
                norm=blocks[name].title,
            )
    return dict(biases)


def _of(numbers: Numbers, what: str, name: str) -> float:
    """The number for a tensor, as a float, also from another library's scalar."""
    value: Any = numbers
    if isinstance(numbers, Mapping):
        value = found_in(numbers, name, text("Numbers of `{what}`", what=what))
    if callable(item := getattr(value, "item", None)):
        with suppress(ValueError, TypeError, RuntimeError):  # of several numbers, which are refused
            value = item()
    return real_number(what, value, least=0)


def _is_name(name: object) -> bool:
    return isinstance(name, str)
