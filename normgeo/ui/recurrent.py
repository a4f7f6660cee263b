"""The tabs of the page Recurrent: all radii at once, the equation, and a state of zero."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.pictures.recurrent.recurrences import FirstStep, first_step
from normgeo.settings import Settings
from normgeo.ui import results, tex
from normgeo.ui.defects import Explained
from normgeo.ui.tabs import Tabs, points


def radii(settings: Settings, drawn: Any) -> None:
    """Draw how fast memory fades or explodes, for all radii."""
    results.show("radii", settings, again="")  # the button stands above
    st.markdown(
        text(
            "Multiplying W by δ multiplies all summed inputs of a step, and layer norm divides by "
            "it again. The rows of the digit are not multiplied: at a small radius they outweigh "
            "the state, and old states fade also with layer norm."
        )
    )


def equation(settings: Settings, drawn: Any) -> None:
    """Write the first step with today's numbers in it."""
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
                    H=settings.neurons or 32,
                ),
                text(
                    "Without normalization and with f(s) = s, each $J^t$ is $W_{hh}$: their "
                    "product is a power of one matrix, and for large $T - t$ it grows as "
                    "$ρ^{T-t}$."
                ),
                text(
                    "With layer norm the size of $a^t$ falls out of $h^t$: re-scaling all summed "
                    "inputs of a step changes nothing. The $J^t$ differ from step to step, so "
                    "their product follows no such law: it may grow though the state does not."
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
            "All summed inputs are 0, so are their mean and their spread, and z = 0/0. Libraries "
            "add ε to σ² and return z = 0 there. This page has ε = 0 and starts from a random "
            "state h⁰, drawn with the seed."
        )
    )


def _first(settings: Settings) -> FirstStep | None:
    with Explained():
        return first_step(settings)
    return None


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {tex.number(abs(value))}"


TABS: Tabs = {
    "radii": (text("All radii"), radii),
    "equation": (text("Equation"), equation),
    "zero": (text("A state of zero"), zero),
}
