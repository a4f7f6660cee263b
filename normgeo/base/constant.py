"""Immutable objects whose constructor computes their attributes."""

from __future__ import annotations


class Constant:
    """Like a frozen dataclass, except that the constructor may assign each attribute once.

    >>> class Point(Constant):
    ...     def __init__(self, x: str) -> None:
    ...         self.x = float(x)
    >>> Point("3").x
    3.0
    >>> point = Point("3")
    >>> point.x = 4.0
    Traceback (most recent call last):
        ...
    AttributeError: `x` of a Point cannot be changed; make a new one.

    """

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__:
            raise AttributeError(
                f"`{name}` of a {type(self).__name__} cannot be changed; make a new one."
            )
        super().__setattr__(name, value)
