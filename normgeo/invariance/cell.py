"""A cell of Table 1 and beyond, by the names of its row and its column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from normgeo.base.text import text
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.normalizers.named import GRID, NORMALIZERS

RENAMED_METHODS = {"centred_weight": "centered_weight"}
"""Old name → new name, for links and recipes that use old names."""

OWN = "own"
"""The name of the user's own normalizer in a cell."""


@final
@dataclass(frozen=True)
class Cell:
    """A cell of Table 1 and beyond: a normalizer and a transform, joined by a dot.

    The normalizer is a name of `NORMALIZERS`, a center and a scale such as "layer-batch", or `OWN`.
    """

    sentence: str = text(
        "a normalizer and a transform, as in layer.case_rescaling, layer-batch.… or own.…"
    )

    def parse(self, value: object) -> str:
        row, _, column = str(value).partition(".")
        row = RENAMED_METHODS.get(row, row)
        known = row in NORMALIZERS or row == OWN or tuple(row.split("-")) in GRID
        if column not in TRANSFORMS or not known:
            raise ValueError
        return f"{row}.{column}"
