"""Inputs X of another layer of a checkpoint are recognized by their shapes alone."""

from pathlib import Path

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.loading import unfitting
from normgeo.checkpoints.reading import OF_CASES, read_layer
from tests.pairwise import each

LAYERS = {"fc.weight": (3, 4), "conv.weight": (4, 2, 3, 3), "out.weight": (5, 2)}


READ_BY: dict[tuple[int, ...], set[str]] = {
    (7, 4): {"fc"},
    (7, 2): {"out"},
    (6, 7, 4): {"fc"},  # words of sentences
    (7, 18): {"conv"},  # windows
    (7, 2, 5, 6): {"conv"},  # images
    (7, 4, 5, 6): {"conv"},  # in two groups
    (7, 3, 5, 6): set(),
    (7, 3): set(),
    (4,): {"fc", "conv", "out"},  # no cases at all: refused when they are read
}


@pytest.mark.parametrize(("shape", "of_checkpoint"), each(READ_BY, [False, True]))
def test_inputs_that_are_not_left_out_are_those_that_can_be_read(
    shape: tuple[int, ...], of_checkpoint: bool, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    net = {name: rng.standard_normal(shape) for name, shape in LAYERS.items()}
    X = rng.standard_normal(shape)
    np.savez(tmp_path / "net.npz", **(net | ({"x": X} if of_checkpoint else {})))
    np.save(tmp_path / "x.npy", X)
    roles = {"x": "x"} if of_checkpoint else None
    found = Checkpoint.of(tmp_path / "net.npz", roles, norm="")
    given = {} if of_checkpoint else {"x": tmp_path / "x.npy"}
    left = {one.name: unfitting(found, one, given) for one in found.proposals}
    assert {name.split(".")[0] for name, why in left.items() if not why} == READ_BY[shape]
    for one in found.proposals:
        if left[one.name]:
            with pytest.raises(Refusal):
                read_layer(found, one, given)
            assert read_layer(found.without(*OF_CASES), one, {}).X is None
        elif len(shape) > 1:
            assert read_layer(found, one, given).X is not None
