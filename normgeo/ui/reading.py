"""How to read the table of verdicts: its signs, its symmetry, its rules, and the paper's table."""

from __future__ import annotations

from typing import Any

from normgeo.base.text import text
from normgeo.claims.table_1 import compare_with_table_1
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.settings import Settings
from normgeo.tables.verdicts import COLUMNS, ROWS
from normgeo.ui import cached

RULES = (
    "**Re-centering is decided by the center:** layer gives W all +, batch gives X all +, weight "
    "gives both own +; nothing gives one +.",
    "**Re-scaling is decided by the scale:** any gives W all ×; batch and layer give X all ×; "
    "batch and weight give W one ×, unless the center is layer; layer gives X one ×, unless the "
    "center is batch.",
)


def rows(settings: Settings, which: str) -> dict[str, Normalizer]:
    """Return the rows of a table, with the settings' ε, groups and statistics.

    The paper's three put batch above layer norm: halves exchanged are seen best side by side.
    """
    keys = ("batch", "layer", "weight") if which == "paper" else ROWS[which]
    return {key: settings.adapt(ROWS[which][key]) for key in keys}


def legend() -> str:
    """Return what the signs mean."""
    return text("✓ invariant · ✗ not invariant · ± sign flip, δ < 0 · ≈ only at ε = 0")


def duality(settings: Settings) -> str:
    """Return whether layer norm's row is batch norm's with its halves exchanged."""
    verdicts = cached.verdicts(rows(settings, "paper"), TRANSFORMS)
    if all(
        verdicts["layer", key].symbol == verdicts["batch", transform.dual.key].symbol
        for key, transform in TRANSFORMS.items()
    ):
        return text("layer norm = batch norm with W and X exchanged")
    return text("with frozen statistics, layer norm is no longer batch norm with W and X exchanged")


def agreement(settings: Settings) -> str:
    """Return how many cells of the paper's Table 1 hold for the settings."""
    found = compare_with_table_1(cached.verdicts(rows(settings, "paper"), COLUMNS["paper"]))
    words = text(
        "{agreeing} of {cells} cells agree with the paper (section 5.1, Table 1)",
        agreeing=found.agreeing,
        cells=found.cells,
    )
    if found.differing:
        return text("{words}, whose table is for ε = 0 and current statistics", words=words)
    return words


def remarks(picture: Any) -> str:
    """Return what belongs beneath the picture of an effect: its notes, and a warning of signs."""
    notes = list(picture.notes) if picture is not None else []
    if picture is not None:
        signs = [
            method.normalizer.title
            for method in picture.effect.methods.values()
            if method.normalizer.leaves_only_signs(len(method.before.z))
        ]
        if signs:
            notes.append(
                text(
                    "With two neurons the z of {name} is only a sign: always +1 and −1.",
                    name=signs[-1],
                )
            )
    return " ".join(notes)
