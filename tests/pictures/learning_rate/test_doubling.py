"""What doubling the weights does, by value."""

from dataclasses import replace

import pytest

from normgeo import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.tables.formats import render
from normgeo.ui.learning_rate.tabs import _short

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


def test_short_table_has_predicted_and_measured_factors_below_each_other() -> None:
    table = render(_short(DOUBLING.table(DOUBLING.compute(QUICK))), "markdown")
    heads, aligned, *rows = table.splitlines()
    assert "Is it ½?" in heads
    assert aligned.split()[3] == aligned.split()[5]
    assert any("| × ¼ | × 0.25 | no |" in row for row in rows)
    assert "✗" not in table
