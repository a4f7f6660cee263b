"""config.json names the family, which decides what names leave open, and ε."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.written.conventions import CONVENTIONS
from normgeo.checkpoints.written.families import FAMILIES, conventions_of

WRITTEN = {str(one.networks) for one in CONVENTIONS}


def folder(tmp_path: Path, **said: object) -> Path:
    rng, tensors = np.random.default_rng(0), {}
    for i in range(2):
        block = f"model.layers.{i}"
        for norm in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"{block}.{norm}.weight"] = rng.random(8)
        for name in ("self_attn.q_proj", "self_attn.k_proj", "mlp.gate_proj", "mlp.up_proj"):
            tensors[f"{block}.{name}.weight"] = rng.random((8, 8))
    tensors |= {"model.norm.weight": rng.random(8), "lm_head.weight": rng.random((9, 8))}
    save_file(tensors, tmp_path / "model.safetensors")
    if said:
        (tmp_path / "config.json").write_text(json.dumps(said))
    return tmp_path


@pytest.mark.parametrize(("family", "one_plus"), [("llama", False), ("gemma", True)])
def test_family_decides_what_names_leave_open(tmp_path: Path, family: str, one_plus: bool) -> None:
    """The tensors of Gemma 1 have the names of Llama's; its code adds 1 to the gain."""
    found = Checkpoint.of(folder(tmp_path, model_type=family, rms_norm_eps=1e-6))
    proposal = found.choose("model.layers.0.mlp.up_proj.weight")
    assert (proposal.place.key, proposal.one_plus) == ("before", one_plus)
    assert proposal.normalizer.eps == 1e-6
    assert f"{family}, as config.json says" in proposal.why


def test_without_a_family_names_propose_and_say_so(tmp_path: Path) -> None:
    for said in ({}, {"model_type": "a family of tomorrow"}):
        found = Checkpoint.of(folder(tmp_path, **said))
        proposal = found.choose("model.layers.0.mlp.up_proj.weight")
        assert proposal.place.key == "before"
        assert not proposal.one_plus
        assert "written alike" in proposal.why
        assert "config.json" not in proposal.why


def test_family_of_other_blocks_proposes_none_of_them(tmp_path: Path) -> None:
    """A folder whose configuration says BERT has no Llama blocks, whatever its names suggest."""
    found = Checkpoint.of(folder(tmp_path, model_type="bert"))
    assert "is written as" not in found.choose("model.layers.0.mlp.up_proj.weight").why


def test_what_is_stated_goes_before_config_json(tmp_path: Path) -> None:
    path = folder(tmp_path, model_type="gemma", rms_norm_eps=1e-6)
    found = Checkpoint.of(path, eps=1e-3, one_plus=False)
    proposal = found.choose("model.layers.0.mlp.up_proj.weight")
    assert (proposal.normalizer.eps, proposal.one_plus) == (1e-3, False)


def test_epsilon_that_a_family_has_in_its_code_goes_before_config_json(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    save_file(
        {"layer.0.sa_layer_norm.weight": rng.random(8), "layer.0.fc.weight": rng.random((8, 8))},
        tmp_path / "model.safetensors",
    )
    (tmp_path / "config.json").write_text('{"model_type": "distilbert", "layer_norm_eps": 1e-5}')
    found = Checkpoint.of(tmp_path, normalizer="layer")
    assert [one.normalizer.eps for one in found.proposals] == [1e-12]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_names_conventions_that_there_are(family: str) -> None:
    assert {*FAMILIES[family].written} <= WRITTEN
    found = conventions_of(family)
    assert found
    assert {one.one_plus for one in found} == {FAMILIES[family].one_plus}
