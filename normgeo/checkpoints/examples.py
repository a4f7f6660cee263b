"""Three layers that ship, trained on the digits by `python -m tools.example_layers`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from normgeo.base.arguments import word_of
from normgeo.base.text import text

_FOLDER = Path(__file__).parent / "shipped"


@final
@dataclass(frozen=True)
class Example:
    """A layer that ships.

    Attributes:
        key: its name. title: in a few words. story: what it shows.
        optimizer, rate, decay, batch_size: what it was trained with.
        neuron: the one that the story is of.

    """

    key: str
    title: str
    story: str
    optimizer: str
    rate: float
    decay: float
    batch_size: int
    neuron: int = 0

    @property
    def path(self) -> Path:
        """The file, with weights, norm, inputs X and the gradients of one batch."""
        return _FOLDER / f"{self.key}.safetensors"


EXAMPLES: Mapping[str, Example] = {
    one.key: one
    for one in (
        Example(
            "batch",
            text("frozen neuron"),
            text(
                "Batch norm. Eleven neurons are near the norm at which growth and weight decay "
                "balance. The last one was started 100 times as long: decay has not yet brought "
                "it down, and a step turns it a fiftieth as far as the others."
            ),
            "momentum",
            0.1,
            0.003,
            64,
            neuron=11,
        ),
        Example(
            "layer",
            text("ε at work"),
            text(
                "Layer norm. The images came in with a thousandth of their contrast. It should "
                "not mind, but its σ² is near ε = 1e-5 here: z is shorter, most of all in pale "
                "images."
            ),
            "adamw",
            0.003,
            0.0,
            64,
        ),
        Example(
            "pre_norm",
            text("pre-norm block"),
            text(
                "A residual block. The norm stands before W, so no scale of W is free. Weight "
                "decay has pulled the rows of W in, from norms of 1.4 to 1.1, and the gain of the "
                "norm, which has no decay, has grown from 1 to 1.2 and makes up for some of it."
            ),
            "adamw",
            0.003,
            0.3,
            64,
        ),
    )
}


def example(key: str) -> Example:
    """Return an example by its name.

    Raises:
        ValueError: there is none of this name.

    """
    return EXAMPLES[word_of("example", key, EXAMPLES)]
