"""What names tell besides places: kinds of norms, shared norms, and what is left out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from normgeo import load_layer
from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.modules import role_of
from normgeo.checkpoints.report import layer_report
from normgeo.tables.formats import render
from normgeo.tables.layer import proposals_table, sentences
from tests.checkpoints.architectures import NETWORKS

RNG = np.random.default_rng(0)


def saved(folder: Path, name: str) -> Path:
    shapes = NETWORKS[name].shapes
    path = folder / "model.safetensors"
    save_file({n: np.asarray(RNG.standard_normal(s), "f4") for n, s in shapes.items()}, path)
    return path


# Networks whose norms have no bias: True if names leave open whether these subtract a mean.
KINDS = {
    "Llama": False,
    "Gemma 2": False,
    "OLMo 2": False,
    "T5, whose relative positions are no layer": False,
    "Mamba": False,
    "Cohere": True,  # is a layer norm
    "ModernBERT": True,  # is a layer norm
}


def test_layer_norm_without_a_bias_is_not_called_rms_norm(tmp_path: Path) -> None:
    for name, either in KINDS.items():
        found = [one for one in Checkpoint.of(saved(tmp_path, name)).proposals if one.norm]
        assert {one.basis.may_center for one in found} == {either}, name
        assert {str(one.normalizer.title) == "RMS norm or layer norm" for one in found} == {either}
    said = layer_report(load_layer(saved(tmp_path, "Cohere"), "model.layers.0.mlp.up_proj.weight"))
    assert said.standing.startswith("RMS norm or layer norm stands before W. Ignored: columns of W")
    assert said.standing.endswith(
        "Ignored by a layer norm alone, which this one may be, for no name tells: to each row of W "
        "a number of its own over the gain, with the bias corrected."
    )
    layer = "model.layers.0.mlp.up_proj.weight"
    stated = load_layer(tmp_path / "model.safetensors", layer, normalizer="layer")
    assert "which this one may be" not in layer_report(stated).standing


def test_layers_that_share_a_norm_trade_with_its_gain_together(tmp_path: Path) -> None:
    """Columns of one of q, k, v × δ with the gain ÷ δ change the outputs of the others."""
    layer = load_layer(saved(tmp_path, "Llama"), "model.layers.1.self_attn.q_proj.weight")
    others = ["model.layers.1.self_attn.k_proj.weight", "model.layers.1.self_attn.v_proj.weight"]
    assert list(layer.basis.sharing) == others
    said = layer_report(layer).standing
    assert "÷ δ, in all that take this norm together, as " + ", ".join(others) in said
    assert layer.gain is not None
    x = RNG.standard_normal((5, 8))
    z = x / np.sqrt((x**2).mean(1, keepdims=True))
    delta = RNG.uniform(0.5, 2, 8)
    weights = [load_layer(tmp_path / "model.safetensors", n).W for n in (layer.title, *others)]
    before = [(layer.gain * z) @ W.T for W in weights]
    together = [(layer.gain / delta * z) @ (W * delta).T for W in weights]
    alone = [(layer.gain / delta * z) @ W.T for W in weights[1:]]
    assert all(np.allclose(a, b) for a, b in zip(before, together, strict=True))
    assert not any(np.allclose(a, b) for a, b in zip(before[1:], alone, strict=True))


def test_gain_of_gemma_is_one_more_than_its_tensor(tmp_path: Path) -> None:
    tensor = {"Gemma 2": "pre_feedforward_layernorm", "Llama": "post_attention_layernorm"}
    for name, norm in tensor.items():
        path, layer = saved(tmp_path, name), "model.layers.0.mlp.up_proj.weight"
        (held,) = [
            t for t in Checkpoint.of(path).tensors if t.name == f"model.layers.0.{norm}.weight"
        ]
        gemma = name == "Gemma 2"
        for stated, plus in ((None, gemma), (True, True), (False, False)):
            read = load_layer(path, layer, one_plus=stated)
            np.testing.assert_allclose(read.gain, held.read() + plus)
            assert any("as in Gemma" in note for note in read.notes) == plus


def test_projections_in_partitions_are_one_layer_and_thirds_are_three(tmp_path: Path) -> None:
    names = {
        "CodeGen, whose projections stand in four partitions": [
            "transformer.h.0.attn.qkv_proj.weight"
        ],
        "GPT-NeoX": ["gpt_neox.layers.0.attention.query_key_value.weight"],
        "GPT-2": [f"h.0.attn.c_attn.weight[{part}]" for part in "qkv"],
        "ViT of timm": [f"blocks.0.attn.qkv.weight[{part}]" for part in "qkv"],
    }
    for network, layers in names.items():
        found = {one.name for one in Checkpoint.of(saved(tmp_path, network)).proposals}
        weight = layers[0].partition("[")[0]
        assert sorted(name for name in found if name.startswith(weight)) == sorted(layers)


def test_embeddings_are_no_layers_and_what_is_called_like_one_is() -> None:
    for path in (
        *("shared", "encoder.embed_tokens", "emb", "tok_embeddings", "embed_in", "wpe"),
        *("SelfAttention.relative_attention_bias", "attention.self.distance_embedding"),
    ):
        assert role_of(f"{path}.weight", (20, 8))[1] == "embedding", path
    for path in ("embeddings_project", "embed_out", "patch_embed.proj", "mlp.up_proj"):
        assert role_of(f"{path}.weight", (20, 8))[1] == "weight", path
    assert role_of("patch_embed.weight", (8, 3, 4, 4))[1] == "weight"
    assert role_of("layernorm_embedding.weight", (8,))[1] == "gain"
    assert role_of("params/Embed_0/embedding", (20, 8))[1] == "embedding"


LEFT_OUT: dict[str, tuple[tuple[int, ...], str]] = {
    "lstm.weight_ih_l0": ((16, 4), "weights of a recurrent cell, whose parts have a norm each"),
    "conv.weight_orig": ((4, 4), "weights with a spectral norm, which is none of the norms here"),
    "moe.experts.gate_up_proj": ((2, 4, 6), "experts, stacked along an axis"),
    "moe.experts.weight": ((2, 4, 6), "experts, stacked along an axis"),
    "attn.q_norm.weight": ((2, 4), "a gain of two axes, one for each head"),
    "pos_embed": ((1, 5, 4), "positions or tokens"),
    "strange": ((4, 4), "a name that is not known for weights"),
}


def test_what_is_left_out_is_listed_with_the_reason(tmp_path: Path) -> None:
    shapes = {name: shape for name, (shape, _) in LEFT_OUT.items()}
    shapes |= {"fc.weight": (3, 4), "conv.weight_u": (4,), "conv.weight_v": (4,), "cls": (1, 1, 4)}
    path = tmp_path / "m.safetensors"
    save_file({name: np.ones(shape, "f4") for name, shape in shapes.items()}, path)
    found = Checkpoint.of(path)
    assert [one.name for one in found.proposals] == ["fc.weight"]
    assert not any(one.norm for one in found.proposals)
    assert found.left_out == {name: why for name, (_, why) in LEFT_OUT.items()}
    table = render(proposals_table(found.proposals, found.left_out), "markdown")
    for name, why in found.left_out.items():
        assert name in table
        assert why in table


def test_weight_norm_is_known_where_its_gain_has_a_number_for_each_neuron(tmp_path: Path) -> None:
    shapes = {"a.weight_v": (3, 4), "a.weight_g": (3, 1), "b.weight_v": (3, 4, 5)}
    shapes |= {"b.weight_g": (1, 1, 5)}
    path = tmp_path / "m.safetensors"
    save_file({name: np.ones(shape, "f4") for name, shape in shapes.items()}, path)
    basis = {one.name: one.basis.key for one in Checkpoint.of(path).proposals}
    assert basis == {"a.weight_v": "tensors", "b.weight_v": "unknown"}
    assert load_layer(path, "b.weight_v").gain is None


def test_numbers_place_no_norm_where_sizes_tell_both_orders(tmp_path: Path) -> None:
    path, shapes = tmp_path / "m.safetensors", dict[str, tuple[int, ...]]()
    for i in range(4):
        shapes |= {f"a.{i}.conv1.weight": (8, 4, 3, 3), f"a.{i}.bn1.weight": (8,)}
    for before, placed in ((False, 4), (True, 0)):
        if before:
            shapes |= {"b.0.conv1.weight": (8, 4, 3, 3), "b.0.bn1.weight": (4,)}
        save_file({name: np.ones(shape, "f4") for name, shape in shapes.items()}, path)
        assert sum(one.norm is not None for one in Checkpoint.of(path).proposals) == placed


def test_norm_of_queries_that_may_take_the_features_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    for size, basis in ((8, "unknown"), (4, "names")):
        shapes = {"attn.to_q.weight": (8, 8), "attn.norm_q.weight": (size,)}
        save_file({name: np.ones(shape, "f4") for name, shape in shapes.items()}, path)
        assert Checkpoint.of(path).choose(None).basis.key == basis


SAID: dict[str, tuple[str, dict[str, Any], str]] = {
    "guessed": ("model.layers.0.mlp.up_proj.weight", {}, "Norm and place, guessed from names: the"),
    "stated": ("model.layers.0.mlp.up_proj.weight", {"place": "before"}, "Norm and place: as stat"),
    "unknown": ("model.layers.0.mlp.down_proj.weight", {}, "Unknown: no name tells which norm"),
}


@pytest.mark.parametrize("basis", SAID)
def test_what_is_guessed_is_told_apart_from_what_is_known(basis: str, tmp_path: Path) -> None:
    layer, stated, sentence = SAID[basis]
    path = saved(tmp_path, "Llama")
    said = sentences(layer_report(load_layer(path, layer, **stated)))
    assert sum(one.startswith(sentence) for one in map(str, said)) == 1, said
    rows = render(proposals_table(Checkpoint.of(path, **stated).proposals), "json")
    assert {"guessed": "guessed from names", "stated": "stated", "unknown": "unknown"}[
        basis
    ] in rows
