"""The story, and a gallery of all figures, as HTML files that need no server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import escape
from urllib.parse import urlencode

from markdown_it import MarkdownIt

from normgeo.base.progress import Report
from normgeo.base.text import text
from normgeo.pictures import PICTURES, Picture
from normgeo.pictures.style.export import Section, document
from normgeo.settings import Settings
from normgeo.story.story import Chapter, Story, story


def figures(settings: Settings, progress: Report | None = None) -> dict[str, Section]:
    """Return the live figures of the story by their names, for any language of it.

    Args:
        settings: where the sliders stand, and the theme.
        progress: hears of the computation of each.

    """
    chapters = [one for one in story("en").chapters if one.picture]
    return {
        one.picture: figure(PICTURES[one.picture], one.settings(settings), progress)
        for one in chapters
    }


def figure(picture: Picture, settings: Settings, progress: Report | None = None) -> Section:
    """Return a live figure as a part of a page."""
    result = picture.compute(settings, progress)
    drawn = picture.figure(result, settings.theme)
    return Section("", drawn, picture.title, picture.description(result))


def page(story: Story, settings: Settings, figures: Mapping[str, Section], *, app: str = "") -> str:
    """Return the story as HTML.

    Args:
        story: in one language. settings, figures: as of `figures`.
        app: the address of an application, for the links to its pages; none without it.

    """
    sections = [
        _section(one, settings, figures.get(one.picture, Section()), app) for one in story.chapters
    ]
    return document(story.title, sections, language=story.language)


def _section(chapter: Chapter, settings: Settings, drawn: Section, app: str) -> Section:
    heading = f"<h2>{escape(chapter.title)}</h2>\n" if chapter.title else ""
    after = _html(chapter.after)
    if app and chapter.picture:
        address = f"{app.rstrip('/')}/{chapter.page}?{urlencode(chapter.query(settings))}"
        after += f'<p><a href="{escape(address)}">{escape(chapter.more)}</a></p>'
    return replace(drawn, before=heading + _html(chapter.words), after=after)


def _html(words: str) -> str:
    return str(MarkdownIt().render(words))


def gallery(figures: Iterable[Section], addresses: Iterable[str]) -> str:
    """Return all figures as HTML, each with the line that embeds it from its address."""
    sections = []
    for one, address in zip(figures, addresses, strict=True):
        line = f'<iframe src="{address}" width="1000" height="620"></iframe>'
        after = f"<pre><code>{escape(line)}</code></pre>"
        sections.append(replace(one, before=f"<h2>{escape(one.title)}</h2>", after=after))
    return document(text("All figures"), sections)
