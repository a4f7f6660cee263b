"""If there is nothing to show, the page says why, and a button changes what is needed."""

import pickle

import pytest

from normgeo.base.cache import Cache
from normgeo.base.refusal import Refusal
from normgeo.normalizers.statistic import group_size

REFUSED = {
    "equilibrium": ({"tab": "equilibrium", "decay": "0"}, "Set weight decay λ: automatic"),
    "twin": ({"tab": "twin", "decay": "0"}, "Set weight decay λ: automatic"),
    "descent": (
        {"tab": "equilibrium", "rate": "2", "decay": "0.5"},
        "Set weight decay λ: automatic",
    ),
    "spiral": ({"tab": "spiral", "mini_batch": "9999"}, "Set mini-batch: automatic"),
    "two neurons": (
        {"method": "layer", "neurons": "2", "family": "bernoulli"},
        "Set neurons H: 4",
    ),
    "too few": ({"method": "layer", "neurons": "2"}, "Set neurons H: automatic"),
    "two a group": ({"method": "group", "neurons": "4", "groups": "2"}, "Set neurons H: 8"),
    "fitted": ({"weights": "fitted", "neurons": "7"}, "Set weights: random"),
    "no scale": ({"tab": "spiral", "method": "standard"}, "Set method: batch norm"),
    "frozen": (
        {"tab": "spiral", "statistics": "frozen"},
        "Set batch statistics: of the current batch",
    ),
}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_button_makes_what_the_tab_needs(shown, subtests):
    for query, label in REFUSED.values():
        with subtests.test(query=query, label=label):
            page = shown("learning_rate", dataset="iris", steps="4", **query)
            before = page.figures
            assert page.app.info
            (button,) = [one for one in page.app.button if "way_out" in one.key]
            assert button.label == label
            button.click().run()
            assert [error.message for error in page.app.exception] == []
            assert [one.value for one in page.app.info] == []
            assert [one for one in page.app.button if "way_out" in (one.key or "")] == []
            assert len(page.figures) == len(before) + 1 or len(page.figures) == 2


def test_way_out_goes_along_where_a_refusal_is_sent_and_kept():
    refused = Refusal("No.", way_out={"decay": None})
    assert pickle.loads(pickle.dumps(refused)).way_out == {"decay": None}
    kept: Cache[str, str] = Cache(bytes=1e4)
    kept.keep("a", refused)
    with pytest.raises(Refusal, match="No") as again:
        kept.get("a")
    assert again.value is not refused
    assert again.value.way_out == {"decay": None}


def test_one_neuron_is_one():
    with pytest.raises(Refusal) as refused:
        group_size(1, 2)
    assert str(refused.value) == (
        "`groups` must divide the number of neurons; got 2 groups for one neuron."
    )
