"""What the tests of the Learning rate pictures share."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from normgeo.pictures import PICTURES
from normgeo.settings import Settings


@pytest.fixture
def figure_of() -> Callable[[str, Settings], Any]:
    """The light figure of a picture."""

    def figure_of(name: str, settings: Settings) -> Any:
        return PICTURES[name].figure(PICTURES[name].compute(settings), "light")

    return figure_of


@pytest.fixture
def sentence_of() -> Callable[[str, Settings], str]:
    """Why a picture has no result."""

    def sentence_of(name: str, settings: Settings) -> str:
        with pytest.raises(ValueError, match=r".") as caught:
            PICTURES[name].compute(settings)
        return str(caught.value)

    return sentence_of


@pytest.fixture
def words() -> Callable[[Any], str]:
    """All that is written on a figure, in one line."""

    def words(figure: Any) -> str:
        return re.sub(r"\s|<br>", " ", " ".join(note.text for note in figure.layout.annotations))

    return words


@pytest.fixture
def lines() -> Callable[[Any, int], dict[str, Any]]:
    """The lines of a panel by name, a list of them for each."""

    def lines(figure: Any, panel: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for trace in figure.data:
            if (trace.yaxis or "y").removeprefix("y") in {str(panel), "" if panel == 1 else "-"}:
                found.setdefault(trace.name, []).append(trace)
        return found

    return lines
