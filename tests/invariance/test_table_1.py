"""The paper's Table 1, quoted, against the derived one."""

import pytest

from normgeo import NORMALIZERS, TABLE_1, TRANSFORMS, invariance_table
from normgeo.claims.table_1 import PAPER_TABLE_1, compare_with_table_1

COLUMNS = {key: TRANSFORMS[key] for key in TABLE_1}


def test_all_eighteen_cells_agree():
    found = compare_with_table_1(invariance_table(NORMALIZERS, COLUMNS))
    assert (found.agreeing, found.cells, found.differing) == (18, 18, ())


def test_epsilon_makes_the_rescalings_of_batch_and_layer_norm_differ():
    found = compare_with_table_1(invariance_table(NORMALIZERS, COLUMNS, eps=1e-5))
    assert found.agreeing == 12
    assert {row for row, _ in found.differing} == {"batch", "layer"}
    assert all(TRANSFORMS[column].rescales for _, column in found.differing)


def test_planted_mistake_is_found():
    """Negative control: layer norm in the row of batch norm differs where the halves do."""
    planted = {**NORMALIZERS, "batch": NORMALIZERS["layer"]}
    found = compare_with_table_1(invariance_table(planted, COLUMNS))
    assert found.differing == tuple(
        ("batch", key)
        for key in TABLE_1
        if PAPER_TABLE_1["batch"][key] != PAPER_TABLE_1["layer"][key]
    )


def test_missing_cell_is_an_error():
    with pytest.raises(KeyError):
        compare_with_table_1({})
