"""A recorder of training runs: called once a step, it writes what each block of weights does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from errno import ENOSPC
from types import TracebackType
from typing import IO, Any, Self, final

import numpy as np

from normgeo.base.arguments import entry_of, file_path, flag, real_number, shown, whole_number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.recordings.foreign import found_in
from normgeo.recordings.format import HAS_GRADIENT, HAS_TURN, Header, frame, read_file
from normgeo.recordings.lock import lock
from normgeo.recordings.tensors import Tensor, Turning

Numbers = float | Mapping[str, float]
"""One number for all tensors, or one for each name."""


@final
class Recorder:
    """Writes norm, angular update and gradient length of each block of weights to a file.

    It keeps the weights of one step, holds the file open and writes a record at a time, so that
    the file can be read while it grows and after a crash.

    Args:
        path: of the file, which must not be there yet, unless `append`.
        blocks: what is recorded: the name of each array of weights, with the key of NORMALIZERS, or
            the normalizer, of the norm that its summed inputs pass through. "batch" and "weight"
            make each neuron a block, "layer", "rms" and "group" the layer; "standard" stands
            for no norm, where each neuron is recorded and nothing predicted.
        optimizer: one of OPTIMIZERS, or its key, for who reads the file. None leaves it open.
        every: records each k-th step, its angle included; call `step` at each one all the same.
        neurons: the axis that counts the neurons, 0 as in PyTorch or −1 as in Flax.
        append: goes on with a file that is there, after the last step in it.

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
        neurons: int = 0,
        append: bool = False,
    ) -> None:
        given: object = blocks
        if not isinstance(given, Mapping) or not given or not all(map(_is_name, given)):
            raise Refusal(
                text(
                    "`blocks` must name the recorded weights with the norm behind each, as in "
                    "{{'fc.weight': 'batch'}}; got {given}.",
                    given=shown(given),
                )
            )
        self._path = file_path("path", path)
        self._blocks = {
            name: entry_of("blocks", norm, NORMALIZERS, Normalizer) for name, norm in blocks.items()
        }
        self._optimizer = None if optimizer is None else optimizer_of(optimizer)
        self._every = whole_number("every", every, 1)
        self._axis = whole_number("neurons", neurons, -1, 0)
        self._append = flag("append", append)
        self._file: IO[bytes] | None = None
        self._header: Header | None = None
        self._turning: list[Turning] = []
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
            weights: the mapping that holds them, now; nested ones have names with "/".
            rate: η of the step that led here. decay: λ. Of all, or by name.
            gradients: a mapping as that of the weights, of the gradients of that step.
            at: how many steps the optimizer has taken, for who does not call it at each; then an
                angle is over the steps between.

        Raises:
            ValueError: a name that is not there, another shape than at first, no numbers, or a
                closed recorder. OSError: a full disk.

        """
        now = self._step if at is None else whole_number("at", at, self._step)
        found = [found_in(weights, name) for name in self._blocks]
        self._step = now + 1
        header = self._header or self._begin(found)
        phase = now % self._every
        if phase and phase != self._every - 1:
            return
        pairs = list(zip(self._turning, found, strict=True))
        # Until all have been looked at, some would measure from other weights than the rest.
        seen, self._seen = self._seen, -1
        if phase:
            for turning, values in pairs:
                turning.keep(values)
            self._seen = now
            return
        rates = np.array(
            [[_of(rate, "rate", name), _of(decay, "decay", name)] for name in self._blocks]
        )
        known, span = (0, 0) if seen < 0 else (HAS_TURN, now - seen)
        blocks = np.full((sum(header.counts), 4), np.nan)
        if gradients is not None:
            known |= HAS_GRADIENT
            given = [found_in(gradients, name) for name in self._blocks]
            both = zip(self._turning, given, strict=True)
            blocks[:, 3] = np.concatenate([turning.lengths(values) for turning, values in both])
        looked = [np.column_stack(turning.look(values)) for turning, values in pairs]
        blocks[:, :3] = np.concatenate(looked)
        self._write(frame(header, now, span, known, rates, blocks))
        self._seen = now

    def close(self) -> None:
        """Close the file; what was recorded stays."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> None:
        """Open the file for this recorder alone; go on after what is in it."""
        there = self._path.exists() and self._path.stat().st_size > 0
        if there and not self._append:
            raise Refusal(
                text(
                    "{path!s} is there already. Record to another file, or go on with this one "
                    "with append=True.",
                    path=self._path,
                )
            )
        file = self._path.open("ab", buffering=0)
        try:
            if not lock(file):
                raise Refusal(
                    text(
                        "Another recorder writes {path!s}. Close it first, or record to another "
                        "file.",
                        path=self._path,
                    )
                )
            if there:
                contents = read_file(self._path)
                file.truncate(contents.size)
                self._header = contents.header
                self._require_same(contents.header)
                self._turning = [Turning(tensor) for tensor in contents.header.tensors]
                if len(contents.records):
                    self._step = int(contents.records["step"][-1]) + 1
        except BaseException:
            file.close()
            raise
        self._file = file

    def _begin(self, found: list[Any]) -> Header:
        """Write the header, which the shapes of the first weights decide."""
        tensors = tuple(
            Tensor.of(name, values, self._axis, normalizer)
            for (name, normalizer), values in zip(self._blocks.items(), found, strict=True)
        )
        header = Header(tensors, self._optimizer)
        self._write(header.encoded())
        self._header, self._turning = header, [Turning(tensor) for tensor in tensors]
        return header

    def _write(self, data: bytes) -> None:
        """Write all of it or nothing, so that records stay in their places."""
        if self._file is None:
            raise Refusal(text("This recorder is closed. Begin another one, with append=True."))
        place = self._file.seek(0, os.SEEK_END)
        if self._file.write(data) != len(data):
            self._file.truncate(place)
            raise OSError(ENOSPC, os.strerror(ENOSPC), str(self._path))

    def _require_same(self, header: Header) -> None:
        """Refuse to go on with a file of other weights."""
        there = [tensor.name for tensor in header.tensors]
        if there != [*self._blocks]:
            raise Refusal(
                text(
                    "A recording goes on with the weights that it began with, {there!s}; got "
                    "{given!s}. Begin another file.",
                    there=", ".join(there),
                    given=", ".join(self._blocks),
                )
            )


def _of(numbers: Numbers, what: str, name: str) -> float:
    """The number of a tensor; a float of another library's scalar."""
    value: Any = found_in(numbers, name) if isinstance(numbers, Mapping) else numbers
    if callable(item := getattr(value, "item", None)):
        with suppress(ValueError, TypeError, RuntimeError):  # of several numbers, which are refused
            value = item()
    return real_number(what, value, least=0)


def _is_name(name: object) -> bool:
    return isinstance(name, str)
