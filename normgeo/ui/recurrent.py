"""The tabs of the page Recurrent: why, all radii, cells and what they learn."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.pictures.recurrent.recurrences import NEURONS, FirstStep, first_step
from normgeo.sequences.cells import CELLS
from normgeo.settings import Settings
from normgeo.ui import results, tex
from normgeo.ui.controls import controls
from normgeo.ui.defects import Explained
from normgeo.ui.tabs import Tabs, points


def every_activation(settings: Settings, drawn: Any) -> None:
    """Draw the growth of a small change against the radius, for each activation."""
    picture = results.show("radii", settings)
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
    """Write the first step with today's numbers, and what it implies for a change."""
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


def cells(settings: Settings, drawn: Any) -> None:
    """Draw how far a change reaches back in each cell, over its equations."""
    _choices(settings, ("first_gain",))
    picture = results.show("cells", settings)
    if picture is None:
        return
    columns = st.columns(len(CELLS), gap="medium")
    for column, cell in zip(columns, CELLS.values(), strict=True):
        with column:
            st.markdown(f"**{cell.title}**")
            for line in cell.latex:
                st.latex(line)
    points(
        (
            text(
                "LN stands for the method. Each has gains and shifts of its own; without one it "
                "is left out. In an LSTM the state is h and c together."
            ),
            text(
                "Letters are those of the paper: σ(·) is the logistic function, f, i and o are "
                "the forget, input and output gates of an LSTM, z and r the update and reset "
                "gates of a GRU, u what the state may become."
            ),
            text(
                "Each gate has its own μ and σ here. As printed in Eq. 20 "
                "and 23, all gates of a product share one: `gate_by_gate=False` in Python."
            ),
            text(
                "Batch norm takes its statistics at each time step, over the sequences; the "
                "derivative holds them at their values."
            ),
        ),
        text("Appendix, Eq. 20 to 25; Cooijmans et al. 2017 for batch norm by time step."),
    )


def train(settings: Settings, drawn: Any) -> None:
    """Train the cell with each method, on demand, with a bar and a way to stop."""
    _choices(settings, LEARNED)
    found = results.show("learning", settings, again=text("Train again"))
    if found is None:
        return
    points(
        (
            text(
                "Letters: at the best of several learning rates a wide LSTM, of 48 units, learns "
                "the Zen of Python in fewer steps with layer norm, a tanh cell in more. Seconds "
                "are those of this machine, and of what else it does."
            ),
            text(
                "In batches of 4 batch norm has the noise of small batches in its statistics; in a "
                "batch of one it has none."
            ),
            text(
                "Pixel by pixel, one feature at a step, layer norm of W x leaves little more than "
                "whether there is ink."
            ),
            text(
                "Continue goes on from where a training was stopped, or takes as many steps again; "
                "the numbers are those of a training that never paused. Other settings begin anew."
            ),
        ),
        text("Sections 6 and 7 of the paper; what is measured is under “The paper, checked”."),
    )


def longer(settings: Settings, drawn: Any) -> None:
    """Train the cell, and let it read sequences longer than those of the training."""
    _choices(settings, LEARNED)
    found = results.show("longer", settings, again=text("Train again"))
    if found is None:
        return
    st.markdown(
        text(
            "Layer norm has the statistics of each step itself, at any length. Batch norm has "
            "those of the {T} steps of training; after them it takes those of the last one here. "
            'In Python that is `beyond="last"`; without it longer sequences are refused.',
            T=found.trained,
        )
    )
    st.markdown(
        text(
            "Continue trains on from where a training was stopped, or as many steps again; then "
            "the cells read anew."
        )
    )


LEARNED = ("task", "rnn", "sequences", "first_gain")


def _choices(settings: Settings, names: tuple[str, ...]) -> None:
    """Draw the controls of a picture beside it."""
    with st.container(horizontal=True, gap="small", key="learned"):
        controls(settings, names, prefix="learned_", shown_to_a_room=True)


def _first(settings: Settings) -> FirstStep | None:
    with Explained():
        return first_step(settings)
    return None


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {tex.number(abs(value))}"


TABS: Tabs = {
    "why": (text("Why"), why),
    "radii": (text("Every activation"), every_activation),
    "cells": (text("Cells"), cells),
    "train": (text("Train"), train),
    "longer": (text("Longer than trained"), longer),
    "zero": (text("A state of zero"), zero),
}
OLD_TABS = ("time", "equation")
"""Names in old links, of what is now the main picture; they open the first tab."""
