"""Where a slider opens is no part of what is computed: a move of it computes and draws nothing."""

import json
from dataclasses import replace
from typing import Any

import pytest
from plotly.io._json import to_json_plotly

from normgeo.pictures import PAGE_OF, PICTURES
from normgeo.pictures.style.chart import Chart
from normgeo.settings import Settings
from normgeo.ui import results

ENDS = {
    "effect": (-3.0, 5.0),
    "where_z_lives": (-3.0, 5.0),
    "turn": (0.5, 16.0),
    "axes": (1, 128),
    "recurrence": (0.5, 2.0),
    "walk": (-0.75, 3.0),
}
"""Values of the settings of all sliders that follow the address, at both ends."""
SMALL = {"effect": {"dataset": "iris"}, "recurrence": {"length": "8", "neurons": "8"}}
TAB = {"where_z_lives": "where_z_lives", "recurrence": "time"}


def settings_of(name: str, **more: object) -> Settings:
    return replace(Settings.from_query(SMALL.get(name, {"dataset": "wine"}))[0], **more)


def test_all_pictures_with_a_slider_are_here():
    assert {name for name, one in PICTURES.items() if one.study.slider} == ENDS.keys()


@pytest.mark.parametrize("name", ENDS)
def test_chart_at_another_frame_is_the_one_that_opens_there(name):
    """Against a computation and a drawing that are made for that frame."""

    def plain(chart: Chart) -> dict[str, Any]:
        spec: dict[str, Any] = json.loads(to_json_plotly(chart.to_dict()))
        ids.add(spec["layout"]["meta"].pop("id"))
        return spec

    picture = PICTURES[name]
    first = picture.compute(settings_of(name))
    chart = Chart(picture.figure(first, "light"))
    ids: set[str] = set()
    for end in ENDS[name]:
        there = settings_of(name, **{picture.study.slider: end})
        assert picture.decisive(there) == picture.decisive(settings_of(name))
        opened = picture.opened(first, there)
        fresh = Chart(picture.figure(picture.compute(there), "light"))
        assert plain(chart.at(opened.opening)) == plain(fresh)
        assert picture.description(opened) == picture.description(picture.compute(there))
    assert len(ids) == 4, "a browser tells a new figure by it"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.exhaustive] * (name in {"effect", "recurrence", "walk"})
        )
        for name in ENDS
    ],
)
def test_another_action_after_the_slider_moved_computes_nothing_anew(
    name, shown, nothing_kept, monkeypatch
):
    computed, drawn = [], []
    here, made = results._computed_here, results.Chart
    monkeypatch.setattr(
        results, "_computed_here", lambda *given: computed.append(given[0]) or here(*given)
    )
    monkeypatch.setattr(results, "Chart", lambda *given: drawn.append(0) or made(*given))
    slider, query = PICTURES[name].study.slider, {"dataset": "wine", **SMALL.get(name, {})}
    if name in TAB:
        query["tab"] = TAB[name]
    page = shown(PAGE_OF[name], **query)
    assert PICTURES[name].study.compute in computed
    before = len(computed), len(drawn)
    for end in ENDS[name]:
        page.open(PAGE_OF[name], **query, **{slider: f"{end:g}"})  # as the slider writes it
        steps = page.figure(name)["layout"]["meta"]["steps"]
        assert float(steps["values"][steps["start"]]) == end
        assert (len(computed), len(drawn)) == before
