"""What stands behind the turn of a step: runs of it, the Fisher information, the equation."""

from __future__ import annotations

import numpy as np
import streamlit as st

from normgeo.base.text import text
from normgeo.dynamics.angular_update import TurnCurve
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.tables.table import Table, render
from normgeo.ui import cached, descending, export, tex
from normgeo.ui.frame import explain


def fisher(settings: Settings) -> None:
    """Draw the doubling table, and ellipses of equal KL."""
    st.markdown(
        text(
            "The paper says that the curvature along the direction of $w_i$ changes by ½ when its "
            "norm doubles. The ½ is right for the gradient, for the length $ds$ and for the mixed "
            "blocks of $F$. The curvature itself, the block of $F$ of the doubled weights, changes "
            "by ¼; and along $w_i$ there is no curvature, before or after."
        )
    )
    left, right = st.columns([600, 600], gap="medium")
    with left:
        picture = export.show(
            "doubling",
            settings,
            alt="The factor of each quantity when the norm doubles, predicted and measured; the "
            "table beside has the same numbers.",
        )
    if picture is None:
        return
    with right:
        st.markdown(render(_short(PICTURES["doubling"].table(picture)), "markdown"))
    export.show(
        "ellipse",
        settings,
        alt="Left, in a plane across the weights: ellipses of equal KL, twice as large where the "
        "norm is doubled. Right, in a plane with the weights in it: a wedge.",
    )


def equation(settings: Settings) -> None:
    """Write the law of the turn with today's numbers in it."""
    try:
        curve = cached.result("turn", settings).curve
    except ValueError as error:
        explain(error)
        return
    step = _told(curve, settings.growth)
    k, eta = float(curve.factors[step]), tex.number(curve.rate)
    left, right = st.columns(2, gap="large")
    with left:
        G, after = curve.here.gradient_norm, float(curve.gradient_norms[step])
        lines = (
            r"\tan\theta &= \frac{\eta\,\lVert G\rVert}{\lVert w\rVert}",
            _turn(eta, G, curve.here.norm, curve.here.angle),
            _turn(eta, after, k, float(curve.angles[step])),
            r"\lVert w_{t+1}\rVert^2 &= \lVert w_t\rVert^2 + \eta^2\lVert G\rVert^2",
            rf"&= 1 + {eta}^2 \cdot {tex.number(G)}^2 = {tex.number(1 + (curve.rate * G) ** 2)}",
        )
        st.latex(r"\begin{aligned}" + r"\\[10pt] ".join(lines) + r"\end{aligned}")
    with right:
        for line in (
            "z does not change with ‖w‖: the loss is constant along the ray, and the gradient "
            "G = ∂L/∂w has no part along w.",
            "Gradient half, radius double, so the turn is a quarter.",
            "The step is tangent, so the norm can only grow, and every step makes the next one "
            "turn less: on the unit sphere the learning rate is η/‖w‖².",
            "For small angles θ is tan θ; both are exact at ε = 0.",
        ):
            st.markdown(f"- {text(line)}")
        st.caption(text("Section 5.2.2 of the paper; van Laarhoven 2017."))


def _told(curve: TurnCurve, growth: float) -> int:
    """Return the norm whose numbers are plugged in: that of the slider, or the doubled one."""
    norm = 2.0 if growth == 1 else growth
    return int(np.abs(curve.norms - norm).argmin())


def _turn(eta: str, gradient: float, norm: float, angle: float) -> str:
    numbers = rf"\frac{{{eta} \cdot {tex.number(gradient)}}}{{{tex.number(norm)}}}"
    return (
        rf"\lVert w\rVert = {tex.number(norm)}:\quad \tan\theta &= {numbers} = "
        rf"{tex.number(np.tan(angle))}, \quad \theta = {tex.number(np.degrees(angle))}^\circ"
    )


def _short(table: Table) -> Table:
    """Return the doubling table in four narrow columns, with the reasons below it."""
    quantity, predicted, _, fits, _ = table.columns
    rows = tuple(
        (what, factor, "—" if found is None else f"{found:.4g}", half)
        for what, factor, found, half, _ in table.rows
    )
    reasons = tuple(f"{row[0]}: {row[-1]}" for row in table.rows if row[-1])
    return Table((quantity, predicted, "measured", fits), rows, notes=reasons)


DEPTHS = {
    "descent": (text("Watch it train"), descending.descent),
    "equilibrium": (text("Equilibrium"), descending.equilibrium),
    "twin": (text("Twin"), descending.twin),
    "spiral": (text("Spiral"), descending.spiral),
    "fisher": (text("In Fisher terms"), fisher),
    "equation": (text("Equation"), equation),
}
