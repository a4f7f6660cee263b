"""The words of an angular update: the factors, the captions, what is seen, the angles."""

from __future__ import annotations

from typing import Any

import numpy as np

from normgeo.base.numbers import fraction, number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.angular_update import SHOWN, AngularUpdate, Change, norm_words
from normgeo.pictures.style.annotations import colored, note, wrapped
from normgeo.pictures.style.template import SIZE, SMALL, THEMES

FACTOR = 28  # of the four numbers that answer the question
TILES, HALF_TILES = (0, 0.19, 0.45, 0.79), (0, 0.22, 0.47, 0.82)  # where the factors begin
TILE, LINE = 62, 22  # pixels: of the factors, of a line of words
ROOM, NARROW_ROOM, HALF_ROOM = 0.18, 0.3, 0.4  # between the words of two steps, shares of the reach
HALF_LETTERS = 28  # above or below a panel of a figure on half a screen
FAR, BESIDE = 0.75, 24  # a share of the reach; pixels that words go on beyond their step there


def words(result: AngularUpdate, reach: float, step: int, theme: str) -> list[dict[str, Any]]:
    """Return all words of a frame: factors, captions, what is seen, the angles of the steps."""
    law = law_lines(result, 130)
    up = LINE + 10 + LINE * len(law)
    muted = THEMES[theme].muted
    return [
        *(
            note(_tile(change, place == 0, muted), x, yshift=up)
            for place, (x, change) in enumerate(zip(TILES, result.changes(step), strict=True))
        ),
        *([note(law, yshift=LINE + 8)] if law else []),
        _over("x", text("{about}: one gradient step, η = {rate}", **_about(result))),
        _over("x2", _angle_caption()),
        {
            **_seen(result, 80),
            "xanchor": "right",
            "align": "right",
            "x": 1,
            "xshift": -6,
            "yshift": 3,
        },
        *_steps(result, reach, step, ROOM),
        _angle(result, step, THEMES[theme].paper),
    ]


def narrow_words(
    result: AngularUpdate, reach: float, step: int, theme: str
) -> list[dict[str, Any]]:
    """Return the same words for a figure as narrow as a phone."""
    law, about = law_lines(result, 44), narrow_about(result)
    over = LINE * len(about) + 8
    up, places = over + 2 + LINE * len(law), ((0, 1), (0.5, 1), (0, 0), (0.5, 0))
    return [
        *(
            note(_narrow_tile(change, place == 0), x, yshift=up + row * TILE)
            for place, ((x, row), change) in enumerate(
                zip(places, result.changes(step), strict=True)
            )
        ),
        *([note(law, yshift=over)] if law else []),
        _over("x", "<br>".join(about)),
        _over("x2", _angle_caption()),
        {**_seen(result, 46), "yanchor": "top", "yshift": -50},
        *_steps(result, reach, step, NARROW_ROOM),
        _angle(result, step, THEMES[theme].paper),
    ]


def half_words(result: AngularUpdate, reach: float, step: int, theme: str) -> list[dict[str, Any]]:
    """Return the same words for a figure on half a screen: panels beside each other, but small."""
    law, about = law_lines(result, 70), half_about(result)
    over = LINE * len(about) + 8
    return [
        *(
            note(_narrow_tile(change, place == 0), x, yshift=over + 2 + LINE * len(law))
            for place, (x, change) in enumerate(zip(HALF_TILES, result.changes(step), strict=True))
        ),
        *([note(law, yshift=over)] if law else []),
        _over("x", "<br>".join(about)),
        _over("x2", "<br>".join(wrapped(_angle_caption(), HALF_LETTERS))),
        {**_seen(result, 80), "yanchor": "top", "yshift": -28 - LINE * len(half_norm_of(result))},
        *_steps(result, reach, step, HALF_ROOM),
        _angle(result, step, THEMES[theme].paper),
    ]


def norm_of(result: AngularUpdate) -> list[str]:
    """What the norm is of, in lines; a tilde stands for what the center leaves of the weights."""
    words = text("norm {symbol} of the {name}", symbol=result.symbol, name=result.name)
    centered = result.normalizer.centering.projects_weights
    return [words, text("minus their mean")] if centered else [words]


def law_lines(result: AngularUpdate, width: int) -> list[str]:
    """Why there is no law for the turn, in lines; none where there is one."""
    return wrapped(result.no_law, width) if result.no_law else []


def narrow_about(result: AngularUpdate) -> list[str]:
    """What steps, and by which rate, in lines for a phone."""
    about = _about(result)
    step = text("one gradient step, η = {rate}", rate=about["rate"])
    return [*wrapped(about["about"], 46), str(step)]


def half_about(result: AngularUpdate) -> list[str]:
    """What steps, and by which rate, in lines above a panel on half a screen."""
    about = _about(result)
    step = text("one gradient step, η = {rate}", rate=about["rate"])
    return [*wrapped(about["about"], HALF_LETTERS + len("<b></b>") + 5), str(step)]


def half_norm_of(result: AngularUpdate) -> list[str]:
    """What the norm is of, in lines below a panel on half a screen."""
    return wrapped(" ".join(norm_of(result)), HALF_LETTERS)


def _about(result: AngularUpdate) -> dict[str, str]:
    about = f"<b>{result.normalizer.title}</b>, {result.name}"
    return {"about": about, "rate": number(result.curve.rate)}


def _angle_caption() -> str:
    return text("angular update θ of a gradient step")


def _over(axis: str, words: str) -> dict[str, Any]:
    """The caption of a panel."""
    return note(words, xref=f"{axis} domain", yref=f"{axis.replace('x', 'y')} domain", yshift=5)


def _seen(result: AngularUpdate, width: int) -> dict[str, Any]:
    """What the plane shows."""
    if result.same_along_rays:
        words = text("The loss is the same along each ray. More color: larger loss.")
    elif result.has_law:
        words = text(
            "Not quite wedges: with ε > 0 the loss changes along a ray. More color: larger loss."
        )
    else:
        words = text("No wedges: the loss changes along a ray. More color: larger loss.")
    return note(wrapped(words, width), 0, 0, xref="x domain", yref="y domain", font={"size": SMALL})


def _angle(result: AngularUpdate, step: int, paper: str) -> dict[str, Any]:
    """Return the angle beside the dot, on the side that the line leaves free."""
    degrees = np.degrees(result.curve.angles)
    rises = degrees[min(step + 1, len(degrees) - 1)] > degrees[max(step - 1, 0)]
    return {
        "xref": "x2",
        "yref": "y2",
        "x": float(np.log10(result.curve.norms[step])),
        "y": float(np.log10(degrees[step])),
        "text": f"<b>{number(float(degrees[step]))}°</b>",
        "font": {"size": SIZE + 4},
        "xanchor": "right",
        "yanchor": "bottom" if rises else "top",
        "xshift": -8,
        "yshift": 6 if rises else -6,
        "bgcolor": paper,
        "borderpad": 0,
    }


def _tile(change: Change, is_norm: bool, muted: str) -> list[str]:
    """Return by what factor a quantity has changed, and below it from what to what."""
    unit = change.unit
    moved = f"{number(change.before)}{unit} → {number(change.after)}{unit}"
    if is_norm:
        moved = f"1 → {norm_words(change.after)}"
    elif change.predicted is not None:
        moved = text(
            "{moved}, predicted × {factor}", moved=moved, factor=fraction(change.predicted)
        )
    return [f"{_large(change, is_norm)}  {change.quantity}", colored(moved, muted, SMALL)]


def _narrow_tile(change: Change, is_norm: bool) -> list[str]:
    words = f'<span style="font-size:{SMALL}px">{change.quantity}</span>'
    return [_large(change, is_norm), words]


def _large(change: Change, is_norm: bool) -> str:
    words = norm_words(change.factor) if is_norm else fraction(change.factor)
    return f'<span style="font-size:{FACTOR}px"><b>× {words}</b></span>'


def _steps(result: AngularUpdate, reach: float, step: int, room: float) -> list[dict[str, Any]]:
    """The words at the tips and the feet of the steps, the frame's own first.

    A step has words where they are `room` away from all others, a share of the reach.
    """
    norms = result.curve.norms
    named = [step]
    for norm in reversed(SHOWN):
        place = result.place(norm)
        if all(abs(norm - norms[other]) > room * reach for other in named):
            named.append(place)
    return [
        words for place in named for words in _words_of_step(result, place, place == step, reach)
    ]


def _words_of_step(
    result: AngularUpdate, step: int, own: bool, reach: float
) -> tuple[dict[str, Any], ...]:
    norm = float(result.curve.norms[step])
    _, gradient, turn, _ = result.changes(step)
    along, across = result.way(step)
    tip = f"‖G‖ × {fraction(gradient.factor)}<br>θ = {number(turn.after)}°"
    foot = f"{result.symbol} = {norm_words(norm)}" if own else norm_words(norm)
    if own:
        tip, foot = f"<b>{tip}</b>", f"<b>{foot}</b>"
    place: dict[str, Any] = {"font": {"size": SIZE if own else SMALL}}
    if own and norm > FAR * reach:  # at the right edge
        place |= {"xanchor": "right", "xshift": BESIDE}
    return (
        {"x": norm + along, "y": across, "text": tip, "yanchor": "bottom", "yshift": 5, **place},
        {"x": norm, "y": 0, "text": foot, "yanchor": "top", "yshift": -6, **place},
    )
