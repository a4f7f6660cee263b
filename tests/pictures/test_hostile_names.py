"""A data set whose names hold markup: no picture, sentence or table takes them for markup."""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from normgeo.base.characters import code
from normgeo.base.refusal import Refusal
from normgeo.base.text import marking
from normgeo.datasets.dataset import DatasetSource, Table
from normgeo.datasets.datasets import DATASETS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.tables.formats import render
from tests.quick import QUICK

LINK = "<a href='//evil.example'>{}</a><img src=//evil.example>[a](//evil.example)"
TAG = re.compile(r"<\s*(a|img)\b")


def _table() -> Table:
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.standard_normal((12, 3)), np.ones(12)])
    names = tuple(LINK.format(i) for i in range(4))
    return Table(features, np.arange(12) % 3, names, names[:3], names[:3])


pytestmark = pytest.mark.usefixtures("few_frames")


@pytest.fixture(scope="module", autouse=True)
def hostile() -> Iterator[None]:
    """Put the data set among the others, as a file of a user would be."""
    DATASETS["hostile"] = DatasetSource(
        "hostile", LINK.format("title"), "", "categorical", "", _table
    )
    yield
    del DATASETS["hostile"]


def words(value: Any) -> Iterator[str]:
    """Every string in a figure's JSON."""
    if isinstance(value, str):
        yield value
    for inside in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from words(inside)


def test_no_name_of_data_is_markup_in_a_picture_or_its_table(subtests: pytest.Subtests) -> None:
    for name in [name for name in PICTURES if "dataset" in PICTURES[name].uses]:
        with subtests.test(name=name):
            picture = PICTURES[name]
            quick = QUICK.get(name, {}) | {"dataset": "hostile", "steps": 5, "epochs": 1}
            try:
                result = picture.compute(Settings(**quick))
            except Refusal as refused:
                refusal = refused
            else:
                refusal = None
            if refusal is not None:
                with marking(code):
                    assert TAG.search(str(refusal).replace(code(LINK.format("title")), "")) is None
                continue
            shown = list(words(json.loads(picture.figure(result, "light").to_json())))
            assert [w for w in shown if TAG.search(w)] == []
            markdown = render(picture.table(result), "markdown")
            assert "](" not in markdown.replace(r"\]", "")
