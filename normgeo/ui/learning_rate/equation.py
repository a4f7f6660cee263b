"""The law of the turn, with the numbers on the screen."""

from __future__ import annotations

import numpy as np
import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.learning_rate.angular_update import AngularUpdate
from normgeo.settings import Settings
from normgeo.ui import tex
from normgeo.ui.tabs import points


def equation(settings: Settings, drawn: AngularUpdate) -> None:
    """Write the law of the turn with the numbers of norm 1 and of the frame that opens."""
    curve, step = drawn.curve, drawn.opening
    k, eta = float(curve.norms[step]), tex.number(curve.rate)
    if k == 1:
        step = drawn.place(2.0)
        k = float(curve.norms[step])
    left, right = st.columns(2, gap="large")
    with left:
        G, after = curve.here.gradient_norm, float(curve.gradient_norms[step])
        lines = [
            r"\tan\theta &= \frac{\eta\,\lVert G\rVert}{\lVert w\rVert}",
            _turn(eta, G, curve.here.norm, curve.here.angle),
            _turn(eta, after, k, float(curve.angles[step])),
            r"\lVert w_{t+1}\rVert^2 &= \lVert w_t\rVert^2 + \eta^2\lVert G\rVert^2",
            rf"&= 1 + {eta}^2 \cdot {tex.number(G)}^2 = {tex.number(1 + (curve.rate * G) ** 2)}",
        ]
        if not curve.optimizer.linear:
            lines = [
                r"\tan\theta &\approx \frac{\lVert\Delta w\rVert}{\lVert w\rVert}",
                _short_turn(curve.here.step_norm, curve.here.norm, curve.here.angle),
                _short_turn(float(curve.step_norms[step]), k, float(curve.angles[step])),
            ]
        if drawn.has_law:
            st.latex(tex.aligned(lines))
        else:
            st.info(str(drawn.no_law), icon=":material/info:")
    with right:
        points(
            _of_scale_free(drawn)
            if drawn.has_law and not curve.optimizer.linear
            else (
                text(
                    "z does not change with ‖w‖: the loss is constant along the ray, and the "
                    "gradient G = ∂L/∂w has no part along w."
                ),
                text("Half the gradient over twice the length: the turn is a quarter."),
                text(
                    "The step is tangent, so the norm only grows, and the same gradient then turns "
                    "the weights less: on the unit sphere the learning rate is η/‖w‖². The next "
                    "step may still turn them more, if its gradient is larger."
                ),
                text("For small angles, θ ≈ tan θ."),
                _exactness(drawn.normalizer),
            )
            if drawn.has_law
            else (
                text(
                    "A normalizer that divides by the scale of its own batch or layer has a law: "
                    "the gradient is orthogonal to the weights, and a doubled norm quarters tan θ."
                ),
            ),
            text("Section 5.2.2 of the paper; van Laarhoven 2017."),
        )


def _of_scale_free(drawn: AngularUpdate) -> tuple[str, ...]:
    """The law of an optimizer whose steps do not follow the scale of the gradient."""
    return (
        text("z does not change with ‖w‖, so a vector twice as long has half the gradient."),
        text(
            "{optimizer} makes the step as long as before: over twice the length the turn is a "
            "half.",
            optimizer=drawn.curve.optimizer.title,
        ),
        text("{sentence}", sentence=drawn.curve.optimizer.assumes),
    )


def _exactness(normalizer: Normalizer) -> str:
    """Say for which settings these laws hold to rounding."""
    if not normalizer.added_eps:
        return text("All of this is exact: ε = 0.")
    return text(
        "All of this is exact at ε = 0. Here ε = {eps}, and it holds while σ² ≫ ε: the gradient "
        "has a part along w, and the norm may fall.",
        eps=number(float(normalizer.added_eps)),
    )


def _turn(eta: str, gradient: float, norm: float, angle: float) -> str:
    numbers = rf"\frac{{{eta} \cdot {tex.number(gradient)}}}{{{tex.number(norm)}}}"
    return (
        rf"\lVert w\rVert = {tex.number(norm)}:\quad \tan\theta &= {numbers} = "
        rf"{tex.number(np.tan(angle))}, \quad \theta = {tex.number(np.degrees(angle))}^\circ"
    )


def _short_turn(step: float, norm: float, angle: float) -> str:
    numbers = rf"\frac{{{tex.number(step)}}}{{{tex.number(norm)}}} = {tex.number(step / norm)}"
    return (
        rf"\lVert w\rVert = {tex.number(norm)}:\quad {numbers}, \quad \tan\theta &= "
        rf"{tex.number(np.tan(angle))}, \quad \theta = {tex.number(np.degrees(angle))}^\circ"
    )
