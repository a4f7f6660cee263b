"""The cases left out of `make test` leave no pair of values without a case."""

from itertools import combinations, product

import pytest

from normgeo import GRID, Normalizer
from tests.pairwise import cover, each, grouped, loops, values


@pytest.mark.parametrize("sizes", [(4, 4, 4), (2, 3, 5, 7), (5,), (3, 3), (2,) * 6])
def test_every_pair_of_values_of_two_axes_occurs(sizes: tuple[int, ...]) -> None:
    rows = [*product(*map(range, sizes))]
    chosen = [rows[place] for place in cover(rows)]
    for one, other in combinations(range(len(sizes)), 2):
        pairs = {*product(range(sizes[one]), range(sizes[other]))}
        assert {(row[one], row[other]) for row in chosen} == pairs
    largest = max((a * b for a, b in combinations(sizes, 2)), default=len(rows))
    assert len(chosen) <= 2 * largest


def test_rows_are_grouped_by_the_entries_of_their_tuples() -> None:
    rows = [((a, b), c) for a, b, c in product("ab", "xyz", range(4)) if (b, c) != ("x", 0)]
    covering, others = (parameters.values[0] for parameters in grouped(rows))
    assert {(b, c) for (_, b), c in covering} == {(b, c) for (_, b), c in rows}
    assert {(a, c) for (a, _), c in covering} == {(a, c) for (a, _), c in rows}
    assert sorted([*covering, *others]) == sorted(rows)
    assert len(covering) < len(rows)


def test_pairs_that_no_row_has_are_not_asked_for() -> None:
    rows = [(a, b, a + b) for a, b in product(range(3), repeat=2) if a != b]
    assert {(a, b) for a, b, _ in (rows[place] for place in cover(rows))} == {
        (a, b) for a, b, _ in rows
    }


def test_a_normalizer_is_its_words_groups_epsilon_and_statistics() -> None:
    several = [*GRID.values(), Normalizer("layer", "layer", groups=2, eps=0.1)]
    found = [value.factors[:5] for value in values("normalizer", several)]
    assert found[-1] == ("layer", "layer", 2, True, "current")
    assert [row[:2] for row in found[:-1]] == [*GRID]


def test_arguments_and_names_are_those_of_parametrize() -> None:
    rows = [(("layer", "none"), 3), pytest.param(("batch", "none"), 4, id="four")]
    first, second = values("words, N", rows)
    assert (first.arguments, first.id) == ((("layer", "none"), 3), "layer-none-3")
    assert (second.arguments, second.id) == ((("batch", "none"), 4), "four")


def test_each_value_of_each_axis_has_a_case() -> None:
    rows = each("abc", (1, 2), (None,))
    shown = [row.values for row in rows if not row.marks]
    assert shown == [("a", 1, None), ("b", 2, None), ("c", 1, None)]
    assert {row.values for row in rows} == {*product("abc", (1, 2), (None,))}


WORDS = [
    Normalizer("layer", "layer", groups=2),
    *(GRID[words] for words in (("layer", "batch"), ("batch", "layer"), ("layer", "layer"))),
]


@pytest.mark.pairwise("normalizer", WORDS)
def test_a_value_whose_pairs_others_have_has_a_case(
    normalizer: Normalizer, request: pytest.FixtureRequest
) -> None:
    """Group norm has the words of layer norm, and others have one group."""
    assert normalizer in WORDS
    assert not [*request.node.iter_markers("exhaustive")]


@pytest.mark.parametrize("of", [1, 2])
def test_rows_of_a_loop_are_all_products_and_the_first_have_all_values(of: int) -> None:
    axes = ("ab", range(5), (None, 0.5, 2.0))
    covering, others = loops(*axes, of=of)
    few, rest = covering.values[0], others.values[0]
    assert sorted(map(str, few + rest)) == sorted(map(str, product(*axes)))
    assert [mark.name for mark in (*covering.marks, *others.marks)] == ["exhaustive"]
    for some in combinations(range(3), of):
        values = {*product(*(axes[place] for place in some))}
        assert {tuple(row[place] for place in some) for row in few} == values
    assert len(few) == (5 if of == 1 else 15)
    assert [one.id for one in loops("abc", of=1)] == ["covering"], "nothing is left"
