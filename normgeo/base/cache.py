"""A cache bounded in bytes and in time, shared by all threads of a server.

`functools.lru_cache` bounds the number of values, not their size, and does not keep errors.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from threading import Lock, RLock
from time import monotonic
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar, final

import numpy as np

from normgeo.base.refusal import Refusal

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")

HOUR = 3600.0


@final
@dataclass(eq=False)
class _Entry(Generic[Value]):
    """A value or a refusal, its size in bytes, and when it expires."""

    value: Value | Refusal
    size: int
    expires: float


@final
class Cache(Generic[Key, Value]):
    """Values by key, the least recently used forgotten first.

    Args:
        bytes: of all values together; a value that is larger than that is not kept.
        seconds: after its last use, a value is forgotten.
        clock: the time in seconds.

    >>> cache = Cache[str, str](bytes=1000)
    >>> cache.keep("a", "some words")
    >>> cache.get("a"), cache.get("b")
    ('some words', None)

    """

    def __init__(
        self, bytes: float, seconds: float = HOUR, clock: Callable[[], float] = monotonic
    ) -> None:
        self.bytes, self.seconds = bytes, seconds
        self.size = 0
        self._clock = clock
        self._entries: OrderedDict[Key, _Entry[Value]] = OrderedDict()
        self._lock = RLock()
        self._computing: dict[Key, Lock] = {}

    def __len__(self) -> int:
        with self._lock:
            self._expire()
            return len(self._entries)

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            self._expire()
            return key in self._entries

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, None if there is none; raise a refusal that was kept."""
        with self._lock:
            self._expire()
            entry = self._entries.get(key)
            if entry is None:
                return None
            entry.expires = self._clock() + self.seconds
            self._entries.move_to_end(key)
        if isinstance(entry.value, Refusal):
            raise entry.value.anew()
        return entry.value

    def keep(self, key: Key, value: Value | Refusal) -> None:
        """Keep a value or a refusal."""
        if isinstance(value, Refusal):
            value = value.anew()
        size = size_of((key, value))
        with self._lock:
            self._drop(key)
            self._entries[key] = _Entry(value, size, self._clock() + self.seconds)
            self.size += size
            self._expire()
            while self.size > self.bytes:
                self._drop(next(iter(self._entries)))

    def measure(self, value: Value) -> None:
        """Measure a value that has grown, if it is still kept; it is found by identity."""
        with self._lock:
            key = next((key for key, entry in self._entries.items() if entry.value is value), None)
            if key is not None:
                self.keep(key, value)

    def forget(self, key: Key) -> None:
        """Drop the value of a key, if there is one."""
        with self._lock:
            self._drop(key)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._entries.clear()
            self.size = 0

    def found(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the kept value, or compute it, once for all threads that ask meanwhile.

        Raises:
            Refusal: of the computation; it is kept like a value. Other errors are not kept.

        """
        there = self.get(key)
        if there is not None:
            return there
        with self._lock:
            lock = self._computing.setdefault(key, Lock())
        try:
            with lock:
                there = self.get(key)
                if there is not None:
                    return there
                try:
                    value = compute()
                except Refusal as refusal:
                    self.keep(key, refusal)
                    raise
                self.keep(key, value)
                return value
        finally:
            with self._lock:
                self._computing.pop(key, None)

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= entry.size

    def _expire(self) -> None:
        """Drop expired values; each use moves a value to the end, so the first expires first."""
        now = self._clock()
        while self._entries:
            key, entry = next(iter(self._entries.items()))
            if entry.expires > now:
                return
            self._drop(key)


def cached(
    bytes: float, seconds: float = HOUR
) -> Callable[[Callable[Arguments, Value]], Callable[Arguments, Value]]:
    """Keep the results and refusals of a function, by its arguments, in a `Cache` of its own.

    The function must not return None, which would be computed again each time.

    >>> @cached(bytes=1e6)
    ... def square(n: int) -> int:
    ...     print("once")
    ...     return n * n
    >>> square(3), square(3)
    once
    (9, 9)

    """

    def decorate(function: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
        cache: Cache[Any, Value] = Cache(bytes, seconds)

        @wraps(function)
        def kept(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
            key = args, tuple(sorted(kwargs.items()))
            return cache.found(key, lambda: function(*args, **kwargs))

        kept.cache = cache  # type: ignore[attr-defined]
        return kept

    return decorate


# Objects that a program holds once, shared by all references.
_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def size_of(value: object) -> int:
    """Return the bytes of a value and of all objects that it refers to.

    A view counts with its base, and an object referred to twice counts once.

    >>> size_of(np.zeros(1000)) - size_of(np.zeros(0))
    8000

    """
    seen: set[int] = set()
    waiting: list[Any] = [value]
    total = 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, _SHARED):
            continue
        total += sys.getsizeof(one)
        waiting.extend(_held(one))
    return total


def _held(value: Any) -> Iterable[Any]:
    """Return the objects that a value refers to."""
    if isinstance(value, str | bytes | int | float | complex | None):
        return ()
    if isinstance(value, np.ndarray):
        held = [] if value.base is None else [value.base]
        return [*held, *value.ravel().tolist()] if value.dtype.hasobject else held
    if isinstance(value, memoryview):
        return [value.obj]  # an unpickled array is a view of one
    if isinstance(value, Mapping):
        own = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        own = list(value)
    elif isinstance(value, BaseException):
        own = [value.args]
    else:
        own = []
    slots = [slot for kind in type(value).__mro__ for slot in vars(kind).get("__slots__", ())]
    own += [getattr(value, slot) for slot in slots if hasattr(value, slot)]
    return [*own, vars(value)] if hasattr(value, "__dict__") else own
