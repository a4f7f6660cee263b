"""Rows of small integers come in the order that defines the smallest witness."""

from itertools import product

import numpy as np
import pytest

from normgeo.invariance.integers import how_many, place_in_order, rows


@pytest.mark.parametrize("length", [0, 1, 2, 4])
@pytest.mark.parametrize("portion", [1, 7, 1000])
def test_every_row_once_in_lexicographic_order(length, portion):
    for total in range(2 * length + 2):
        found = [tuple(row) for part in rows(length, total, portion) for row in part.tolist()]
        # `product` varies the last numbers first: that is the order.
        wanted = [r for r in product((1, 2, 0, -1, -2), repeat=length) if sum(map(abs, r)) == total]
        assert found == wanted
        assert how_many(length, total) == len(wanted)
        assert all(len(part) <= portion for part in rows(length, total, portion))


def test_fewer_negative_numbers_stand_before_smaller_places():
    given = [(0, 2), (-1, 1), (1, -1), (2, 0), (1, 1)]
    wanted = [(1, 1), (2, 0), (0, 2), (1, -1), (-1, 1)]
    assert sorted(given, key=lambda row: place_in_order(np.array(row))) == wanted


def test_a_number_too_large_for_integers_stays_large():
    assert how_many(60, 60) > 2**59
