"""The state of a session: from the URL, through the pages, and back to the defaults."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from normgeo.ui import frame
from normgeo.ui.frame import PAGES

pytestmark = pytest.mark.usefixtures("uncomputed")


@pytest.mark.exhaustive
def test_page_opens_with_one_question_as_its_heading(shown, keep_audit, subtests):
    for page in PAGES:
        with subtests.test(page=page):
            keep_audit()
            found = shown(page)
            (heading,) = found.app.title
            assert heading.value.endswith("?")
            assert found.warnings == []


AT_ONCE = """
import ast, sys, threading
from pathlib import Path

files = [Path("app.py"), *Path("pages").glob("*.py")]
ready, broken = threading.Barrier(len(files)), []

def open_page(file):
    tree = ast.parse(file.read_text("utf-8"))
    tree.body = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
    ready.wait()
    try:
        exec(compile(tree, str(file), "exec"), {})
    except BaseException as error:
        broken.append(f"{file}: {error!r}")

threads = [threading.Thread(target=open_page, args=[file]) for file in files]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*broken, sep="\\n")
sys.exit(bool(broken))
"""


@pytest.mark.exhaustive
def test_pages_that_open_at_one_moment_on_a_new_server_are_imported():
    """If threads import a package through different modules, Python may report a deadlock."""
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_settings_go_along_with_the_navigation(shown):
    session = shown("invariance", dataset="wine", seed="3")
    session.open("batch")
    assert session.query == {"dataset": "wine", "seed": "3"}
    assert session.app.selectbox(key="dataset").value == "wine"


def test_home_follows_sliders_and_leaves_other_settings_to_the_pages_that_have_them(shown):
    session = shown("invariance", dataset="wine", delta="4")
    session.open("home")
    assert session.query == {"delta": "4"}
    session.open("batch")
    assert session.query == {"dataset": "wine"}


def moved(session, **words):
    """A slider comes to rest, and the user leaves the page before its script has run."""
    session.app.session_state["_moved"] = session.query, words


def test_where_a_slider_rests_is_in_the_address_and_goes_along(shown):
    session = shown("learning_rate", method="layer", tab="equation")
    before = session.query
    moved(session, growth="16")
    session.app.run()
    assert session.query == {**before, "growth": "16"}
    session.app.query_params.clear()
    session.app.query_params.update(before)
    session.app.run()
    assert session.query == {**before, "growth": "16"}, "the browser had not heard of it"
    moved(session, growth="8")
    session.open("symmetry")
    assert session.query == {"method": "layer"}, "this page has no norm to choose"
    session.open("learning_rate")
    assert session.query == {"method": "layer", "growth": "8"}
    moved(session, growth="4")
    session.open("learning_rate", method="batch")
    assert session.query == {"method": "batch"}, "a link is taken as it is"


@pytest.mark.exhaustive
def test_changes_faster_than_the_answers_of_the_server_are_all_kept(shown):
    """The browser sends the address that it knows with each change."""
    session = shown("learning_rate")
    before = session.query
    session.app.selectbox(key="dataset").select("wine").run()
    once = session.query
    assert once == {**before, "dataset": "wine"}

    def has_heard_of(query):
        session.app.query_params.clear()
        session.app.query_params.update(query)

    has_heard_of(before)
    session.app.selectbox(key="method").select("layer").run()
    both = session.query
    assert both == {**once, "method": "layer"}
    has_heard_of(before)
    session.app.selectbox(key="method").select("weight").run()
    assert session.query == {**once, "method": "weight"}
    has_heard_of(once)
    session.app.run()
    assert session.query == once, "the browser went back"
    session.app.selectbox(key="dataset").select("iris").run()
    assert session.query == {**once, "dataset": "iris"}


def test_address_names_no_theme(shown):
    page = shown("learning_rate", theme="dark")
    assert page.warnings == [
        "A page has the theme of its browser; the one in the address was left out."
    ]


def test_reset_forgets_where_a_slider_rests(shown):
    session = shown("learning_rate", method="layer")
    moved(session, growth="16")
    session.app.button(key="reset").click().run()
    assert session.query == {}


def test_link_with_a_query_is_taken_as_it_is(shown):
    session = shown("invariance", dataset="wine", seed="3")
    session.open("home", dataset="iris")
    assert session.query == {"dataset": "iris"}


def test_reset_forgets_also_for_the_next_page(shown):
    session = shown("invariance", dataset="wine")
    session.app.button(key="reset").click().run()
    assert session.query == {}
    assert session.app.selectbox(key="dataset").value == "digits"
    session.open("home")
    assert session.query == {}


def test_back_to_a_page_without_a_query_is_the_default(shown):
    session = shown("invariance", dataset="wine")
    session.app.query_params.clear()
    session.app.run()
    assert session.app.selectbox(key="dataset").value == "digits"


def test_bad_value_goes_away_with_the_next_change(shown):
    session = shown("home", color="red")
    assert len(session.warnings) == 1
    session.app.selectbox(key="language").select("ko").run()
    assert session.warnings == []
    assert session.query == {"language": "ko"}


def test_script_that_a_click_ends_leaves_the_session_alone(monkeypatch):
    """Meanwhile Streamlit goes through the state of the session for the next script."""

    class Ended(BaseException):
        pass

    class State(dict):
        def __setitem__(self, name, value):
            assert not ended, f"{name} is written while the next script begins"
            super().__setitem__(name, value)

    ended = []

    def page():
        ended.append(True)
        raise Ended

    monkeypatch.setattr(frame.st, "session_state", State())
    monkeypatch.setattr(frame, "_navigation", lambda: SimpleNamespace(run=page))
    with pytest.raises(Ended):
        frame.run()
