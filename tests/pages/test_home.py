"""Home: the example, what each method averages in real data, the live Table 1, the ways in."""

import re
from fractions import Fraction

import numpy as np
import pytest

from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.example import EXAMPLE_PLACE, EXAMPLE_W, EXAMPLE_X, read
from normgeo.settings import Settings
from normgeo.ui.frame import PAGES
from normgeo.ui.teaching import tours

EDITED = "4.-2.0_0.7.5_2.1.3_0.1.-3_2.2.1_1.6.0"


def results(captions: str) -> list[float]:
    """The z that each method's arithmetic ends with."""
    return [float(z.replace("−", "-")) for z in re.findall(r"= (\S+)</b>", captions)]


def z_by_hand(X, W, n, h):
    """z of batch, layer and weight norm at a place, and of RMS norm."""
    A = X @ W.T
    return [
        (A[n, h] - A[:, h].mean()) / A[:, h].std(),
        (A[n, h] - A[n].mean()) / A[n].std(),
        A[n, h] / np.linalg.norm(W[h]),
        A[n, h] / np.sqrt((A[n] ** 2).mean()),
    ]


def test_arithmetic_ends_with_the_z_of_each_method(shown, subtests):
    for example, place in [("", ""), (EDITED, "2.0")]:
        with subtests.test(example=example, place=place):
            home = shown("home", example=example, place=place) if example else shown("home")
            X, W = read(example) if example else (EXAMPLE_X, EXAMPLE_W)
            n, h = map(int, place.split(".")) if place else EXAMPLE_PLACE
            found = results(home.captions("averages"))
            assert found == pytest.approx(z_by_hand(X, W, n, h)[:3], rel=0.005)


def test_arithmetic_can_be_followed(shown):
    captions = shown("home").captions("averages")
    assert "μ = (6 + 6 + 9)/3 = 7<br>σ² = (1² + 1² + 2²)/3 = 2<br><b>z = (6 − 7)/√2" in captions
    assert "μ = (3 + 6 + 0)/3 = 3<br>σ² = (0² + 3² + 3²)/3 = 6<br><b>z = (6 − 3)/√6" in captions
    assert "σ = ‖w‖ = √(2² + 2² + 1²) = 3<br><b>z = (6 − 0)/3" in captions


def test_words_for_a_screen_reader_hold_the_arithmetic(shown):
    home = shown("home", example=EDITED, place="2.0")
    said = home.alt("averages")
    for line in home.captions("averages").split("<br>"):
        if line.startswith("σ"):
            assert line in said


def test_example_begins_with_the_numbers_of_the_library(shown):
    content = shown("home", example=EDITED).table("example")
    X, W = read(EDITED)
    A = X @ W.T
    assert [method["title"] for method in content["methods"]] == [
        "batch norm",
        "layer norm",
        "weight norm",
        "RMS norm",
    ]
    for method, column in zip(content["methods"], range(4), strict=True):
        expected = [[z_by_hand(X, W, n, h)[column] for h in range(3)] for n in range(3)]
        for name in ("z", "lines"):
            found = [
                [
                    float(re.sub(r".*= ", "", words if name == "z" else words[2]).replace("−", "-"))
                    for words in row
                ]
                for row in method[name]
            ]
            assert found == pytest.approx(np.array(expected), rel=0.006)
        mean = A.mean(axis=0 if method["center"] == "batch" else 1, keepdims=True)
        if method["center"] in ("batch", "layer"):
            told = [
                [Fraction(words.replace("−", "-")) for _, words in row]
                for row in method["statistics"]["μ"]
            ]
            assert np.array(told, float) == pytest.approx(np.broadcast_to(mean, A.shape))
    assert content["a"] == [[str(a).replace("-", "−") for a in row] for row in A]


def test_an_example_from_an_address_is_named_where_it_is_bad(shown, subtests):
    for example, warnings in [
        ("1.2.0_0.3.0_2.1.3", 1),
        ("1.2.0_0.3.0_2.1.3_0.1.0_2.2.1_1.0.1e99", 1),
        ("1.2.0_0.3.0_2.1.3_0.1.0_2.2.1_1.0.100", 1),
        ("0.0.0_0.0.0_0.0.0_0.0.0_0.0.0_0.0.0", 0),
    ]:
        with subtests.test(example=example, warnings=warnings):
            home = shown("home", example=example)
            assert len(home.warnings) == warnings
            used = home.table("example")["example"]
            assert used == (Settings.example if warnings else example)
            assert home.figures == ["averages"]
            if not warnings:
                assert (
                    home.captions("averages").replace("<br>", " ").count("so there is no z.") == 3
                )


def test_example_and_figure_stay_apart_from_other_settings(shown):
    """The example is worked whatever is chosen for the real data."""
    plain, other = (shown("home", **query).table("example") for query in ({}, {"neurons": "1"}))
    assert plain == other


def test_table_is_table_1(shown):
    home = shown("home")
    assert home.signs() == {"batch norm": "✓✗✓✓✓✗", "layer norm": "✓✓✗✓✗✓", "weight norm": "✓✗✓✗✗✗"}
    assert "18 of 18 cells agree with the paper" in home.words


def test_every_data_set_has_its_grids(shown, subtests):
    for dataset in DATASETS:
        with subtests.test(dataset=dataset):
            home = shown("home", dataset=dataset)
            assert home.figures == ["averages"]
            assert home.app.selectbox(key="dataset").value == dataset


def test_one_neuron_still_has_grids(shown):
    assert shown("home", neurons="1").figures == ["averages"]


def test_ways_in_lead_to_the_stops_of_the_tours(shown):
    links = [link.proto for link in shown("home").app.get("page_link")]
    stops = [
        (f"{number}. {stop.title}", f"tour={name}&stop={number}")
        for name in tours.names()
        for number, stop in enumerate(tours.tour(name, PAGES).stops, 1)
    ]
    assert [(link.label, link.query_string) for link in links] == stops
