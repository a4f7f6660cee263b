"""The story as one HTML file that needs no server."""

from __future__ import annotations

from html import escape
from urllib.parse import urlencode

from markdown_it import MarkdownIt

from normgeo.base.progress import Report
from normgeo.pictures import PICTURES
from normgeo.pictures.style.export import Section, document
from normgeo.settings import Settings
from normgeo.story.story import Chapter, Story


def page(story: Story, settings: Settings, *, app: str = "", progress: Report | None = None) -> str:
    """Return the story with its live figures.

    Args:
        story: in one language. settings: where its sliders stand, and its theme.
        app: the address of an application, for the links to its pages; none without it.
        progress: hears of the computation of each picture.

    """
    sections = [_section(chapter, settings, app, progress) for chapter in story.chapters]
    return document(story.title, sections, language=story.language)


def _section(chapter: Chapter, settings: Settings, app: str, progress: Report | None) -> Section:
    heading = f"<h2>{escape(chapter.title)}</h2>\n" if chapter.title else ""
    before, after = heading + _html(chapter.words), _html(chapter.after)
    if not chapter.picture:
        return Section(before)
    picture, chosen = PICTURES[chapter.picture], chapter.settings(settings)
    result = picture.compute(chosen, progress)
    if app:
        address = f"{app.rstrip('/')}/{chapter.page}?{urlencode(chapter.query(settings))}"
        after += f'<p><a href="{escape(address)}">{escape(chapter.more)}</a></p>'
    figure = picture.figure(result, chosen.theme)
    return Section(before, figure, picture.title, picture.description(result), after)


def _html(words: str) -> str:
    return str(MarkdownIt().render(words))
