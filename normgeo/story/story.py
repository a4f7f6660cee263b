"""The story as it stands in a Markdown file, one for each language.

    # Title

    What normgeo is, in a line.

    {picture}

    Words.

    → Where the picture goes on

    ## Title of a chapter

    Words.

    {picture}

    → Where the picture goes on

The words of a chapter are Markdown; `picture` is a key of `STATES`. The last chapter has no
picture: it lists the terms of the language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, final

from normgeo.pictures import PICTURES
from normgeo.pictures.home.counterexamples import FIRST
from normgeo.settings import LANGUAGES, Settings, as_text

STATES: dict[str, tuple[str, dict[str, str]]] = {
    "contrast": ("invariance", {"cell": "layer.case_rescaling"}),
    "averages": ("batch", {}),
    "table_1": ("invariance", {}),
    "counterexamples": ("invariance", {"cell": FIRST, "tab": "blackboard"}),
    "rays": ("learning_rate", {"method": "batch"}),
    "turn": ("learning_rate", {"method": "batch"}),
    "equal_kl": ("fisher", {"method": "batch"}),
    "walk": ("symmetry", {"method": "batch"}),
}
"""The page that goes on from each picture of the story, and the settings there."""


@final
@dataclass(frozen=True)
class Chapter:
    """A part of the story.

    Attributes:
        title: "" for the opening. picture: its name; "" for none.
        words, after: Markdown, above the picture and below it.
        more: the words of the link to the page that goes on.

    """

    title: str
    words: str
    picture: str = ""
    after: str = ""
    more: str = ""

    @property
    def page(self) -> str:
        """The page that goes on from its picture."""
        return STATES[self.picture][0]

    def settings(self, visitor: Settings) -> Settings:
        """Return the settings of its picture, whose slider stands where a visitor's does."""
        moved = {name: getattr(visitor, name) for name in SHARED} | self._moved(visitor)
        return Settings.from_recipe(STATES[self.picture][1] | moved)

    def query(self, visitor: Settings) -> dict[str, str]:
        """Return the query of the page that goes on, in the state of the picture."""
        _, own = STATES[self.picture]
        moved = {name: as_text(value) for name, value in self._moved(visitor).items()}
        return own | (moved if self.picture in SAME_SLIDER else {})

    def _moved(self, visitor: Settings) -> dict[str, Any]:
        """Where a visitor's slider stands, if not at its default."""
        slider = PICTURES[self.picture].study.slider
        return {name: value for name, value in visitor.to_recipe().items() if name == slider}


SAME_SLIDER = "contrast", "counterexamples", "rays", "turn", "walk"
"""The pictures whose slider is that of the page that goes on."""

SHARED = "theme", "example", "place"
"""The settings besides sliders that the pictures of the story take from a visitor."""


@final
@dataclass(frozen=True)
class Story:
    """The story in one language.

    Attributes:
        language: key of `LANGUAGES`. title: of all. chapters: the opening, seven, and the terms.

    """

    language: str
    title: str
    chapters: tuple[Chapter, ...]


def language(wanted: str, of_browser: str | None) -> str:
    """Return the language of the story: the wanted one, or the one of a browser such as "ko-KR".

    >>> language("zh", "ko-KR"), language("auto", "ko-KR"), language("auto", "fr")
    ('zh', 'ko', 'en')

    """
    code = (of_browser or "").lower().partition("-")[0] if wanted == "auto" else wanted
    return code if code in LANGUAGES else "en"


@cache
def story(language: str) -> Story:
    """Return the story in a language, a key of `LANGUAGES`."""
    text = files(__package__).joinpath(f"{language}.md").read_text("utf-8")
    opening, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, first = opening.partition("\n")
    chapters = [_chapter("", first)]
    for part in parts:
        name, _, words = part.partition("\n")
        chapters.append(_chapter(name, words))
    return Story(language, title.removeprefix("# "), tuple(chapters))


def _chapter(title: str, text: str) -> Chapter:
    words, picture, rest = (*re.split(r"^\{(\w+)\}$", text, flags=re.MULTILINE), "", "")[:3]
    after, _, more = rest.partition("→ ")
    return Chapter(*(part.strip() for part in (title, words, picture, after, more)))
