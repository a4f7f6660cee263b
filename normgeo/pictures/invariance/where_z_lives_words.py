"""The words of the picture of where z lives: the count, the change, and the stages."""

from __future__ import annotations

from typing import Any

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.captions import variant
from normgeo.pictures.invariance.where_z_lives import Places, said, sign
from normgeo.pictures.invariance.where_z_lives_panels import Panel
from normgeo.pictures.style.annotations import colored, note
from normgeo.pictures.style.template import LARGE, SIZE, THEMES
from normgeo.tables.marks import shape

ABOVE, LINE, MARK = 54, 21, 24  # pixels: the captions of panels, a line of words, a mark


def words(
    result: Places, panels: list[Panel], step: int, theme: str, apart: str
) -> dict[str, list[dict[str, Any]]]:
    """What is said at a strength: the count above all, and above each panel its stage."""
    look, mark = THEMES[theme], sign(result, step)
    under = apart.join(map(str, _under(result, step)))
    above = ABOVE + LINE * (1 + under.count("<br>"))
    head = f"<b>{said(result, step)}</b>"
    captions = [
        note(
            (f"<b>{panel.name}</b>", colored(panel.words, look.muted)),
            xref=f"{panel.axis('x')} domain",
            yref=f"{panel.axis('y')} domain",
        )
        for panel in panels
    ]
    middle = MARK / 2 + 2, above + LARGE * 0.72
    place = {"xref": "paper", "yref": "paper", "xanchor": 0, "yanchor": 1}
    return {
        "annotations": [
            note(
                head,
                yshift=above,
                xshift=MARK + 10 if mark else 0,
                font={"size": LARGE, "color": look.ink},
            ),
            note(colored(under, look.muted, SIZE), yshift=ABOVE),
            *captions,
        ],
        "shapes": [shape(mark, theme, MARK, middle, **place)] if mark else [],
    }


def _under(result: Places, step: int) -> tuple[str, ...]:
    """The method, the change, and what is certified of them."""
    journey = result.journey
    strength = number(float(journey.strengths[step]), 6)
    found = text("exact check: {word}", word=text(journey.verdict.word))
    if sign(result, step) == "±":
        found = text("exact check: invariant but for the sign")
    return (
        text(
            "{method}{variant}",
            method=text(journey.normalizer.title),
            variant=variant(journey.normalizer),
        ),
        text(
            "{change}: {what} {sign} {strength}",
            change=text(journey.transform.label),
            what=result.what,
            sign="×" if journey.transform.rescales else "+ γ ×",
            strength=strength,
        ),
        journey.after[step].problem or found,
    )
