"""The opening frame of a slider decides no result: moving it computes and draws nothing."""

from dataclasses import replace
from typing import Any

import pytest

from normgeo.experiments.results import load
from normgeo.pictures import PAGE_OF, PICTURES
from normgeo.pictures.style.chart import Chart
from normgeo.settings import Settings, as_text

ENDS = {
    "contrast": (-3.0, 5.0),
    "averages": (-3.0, 5.0),
    "counterexamples": ("batch.case_rescaling", "weight.case_rescaling"),
    "rays": (0.5, 16.0),
    "effect": (-3.0, 5.0),
    "where_z_lives": (-3.0, 5.0),
    "turn": (0.5, 16.0),
    "axes": (1, 128),
    "channels": (1, 128),
    "recurrence": (0.5, 2.0),
    "walk": (-0.75, 3.0),
    "placement": (1, 32),
    "order": (1, len(load("order").moving["captions"][0]["words"])),
    "reader": (1, len(load("reader").moving["questions"][0]["query"])),
    "skip_thoughts": (0, load("skip_thoughts").steps[-1]),
    "draw": (1, len(load("draw").moving["pictures"][0]["canvases"])),
    "handwriting": (5, 80),
    "mnist": (0, load("mnist").steps[-1]),
    "convolution": (0.25, 4.0),
}
"""Values of the settings of all sliders that follow the address, at both ends."""
SMALL = {
    "effect": {"dataset": "iris"},
    "channels": {"dataset": "digits"},
    "recurrence": {"length": "8", "neurons": "8"},
}
TAB = {
    "draw": "draw",
    "reader": "reader",
    "skip_thoughts": "skip_thoughts",
    "where_z_lives": "where_z_lives",
    "recurrence": "time",
    "handwriting": "handwriting",
    "mnist": "mnist",
    "convolution": "convolution",
    "channels": "images",
}


def settings_of(name: str, **more: object) -> Settings:
    return replace(Settings.from_query(SMALL.get(name, {"dataset": "wine"}))[0], **more)


def test_all_pictures_with_a_slider_are_here():
    assert {name for name, one in PICTURES.items() if one.study.slider} == ENDS.keys()


@pytest.mark.parametrize("name", ENDS)
def test_description_is_that_of_the_frame_that_opens(name):
    """The oracle is a computation for that frame."""
    picture = PICTURES[name]
    first = picture.compute(settings_of(name))
    for end in ENDS[name]:
        there = settings_of(name, **{picture.study.slider: end})
        assert picture.decisive(there) == picture.decisive(settings_of(name))
        opened = picture.opened(first, there)
        fresh = picture.compute(there)
        assert opened.opening == fresh.opening
        assert picture.description(opened) == picture.description(fresh)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(
            names,
            id="-".join(names),
            marks=[pytest.mark.exhaustive] * (names[0] != "axes" and PAGE_OF[names[0]] != "home"),
        )
        for names in (
            [name for name in ENDS if PAGE_OF[name] == "home"],
            *([name] for name in ENDS if PAGE_OF[name] != "home"),
        )
    ],
)
def test_another_action_after_the_slider_moved_computes_nothing_anew(
    names, shown, nothing_kept, pool, monkeypatch
):
    drawn, made = [], Chart.of
    monkeypatch.setattr(Chart, "of", lambda figure: drawn.append(0) or made(figure))
    query = {"dataset": "wine", **SMALL.get(names[0], {})}
    if names[0] in TAB:
        query["tab"] = TAB[names[0]]
    page = shown(PAGE_OF[names[0]], **query)
    before = len(pool.asked), len(drawn)
    for name in names:
        slider = PICTURES[name].study.slider
        assert PICTURES[name].study.compute in {compute for compute, _ in pool.asked}
        for end in ENDS[name]:
            page.open(PAGE_OF[name], **query, **{slider: as_text(end)})  # as the slider writes it
            place, _ = page.sent(name)["opened"]
            assert page.figure(name)["layout"]["meta"]["steps"]["values"][place] == as_text(end)
            assert (len(pool.asked), len(drawn)) == before


def place_of(name: str, block: Any) -> list[int]:
    """The numbers by which a browser finds a figure among what a page draws."""
    for number, child in block.children.items():
        if hasattr(child, "children"):
            if further := place_of(name, child):
                return [number, *further]
        elif str(getattr(child.proto, "id", "")).endswith(f"-figure_{name}"):
            return [number]
    return []


@pytest.mark.parametrize("name", ["recurrence", "turn"])
def test_figure_keeps_its_place_when_a_bar_and_warnings_before_it_go(name, shown, nothing_kept):
    """Elsewhere a browser would draw it anew, and a hand would lose its slider."""
    query = SMALL.get(name, {})
    page = shown(PAGE_OF[name], **query, seed="many")
    assert len(page.warnings) == 1
    before = place_of(name, page.app.main)
    page.open(PAGE_OF[name], **query)
    assert page.warnings == []
    assert place_of(name, page.app.main) == before != []
