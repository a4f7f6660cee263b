"""What becomes of weights that learn: runs, their equilibrium, the twin and the spiral."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from normgeo.base.text import text
from normgeo.pictures.learning_rate.equilibrium import Equilibria
from normgeo.pictures.learning_rate.exponential_schedule import ExponentialSchedule
from normgeo.pictures.learning_rate.spiral import Spiral
from normgeo.settings import Settings
from normgeo.ui import progress, tex
from normgeo.ui.controls import controls


def descent(settings: Settings) -> None:
    """Draw the same function trained from three norms."""
    _controls(settings, "descent", ("optimizer", "rate", "decay", "mini_batch", "steps"))
    picture = progress.show(
        "descent",
        settings,
        alt="Loss, norm of the weights and angle per step against the step, from norms 1, 2 and 4, "
        "measured solid, predicted dashed. The larger the norm, the slower the start.",
        again="Train again",
    )
    if picture is not None:
        _notes(picture.notes)


def equilibrium(settings: Settings) -> None:
    """Draw norm and angle settling under weight decay, and the law with today's numbers."""
    _controls(settings, "equilibrium", ("optimizer", "rate", "decay", "mini_batch", "steps"))
    picture = progress.show(
        "equilibrium",
        settings,
        alt="Norm of the weights and angle per step against the step, from norms 1, 2 and 4, in a "
        "simulation and on real data. All runs settle at one norm and one angle, near the dashed "
        "predictions; the simulation is on them.",
        again="Run again",
    )
    if picture is None:
        return
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
                "So weight decay does not hold the function back, which does not see the norm. "
                "It sets the angle per step, an effective learning rate."
            ),
        ]
        if rule.tangent:
            kept = 1 - picture.real[0].rate * picture.real[0].decay
            lines.append(
                text(
                    "On real data Γ changes from step to step, and so does the angle. What "
                    "stays: where the norm has settled, the geometric mean of cos θ is 1 − ηλ. "
                    "Measured {measured:.4g}, predicted {kept:.4g}.",
                    measured=picture.mean_cosine(),
                    kept=kept,
                )
            )
        lines += rule.equilibrium_notes
        for line in lines:
            st.markdown(f"- {line}")
        st.caption(text("van Laarhoven 2017; Wan et al. 2021; Kosson et al. 2024."))
    _notes(picture.notes)


def _balance(picture: Equilibria) -> None:
    """Write the law of the equilibrium with today's numbers in it."""
    run, square = picture.real[0], picture.gradient_norm**2
    lines = run.optimizer.equilibrium_formula(
        run.rate, run.decay, picture.gradient_norm, picture.size
    )
    if not lines:
        return
    st.latex(r"\begin{aligned}" + r"\\[10pt] ".join(lines) + r"\end{aligned}")
    st.caption(
        text(
            "Γ = {square:.3g}: the mean of ‖w‖²‖G‖² over the last half of the real runs, and of "
            "every step of the simulation.",
            square=square,
        )
    )


def twin(settings: Settings) -> None:
    """Draw weight decay beside the learning rate that grows, and its law."""
    _controls(settings, "twin", ("rate", "decay", "mini_batch", "steps"))
    picture = progress.show(
        "twin",
        settings,
        alt="Left: a constant learning rate, and one that grows exponentially. Middle: with decay "
        "the norm shrinks, with the growing rate it grows, by the predicted factor. Right: the "
        "angle between the two runs, which stays at rounding until a run is chaotic.",
        again="Run again",
    )
    if picture is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        _growing(picture)
    with right:
        for line in (
            "Both runs compute the same function at every step: the direction of the weights is "
            "all that it sees, and the two directions are one.",
            "Decay by 1 − ηλ is a division of the other run's weights; on the unit sphere the "
            "learning rate is η/‖w‖², so η must grow by the square.",
            "g and b keep η and have no decay in both runs. By gradient descent, at ε = 0; "
            "momentum and Adam have no such twin here.",
        ):
            st.markdown(f"- {text(line)}")
        st.caption(text("Li and Arora 2019, An Exponential Learning Rate Schedule."))
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
        r"\frac{\lVert w^{\text{twin}}_t\rVert}{\lVert w_t\rVert} &= (1 - \eta\lambda)^{-t}"
        rf" = {n(kept, 4)}^{{-{last}}} = {n(float(kept**-last))}, \quad "
        rf"\text{{measured }} {n(apart)}",
    )
    st.latex(r"\begin{aligned}" + r"\\[10pt] ".join(lines) + r"\end{aligned}")


def spiral(settings: Settings) -> None:
    """Draw the path that leaves the circle, and the law of its radius."""
    _controls(settings, "spiral", ("rate", "mini_batch", "steps"))
    picture = progress.show(
        "spiral",
        settings,
        alt="Left: the path of the weight vector spirals outward from the circle of its start. "
        "Right: its radius grows step by step, as predicted.",
        again="Run again",
    )
    if picture is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        _radius(picture)
    with right:
        for line in (
            "Every step is tangent to the circle through w, so it leads out of it: 0, w and the "
            "next w make a triangle with a right angle at w.",
            "The path turns in ever new directions. Unrolled means: its triangles laid side by "
            "side in one plane, with all lengths and angles as measured.",
            "Seen in the plane of the first step only, the path stands still or comes inward: what "
            "turns out of the plane is lost from sight.",
        ):
            st.markdown(f"- {text(line)}")
        st.caption(text("Section 5.2.2 of the paper; van Laarhoven 2017."))
    _notes(picture.notes)


def _radius(picture: Spiral) -> None:
    run, n = picture.run, tex.number
    steps, eta = run.steps, run.rate
    total = float(np.sum((eta * run.gradient_norms[:, picture.block]) ** 2))
    lines = (
        rf"\lVert w_{{{steps}}}\rVert &= \sqrt{{\lVert w_0\rVert^2 + \eta^2 "
        rf"\textstyle\sum_t \lVert G_t\rVert^2}} = \sqrt{{{n(float(picture.radii[0]) ** 2)} + "
        rf"{n(total)}}} = {n(float(picture.predicted_radii[-1]), 4)}",
        rf"&\text{{measured }} {n(float(picture.radii[-1]), 4)}, \quad "
        rf"\text{{turned in all }} {n(float(np.degrees(picture.turned[-1])))}^\circ",
    )
    st.latex(r"\begin{aligned}" + r"\\[10pt] ".join(lines) + r"\end{aligned}")


def _controls(settings: Settings, tab: str, names: Sequence[str]) -> None:
    """Draw the slim line of a tab; its widgets have the tab's name before their own."""
    with st.container(horizontal=True, key=f"{tab}_controls", gap="small"):
        controls(settings, names, prefix=f"{tab}_")


def _notes(notes: Sequence[str]) -> None:
    """Say what is not said below the main picture."""
    for note in notes:
        st.caption(note)
