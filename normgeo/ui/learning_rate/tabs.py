"""The tabs of the page Learning rate: runs, their equilibrium and twin, and the doubling."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.dynamics.trajectory import Trajectory
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.equilibrium import Equilibria
from normgeo.pictures.learning_rate.exponential_schedule import ExponentialSchedule
from normgeo.pictures.learning_rate.spiral import Spiral
from normgeo.settings import Settings
from normgeo.tables.formats import render
from normgeo.tables.table import Table
from normgeo.ui import results, tex
from normgeo.ui.controls import controls
from normgeo.ui.learning_rate.equation import equation
from normgeo.ui.tabs import Tabs, points


def descent(settings: Settings, drawn: Any) -> None:
    """Draw the same function trained from three norms."""
    rate = _controls(settings, "descent", ("rate", "decay", "mini_batch", "steps"))
    picture = results.show("descent", settings, again=text("Train again"))
    if picture is not None:
        _tell(rate, picture.runs[0])
        _notes(picture.notes)


def equilibrium(settings: Settings, drawn: Any) -> None:
    """Draw norm and angle settling under weight decay, and the law with today's numbers."""
    rate = _controls(settings, "equilibrium", ("rate", "decay", "mini_batch", "steps"))
    picture = results.show("equilibrium", settings, again=text("Run again"))
    if picture is None:
        return
    _tell(rate, picture.real[0])
    left, right = st.columns(2, gap="large")
    with left:
        _balance(picture)
    with right:
        rule = picture.real[0].optimizer
        lines = [
            text(
                "Decay shortens the weights by the factor 1 − ηλ, and the tangent step makes "
                "them longer: a long vector shrinks, a short one grows."
            ),
            text(
                "So weight decay does not restrict the function, which does not depend on the "
                "norm. It sets the angle per step, and so the effective learning rate."
            ),
        ]
        if rule.tangent:
            kept = 1 - picture.real[0].rate * picture.real[0].decay
            lines.append(
                text(
                    "On real data Γ changes from step to step, and so does the angle. One "
                    "thing stays: where the norm has settled, the geometric mean of cos θ is 1 "
                    "− ηλ. Measured {measured:.4g}, predicted {kept:.4g}.",
                    measured=picture.mean_cosine(),
                    kept=kept,
                )
            )
        lines += rule.equilibrium_notes
        points(lines, text("van Laarhoven 2017; Wan et al. 2021; Kosson et al. 2024."))
    _notes(picture.notes)


def _balance(picture: Equilibria) -> None:
    """Write the law of the equilibrium with today's numbers in it."""
    run, square = picture.real[0], picture.gradient_norm**2
    lines = run.optimizer.equilibrium_formula(
        run.rate, run.decay, picture.gradient_norm, picture.size
    )
    if not lines:
        return
    st.latex(tex.aligned(lines))
    st.caption(
        text(
            "Γ = {square:.3g}: the mean of ‖w‖²‖G‖² over the last half of the real runs, and of "
            "every step of the simulation.",
            square=square,
        )
    )


def twin(settings: Settings, drawn: Any) -> None:
    """Draw weight decay beside the learning rate that grows, and its law."""
    _controls(settings, "twin", ("rate", "decay", "mini_batch", "steps"))
    picture = results.show("twin", settings, again=text("Run again"))
    if picture is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        _growing(picture)
    with right:
        points(
            (
                text(
                    "Both runs compute the same function at every step: it depends only on the "
                    "direction of the weights, and both have the same direction."
                ),
                text(
                    "Decay multiplies the weights by 1 − ηλ in each step, so the twin's weights "
                    "become longer by 1/(1 − ηλ). On the unit sphere the learning rate is η/‖w‖², "
                    "so the twin's η must grow by 1/(1 − ηλ)² in each step."
                ),
                text(
                    "In both runs g and b keep η and have no decay. This holds for gradient "
                    "descent at ε = 0, whichever optimizer is chosen above. Momentum has such a "
                    "twin, too; Adam has none."
                ),
            ),
            text("Li and Arora 2019, An Exponential Learning Rate Schedule."),
        )
    _notes(picture.notes)


def _growing(picture: ExponentialSchedule) -> None:
    run, n = picture.twin.decayed, tex.number
    eta, decay, last = run.rate, run.decay, int(picture.twin.kept[-1])
    kept, t = 1 - eta * decay, max(last - 1, 0)
    apart = float(picture.twin.growth[-1, picture.block])
    lines = (
        r"\eta_t &= \eta\,(1 - \eta\lambda)^{-2t-1}, \quad 1 - \eta\lambda = 1 - "
        rf"{n(eta)} \cdot {n(decay)} = {n(kept, 4)}",
        rf"\eta_{{{t}}} &= {n(eta)} \cdot {n(kept, 4)}^{{-{2 * t + 1}}} = "
        rf"{n(eta * kept ** (-2 * t - 1))}",
        rf"\frac{{\lVert w^{{{tex.words(text('twin'))}}}_t\rVert}}{{\lVert w_t\rVert}} &= "
        rf"(1 - \eta\lambda)^{{-t}} = {n(kept, 4)}^{{-{last}}} = {n(float(kept**-last))}, \quad "
        rf"{tex.words(text('measured'))}\ {n(apart)}",
    )
    st.latex(tex.aligned(lines))


def spiral(settings: Settings, drawn: Any) -> None:
    """Draw the path that leaves the circle, and the law of its radius."""
    _controls(settings, "spiral", ("rate", "mini_batch", "steps"))
    picture = results.show("spiral", settings, again=text("Run again"))
    if picture is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        _radius(picture)
    with right:
        points(
            (
                text(
                    "Every step is tangent to the circle through w, so it leads out of it: 0, w "
                    "and the next w make a triangle with a right angle at w."
                ),
                text(
                    "The path keeps turning into new directions. “Unrolled” means that its "
                    "triangles are laid side by side in one plane, with all lengths and angles "
                    "as measured."
                ),
                text(
                    "In the plane of the first step alone the path stands still or comes inward: "
                    "the part that leaves this plane is not seen. The steps are those of gradient "
                    "descent, whichever optimizer is chosen above."
                ),
            ),
            text("Section 5.2.2 of the paper; van Laarhoven 2017."),
        )
    _notes(picture.notes)


def _radius(picture: Spiral) -> None:
    run, n = picture.run, tex.number
    steps, eta = run.steps, run.rate
    total = float(np.sum((eta * run.gradient_norms[:, picture.block]) ** 2))
    lines = (
        rf"\lVert w_{{{steps}}}\rVert &= \sqrt{{\lVert w_0\rVert^2 + \eta^2 "
        rf"\textstyle\sum_t \lVert G_t\rVert^2}} = \sqrt{{{n(float(picture.radii[0]) ** 2)} + "
        rf"{n(total)}}} = {n(float(picture.predicted_radii[-1]), 4)}",
        rf"&{tex.words(text('measured'))}\ {n(float(picture.radii[-1]), 4)}, \quad "
        rf"{tex.words(text('turned in all'))}\ "
        rf"{n(float(np.degrees(picture.turned[-1])))}^\circ",
    )
    st.latex(tex.aligned(lines))


def _controls(
    settings: Settings, tab: str, names: Sequence[str]
) -> AbstractContextManager[None] | None:
    """Draw the controls of a tab; the keys of its widgets begin with the name of the tab.

    Returns: a place below it where the automatic η is told; None where η is set.
    """
    with st.container(horizontal=True, key=f"{tab}_controls", gap="small"):
        controls(settings, names, prefix=f"{tab}_", picture=tab)
    return None if settings.rate else st.empty()


def _tell(place: AbstractContextManager[None] | None, run: Trajectory) -> None:
    """Show the automatic η, which differs between optimizers."""
    if place is None:
        return
    with place:
        st.caption(
            text(
                "Automatic learning rate for {optimizer}: η = {rate}.",
                optimizer=run.optimizer.title,
                rate=number(run.rate, 4),
            )
        )


def _notes(notes: Sequence[str]) -> None:
    """Say what the main picture's caption leaves out."""
    for note in notes:
        st.caption(str(note))


def fisher(settings: Settings, drawn: Any) -> None:
    """Draw the doubling table, and ellipses of equal KL."""
    st.markdown(
        text(
            "The paper says that the curvature along $w_i$ changes by ½ when its norm doubles. "
            "The ½ is right for the gradient, for the length $\\mathit{ds}$ and for the mixed "
            "blocks of $F$. The curvature itself, the block of $F$ of the doubled weights, changes "
            "by ¼. Along $w_i$ there is no curvature, before or after."
        )
    )
    left, right = st.columns([600, 600], gap="medium")
    with left:
        picture = results.show("doubling", settings)
    if picture is None:
        return
    with right:
        st.markdown(render(_short(PICTURES["doubling"].table(picture)), "markdown"))
    results.show("ellipse", settings)


def _short(table: Table) -> Table:
    """Return the doubling table in four narrow columns, with the reasons below it."""
    quantity, predicted, _, asked, _ = table.columns
    rows = tuple(
        (what, factor, "—" if found is None else "× " * ("×" in factor) + number(found, 4), half)
        for what, factor, found, half, _ in table.rows
    )
    reasons = tuple(f"{row[0]}: {row[-1]}" for row in table.rows if row[-1])
    headings = (text(quantity), text(predicted), text("measured"), text(asked))
    return Table(headings, rows, notes=reasons)


TABS: Tabs = {
    "descent": (text("Watch it train"), descent),
    "equilibrium": (text("Equilibrium"), equilibrium),
    "twin": (text("Exponential schedule"), twin),
    "spiral": (text("Spiral"), spiral),
    "fisher": (text("In Fisher terms"), fisher),
    "equation": (text("Equation"), equation),
}
