"""Presenting without a browser: every picture is on a slide."""

from importlib import import_module

import pytest

from normgeo.pictures import PICTURES
from normgeo.pictures.recurrent import sequence_runs
from normgeo.ui.frame import PAGES

STARTS = ("start_training", "start_learning", "start_longer", "start_placements")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_every_picture_is_on_a_slide(shown, monkeypatch):
    monkeypatch.setitem(sequence_runs.STEPS, "rows", 20)
    seen: set[str] = set()
    for page in PAGES:
        if page == "audit":
            continue
        for tab in ("auto", *getattr(import_module(f"normgeo.ui.{page}"), "TABS", ())):
            quick = {"steps": "20", "dataset": "iris", "epochs": "1", "length": "8", "depth": "2"}
            quick |= {"task": "rows", "rnn": "tanh", "sequences": "4"}
            found = shown(page, present="1", tab=tab, **quick)
            for start in [one for one in found.app.button if one.key in STARTS]:
                start.click().run()
            seen |= set(found.figures)
    seen |= set(shown("your_network", present="1", subject="network").figures)
    seen |= set(shown("batch", present="1", tab="images").figures)  # iris has none
    assert set(PICTURES) - seen == set()
