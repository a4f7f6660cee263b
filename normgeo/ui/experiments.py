"""The tabs of the page Experiments: each experiment with what it does, and how to run it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.experiments.results import RULE
from normgeo.pictures.experiments.about import ABOUT, NAMES
from normgeo.pictures.experiments.multiples import Experiment, Multiples
from normgeo.settings import Settings
from normgeo.ui import results
from normgeo.ui.tabs import Tabs, points

HERE = {
    "holds": text("Here it holds"),
    "fails": text("Here it fails"),
    "not at this size": text("Here it is open"),
}


def experiment(name: str, settings: Settings, drawn: Multiples) -> None:
    """Draw an experiment at work, and tell what differs from the original and its command."""
    if results.show(name, settings) is None:
        return
    about = ABOUT[name]
    one = next(each for each in drawn.experiments if each.result.name == name)
    points(
        (
            text(
                "The paper finds: “{statement}” {here}: {evidence}",
                statement=one.result.statement.words,
                here=HERE[one.verdict],
                evidence=one.evidence,
            ),
            RULE,
            text("Data: {data}", data=one.result.data),
            about.kept,
            about.changed,
            _numbers(one),
        ),
        text(
            "Not the size of the paper: {section} is the original.",
            section=one.result.statement.section,
        ),
    )
    result = one.result
    versions = ", ".join(f"{library} {version}" for library, version in result.versions.items())
    st.markdown(
        text(
            "This command made the numbers, in {minutes} minutes on one {device} ({versions!s}):",
            minutes=number(result.seconds / 60, 2),
            device=result.device.upper(),
            versions=versions,
        )
    )
    st.code(result.command, language="bash", wrap_lines=True)


def _numbers(one: Experiment) -> str:
    """The rates and the figures on the test set."""
    found = [(NAMES[method], learned) for method, learned in one.result.methods.items()]
    told = "; ".join(
        text(
            "{name} {low} to {high} at η = {rate}",
            name=name,
            low=number(min(learned.test), 4),
            high=number(max(learned.test), 4),
            rate=number(learned.rate),
        )
        for name, learned in found
    )
    return text(
        "On the test set, {measure}, in {unit}: {told}.",
        measure=one.result.measure,
        unit=one.result.unit,
        told=told,
    )


TABS: Tabs = {name: (about.title, partial(experiment, name)) for name, about in ABOUT.items()}
