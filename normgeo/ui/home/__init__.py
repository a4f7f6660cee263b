"""Home: the story, chapter by chapter."""

from __future__ import annotations

import streamlit as st

from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.story.story import SHARED, STATES, Chapter, Story, language, story
from normgeo.ui import results, url
from normgeo.ui.home import example
from normgeo.ui.home.ways import draw_ways
from normgeo.ui.teaching import present

__all__ = ["FOLLOWS", "TABS", "draw", "told"]

TABS = tuple(STATES)[1:]
"""The slides of a presentation after the first one: the chapters, by their pictures."""


FOLLOWS = {*SHARED, *(PICTURES[name].study.slider for name in STATES)} - {"", "theme"}
"""The settings of other pages that the story follows."""


def told() -> Story:
    """Return the story in the language of the address, or of the browser."""
    wanted = st.query_params.get("language", Settings.language)
    return story(language(wanted, st.context.locale))


def draw(told: Story, settings: Settings) -> None:
    """Draw the chapters, each with its figure and the page that goes on from it.

    Presented, a chapter is a slide: its figure alone.
    """
    opening, *chapters, terms = told.chapters
    if told.language == "ko":  # whose lines end between words
        st.html("<style>h1, h2, p { word-break: keep-all; }</style>")
    if url.bare():
        slide = present.slides(settings, {one.picture: one.title for one in chapters})
        chapter = next((one for one in chapters if one.picture == slide), opening)
        results.show(chapter.picture, chapter.settings(settings))
        return
    _draw(opening, settings)
    draw_ways()
    for chapter in chapters:
        _draw(chapter, settings)
    with st.container(key="terms"):
        st.caption(f"**{terms.title}**: {terms.words}")


def _draw(chapter: Chapter, settings: Settings) -> None:
    with st.container(key=f"chapter_{chapter.picture}"):
        if chapter.title:
            st.header(chapter.title, anchor=chapter.picture)
        st.markdown(chapter.words)
        if chapter.picture == "averages":
            example.draw(settings)
        results.show(chapter.picture, chapter.settings(settings), pinned=False)
        if chapter.after:
            st.markdown(chapter.after)
        st.page_link(
            f"pages/{chapter.page}.py",
            label=chapter.more,
            icon=":material/arrow_forward:",
            query_params={**url.view_elsewhere(), **chapter.query(settings)},
        )
