"""What pages compute: once for all sessions; longer computations in a worker, with a bar."""

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from normgeo.base.budget import Cost
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.ui.computing import waiting
from normgeo.ui.computing.server import SERVER, Server
from normgeo.ui.computing.task import Found
from normgeo.ui.defects import SORRY
from normgeo.workers.pool import Pool

cloudpickle.register_pickle_by_value(sys.modules[__name__])

SHORT, LONG = Cost(seconds=0.1), Cost(seconds=10.0)


def script(compute, cost, start):
    import streamlit as st

    from normgeo.settings import Settings
    from normgeo.ui.computing.server import here
    from normgeo.ui.computing.task import Task
    from normgeo.ui.defects import Explained

    with Explained():
        task = Task(compute, Settings(), "The sum", lambda settings: cost)
        found = here().found(task, "sum", start=start)
        st.markdown("nothing" if found is None else f"{found.result}, {found.stopped}")


class Sum:
    """A computation of ten steps that counts how often it runs, and may be stopped at a step."""

    def __init__(self) -> None:
        self.runs = 0
        self.at_step: Callable[[int], object] = lambda step: None

    def __call__(self, settings, progress):
        self.runs += 1
        total = 0
        for step in progress.over(range(1, 11)):
            total += step
            self.at_step(step)
        return total


def count(settings, progress):
    """Count until it is stopped."""
    step = 0
    while progress.tell(step, 10**9):
        step += 1
        time.sleep(0.001)
    return step


@pytest.fixture
def compute() -> Sum:
    return Sum()


@pytest.fixture
def visit(server) -> Callable[..., AppTest]:
    """Runs a page's script in a new session of the server."""

    def begin(page, **options) -> AppTest:
        app = AppTest.from_function(page, kwargs=options, default_timeout=600)
        app.session_state[SERVER] = server
        return app.run()

    return begin


@pytest.fixture
def opened(visit) -> Callable[..., AppTest]:
    """Opens a page of one computation."""

    def begin(compute, cost=SHORT, start="") -> AppTest:
        app = visit(script, compute=compute, cost=cost, start=start)
        assert [error.message for error in app.exception] == []
        return app

    return begin


def said(app: AppTest) -> list[str]:
    return [element.value for element in app.markdown]


def told(app: AppTest) -> list[str]:
    return [element.value for element in app.info]


@pytest.fixture(scope="module")
def one_worker() -> Iterator[Pool]:
    pool = Pool(1)
    pool.start()
    yield pool
    pool.close()


@pytest.fixture
def pool(one_worker) -> Pool:
    return one_worker


@pytest.fixture
def server(pool) -> Server:
    """A server that has computed nothing; long computations go to a worker."""
    return Server(pool, longest=1.0)


class Bars:
    """What every bar says, in order; `at_word` acts at each word."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.at_word: Callable[[str], object] = lambda words: None
        self.click: Callable[[], None] = lambda: None

    def progress(self, share: float, words: str) -> None:
        assert 0 <= share < 1
        self.told.append(words)
        self.at_word(words)


@pytest.fixture
def bars(monkeypatch) -> Bars:
    bars, draw = Bars(), waiting.st.button

    def bar(share, words, **options):
        bars.progress(share, words)
        return bars

    def button(label, *, key, on_click, **options):
        if key == "stop_sum":
            bars.click = on_click
        return draw(label, key=key, on_click=on_click, **options)

    monkeypatch.setattr(waiting.st, "progress", bar)
    monkeypatch.setattr(waiting.st, "button", button)
    return bars


@pytest.fixture
def asked(monkeypatch, pool) -> list[object]:
    """The keys that are requested from a pool."""
    keys: list[object] = []
    ask = pool.ask

    def counted(visitor, key, *arguments, **options):
        keys.append(key)
        return ask(visitor, key, *arguments, **options)

    monkeypatch.setattr(pool, "ask", counted)
    return keys


def test_second_session_finds_what_the_first_one_computed(opened, compute):
    assert said(opened(compute)) == said(opened(compute)) == ["55, False"]
    assert compute.runs == 1


def test_cost_decides_where_a_computation_runs(opened, pool, bars):
    pid = int(said(opened(lambda settings, progress: os.getpid(), LONG))[0].split(",")[0])
    assert pid in pool.pids
    assert said(opened(lambda settings, progress: os.getpid(), SHORT)) == [f"{os.getpid()}, False"]


def test_short_computation_does_not_wait_for_long_ones(opened, pool, bars):
    run = pool.ask("another visitor", "long", count, None)
    assert said(opened(Sum())) == ["55, False"]
    assert not run.ended
    run.leave("another visitor")


def test_computation_that_ends_within_a_moment_has_no_bar(opened, pool, bars, monkeypatch):
    monkeypatch.setattr(waiting, "MOMENT", 300.0)  # a worker may have to start first
    opened(lambda settings, progress: 1, LONG)
    assert bars.told == []


def test_longer_computation_tells_its_steps_and_stops_with_what_it_has(opened, pool, bars, asked):
    bars.at_word = lambda words: words.startswith("Step") and len(bars.told) > 3 and bars.click()
    app = opened(count, LONG)
    steps = [int(words.split()[1].replace(",", "")) for words in bars.told if "Step" in words]
    assert steps == sorted(steps)
    assert bars.told[-1] == f"Step {steps[-1]:,} of 1,000,000,000"
    ((counted, stopped),) = (words.split(", ") for words in said(app))
    assert int(counted) >= steps[-1]
    assert stopped == "True"
    part = said(app)
    app.run()
    assert said(app) == part
    assert len(asked) == 1
    assert app.button(key="start_sum").label == "Compute again"
    assert said(opened(Sum(), LONG)) == ["55, False"], "another computation is not stopped"


def test_part_of_one_session_is_not_kept_for_another(opened, pool, bars, asked, server):
    bars.at_word = lambda words: bars.click()
    app = opened(count, LONG)
    assert len(server.kept) == 0
    app.button(key="start_sum").click().run()
    assert len(asked) == 2


def both(compute, cost):
    import streamlit as st

    from normgeo.settings import Settings
    from normgeo.ui.computing.server import here
    from normgeo.ui.computing.task import Task

    first, other = (
        here().found(Task(compute, Settings(seed=seed), "", lambda _: cost), name, slot=slot)
        for seed, (name, slot) in enumerate((("sum", ""), ("beside", "beside")))
    )
    st.markdown(f"{first.stopped}, {other.result}")


def count_first(settings, progress):
    return settings.seed or count(settings, progress)


def test_two_states_of_one_computation_do_not_take_the_place_of_each_other(
    visit, pool, bars, asked
):
    bars.at_word = lambda words: bars.click()
    app = visit(both, compute=count_first, cost=LONG)
    assert said(app) == ["True, 1"]
    assert said(app.run()) == ["True, 1"]
    assert len(asked) == 2


def test_script_that_is_started_anew_finds_its_run(opened, pool, bars, asked):
    def click_elsewhere(words):
        if len(bars.told) == 2:
            waiting.st.rerun()
        if len(bars.told) > 4:
            bars.click()

    bars.at_word = click_elsewhere
    assert [words.endswith("True") for words in said(opened(count, LONG))] == [True]
    assert len(asked) == 1


def test_bar_tells_the_place_in_line(opened, pool, bars):
    others = [pool.ask(visitor, visitor, count, None) for visitor in ("other", "third")]

    def leave(words):
        for run in others:
            run.stay(run.visitor)
        first = next((run for run in others if not run.ended), None)
        if first is not None and words != "Computing" and len(bars.told) > 1:
            first.leave(first.visitor)
            while not first.ended:
                time.sleep(0.01)

    for run in others:
        run.stay(run.visitor)
    bars.at_word = leave
    assert said(opened(Sum(), LONG)) == ["55, False"]
    assert bars.told[0] == "Waiting: 2 computations before yours"
    assert "Waiting: 1 computation before yours" in bars.told


def test_who_stops_leaves_the_run_to_others_who_wait(opened, pool, bars, asked):
    def stop_while_another_waits(words):
        if len(bars.told) == 2:  # its button is there
            pool.ask("another visitor", asked[0], count)
            bars.click()
            waiting.st.rerun()

    bars.at_word = stop_while_another_waits
    app = opened(count, LONG)
    assert told(app) == [
        "Stopped here. Others wait for the same computation, so it goes on for them."
    ]
    assert app.button(key="start_sum").label == "Compute again"
    run = pool.ask("another visitor", asked[0], count)
    assert not run.ended
    run.leave("another visitor")


def test_killed_worker_is_told_and_the_run_starts_again(opened, pool, bars):
    def kill(words):
        if words.startswith("Step"):
            os.kill(pool.pids[0], 9)
            bars.at_word = lambda words: None

    bars.at_word = kill
    app = opened(count, LONG)
    (sentence,) = told(app)
    assert sentence.startswith("The process that computed this was ended from outside")
    bars.at_word = lambda words: words.startswith("Step") and bars.click()
    app.button(key="start_sum").click().run()
    assert told(app) == []
    assert [words.endswith("True") for words in said(app)] == [True]


def test_reason_for_no_result_is_kept_and_told_every_time(opened, compute, pool, asked):
    def refuse(settings, progress):
        raise Refusal(text("There is no sum."))

    for _ in range(2):
        app = opened(refuse, LONG)
        for _ in range(2):
            assert told(app) == ["There is no sum."]
            app.run()
    assert len(asked) == 1


@pytest.mark.parametrize("cost", [SHORT, LONG])
def test_any_other_error_is_a_defect_that_the_log_shows(opened, cost, pool, defects):
    def divide(settings, progress):
        return 1 // 0

    app = opened(divide, cost)
    assert [error.value for error in app.error] == [SORRY]
    assert told(app) == said(app) == []
    (logged,) = defects
    defects.clear()
    assert "1 // 0" in logging.Formatter().format(logged)
    assert "ZeroDivisionError" in logging.Formatter().format(logged)


def test_computation_beyond_the_budget_does_not_begin(opened, compute):
    (sentence,) = told(opened(compute, Cost(bytes=1e6, seconds=1e4)))
    assert sentence.startswith("The sum would take about 10,000 s of one processor and 1 MB")
    assert compute.runs == 0


def test_computation_with_a_button_waits_for_it(opened, pool, bars):
    def slow(settings, progress):
        time.sleep(0.5)
        return 55

    disabled = []
    app = opened(slow, LONG, start="Add them")
    assert said(app) == ["nothing"]
    assert [button.label for button in app.button] == ["Add them"]
    bars.at_word = disabled.append
    app.button(key="start_sum").click().run()
    assert said(app) == ["55, False"]
    assert list(app.button) == []


def steps_of(settings, progress, before=0, more=10):
    """Take more steps than before, or as many as time allows."""
    for step in progress.over(range(before + 1, before + more + 1)):
        before = step
        time.sleep(0.02)
    return before


def more_steps(settings, before, progress):
    return steps_of(settings, progress, before, 1000 if before == 20 else 10)


def resumable(compute, go_on, cost):
    import streamlit as st

    from normgeo.settings import Settings
    from normgeo.ui.computing.server import here
    from normgeo.ui.computing.task import Task

    seed = st.session_state.setdefault("seed", 0)
    task = Task(compute, Settings(seed=seed), "", lambda _: cost, go_on=go_on)
    found = here().found(task, "sum", start="Begin")
    st.markdown("nothing" if found is None else f"{found.result}, {found.stopped}")


def test_continue_goes_on_from_where_this_session_stopped(visit, bars, asked, server, monkeypatch):
    monkeypatch.setattr(waiting, "MOMENT", 0.05)

    def visitor():
        return visit(resumable, compute=steps_of, go_on=more_steps, cost=LONG)

    def click(app, name):
        app.button(key=name).click().run()
        ((steps, stopped),) = (words.split(", ") for words in said(app))
        return int(steps), stopped == "True"

    app, other = visitor(), visitor()
    assert [button.label for button in app.button] == ["Begin"]
    assert click(app, "start_sum") == (10, False)
    assert [button.label for button in app.button] == ["Continue"], "after the end: more steps"
    assert click(app, "continue_sum") == (20, False)
    bars.at_word = lambda words: words.startswith("Step") and bars.click()
    at, stopped = click(app, "continue_sum")
    assert 20 < at < 1020
    assert stopped
    bars.at_word = lambda words: None
    assert {b.label for b in app.button} >= {"Compute again", "Continue"}
    assert click(app, "continue_sum") == (at + 10, False)
    assert said(other.run()) == ["10, False"], "nobody else sees it, and the first is kept"
    assert len(server.kept) == 1
    app.session_state["seed"] = 1
    assert said(app.run()) == ["nothing"]
    assert app.session_state["_asked"] == {}, "changed settings drop what is held"
    assert len({key for key in asked if len(key) > 3}) == 1


def test_figures_are_made_once_and_one_at_a_time(server):
    made, under_way, together = [], [], []

    def slow(result):
        under_way.append(result)
        together.append(len(under_way))
        time.sleep(0.02)
        under_way.remove(result)
        made.append(result)
        return go.Figure(go.Scatter(y=[result]))

    def chart(one):
        return server.chart(one, "slow", "light", lambda: slow(one.result))

    found = [Found(n, stopped=False) for n in range(3)]
    with ThreadPoolExecutor(6) as visitors:
        charts = list(visitors.map(chart, found * 2))
    sent = [json.loads(chart.text) for chart in charts]
    assert [one["data"][0]["y"][0] for one in sent] == [0, 1, 2] * 2
    assert sorted(made) == [0, 1, 2]
    assert together == [1, 1, 1]


def test_oldest_results_are_forgotten(opened, server):
    class Large(Sum):
        def __call__(self, settings, progress):
            return super().__call__(settings, progress) * np.ones(10_000)

    server.kept.bytes = 200_000
    first, second, third = Large(), Large(), Large()
    for compute in (first, second, first, third, first):
        opened(compute)
    assert [compute.runs for compute in (first, second, third)] == [1, 1, 1]
    opened(second)
    assert second.runs == 2
