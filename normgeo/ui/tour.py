"""Three ways in: lists of deep links, each with what to see there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from normgeo.base.text import text


class Step(NamedTuple):
    """A page in a state, and what to see there."""

    page: str
    label: str
    see: str
    state: Mapping[str, str]


class Way(NamedTuple):
    """A title, and steps in their order."""

    title: str
    steps: tuple[Step, ...]


def _cell(cell: str, label: str, see: str, **state: str) -> Step:
    return Step("invariance", label, see, {"cell": cell, **state})


def _turn(label: str, see: str, **state: str) -> Step:
    return Step("learning_rate", label, see, {"method": "batch", **state})


WAYS = (
    Way(
        "A tour of ten minutes",
        (
            _cell(
                "layer.case_rescaling",
                "More contrast in one picture",
                "Drag δ: layer norm's dots stay in their circles, batch norm's leave them.",
            ),
            _cell(
                "batch.dataset_recentering",
                "The same overlay on every picture",
                "Batch norm takes it off again, layer norm does not.",
                delta="2",
            ),
            _cell(
                "batch.weight_vector_rescaling",
                "One template three times as strong",
                "Now batch norm stays and layer norm moves: the table's other half.",
            ),
            _cell(
                "layer.weight_vector_rescaling",
                "A “no” on the blackboard",
                "The smallest integers that show it, to copy by hand.",
                tab="blackboard",
            ),
            _turn(
                "What the scale of the weights still does",
                "Drag ‖w‖: the loss stays, each doubling turns the weights a quarter as far.",
            ),
        ),
    ),
    Way(
        "A lecture of 45 minutes",
        (
            _cell(
                "batch.case_rescaling",
                "What is a case?",
                "One picture changes its contrast, and batch norm's z of all pictures moves.",
            ),
            _cell(
                "layer.weight_matrix_recentering",
                "Why: the mean moves along",
                "One line of algebra, with the numbers of this digit.",
                tab="why",
            ),
            _cell(
                "batch.weight_matrix_rescaling",
                "How sure is a “yes”?",
                "A polynomial identity, checked in exact arithmetic.",
                tab="certificate",
            ),
            _cell(
                "layer.dataset_rescaling",
                "A negative δ",
                "z turns over: invariant means δ > 0.",
                delta="-2",
            ),
            _cell(
                "layer.case_rescaling",
                "And with ε?",
                "A ✓ becomes ≈: at small contrast ε is no longer small.",
                eps="0.00001",
                tab="floating_point",
            ),
            _cell(
                "weight.dataset_rescaling",
                "Where text and table differ",
                "Section 5.1 says all methods; Table 1 and the numbers say not weight norm.",
            ),
            _turn(
                "One function, three norms, one training",
                "The longer weights start slower, and follow the dashed prediction.",
                tab="descent",
            ),
            _turn(
                "Which ½ the paper means",
                "The doubling table: ¼, ½ or 0, by what is asked.",
                tab="fisher",
            ),
            Step(
                "fisher",
                "An ellipse and a wedge",
                "Equal KL: along its weights, a normalized model has no curvature.",
                {"method": "batch", "tab": "equal_kl"},
            ),
            Step(
                "fisher",
                "What Eq. 13 leaves out",
                "Under layer norm neurons share curvature; Eq. 13 has none between them.",
                {"method": "layer", "tab": "eq13"},
            ),
        ),
    ),
    Way(
        "Explore",
        (
            _cell(
                "rms.case_rescaling",
                "All named methods, five operations",
                "RMS norm, group norm and their relatives.",
                rows="named",
                columns="all",
            ),
            _cell(
                "layer-batch.weight_vector_rescaling",
                "The whole design space",
                "16 pairs of center and scale, and the two rules behind them.",
                rows="grid",
                columns="all",
            ),
            _cell(
                "layer.case_rescaling",
                "Build your own normalizer",
                "Choose two words, groups and ε, and read its row.",
                tab="own",
            ),
            _cell(
                "batch.case_rescaling",
                "Frozen statistics, as at test time",
                "What batch norm loses when its statistics stand still.",
                statistics="frozen",
            ),
            _cell(
                "layer.case_rescaling",
                "Two neurons only",
                "Under layer norm z is then only a sign, +1 or −1.",
                neurons="2",
            ),
            _cell(
                "batch.dataset_rescaling",
                "Other data: iris",
                "Three classes of flowers, four lengths.",
                dataset="iris",
            ),
            _turn(
                "The turn under layer norm",
                "All of W is one vector, and grows as one.",
                method="layer",
            ),
            Step(
                "symmetry",
                "Directions that nobody sees",
                "The null space of the Fisher matrix: counted, by formula, explained.",
                {"method": "layer"},
            ),
            Step("batch", "A batch of four", "What few cases know of μ and σ.", {}),
            Step(
                "recurrent",
                "A state that neither explodes nor dies",
                "Powers of a matrix, with and without layer norm.",
                {},
            ),
        ),
    ),
)


def draw() -> None:
    """Draw the ways in beside each other."""
    for number, column in enumerate(st.columns(len(WAYS), gap="medium")):
        way = WAYS[number]
        with column, st.container(key=f"way_{number}"):
            st.header(text(way.title), anchor=False)
            for step in way.steps:
                page = f"pages/{step.page}.py"
                st.page_link(page, label=text(step.label), query_params=dict(step.state))
                st.caption(text(step.see))
