"""Every verdict on real networks is the one that is derived by hand."""

import re

import pytest

from tests.frameworks.architectures import NETWORKS, built, measured

PLACES = {
    "a": "after",
    "b": "after_with_bias",
    "s": "after_sum",
    "c": "centered",
    "r": "before",
    "u": "unused",
}
MARKS = {"✓": "i", "≈": "i", "✗": "x", None: "-"}


def signs(one):
    found = "".join(MARKS[verdict and verdict.sign] for verdict in one.verdicts.values())
    return found[:3] if one.is_vector else found


def truth_of(known, name):
    for pattern, line, places in known.truth:
        if re.fullmatch(pattern, name):
            return line, places
    raise AssertionError(name)


def allowed(places, found):
    """Whether the places are those of a line, of which one with a "?" behind may be missing."""
    sure = {PLACES[key] for key in re.findall(r"\w(?!\?)", places)}
    known = {PLACES[key] for key in re.findall(r"\w", places)}
    return sure <= {*found} <= known


@pytest.mark.parametrize("name", NETWORKS)
def test_everything_is_as_derived(name, subtests):
    known = NETWORKS[name]
    model, table = built(name)[0], measured(name)
    assert table.complete
    assert {*table.tensors} == {parameter for parameter, _ in model.named_parameters()}
    for tensor, one in table.tensors.items():
        line, places = truth_of(known, tensor)
        with subtests.test(tensor=tensor):
            assert re.fullmatch(line, signs(one)), signs(one)
            assert allowed(places, table.place(tensor)), table.place(tensor)
