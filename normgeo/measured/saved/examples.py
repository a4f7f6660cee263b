"""Tables that ship, of small networks in NumPy, measured by `python -m tools.example_tables`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from normgeo.base.text import text

_FOLDER = Path(__file__).parent / "shipped"


@final
@dataclass(frozen=True)
class ExampleTable:
    """A measured table that ships.

    Attributes:
        key: its name. title: of the network. story: what to see in it.

    """

    key: str
    title: str
    story: str

    @property
    def path(self) -> Path:
        """The file, as `MeasuredTable.save` writes it."""
        return _FOLDER / f"{self.key}.json"


EXAMPLES: Mapping[str, ExampleTable] = {
    one.key: one
    for one in (
        ExampleTable(
            "transformer",
            text("pre-norm transformer"),
            text(
                "Each block reads the stream through a layer norm, and adds to it what no norm "
                "touches. So no weight may be scaled by itself: those that write to the stream "
                "may only all together, and their rows may be shifted by the same vector."
            ),
        ),
        ExampleTable(
            "post_norm",
            text("post-norm transformer"),
            text(
                "The norm takes the sum of each block. What a block adds may be shifted, as the "
                "norm takes the mean off, and may not be scaled, as the stream beside it is not."
            ),
        ),
        ExampleTable(
            "resnet_18",
            text("ResNet-18 with batch norm"),
            text(
                "A batch norm follows every convolution, so each of its filters may be scaled by "
                "itself, but for ε: the filters set their own learning rates. Only the last layer "
                "has no norm behind it."
            ),
        ),
        ExampleTable(
            "decoder",
            text("decoder with RMS norm and QK norm"),
            text(
                "RMS norms take no mean off, so no shift is ignored. Norms of queries and keys "
                "leave each head of them a scale of its own."
            ),
        ),
    )
}
