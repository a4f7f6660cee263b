"""What doubling the weights does, by value."""

from dataclasses import replace

import pytest

from normgeo import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

DOUBLING = PICTURES["doubling"]
LAWFUL = [key for key, method in NORMALIZERS.items() if method.homogeneous_blocks(4)]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


def test_doubling_table_measures_what_it_predicts(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            result = DOUBLING.compute(replace(QUICK, method=method))
            for row in result.rows:
                if row.measured is not None:
                    assert row.measured == pytest.approx(float(row.predicted), abs=1e-6), (
                        row.quantity
                    )
            rows = DOUBLING.table(result).rows
            assert {row[1] for row in rows if row[3] == "yes"} == {"× ½"}
            assert {row[3] for row in rows if row[1] != "× ½"} == {"no"}
