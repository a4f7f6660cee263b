"""The tabs of the page Fisher: why a wedge, blocks, spectra, Eq. 13, the gains, whose labels."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.normalizer import Normalizer
from normgeo.null_directions.dimension import expected_dimension
from normgeo.pictures.captions import USES
from normgeo.pictures.fisher.equal_kl import EqualKL
from normgeo.pictures.fisher.longer_steps import WRITTEN, LongerSteps
from normgeo.settings import Settings
from normgeo.ui import results, tex, url
from normgeo.ui.tabs import Tabs, points


def why(settings: Settings, picture: EqualKL | None) -> None:
    """Say why the ellipse became a wedge, and what doubling w costs."""
    if picture is None:
        st.markdown(
            text(
                "Once there is a picture above, this tab explains it. Where there can be none, the "
                "other tabs tell what F is."
            )
        )
        return
    _singular(settings, picture.base.points[-1].data.model)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(_along_weights(settings.normalizer))
    with right:
        w = picture.base.letter
        lines = [
            rf"\mathrm{{KL}}[P_{w} \Vert P_{{{w} + \delta}}] &= \tfrac12\, \delta^{{\mathsf T}} F "
            rf"\delta + O(\lVert\delta\rVert^3), \quad \delta = {w}",
            *(
                rf"\text{{{point.normalizer.title}: }} \mathrm{{KL}} &= "
                rf"{tex.number(plane.doubled.kl)}, \quad \tfrac12\, \delta^{{\mathsf T}} F "
                rf"\delta = {tex.number(plane.doubled.quadratic)}"
                for point, plane in zip(picture.base.points, picture.planes, strict=True)
                if plane.doubled is not None
            ),
        ]
        st.latex(tex.aligned(lines, gap=4))
    source = text("Section 5.2.1, Eq. 8, for the step from {w} to 2{w}, in nats per case.", w=w)
    st.caption(" ".join(map(str, (source, *picture.base.notes))))


def _singular(settings: Settings, model: NormalizedGLM) -> None:
    """Say whether F is singular, and lead to the page that says why."""
    H, D = model.W.shape
    count = expected_dimension(model.normalizer, H, D, model.family)
    words = text("F of the weights is regular by formula: every direction changes something.")
    label = text("Symmetry shows the count")
    if count:
        label = text("Symmetry shows which ones, and why")
        words = text(
            "F of the weights is singular: by formula, {count} of its {all} directions change "
            "nothing.",
            count=count,
            all=H * D,
        )
    kept = {name: word for name, word in settings.to_query().items() if name in USES}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{words}**", width="content")
        st.page_link(
            "pages/symmetry.py",
            label=str(label),
            icon=":material/arrow_forward:",
            query_params={**url.view_elsewhere(), **kept},
            width="content",
        )


def _along_weights(normalizer: Normalizer) -> str:
    """Explain why the contour is a wedge or an ellipse."""
    if normalizer.bounds_outputs and not normalizer.added_eps:
        return text(
            "Under {method} longer weights give the same outputs: it divides by a scale that "
            "grows with them. F has no curvature along ŵ, and the true contours are rays from "
            "the origin, so a longer weight vector needs a longer step for the same KL.",
            method=normalizer.title,
        )
    if normalizer.bounds_outputs:
        return text(
            "Under {method} the outputs are divided by √(σ² + ε). Where σ² is much larger than ε, "
            "longer weights give nearly the same outputs, and the contours are nearly rays from "
            "the origin.",
            method=normalizer.title,
        )
    if normalizer.scaling.divides:
        return text(
            "With frozen statistics {method} divides by a constant: longer weights change the "
            "outputs, and there is curvature along ŵ, as in the standard model.",
            method=normalizer.title,
        )
    return text(
        "The {method} model divides by nothing: longer weights change its outputs. Choose a "
        "method that divides by a scale to see this curvature vanish.",
        method=normalizer.title,
    )


def blocks(settings: Settings, drawn: Any) -> None:
    """Draw the Fisher information by pairs of neurons, and what the method made of it."""
    picture = results.show("fisher", settings, again=text("Compute both models"))
    if picture is not None:
        st.caption(" ".join(map(str, picture.notes)))


def across(settings: Settings, drawn: Any) -> None:
    """Draw where the KL is equal in a plane across the weights."""
    if results.show("across", settings, again=text("Compute all contours")) is not None:
        st.markdown(
            text(
                "Across ŵ every model has curvature, and equal KL is an ellipse for short steps. "
                "Farther out the true contours leave the ellipses of their quadratic form."
            )
        )


def growth(settings: Settings, drawn: Any) -> None:
    """Draw the KL against its quadratic form as the step grows."""
    results.show("growth", settings, again=text("Compute all steps"))
    st.markdown(
        text(
            "This tests the Fisher matrix: with any other matrix, the ratio would not tend to 1 in "
            "every direction."
        )
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
        "The {method} model divides by nothing: its outputs grow with the step. The KL of a "
        "model that divides by a scale of the current weights would level off.",
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
            "Eq. 13 with Eq. 14 lets each output depend on the weights of its own neuron only. "
            "Where the neurons of a group share a mean or a scale, every output of the group "
            "depends on every weight vector in it."
        )
    )


def magnitude(settings: Settings, drawn: Any) -> None:
    """Draw the metric along the gains against the scale of the inputs."""
    results.show("magnitude", settings, again=text("Compute all methods"))
    st.latex(
        r"\mathit{ds}^2 = \tfrac12\, \delta_g^{\mathsf T}\, \mathbb{E}_x\!\left[ "
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
        r"\nabla\!\log P(y|x)^{\mathsf T} \right]"
    )
    st.markdown(
        text(
            "Eq. 9. The expectation is over labels drawn from the model itself. With the labels of "
            "the data, the same product is the empirical Fisher matrix: it also depends on how "
            "well the model fits, not only on how far a step moves it. All pages here show the "
            "expected one."
        )
    )


def equation(settings: Settings, drawn: Any) -> None:
    """Write the KL of a step and its quadratic form with today's numbers."""
    found = results.of_picture("growth", settings, again=text("Compute all steps"))
    if found is None:
        return
    picture: LongerSteps = found.result
    lines = [
        rf"{tex.words(text(step.method))}\text{{, }}{tex.words(step.direction)}\; & "
        rf"\tfrac12 \cdot {tex.number(step.length)}^2 \cdot {tex.number(step.curvature)} "
        rf"= {tex.number(step.quadratic)},\, \mathrm{{KL}} = {tex.number(step.kl)}"
        for step in picture.written
    ]
    out, family = picture.output, picture.base.points[-1].data.model.family
    st.latex(
        tex.aligned(
            [
                r"\mathrm{KL}[P_\theta \Vert P_{\theta+\delta}] &= "
                r"\tfrac12\, \delta^{\mathsf T} F \delta + O(\lVert\delta\rVert^3)",
                r"F &= \mathbb{E}_x\!\left[ J^{\mathsf T} \frac{A''}{\phi} J \right]",
            ]
        )
    )
    st.latex(tex.aligned(lines, gap=4))
    st.latex(
        tex.aligned(
            [
                rf"A(s) &= {family.formula}, \quad s = {tex.number(out.s)}:",
                rf"\mathbb{{E}}[y] &= A'(s) = {tex.number(out.mean)}",
                rf"\mathrm{{Var}}[y]/\phi &= A''(s) = {tex.number(out.variance)}",
            ],
            gap=4,
        )
    )
    st.caption(
        text(
            "Eq. 10 and 11, {family}, case 0, neuron {h}.",
            family=text(family.title),
            h=settings.neuron,
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
    "why": (text("Why"), why),
    "blocks": (text("Blocks"), blocks),
    "across": (text("Across ŵ"), across),
    "growth": (text("Longer steps"), growth),
    "spectra": (text("Spectra"), spectra),
    "eq13": (text("Eq. 13"), eq13),
    "magnitude": (text("Magnitude"), magnitude),
    "labels": (text("Whose labels"), labels),
    "equation": (text("Equation"), equation),
}

OLD_TABS = ("equal_kl",)
"""Old names, in links, of the picture that is now at the top of the page."""
