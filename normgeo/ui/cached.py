"""What was computed once is kept for all sessions.

`cache_resource` hands out the object itself, which frozen results allow; `cache_data` would copy
it at every rerun. A lecture hall that opens one link computes once: the others wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import streamlit as st

from normgeo.invariance.certificate import Verdict, certify
from normgeo.invariance.transforms import Transform
from normgeo.invariance.witness import smallest_witness
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

Values = tuple[tuple[str, Any], ...]

verdict = lru_cache(maxsize=4096)(certify)
witness = lru_cache(maxsize=1024)(smallest_witness)


def result(name: str, settings: Settings) -> Any:
    """Return what a view computes; only the settings that it uses reach it.

    Raises:
        ValueError: there is no picture for these settings, in a sentence.

    """
    return _result(name, _used(name, settings))


def figure(name: str, settings: Settings) -> Any:
    """Return the figure of a view, in the settings' theme; raises as `result` does."""
    return _figure(name, _used(name, settings), settings.theme)


def verdicts(
    normalizers: Mapping[str, Normalizer], transforms: Mapping[str, Transform]
) -> dict[tuple[str, str], Verdict]:
    """Return the verdict of every normalizer on every transform, keyed by both names."""
    return {
        (row, column): verdict(normalizer, transform)
        for row, normalizer in normalizers.items()
        for column, transform in transforms.items()
    }


def used(name: str, settings: Settings) -> Settings:
    """Return the settings with all that a view does not use at their defaults."""
    return Settings(**dict(_used(name, settings)))


def _used(name: str, settings: Settings) -> Values:
    return tuple((use, getattr(settings, use)) for use in PICTURES[name].uses)


@st.cache_resource(max_entries=128, show_spinner=False)
def _result(name: str, values: Values) -> Any:
    return PICTURES[name].compute(Settings(**dict(values)))


@st.cache_resource(max_entries=64, show_spinner=False)
def _figure(name: str, values: Values, theme: str) -> Any:
    return PICTURES[name].figure(_result(name, values), theme)
