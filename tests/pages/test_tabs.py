"""Tabs at the foot of a page: the open one is in the address."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest


def page():
    """Three tabs that write their names."""
    import streamlit as st

    from normgeo.settings import Settings
    from normgeo.ui.tabs import tabs

    names = ("neurons", "decided", "epsilon")
    known = {name: (name.title(), lambda settings, name=name: st.markdown(name)) for name in names}
    tabs(Settings(tab=st.query_params.get("tab", "auto")), known, "decided")


@pytest.fixture
def clicks(monkeypatch):
    """Titles to click before the next run; the click of a browser is answered before the run."""
    waiting = []
    drawn = st.tabs

    def answered(titles, *, key, on_change):
        if waiting:
            st.session_state[key] = waiting.pop()
            on_change()
        return drawn(titles, key=key, on_change=on_change)

    monkeypatch.setattr(st, "tabs", answered)
    return waiting


def test_tab_that_is_clicked_is_drawn_alone_and_stands_in_the_address(clicks):
    app = AppTest.from_function(page).run()
    assert [words.value for words in app.markdown] == ["decided"]
    for name in ("epsilon", "neurons"):
        clicks.append(name.title())
        app.run()
        assert app.query_params["tab"] == name
        app.run()
        assert [words.value for words in app.markdown] == [name]
    assert not app.exception
