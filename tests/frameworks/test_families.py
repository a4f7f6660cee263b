"""What the table of families says of real classes of transformers, against these as they run.

Each is built small with random weights and saved as transformers saves it; then its folder is read
by names and config.json, and the norms are compared with those that are seen while it runs.
"""

import numpy as np
import pytest
import torch
import transformers

import normgeo.torch
from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.reading import read_layer
from normgeo.checkpoints.written.families import FAMILIES
from tests.frameworks.architectures import drawn, tokens

SIZES = (
    (16, "hidden_size d_model n_embd word_embed_proj_dim dim embedding_size"),
    (
        24,
        "intermediate_size d_ff ffn_dim n_inner encoder_ffn_dim decoder_ffn_dim hidden_dim "
        "moe_intermediate_size shared_expert_intermediate_size",
    ),
    (
        2,
        "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers "
        "num_decoder_layers num_key_value_heads num_local_experts num_experts",
    ),
    (
        4,
        "num_attention_heads n_head n_heads num_heads encoder_attention_heads patch_size "
        "decoder_attention_heads rotary_dim d_kv head_dim",
    ),
    (32, "vocab_size max_position_embeddings n_positions max_seq_len max_source_positions"),
    (8, "num_mel_bins image_size"),
    (1, "num_experts_per_tok bos_token_id"),
    (0, "pad_token_id eos_token_id decoder_start_token_id cls_token_id sep_token_id"),
    (0.3, "initializer_range init_std"),
    (0.0, "attention_dropout hidden_dropout_prob attention_probs_dropout_prob dropout"),
)
"""What makes a network small, by the names that configurations have for it."""

SMALL = {name: size for size, names in SIZES for name in names.split()}

PATCHES = {"image_size": 16, "num_stages": 2, "depths": (1, 1), "hidden_sizes": (8, 12)}
OWN = {
    "gpt_neo": {"attention_types": [[["global"], 2]]},
    "nemotron": {"num_key_value_heads": 2, "head_dim": 4},
    "mamba2": {"num_heads": 8, "head_dim": 4, "n_groups": 1},
    "convnext": PATCHES,
    "convnextv2": PATCHES,
    "swin": {
        "image_size": 16,
        "embed_dim": 8,
        "depths": (1, 1),
        "num_heads": (2, 2),
        "window_size": 2,
    },
}
"""What some have of their own."""

LEFT_OUT = {"gemma3", "clip", "siglip"}
"""Of text and images, whose parts are families of their own here."""

LACKS = {"falcon": ("head_dim",), "swin": ("num_attention_heads", "num_hidden_layers")}
"""What some refuse."""

NONE_TOLD = {"qwen3_next"}
"""Whose blocks names do not tell: half of them have no attention."""


def built(family):
    """A small model of a family with random weights, and a batch for it."""
    plain = transformers.AutoConfig.for_model(family)
    known = {name: size for name, size in SMALL.items() if getattr(plain, name, None) is not None}
    for name in LACKS.get(family, ()):
        known.pop(name, None)
    config = transformers.AutoConfig.for_model(family, **known | OWN.get(family, {}))
    kind = transformers.AutoModel
    if type(config) in transformers.MODEL_FOR_CAUSAL_LM_MAPPING and not config.is_encoder_decoder:
        kind = transformers.AutoModelForCausalLM
    torch.manual_seed(0)
    model = drawn(kind.from_config(config, attn_implementation="eager")).eval()
    if hasattr(config, "use_cache"):
        model.config.use_cache = False
    words = {"input_ids": tokens(30) + 1}
    if model.main_input_name == "pixel_values":
        size = config.image_size
        words = {"pixel_values": torch.randn(2, 3, size, size)}
    elif model.main_input_name == "input_features":
        words = {"input_features": torch.randn(4, 8, 64)}
    if config.is_encoder_decoder:
        words["decoder_input_ids"] = tokens(30) + 1
    return model, words


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - LEFT_OUT))
def test_family_is_as_the_table_says(family, tmp_path):
    """Layers are found by their numbers: names in files are older ones in part."""
    model, words = built(family)
    model.save_pretrained(tmp_path)
    files = Checkpoint.of(tmp_path)
    seen = {
        one.W.astype("f4").tobytes(): one for one in normgeo.torch.layers(model, words).values()
    }
    told = 0
    for proposal in files.proposals:
        if proposal.norm is None:
            continue
        layer = read_layer(files, proposal, {})
        there = seen.get(layer.W.astype("f4").tobytes())
        beside = there is not None and there.normalizer.is_standard and "expert" in proposal.name
        if there is None or beside:
            continue  # experts run in one product, which is no layer, and reads the norm as well
        told += 1
        assert layer.place == there.place, (proposal.name, there.why)
        assert proposal.norm.path.rpartition(".")[2] in there.why
        center, scale = layer.normalizer.words
        centers = {center, "layer"} if proposal.basis.may_center else {center}
        assert there.normalizer.words in {(one, scale) for one in centers}, proposal.name
        assert layer.normalizer.eps == there.normalizer.eps, proposal.name
        np.testing.assert_allclose(layer.gain, there.gain, rtol=1e-6)
    assert told or family in NONE_TOLD
