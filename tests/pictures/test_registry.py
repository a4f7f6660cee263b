"""What every picture promises: a recipe and code that repeat it, and words for a screen reader."""

import json
from typing import Any

import plotly.graph_objects as go
import pytest

import normgeo.pictures
from normgeo.base.progress import Progress, Stop
from normgeo.base.refusal import Refusal
from normgeo.pictures import PICTURES
from normgeo.pictures.picture import Picture, Study
from normgeo.pictures.style.colors import CLASSES, OTHER, PALETTE
from normgeo.settings import Settings
from normgeo.tables.table import Table
from tests.quick import QUICK

SHORT = QUICK | {"depth": {"method": "rms", "depth": 2}, "attention": {"method": "standard"}}
"""These two tell of no progress, and do all their work."""


def test_recipe_has_the_settings_that_are_used_and_the_theme(subtests: pytest.Subtests) -> None:
    for name in PICTURES:
        with subtests.test(name=name):
            picture = PICTURES[name]
            changed = Settings(dataset="wine", seed=5, verdict="fails", theme="dark")
            recipe = json.loads(json.dumps(picture.recipe(changed)))
            assert recipe["view"] == name, "the word that recipes have had from the start"
            used = (*picture.uses, "theme")
            expected = {"dataset": "wine", "seed": 5, "theme": "dark"}
            assert recipe["settings"] == {
                key: value for key, value in expected.items() if key in used
            }
            again = Settings.from_recipe(recipe["settings"])
            assert all(getattr(again, key) == getattr(changed, key) for key in used)
            assert picture.recipe(Settings()) == {"view": name, "settings": {}}


def test_words_for_a_screen_reader_are_sentences_of_their_own(subtests: pytest.Subtests) -> None:
    for name in PICTURES:
        with subtests.test(name=name):
            picture = PICTURES[name]
            assert picture.alt.endswith(".")
            assert len(picture.alt) > 40
            assert picture.study.source, "an exported page tells it"
            assert picture.alt != picture.title
            assert [other.alt for other in PICTURES.values()].count(picture.alt) == 1


def one(drawn: list[tuple[Any, str]]) -> Picture:
    """A picture of its settings, that tells of ten steps."""

    def compute(settings: Settings, progress: Progress) -> tuple[Settings, int]:
        return settings, len(list(progress.over(range(10))))

    def draw(result: tuple[Settings, int], theme: str) -> go.Figure:
        drawn.append((result[0], theme))
        return go.Figure()

    study = Study("one", "One", "A picture.", ("delta",), compute, lambda result: Table((), ()))
    return Picture(study, draw)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_code_makes_the_figure_that_was_seen(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[Any, str]] = []
    picture = one(drawn)
    monkeypatch.setattr(normgeo.pictures, "PICTURES", {"one": picture})
    monkeypatch.setattr(go.Figure, "show", lambda self: None)
    exec(picture.code(Settings(delta=5, seed=9, theme=theme)), {})  # our own lines
    assert drawn == [(Settings(delta=5, theme=theme), theme)]


def test_a_computation_tells_its_progress_and_stops_where_it_is_asked_to() -> None:
    def stop(done: int, steps: int) -> None:
        assert steps == 10
        if done == 3:
            raise Stop

    picture = one([])
    assert picture.compute(Settings(), stop) == (Settings(), 3)
    assert picture.compute(Settings()) == (Settings(), 10)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("few_frames")
@pytest.mark.parametrize("name", PICTURES)
def test_what_a_stopped_picture_has_is_drawn_told_and_listed_or_it_says_why_not(name: str) -> None:
    """A busy server leaves time to stop any of them, at any report."""
    picture = PICTURES[name]
    for reports in (1, 3, 9, 17):
        heard = 0

        def stop(done: int, steps: int, last: int = reports) -> None:
            nonlocal heard
            heard += 1
            if heard == last:
                raise Stop

        try:
            result = picture.compute(Settings(**SHORT.get(name, {})), stop)
        except Refusal:
            assert heard == reports, "nothing else is wrong here"
            continue
        if heard < reports:
            return  # it was not stopped, nor would it be later
        assert picture.description(result)
        assert picture.table(result).columns
        assert picture.figure(result, "light").to_json()
        drawn = picture.figure(result, "dark").to_json().upper()
        assert not [color for color in (*PALETTE, OTHER, *CLASSES) if color in drawn], "on_paper"


def test_a_file_is_named_by_its_cell_or_method_and_tells_its_settings() -> None:
    cell = Settings(cell="batch.dataset_recentering", eps=0.1, seed=3)
    effect = PICTURES["effect"]
    assert effect.file_name(cell) == "normgeo-effect-batch-dataset_recentering"
    (told, *_) = effect.about(cell)
    assert told.startswith("Settings: data: Digits")
    assert "cell: batch norm, dataset re-centering" in told
    assert "ε: 0.1" in told
    assert PICTURES["turn"].file_name(Settings(method="layer")) == "normgeo-turn-layer"
    names = [picture.file_name(Settings()) for picture in PICTURES.values()]
    assert len(set(names)) == len(names)
