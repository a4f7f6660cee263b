"""The tabs of the page Fisher: contours, spectra, Eq. 13, the gains, whose labels."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.fisher.longer_steps import WRITTEN, LongerSteps
from normgeo.settings import Settings
from normgeo.ui import results, tex
from normgeo.ui.tabs import Tabs, points


def equal_kl(settings: Settings, drawn: Any) -> None:
    """Draw where the KL is equal, over the ellipses of its quadratic form."""
    picture = results.show("equal_kl", settings, again=text("Compute all contours"))
    if picture is not None:
        st.markdown(
            text(
                "A step along ŵ changes the standard model. A method that divides by the scale of "
                "its own inputs, at ε = 0, does not see it: no curvature along ŵ, and the true "
                "contours are rays from w = 0, so the same step turns a longer weight vector less. "
                "With frozen statistics the scale is a constant, and along ŵ there is curvature."
            )
        )


def growth(settings: Settings, drawn: Any) -> None:
    """Draw the KL against its quadratic form as the step grows."""
    results.show("growth", settings, again=text("Compute all steps"))
    st.markdown(
        text("The test of a Fisher matrix: with any other matrix the ratio would not tend to 1.")
    )
    st.markdown(_long_steps(settings.normalizer))


def _long_steps(normalizer: Normalizer) -> str:
    """Say whether the KL of a long step levels off."""
    if normalizer.bounds_outputs:
        return text(
            "However long the weights are, {method} divides by their scale, so its outputs stay "
            "bounded and the KL of a long step levels off.",
            method=normalizer.title,
        )
    if normalizer.scaling.divides:
        return text(
            "With frozen statistics {method} divides by a constant: its outputs grow with the "
            "step, and nothing makes the KL level off.",
            method=normalizer.title,
        )
    return text(
        "The {method} model divides by nothing: its outputs grow with the step. The KL of a model "
        "with a scale of its own would level off.",
        method=normalizer.title,
    )


def spectra(settings: Settings, drawn: Any) -> None:
    """Draw the eigenvalues."""
    results.show("spectra", settings, again=text("Compute both spectra"))


def eq13(settings: Settings, drawn: Any) -> None:
    """Draw the exact Fisher information against Eq. 13."""
    results.show("eq13", settings, again=text("Compute all widths"))
    st.markdown(
        text(
            "Eq. 13 with Eq. 14 keeps of each output only what its own neuron's weights do. Where "
            "a mean or a scale is shared by the neurons of a group, every output of the group "
            "depends on every weight vector in it."
        )
    )


def magnitude(settings: Settings, drawn: Any) -> None:
    """Draw the metric along the gains against the scale of the inputs."""
    results.show("magnitude", settings, again=text("Compute all methods"))
    st.latex(
        r"ds^2 = \tfrac12\, \delta_g^{\mathsf T}\, \mathbb{E}_x\!\left[ "
        r"\frac{\mathrm{Cov}_{ij}\, z_i z_j}{\phi^2} \right] \delta_g"
    )
    points(
        (
            text(
                "The standard model has no gain: it moves $w_i$ by $\\delta_{gi}\\hat w_i$, and "
                "$a_i/\\lVert w_i\\rVert$ stands in place of $z_i$. Gaussian outputs: exactly × δ²."
            ),
            text(
                "Batch norm's printed metric lacks $z_i z_j$. That is right where the covariance "
                "is diagonal and does not vary with x, as for Gaussian outputs."
            ),
        ),
        text("Appendix, learning the magnitude of incoming weights."),
    )


def labels(settings: Settings, drawn: Any) -> None:
    """Draw the outer products of gradients at labels against the Fisher information."""
    results.show("labels", settings, again=text("Compute both models"))
    st.latex(
        r"F = \mathbb{E}_x\, \mathbb{E}_{y \sim P(y|x)}\!\left[ \nabla\!\log P(y|x)\, "
        r"\nabla\!\log P(y|x)^{\mathsf T} \right] \qquad \text{(Eq. 9)}"
    )
    st.markdown(
        text(
            "The expectation is over labels that the model itself draws. At the labels of the data "
            "the same product is the empirical Fisher: it tells how well the model fits, not how "
            "far a step moves it. All pages here show the expected one."
        )
    )


def equation(settings: Settings, drawn: Any) -> None:
    """Write the KL of a step and its quadratic form with today's numbers."""
    found = results.of_picture("growth", settings, again=text("Compute all steps"))
    if found is None:
        return
    picture: LongerSteps = found.result
    lines = [
        rf"{tex.words(text(step.method))}\text{{, }}{tex.words(step.direction)} & "
        rf"\tfrac12 \cdot {tex.number(step.length)}^2 \cdot {tex.number(step.curvature)} & "
        rf"= {tex.number(step.quadratic)} & \mathrm{{KL}} = {tex.number(step.kl)}"
        for step in picture.written
    ]
    out, family = picture.output, picture.base.points[-1].data.model.family
    st.latex(
        r"\mathrm{KL}[P_\theta \Vert P_{\theta+\delta}] = "
        r"\tfrac12\, \delta^{\mathsf T} F \delta + O(\lVert\delta\rVert^3), \qquad "
        r"F = \mathbb{E}_x\!\left[ J^{\mathsf T} \frac{A''}{\phi} J \right]"
    )
    st.latex(r"\begin{array}{lrll}" + r" \\[4pt] ".join(lines) + r"\end{array}")
    st.latex(
        rf"A(s) = {family.formula}, \quad s = {tex.number(out.s)}: \quad "
        rf"\mathbb{{E}}[y] = A'(s) = {tex.number(out.mean)}, \quad "
        rf"\mathrm{{Var}}[y]/\phi = A''(s) = {tex.number(out.variance)} \qquad "
        + tex.words(
            text(
                "(Eq. 10 and 11, {family}, case 0, neuron {h})",
                family=text(family.title),
                h=settings.neuron,
            )
        )
    )
    st.caption(
        text(
            "Nats per case, for steps of {share} ‖w‖ of the {name}: the length, the curvature "
            "in that direction, and the true KL. Section 5.2.1, Eq. 8 and 9.",
            share=number(WRITTEN),
            name=picture.base.name,
        )
    )


TABS: Tabs = {
    "equal_kl": (text("Equal KL"), equal_kl),
    "growth": (text("Longer steps"), growth),
    "spectra": (text("Spectra"), spectra),
    "eq13": (text("Eq. 13"), eq13),
    "magnitude": (text("Magnitude"), magnitude),
    "labels": (text("Whose labels"), labels),
    "equation": (text("Equation"), equation),
}
