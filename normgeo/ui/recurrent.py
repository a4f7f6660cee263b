"""The tabs of the page Recurrent: why, one radius over time, and a state of zero."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.pictures.recurrent.radii import PANELS
from normgeo.pictures.recurrent.recurrences import NEURONS, FirstStep, first_step
from normgeo.settings import SETTINGS, Settings
from normgeo.ui import results, tex, url
from normgeo.ui.defects import Explained
from normgeo.ui.tabs import Tabs, points


def over_time(settings: Settings, drawn: Any) -> None:
    """Draw the state and its memory step by step, at one radius after the other."""
    _chosen_activation(settings)
    picture = results.show("recurrence", settings, again=text("Compute all radii"))
    if picture is None:
        return
    for note in picture.notes:
        if note not in drawn.notes:
            st.caption(str(note))
    st.markdown(
        text(
            "Multiplying $W_{hh}$ and $W_{xh}$ by δ multiplies all summed inputs of a step, "
            "and layer norm divides by it again: the state keeps its size at every radius. "
            "Here, $W_{xh}$ is not multiplied. So at a small radius the rows of the digit "
            "outweigh the state, and a change of an old state dies with layer norm, too."
        )
    )


def why(settings: Settings, drawn: Any) -> None:
    """Write the first step with today's numbers in it, and what it says of a change."""
    _chosen_activation(settings)
    step = _first(settings)
    if step is None:
        return
    f, n = ACTIVATIONS[settings.activation].latex, tex.number
    left, right = st.columns(2, gap="large")
    with left:
        lines = (
            r"a^t &= W_{hh} h^{t-1} + W_{xh} x^t, \quad "
            r"h^t = f\!\left(\tfrac{g}{\sigma^t}(a^t - \mu^t) + b\right)",
            rf"a^1_0 &= {n(step.recurrent)} {_signed(step.driven)} = {n(step.summed_input)}",
            rf"h^1_0 &= {f}\left(\frac{{{n(step.summed_input)} {_signed(-step.mu)}}}"
            rf"{{{n(step.sigma)}}}\right) = {f}({n(step.z)}) = {n(step.hidden)}",
            r"\frac{\partial h^T}{\partial h^t} &= J^T J^{T-1} \cdots J^{t+1}, \quad "
            r"J^t = \frac{\partial h^t}{\partial h^{t-1}}",
        )
        st.latex(tex.aligned(lines, gap=6))
    with right:
        points(
            (
                text(
                    "The numbers: neuron 0 at the first row of the first digit, ρ = {radius:g}, g "
                    "= 1, b = 0; μ and σ over the {H} neurons at that step.",
                    radius=settings.radius,
                    H=settings.neurons or NEURONS,
                ),
                text(
                    "Without normalization and with f(s) = s, each $J^t$ is $W_{hh}$: their "
                    "product is a power of one matrix, and for large $T - t$ it grows as "
                    "$ρ^{T-t}$."
                ),
                text(
                    "With layer norm $h^t$ does not depend on the size of $a^t$: multiplying "
                    "all summed inputs of a step by one number changes nothing. A step "
                    "multiplies a small change by about $ρ/σ$. The larger ρ, the larger σ, so "
                    "this factor stays near 1. At a small ρ the inputs alone keep σ large, so a "
                    "change still dies."
                ),
                text(
                    "The dashed lines are for wide layers with random weights (mean-field "
                    "theory, Poole et al. 2016; not from the paper). In a layer of few neurons "
                    "the $J^t$ differ from the theory, and their product may grow although the "
                    "state does not."
                ),
                text(
                    "The statistics are of one step of one sequence: nothing depends on its "
                    "length, so a sequence longer than any seen is no special case."
                ),
            ),
            text("Section 3.1, Eq. 4 of the paper."),
        )


def zero(settings: Settings, drawn: Any) -> None:
    """Explain the state where layer norm has nothing to divide by."""
    step = _first(settings)
    if step is None:
        return
    st.markdown(text("With h⁰ = 0 and a first row without ink, the recurrence answers:"))
    st.info(str(text(step.undefined)), icon=":material/info:")
    st.markdown(
        text(
            "All summed inputs are 0, and so are their mean and their spread: z = 0/0. "
            "Libraries add ε to σ² and return z = 0 there. This page has ε = 0, so it starts "
            "from a random state h⁰, drawn with the seed."
        )
    )


def _chosen_activation(settings: Settings) -> None:
    """Choose f where a single one is shown; above, all three stand beside each other."""

    def changed() -> None:
        url.change(activation=st.session_state["activation"] or settings.activation)

    st.session_state["activation"] = settings.activation
    st.segmented_control(
        str(SETTINGS["activation"].label),
        PANELS,
        key="activation",
        on_change=changed,
        format_func=lambda name: str(ACTIVATIONS[name].title),
        label_visibility="collapsed",
    )


def _first(settings: Settings) -> FirstStep | None:
    with Explained():
        return first_step(settings)
    return None


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {tex.number(abs(value))}"


TABS: Tabs = {
    "why": (text("Why"), why),
    "time": (text("Over time"), over_time),
    "zero": (text("A state of zero"), zero),
}
OLD_TABS = ("radii", "equation")
"""Of links from before the picture of all radii was the main one; they open the first tab."""
