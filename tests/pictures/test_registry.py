"""What every picture promises: a recipe and code that make it again, as it was seen."""

import json
from typing import Any

import plotly.graph_objects as go
import pytest

import normgeo.pictures
from normgeo.pictures import PICTURES
from normgeo.pictures.picture import Picture as View
from normgeo.settings import Settings
from normgeo.tables.table import Table


@pytest.mark.parametrize("name", PICTURES)
def test_recipe_has_the_settings_that_are_used_and_the_theme(name: str) -> None:
    view = PICTURES[name]
    changed = Settings(dataset="wine", seed=5, verdict="fails", theme="dark")
    recipe = json.loads(json.dumps(view.recipe(changed)))
    assert recipe["view"] == name
    expected = {"theme": "dark"} | {"dataset": "wine", "seed": 5}
    assert recipe["settings"] == {k: v for k, v in expected.items() if k in (*view.uses, "theme")}
    again = Settings.from_recipe(recipe["settings"])
    assert all(getattr(again, key) == getattr(changed, key) for key in (*view.uses, "theme"))
    assert view.recipe(Settings()) == {"view": name, "settings": {}}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_code_makes_the_figure_that_was_seen(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[Any, str]] = []

    def draw(settings: Settings, theme: str) -> go.Figure:
        drawn.append((settings, theme))
        return go.Figure()

    view = View("one", "One", ("delta",), lambda s: s, draw, lambda s: Table((), ()))
    monkeypatch.setattr(normgeo.pictures, "PICTURES", {"one": view})
    monkeypatch.setattr(go.Figure, "show", lambda self: None)
    exec(view.code(Settings(delta=5, seed=9, theme=theme)), {})  # our own lines
    assert drawn == [(Settings(delta=5, theme=theme), theme)]
