"""Plotly parses each attribute path once, and finds in it what it found before."""

import plotly.graph_objects as go
import pytest
from plotly import basedatatypes

from normgeo.pictures.style import paths

PATHS = ("", "title_text", "xaxis.range[0]", "error_x", "margin.l", "a__b_", "sliders[0].pad.t")


def test_parsed_once_is_parsed_alike(subtests):
    for path in PATHS:
        with subtests.test(path=path):
            parse = basedatatypes._str_to_dict_path_full
            assert parse(path) == parse.__wrapped__(path)
            hits = parse.cache_info().hits
            parse(path)
            assert parse.cache_info().hits == hits + 1
            paths.parse_once()
            assert basedatatypes._str_to_dict_path_full is parse, "it is kept once"


def test_wrong_attributes_are_still_refused():
    for _ in range(2):
        with pytest.raises(ValueError, match="nowhere"):
            go.Figure().update_layout(nowhere_at=1)
