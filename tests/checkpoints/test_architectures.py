"""Norms that names suggest for 63 networks: none is wrong, and some stay unknown."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.modules import modules
from normgeo.checkpoints.pairing import Norms
from normgeo.checkpoints.proposal import proposals_of
from normgeo.datasets.tensor import Tensor
from tests.checkpoints.architectures import NETWORKS
from tests.pairwise import first

WHOLE = {"EfficientNet of timm", "MobileBERT, whose norms are none"}
"""Networks too small to be saved in several files, one of which might hold half a block."""


def looked_into(folder: Path, name: str) -> Checkpoint:
    path = folder / "model.safetensors"
    save_file({n: np.ones(shape, "i1") for n, shape in NETWORKS[name].shapes.items()}, path)
    return Checkpoint.of(path)


def test_no_norm_is_placed_wrong_and_few_are_unknown(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name, network in NETWORKS.items():
        with subtests.test(name):
            found = looked_into(tmp_path, name)
            told = {
                one.name: (one.norm.path, one.place.key)
                for one in found.proposals
                if one.norm is not None
            }
            wrong = {layer: at for layer, at in told.items() if network.truth.get(layer) != at}
            assert wrong == {}
            assert len(network.truth) - len(told) == network.untold, sorted(
                network.truth.keys() - told.keys()
            )
            for one in found.proposals:
                assert one.basis.key == ("unknown" if one.norm is None else "names"), one.name
    assert len(NETWORKS) == 63, "docs/your_network.md says how many"
    truths = sum(len(network.truth) for network in NETWORKS.values())
    untold = sum(network.untold for network in NETWORKS.values())
    assert (truths - untold, truths) == (519, 651)


@pytest.mark.parametrize("step", first([29, 1]))
def test_half_a_network_has_no_norm_placed_wrong_either(step: int) -> None:
    """One of several files may begin and end within a block; the last has the norm and the head."""
    for name in NETWORKS.keys() - WHOLE:
        shapes, truth = NETWORKS[name].shapes, NETWORKS[name].truth
        ends = {name for name in shapes if not (any(map(str.isdigit, name)) or "emb" in name)}
        written = sorted(shapes, key=ends.__contains__)
        for order in (written, sorted(shapes)):
            for cut in range(1 + len(name) % step, len(order), step):
                for part in (order[:cut], order[cut:]):
                    tensors = [Tensor(n, shapes[n], "F32", "", lambda: np.ones(1)) for n in part]
                    found = modules(tensors, {})
                    norms = Norms.of(found, tensors)
                    for module in found.values():
                        for one in proposals_of(module, norms) if module.is_layer else ():
                            at = one.norm and (one.norm.path, one.place.key)
                            assert at is None or truth.get(one.name) == at, (name, cut)
