"""The example run, on the digits, made by `python -m tools.example_run`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from normgeo.base.text import text


@final
@dataclass(frozen=True)
class ExampleRun:
    """An example run.

    Attributes:
        title: in a few words. story: what it shows. path: of the recording.
        optimizer, rate, decay, batch_size, epochs: of its training.

    """

    title: str
    story: str
    path: Path
    optimizer: str
    rate: float
    decay: float
    batch_size: int
    epochs: int


EXAMPLE = ExampleRun(
    title=text("batch norm: decay in balance, and a frozen neuron"),
    story=text(
        "Five of six neurons come to the norm at which growth and weight decay balance, and turn "
        "by 1.9° a step, as random gradients would make them. The last one was started 1000 times "
        "as long: it is frozen, and decay needs 300 steps more to bring it down."
    ),
    path=Path(__file__).parent / "shipped" / "digits.run",
    optimizer="momentum",
    rate=0.1,
    decay=0.01,
    batch_size=32,
    epochs=7,
)
