"""The ways in from the page Home: lists of deep links, each with what to see there."""

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
        text("10-minute tour"),
        (
            _cell(
                "layer.case_rescaling",
                text("More contrast in one image"),
                text("Drag δ: layer norm's dots stay in their circles, batch norm's leave them."),
            ),
            _cell(
                "batch.dataset_recentering",
                text("The same overlay on every image"),
                text("Batch norm subtracts it again, layer norm does not."),
                delta="2",
            ),
            _cell(
                "batch.weight_vector_rescaling",
                text("One template three times as strong"),
                text(
                    "Now z of batch norm stays and z of layer norm moves: the other half of the "
                    "table."
                ),
            ),
            _cell(
                "layer.weight_vector_rescaling",
                text("A “no” on the blackboard"),
                text("The smallest integers that show it, to copy by hand."),
                tab="blackboard",
            ),
            _turn(
                text("What the length of the weights still does"),
                text(
                    "Drag ‖w‖: the loss stays the same; after each doubling a step turns the "
                    "weights a quarter as far."
                ),
            ),
        ),
    ),
    Way(
        text("45-minute lecture"),
        (
            _cell(
                "batch.case_rescaling",
                text("What is a case?"),
                text(
                    "One image gets more contrast: under batch norm it moves μ and σ of all cases."
                ),
            ),
            _cell(
                "layer.weight_matrix_recentering",
                text("Why: the mean moves with it"),
                text("One line of algebra, with the numbers of this digit."),
                tab="why",
            ),
            _cell(
                "layer.weight_matrix_recentering",
                text("Where z lives"),
                text("Three neurons, every case a point: on a plane, then on a circle. Turn it."),
                weights="fitted",
                tab="where_z_lives",
            ),
            _cell(
                "batch.weight_matrix_rescaling",
                text("How sure is a “yes”?"),
                text("A polynomial identity, checked in exact arithmetic."),
                tab="certificate",
            ),
            _cell(
                "layer.dataset_rescaling",
                text("A negative δ"),
                text("The sign of z flips: “invariant” means for δ > 0."),
                delta="-2",
            ),
            _cell(
                "layer.case_rescaling",
                text("And with ε?"),
                text("A ✓ becomes ≈: at low contrast, ε is no longer small beside σ²."),
                eps="0.00001",
                tab="floating_point",
            ),
            _cell(
                "weight.dataset_rescaling",
                text("Where text and table differ"),
                text(
                    "Section 5.1 says “all methods”; by Table 1 and the numbers, not weight norm."
                ),
            ),
            _turn(
                text("One function, three norms, one training"),
                text("Longer weights turn more slowly at first, as the dashed lines predict."),
                tab="descent",
            ),
            _turn(
                text("Which ½ the paper means"),
                text("The doubling table: ¼, ½ or 0, depending on what is meant."),
                tab="fisher",
            ),
            Step(
                "fisher",
                text("An ellipse and a wedge"),
                text("Equal KL: along its weights, a normalized model has no curvature."),
                {"method": "batch"},
            ),
            Step(
                "fisher",
                text("What Eq. 13 leaves out"),
                text("Under layer norm, neurons share curvature; Eq. 13 has none between neurons."),
                {"method": "layer", "tab": "eq13"},
            ),
        ),
    ),
    Way(
        text("Explore"),
        (
            _cell(
                "rms.case_rescaling",
                text("All named methods, five operations"),
                text("RMS norm, group norm and their relatives."),
                rows="named",
                columns="all",
            ),
            _cell(
                "layer-batch.weight_vector_rescaling",
                text("The whole design space"),
                text("All pairs of center and scale, and the two rules behind them."),
                rows="grid",
                columns="all",
            ),
            _cell(
                "layer.case_rescaling",
                text("Build your own normalizer"),
                text(
                    "Choose a center, a scale, groups and ε: each cell of its row opens its "
                    "picture."
                ),
                tab="own",
            ),
            _cell(
                "layer.case_rescaling",
                text("Where z lives"),
                text("Three neurons, each case a point: on a circle, on a sphere, or stretched."),
                tab="where_z_lives",
            ),
            _cell(
                "batch.case_rescaling",
                text("Frozen statistics, as at test time"),
                text("What batch norm loses when its statistics are constants."),
                statistics="frozen",
            ),
            _cell(
                "layer.case_rescaling",
                text("Two neurons only"),
                text("Under layer norm z is then only a sign, +1 or −1."),
                neurons="2",
            ),
            _cell(
                "batch.dataset_rescaling",
                text("Other data: iris"),
                text("Three classes of flowers, four lengths."),
                dataset="iris",
            ),
            _turn(
                text("The turn under layer norm"),
                text("All of W is one vector, and grows as one."),
                method="layer",
            ),
            Step(
                "symmetry",
                text("Directions that the model does not see"),
                text("Walk along one: the weights change, the outputs stand still."),
                {"method": "layer"},
            ),
            Step(
                "batch",
                text("A batch of two"),
                text("The network with batch norm falls behind, the one with layer norm does not."),
                {},
            ),
            Step(
                "recurrent",
                text("What keeps a state from exploding"),
                text("The same weights at every step, with and without layer norm."),
                {},
            ),
        ),
    ),
)


def draw_ways() -> None:
    """Draw the ways in, one button each, that open on a list of links."""
    with st.container(horizontal=True, key="ways", gap="small"):
        for number, way in enumerate(WAYS):
            with (
                st.popover(str(way.title), key=f"way_{number}"),
                st.container(key=f"way_{number}_inside"),
            ):
                for step in way.steps:
                    page = f"pages/{step.page}.py"
                    st.page_link(page, label=str(step.label), query_params=dict(step.state))
                    st.caption(str(step.see))
