"""What pages compute: once for all sessions, with a bar where it takes longer, and a stop."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from normgeo.base.text import text
from normgeo.pictures import PICTURES
from normgeo.ui import frame, results

pytestmark = pytest.mark.usefixtures("nothing_kept")


def script(compute):
    import streamlit as st

    from normgeo.settings import Settings
    from normgeo.ui import results

    try:
        found = results.found("sum", compute, Settings())
    except ValueError as error:
        results.explain(error)
    else:
        st.markdown("nothing" if found is None else f"{found.result}, {found.stopped}")


class Sum:
    """A computation of ten steps that counts how often it runs, and may be stopped at a step."""

    def __init__(self) -> None:
        self.runs = 0
        self.at_step: Callable[[int], Any] = lambda step: None

    def __call__(self, settings, progress):
        self.runs += 1
        total = 0
        for step in progress.over(range(1, 11)):
            total += step
            self.at_step(step)
        return total


@pytest.fixture
def compute() -> Sum:
    return Sum()


def opened(compute) -> AppTest:
    app = AppTest.from_function(script, kwargs={"compute": compute}, default_timeout=20).run()
    assert [error.message for error in app.exception] == []
    return app


def said(app: AppTest) -> list[str]:
    return [element.value for element in app.markdown]


@pytest.fixture
def bars(monkeypatch) -> list[tuple[float, str]]:
    """What every bar tells, in its order."""
    told: list[tuple[float, str]] = []

    class Bar:
        def __init__(self, share, words, **_) -> None:
            self.progress(share, words)

        def progress(self, share, words) -> None:
            told.append((share, words))

    monkeypatch.setattr(results.st, "progress", Bar)
    return told


@pytest.fixture
def stop(monkeypatch) -> Callable[[], None]:
    """Clicks the button beside the bar."""
    clicks: dict[str, Callable[[], None]] = {}
    draw = results.st.button

    def button(label, *, key, on_click, **options):
        clicks[key] = on_click
        return draw(label, key=key, on_click=on_click, **options)

    monkeypatch.setattr(results.st, "button", button)

    def click() -> None:
        clicks["stop_sum"]()

    return click


def test_second_session_finds_what_the_first_one_computed(compute):
    assert said(opened(compute)) == said(opened(compute)) == ["55, False"]
    assert compute.runs == 1


def test_quick_computation_has_no_bar(compute, bars):
    opened(compute)
    assert bars == []


def test_longer_computation_tells_every_step_but_the_last(compute, bars, monkeypatch):
    monkeypatch.setattr(results, "MOMENT", 0)
    monkeypatch.setattr(results, "BETWEEN", 0)
    opened(compute)
    assert bars == [(n / 10, f"Step {n} of 10") for n in range(1, 10)]


def test_stopped_computation_shows_what_it_has_until_it_is_started_again(
    compute, bars, stop, monkeypatch
):
    monkeypatch.setattr(results, "MOMENT", 0)
    compute.at_step = lambda step: step == 4 and stop()
    app = opened(compute)
    assert said(app) == ["10, True"]
    app.run()
    assert said(app) == ["10, True"]
    assert compute.runs == 1
    assert said(opened(Sum())) == ["55, False"], "another computation is not stopped"
    compute.at_step = lambda step: None
    app.button(key="start_sum").click().run()
    assert said(app) == ["55, False"]
    assert app.get("button") == []


def test_part_of_one_session_is_not_kept_for_another(compute, bars, stop, monkeypatch):
    monkeypatch.setattr(results, "MOMENT", 0)
    compute.at_step = lambda step: step == 4 and stop()
    opened(compute)
    compute.at_step = lambda step: None
    assert said(opened(compute)) == ["55, False"]


def test_reason_for_no_result_is_told_every_time(compute):
    def refuse(step):
        raise ValueError(text("There is no sum."))

    compute.at_step = refuse
    app = opened(compute)
    for _ in range(2):
        assert [info.value for info in app.info] == ["There is no sum."]
        app.run()


def test_oldest_results_are_forgotten(monkeypatch, nothing_kept):
    monkeypatch.setattr(results, "LARGEST", 2)
    first, second, third = Sum(), Sum(), Sum()
    for compute in (first, second, first, third, first):
        opened(compute)
    assert [compute.runs for compute in (first, second, third)] == [1, 1, 1]
    assert [key[0] for key in nothing_kept] == [third, first]


def test_pictures_of_one_computation_share_its_result(shown, nothing_kept):
    shown("recurrent", length="8")
    assert PICTURES["recurrence"].study.compute is PICTURES["radii"].study.compute
    (found,) = nothing_kept.values()
    assert {name for name, _ in found.figures} == {"recurrence", "radii"}


def test_figures_are_kept_in_the_language_of_their_words(shown, nothing_kept, monkeypatch):
    shown("home")
    shown("home")
    assert len(nothing_kept) == 1

    def in_brackets(sentence: str) -> str:
        return f"⟦{sentence}⟧"

    monkeypatch.setattr(frame, "translation", lambda: in_brackets)
    shown("home")
    assert [key[2] for key in nothing_kept] == [str, in_brackets]
