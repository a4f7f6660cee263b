"""The tables that ship: the script reproduces them, and they fit how their networks are built."""

import re

import numpy as np
import pytest

import normgeo
from normgeo.measured.saved.examples import EXAMPLES
from tools.example_tables import NETWORKS, table


@pytest.mark.parametrize(
    "name",
    [n if n == "decoder" else pytest.param(n, marks=pytest.mark.exhaustive) for n in NETWORKS],
)
def test_script_gives_the_tables_that_ship(name):
    made, shipped = table(name), normgeo.read_measured(EXAMPLES[name].path)
    assert made.roles == shipped.roles
    assert {str(trade) for trade in made.trades} == {str(trade) for trade in shipped.trades}
    assert [*made.tensors] == [*shipped.tensors]
    for tensor, one in made.tensors.items():
        other = shipped.tensors[tensor]
        assert made.place(tensor) == shipped.place(tensor)
        assert (one.blocks, one.zeros, one.dead) == (other.blocks, other.zeros, other.dead)
        np.testing.assert_allclose(one.norms, other.norms)
        for change, verdict in one.verdicts.items():
            told = other.verdicts[change]
            assert (verdict and verdict.sign) == (told and told.sign)
            if verdict is not None and verdict.sign == "✗":
                np.testing.assert_allclose(verdict.moved, told.moved, rtol=1e-6)


def test_every_example_has_a_network_and_no_other():
    assert {*EXAMPLES} == {*NETWORKS}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("transformer", "blocks.0, blocks.1: pre-norm: its weights read a norm"),
        ("post_norm", "blocks.0, blocks.1: post-norm: a norm takes what it adds"),
        ("resnet_18", "layer1.0, layer1.1, layer2.0, layer2.1, layer3.0, layer3.1, layer4.0, "),
        ("decoder", "layers.0, layers.1: pre-norm: its weights read a norm"),
    ],
)
def test_one_note_names_the_blocks_and_how_their_norm_stands(name, said):
    """As the networks are built: torch's own layers, and the residual blocks of torchvision."""
    notes = normgeo.read_measured(EXAMPLES[name].path).notes()
    found = [note for note in notes if re.match(r"(blocks|layers?\d*)\.", note)]
    assert len(found) == 1
    assert found[0].startswith(said)


def places(name, *ends):
    shipped = normgeo.read_measured(EXAMPLES[name].path)
    return {shipped.place(tensor) for tensor in shipped.tensors if tensor.endswith(ends)}


def test_norms_stand_where_the_networks_have_them():
    """As each is built: weights after a norm, before a norm, and those that write to a stream."""
    assert places("transformer", "up.weight") == {("before",)}
    assert places("transformer", "o_proj.weight", "down.weight") == {("after_sum",)}
    assert places("post_norm", "o_proj.weight", "down.weight") == {("centered",)}
    assert places("resnet_18", "conv1.weight", "conv2.weight") <= {("after",), ("after", "before")}
    assert places("decoder", "q_proj.weight", "k_proj.weight") == {("after", "before")}
    assert places("decoder", "o_proj.weight", "down_proj.weight") == {("after_sum",)}
    resnet = normgeo.read_measured(EXAMPLES["resnet_18"].path)
    kernels = [one for name, one in resnet.tensors.items() if "conv" in name]
    assert len(kernels) == 17 + 3  # of its 18 layers, one is no convolution; 3 shortcuts
    assert all(one.blocks == one.neurons for one in kernels)
