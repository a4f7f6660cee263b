"""The roles of tensors: naming conventions, corrections, and the rows that are read."""

import json
import re
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from normgeo import load_layer
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.modules import role_of
from normgeo.checkpoints.place import PLACES

RNG = np.random.default_rng(0)


def saved(path: Path, shapes: dict[str, tuple[int, ...]]) -> Path:
    arrays = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    arrays |= {name: abs(of) for name, of in arrays.items() if name.endswith(("_var", "/var"))}
    save_file(arrays, path / "model.safetensors")
    return path / "model.safetensors"


BN = ("weight", "bias", "running_mean", "running_var")
# Shapes by name; the layer; H, D, its norm, the place of the norm, its two words and groups.
CONVENTIONS: dict[str, tuple[dict[str, tuple[int, ...]], str, tuple[object, ...]]] = {
    "batch norm by the end of its name alone": (
        {"dw.weight": (8, 1, 3, 3), "dw_bn.weight": (8,)},
        "dw.weight",
        (8, 9, "dw_bn", "after", ("batch", "batch"), 1),
    ),
    "sequence": (
        {"features.0.weight": (8, 4, 3, 3), **{f"features.1.{n}": (8,) for n in BN}},
        "features.0.weight",
        (8, 36, "features.1", "after", ("batch", "batch"), 1),
    ),
    "norm before in a sequence": (
        {"head.0.weight": (5,), "head.0.bias": (5,), "head.1.weight": (7, 5)},
        "head.1.weight",
        (7, 5, "head.0", "before", ("layer", "layer"), 1),
    ),
    "queries with a norm for each head": (
        {"layers.0.self_attn.q_proj.weight": (8, 6), "layers.0.self_attn.q_norm.weight": (2,)}
        | {"layers.0.input_layernorm.weight": (6,)},
        "layers.0.self_attn.q_proj.weight",
        (8, 6, "layers.0.self_attn.q_norm", "after", ("none", "layer"), 4),
    ),
    "BERT": (
        {"encoder.layer.0.output.dense.weight": (6, 9)}
        | {f"encoder.layer.0.output.LayerNorm.{n}": (6,) for n in ("gamma", "beta")},
        "encoder.layer.0.output.dense.weight",
        (
            *(6, 9, "encoder.layer.0.output.LayerNorm"),
            *("residual", ("layer", "layer"), 1),
        ),
    ),
    "attention of an encoder layer of PyTorch": (
        {"layers.0.self_attn.in_proj_weight": (18, 6), "layers.0.linear1.weight": (9, 6)}
        | {f"layers.0.{norm}.{n}": (6,) for norm in ("norm1", "norm2") for n in BN[:2]},
        "layers.0.self_attn.in_proj_weight[q]",
        (6, 6, "", "after", ("none", "none"), 1),
    ),
    "encoder layer of PyTorch": (
        {"layers.0.linear2.weight": (6, 9)}
        | {"layers.0.norm2.weight": (6,), "layers.0.norm2.bias": (6,)},
        "layers.0.linear2.weight",
        (6, 9, "", "after", ("none", "none"), 1),
    ),
    "heads of Flax": (
        {"params/attention/query/kernel": (6, 2, 4)},
        "params/attention/query/kernel",
        (8, 6, "", "after", ("none", "none"), 1),
    ),
    "weight norm": (
        {"fc.weight_v": (3, 4), "fc.weight_g": (3, 1), "fc.bias": (3,)},
        "fc.weight_v",
        (3, 4, "", "after", ("none", "weight"), 1),
    ),
    "weight norm of PyTorch now": (
        {f"fc.parametrizations.weight.original{i}": s for i, s in enumerate([(3, 1), (3, 4)])},
        "fc.parametrizations.weight.original1",
        (3, 4, "", "after", ("none", "weight"), 1),
    ),
}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_names_of_checkpoints_propose_layers_norms_and_places(name: str, tmp_path: Path) -> None:
    shapes, layer, expected = CONVENTIONS[name]
    found = Checkpoint.of(saved(tmp_path, shapes)).choose(layer)
    norm = found.norm.path if found.norm else ""
    n = found.normalizer
    got = (*found.arrangement.shape, norm, found.place.key, n.words, n.groups)
    assert got == expected
    loaded = load_layer(tmp_path / "model.safetensors", layer)
    assert loaded.W.shape == expected[:2]


def test_count_of_batches_stands_first_and_is_no_part_of_a_norm(tmp_path: Path) -> None:
    """PyTorch's batch norm counts its batches in a tensor of no axes, which safetensors sorts."""
    arrays: dict[str, Any] = {"conv.weight": np.ones((3, 2, 2, 2)), "gain.weight": np.array(1.0)}
    arrays |= {f"conv_bn.{name}": np.ones(3) for name in BN}
    arrays |= {"conv_bn.num_batches_tracked": np.array(3), "conv_bn.b": np.array(1.0)}
    save_file(arrays, tmp_path / "bn.safetensors")
    found = Checkpoint.of(tmp_path / "bn.safetensors")
    assert found.choose(None).norm is not None
    assert {found.roles[name] for name, of in arrays.items() if not of.shape} == {"other"}
    assert load_layer(tmp_path / "bn.safetensors").normalizer.words == ("batch", "batch")


def test_empty_tensors_and_wrong_corrections_are_told_in_a_sentence(tmp_path: Path) -> None:
    shapes = {"n.weight": (0,), "in_proj.weight": (0, 3), "fc1.weight": (3, 0), "ln_1.weight": (3,)}
    path = saved(tmp_path, shapes | {"q_proj.weight": (3, 3), "q_norm.weight": (0,)})
    assert len(Checkpoint.of(path).proposals) == 3
    for roles in ({"n.weight": "weight"}, {"q_norm.weight": "gain"}):
        for layer in ("in_proj.weight", "fc1.weight"):
            with pytest.raises(Refusal, match=r"must not be empty|1 axes is no weig"):
                load_layer(path, layer, roles=roles)


def test_tensor_of_more_axes_than_an_array_can_have_is_refused(tmp_path: Path) -> None:
    shapes = {"w.weight": [2, 2, *[1] * 63], "v.weight": [2, 2], "gradient": [1, 2, 2, *[1] * 63]}
    header, at = {}, 0
    for name, shape in shapes.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + 16]}
        at += 16
    words = json.dumps(header).encode()
    path = tmp_path / "axes.safetensors"
    path.write_bytes(struct.pack("<Q", len(words)) + words + bytes(at))
    for layer in ("w.weight", "v.weight"):
        with pytest.raises(Refusal, match=r"has 65 axes, of which at most 64 are|A grad"):
            load_layer(path, layer)


def test_work_to_look_into_a_checkpoint_grows_as_the_number_of_its_tensors(tmp_path: Path) -> None:
    """Function calls are counted: 20,000 tensors take a second or two."""

    def calls(layers: int) -> int:
        one, path, count = np.ones((1, 1), "f4"), tmp_path / f"{layers}.safetensors", [0]
        net = {f"h.{i}.a.weight": one for i in range(layers)}
        save_file(net | {f"h.{i}.n.weight": one[0] for i in range(layers)}, path)

        def counted(frame: object, event: str, of: object) -> None:
            count[0] += event == "call"

        sys.setprofile(counted)
        try:
            found = Checkpoint.of(path)
            of_each = [found.of_role for _ in found.proposals]
        finally:
            sys.setprofile(None)
        assert len(of_each) == layers
        return count[0]

    calls(1)
    assert calls(800) < 4.5 * calls(200), "four times as many tensors"


def test_embedding_is_no_layer() -> None:
    assert role_of("transformer.wte.weight", (50, 6)) == ("transformer.wte", "embedding")
    assert role_of("embeddings.word_embeddings.weight", (50, 6))[1] == "embedding"


@pytest.mark.parametrize("name", ["attention.q", "transformer.q"])
def test_names_of_collections_are_left_out(name: str) -> None:
    assert role_of(f"state_dict.module.{name}.weight", (6, 6)) == (name, "weight")


def test_rows_are_those_that_the_framework_multiplies_by(tmp_path: Path) -> None:
    """PyTorch: a = x Wᵀ, and for GPT-2 and JAX a = x W; a convolution sees windows."""
    rng = np.random.default_rng(1)
    x, gpt = rng.standard_normal((5, 6)), rng.standard_normal((6, 18))
    save_file(
        {"attn.c_attn.weight": gpt, "attn.c_attn.bias": np.zeros(18)}, tmp_path / "g.safetensors"
    )
    for i, part in enumerate("qkv"):
        W = load_layer(tmp_path / "g.safetensors", f"attn.c_attn.weight[{part}]").W
        np.testing.assert_allclose(x @ W.T, (x @ gpt)[:, 6 * i : 6 * i + 6])
    kernel = rng.standard_normal((3, 2, 4, 5))  # JAX: height, width, inputs, outputs
    images = rng.standard_normal((2, 4, 6, 7))
    np.savez(tmp_path / "c.npz", **{"params/Conv_0/kernel": kernel})
    np.save(tmp_path / "x.npy", images)
    layer = load_layer(tmp_path / "c.npz", x=tmp_path / "x.npy")
    assert layer.X is not None
    a = (layer.X @ layer.W.T).reshape(2, 4, 6, 5)
    for n, i, j, o in np.ndindex(a.shape):
        seen = images[n, :, i : i + 3, j : j + 2]
        assert a[n, i, j, o] == pytest.approx((seen.transpose(1, 2, 0) * kernel[..., o]).sum())


def test_projection_from_heads_takes_what_they_make_side_by_side(tmp_path: Path) -> None:
    kernel = np.random.default_rng(2).standard_normal((3, 4, 5))  # JAX: heads, each of 4, outputs
    np.savez(tmp_path / "a.npz", **{"params/attn/out/kernel": kernel})
    x = np.arange(12.0).reshape(3, 4)
    W = load_layer(tmp_path / "a.npz").W
    np.testing.assert_allclose(W @ x.ravel(), np.einsum("hdo,hd->o", kernel, x))


def test_places_that_are_offered_are_those_that_are_not_refused(tmp_path: Path) -> None:
    shapes = {"conv.weight": (4, 4, 3, 3), "one.weight": (4, 4, 1, 1), "fc.weight": (4, 8)}
    shapes |= {"free.weight": (2, 3), "n.weight": (4,), "fc2.weight": (3, 8), "m.weight": (8,)}
    path = saved(tmp_path, shapes)

    def offered(layer: str, norm: str | None, normalizer: str | None = None) -> set[str]:
        found = Checkpoint.of(path, norm=norm, normalizer=normalizer).choose(layer)
        for place in PLACES:
            given = {"norm": norm, "normalizer": normalizer, "place": place}
            if place in found.places:
                assert load_layer(path, layer, **given).place.key == place
            else:
                with pytest.raises(Refusal):
                    load_layer(path, layer, **given)
        return {*found.places}

    assert offered("conv.weight", "n") == {"after", "residual"}
    assert offered("one.weight", "n") == {"after", "before", "residual"}
    assert offered("fc.weight", "n") == {"after", "before", "residual"}  # 4 of 8, for two heads
    assert offered("fc.weight", "m") == {"before"}
    assert offered("free.weight", "", "weight") == {"after"}
    assert offered("fc2.weight", "m", "batch") == {"before"}


def test_corrections_win(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a.weight": (4, 4), "n.first": (4,), "odd": (4, 4), "m.scale": (4,)})
    layer = load_layer(
        path, "a.weight", norm="m", place="before", normalizer="rms", eps=1e-3, groups=2
    )
    assert (layer.place.key, layer.normalizer.words) == ("before", ("none", "layer"))
    assert (layer.normalizer.eps, layer.normalizer.groups) == (1e-3, 2)
    assert layer.gain is not None
    found = Checkpoint.of(path, {"odd": "weight", "a.weight": "other"})
    assert [one.name for one in found.proposals] == ["odd"]
    assert (found.roles["n.first"], found.roles["a.weight"]) == ("other", "other")


def test_bias_that_the_norm_takes_is_a_weight(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        {"x.0.weight": (4, 3), "x.0.bias": (4,), "x.1.weight": (4,), "x.1.bias": (4,)},
    )
    layer = load_layer(path)
    assert layer.W.shape == (4, 4)
    assert layer.bias is None
    assert "counted among the weights" in layer.notes[0]
    batch = load_layer(path, normalizer="batch")
    assert batch.W.shape == (4, 3)
    assert batch.notes == ("The bias b of the layer changes nothing: the norm takes it off.",)


def bad(**given: Any) -> dict[str, Any]:
    return given


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "layer": (
        bad(layer="c"),
        "Choose one of the 2 layers of the files by its name; got 'c', and they are a.weight, "
        "b.weight.",
    ),
    "no layer": (
        bad(),
        "Choose one of the 2 layers of the files by its name; got None, and they are a.weight, "
        "b.weight.",
    ),
    "role": (
        bad(layer="a.weight", roles={"a.weight": "wheel"}),
        "A correction gives a tensor of the files one of weight, bias, gain, running_mean, "
        "running_var, embedding, x, labels, gradient, other; got 'a.weight' and 'wheel'.",
    ),
    "norm": (
        bad(layer="a.weight", norm="bn"),
        "`norm` must be the path of a norm in the files; got 'bn', and they hold n.",
    ),
    "place": (
        bad(layer="a.weight", place="beside"),
        "`place` must be one of after, before, residual; got 'beside'.",
    ),
    "size": (
        bad(layer="a.weight", norm="n", place="before"),
        "A norm that stands before W of a layer with W of shape (4, 3) takes 3 numbers of each "
        "case; 'n' has 4. State another place or another norm.",
    ),
    "inputs": (
        bad(layer="a.weight", x="x.npy"),
        "`X` of a layer with W of shape (4, 3) must have shape (7, 3); got (7, 2). Check which "
        "tensor is what.",
    ),
    "gradient": (
        bad(layer="a.weight", gradient="x.npy"),
        "A gradient must have the shape of its weights, or one axis more for several batches; got "
        "(7, 2) for weights of shape (4, 3).",
    ),
    "images": (
        bad(layer="a.weight", x="images.npy"),
        "Images of a convolution must have shape (N, C, rows, columns) with the 3 channels of its "
        "kernel, or a multiple of them, in as many groups as divide its neurons; and with their "
        "padding be no smaller than it; got (2, 3, 5, 5) for weights of shape (4, 3).",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_told_in_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(Path(), {"a.weight": (4, 3), "b.weight": (3, 4), "n.weight": (4,)})
    np.save("x.npy", np.ones((7, 2)))
    np.save("images.npy", np.ones((2, 3, 5, 5)))
    given, sentence = BAD[name]
    with pytest.raises(Refusal, match=f"^{re.escape(sentence)}$"):
        load_layer("model.safetensors", **given)


def test_files_without_weights_say_so(tmp_path: Path) -> None:
    path = saved(tmp_path, {"bn.weight": (4,), "bn.bias": (4,)})
    with pytest.raises(Refusal, match=r"^The files must hold weights, .* none of their 2 tensors"):
        load_layer(path)


def test_numbers_in_names_have_any_length(tmp_path: Path) -> None:
    """Python itself reads no more than 4,300 digits."""
    long = "1" * 5000
    names = [f"net.{long}.weight", f"net.{'2' * 5000}.weight", "net.10.weight", "net.9.weight"]
    found = Checkpoint.of(saved(tmp_path, dict.fromkeys(names, (3, 2))))
    assert [one.name for one in found.proposals] == [*names[:2], names[3], names[2]]


def test_vectors_of_sequences_are_cases(tmp_path: Path) -> None:
    """Inputs (N, T, D) and a stream (N, T, H) of a linear layer, as transformers have them."""
    W, X, r = (RNG.standard_normal(shape) for shape in ((3, 4), (5, 6, 4), (5, 6, 3)))
    np.savez(tmp_path / "net.npz", **{"fc.weight": W, "ln.weight": np.ones(3)})
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "r.npy", r)
    layer = load_layer(
        tmp_path / "net.npz",
        x=tmp_path / "x.npy",
        stream=tmp_path / "r.npy",
        place="residual",
        normalizer="layer",
        eps=0.0,
    )
    v = layer.variances()
    assert v is not None
    np.testing.assert_allclose(v.ravel(), (X @ W.T + r).var(axis=2).ravel())
    assert "Each vector of the inputs is a case: 30 of them." in layer.notes
