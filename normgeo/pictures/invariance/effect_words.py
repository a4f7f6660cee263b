"""The words and marks of the picture of a change: what changes, by what factor, the verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.invariance.before_and_after import BeforeAndAfter
from normgeo.pictures.captions import variant
from normgeo.pictures.invariance.effect import EffectOnData, digits_apart, movement, sign_and_words
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import LARGE, SIZE, SMALL, THEMES
from normgeo.tables import marks

DOTS, WORDS = (0.305, 0.585), 0.615  # from left to right, in widths of the figure
MARK = 34  # pixels
NARROW_ROW, NARROW_WORDS = 100, 92  # heights of a method's dots, and of its words above them
HIDDEN_ROW = 8  # height, on a phone, of dots that are still to be predicted


def words(
    result: EffectOnData, step: int, theme: str, narrow: bool = False
) -> list[dict[str, Any]]:
    """Return the name and the factor of the change, and for every method verdict and numbers."""
    effect, look = result.effect, THEMES[theme]
    heading, aside = _heading(result), {"size": SMALL, "color": look.muted}
    found = [
        note(("<br>" if narrow else ": ").join(heading), yshift=30),
        note(f"<b>{_factor(result, step)}</b>", font={"size": LARGE}, yshift=-4),
    ]
    if effect.methods:
        found.append(_what_is_drawn(result, narrow))
    for place, (key, normalizer) in enumerate(result.rows.items()):
        axis, color = f"y{place + 2} domain", method_color(normalizer)
        method = effect.methods.get(key)
        sign, verdict = sign_and_words(effect, method, step) if method else ("", "?")
        used = replace(normalizer, eps=normalizer.added_eps)
        name = f"{text(used.title)}{variant(used)}"
        x, indent = (0.0, 40) if narrow else (WORDS, MARK + 10)
        tops = (NARROW_WORDS - 2, NARROW_WORDS - 20, 2) if narrow else (8, -9, -5)
        where: dict[str, Any] = {"yref": axis, "yanchor": "top"}
        found += [
            note(
                f"<b>{name}</b>",
                x,
                font={"size": SIZE, "color": color},
                yshift=tops[0],
                xshift=indent,
                **where,
            ),
            note(
                f"<b>{verdict}</b>",
                x,
                font={"size": LARGE, "color": marks.color(sign, theme) if sign else look.ink},
                yshift=tops[1],
                xshift=indent,
                **where,
            ),
            note(
                _numbers(result, method, step) if method else [],
                x,
                1 if narrow else 0,
                font=aside,
                yshift=tops[2],
                xshift=indent if narrow else 0,
                yref=axis,
            ),
        ]
        if method and (problem := method.after[step].problem):
            found.append(
                note(
                    wrapped(str(problem), 34)[:4],
                    0.14 if narrow else DOTS[0],
                    0.5,
                    font={"size": SMALL},
                    yanchor="middle",
                    yref=axis,
                )
            )
    return found


def narrow_row(result: EffectOnData, key: str) -> int:
    """Return the height of a method's dots on a phone."""
    return HIDDEN_ROW if key in result.hidden else NARROW_ROW


def shapes(
    result: EffectOnData, step: int, theme: str, narrow: bool = False
) -> list[dict[str, Any]]:
    """Return a frame around the selected method, and the mark of each verdict."""
    effect, look = result.effect, THEMES[theme]
    drawn = []
    for place, key in enumerate(result.rows):
        axis, method = f"y{place + 2} domain", effect.methods.get(key)
        if key == result.chosen:
            drawn.append(
                {
                    "type": "rect",
                    "xref": "paper",
                    "yref": axis,
                    "x0": 0 if narrow else DOTS[0] - 0.055,
                    "x1": 1,
                    "y0": -0.05,
                    "y1": 1 + NARROW_WORDS / narrow_row(result, key) if narrow else 1.05,
                    "line": {"color": look.muted, "width": 2},
                }
            )
        sign = sign_and_words(effect, method, step)[0] if method else ""
        if sign:
            shift = (18, NARROW_WORDS - 38) if narrow else (MARK / 2 + 2, -25)
            drawn.append(
                marks.shape(
                    sign,
                    theme,
                    MARK,
                    shift,
                    xref="paper",
                    yref=axis,
                    xanchor=0 if narrow else WORDS,
                    yanchor=1,
                )
            )
    return drawn


def _what_is_drawn(result: EffectOnData, narrow: bool) -> dict[str, Any]:
    """Return what hollow and filled stand for."""
    if narrow:
        words = text("z of case {n}:<br>○ before<br>● after", n=result.case)
        return note(words, 0.52, yanchor="top")
    return note(text("z of case {n}: ○ before, ● after", n=result.case), DOTS[0], yshift=5)


def _heading(result: EffectOnData) -> list[str]:
    """Return the full name of the change with the row that it changes, and what one sees of it."""
    effect = result.effect
    transform, name = effect.transform, text(effect.transform.label)
    if transform.operation.one_row:
        n = effect.index if transform.matrix == "W" else result.case
        row = text("neuron {n}", n=n) if transform.matrix == "W" else text("case {n}", n=n)
        name = text("{name} ({row})", name=name, row=row)
    if result.dataset.image_shape is None:
        return [f"<b>{name}</b>"]
    return [f"<b>{name}</b>", str(text(transform.on_images))]


def _factor(result: EffectOnData, step: int) -> str:
    """Return which rows change and by what, in the signs of the table: "one × 3", "all + 3 γ"."""
    effect = result.effect
    transform, strength = effect.transform, float(effect.strengths[step])
    symbol = str(text(transform.operation.symbol))
    if transform.rescales:
        return f"{symbol} {number(strength, 6)}"
    signed = symbol if strength > 0 else symbol.replace("+", "−")
    return f"{signed} {number(abs(strength), 6)} γ"


def _numbers(result: EffectOnData, method: BeforeAndAfter, step: int) -> list[str]:
    """Return how far z moved, and μ and σ of one neuron before and after."""
    after, h = method.after[step], result.effect.neuron
    if after.problem:
        return []
    mu, mu1 = _both(method.before.mu[h], after.mu[h])
    sigma, sigma1 = _both(method.before.sigma[h], after.sigma[h])
    return [
        str(movement(method, step)),
        str(
            text(
                "neuron {h}: μ {mu} → {mu1}, σ {sigma} → {sigma1}",
                h=h,
                mu=mu,
                mu1=mu1,
                sigma=sigma,
                sigma1=sigma1,
            )
        ),
    ]


def _both(before: float, after: float) -> tuple[str, str]:
    digits = digits_apart(before, after)
    return number(float(before), digits), number(float(after), digits)
