"""How blocks of well-known networks are written: which norm stands where, by the names in them.

A convention is taken for a block only if the norms that stand in the block itself are exactly its
own, in this block and in all others of its stack, and if what tells it from its doubles is there:
BART and Pegasus, GPT-1 and GPT-2, Swin and its second version have the same names of norms, and
other places. Names are relative to the block; patterns are regular expressions of whole names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import final

from normgeo.base.text import text

_LAST = ("norm", "ln_f", "final_layernorm", "final_layer_norm", "norm_f", "final_norm")

Patterns = Mapping[str, str]
"""A norm → a pattern of the layers that have it."""


@final
@dataclass(frozen=True, eq=False)
class Convention:
    """How a block is written.

    Attributes:
        networks: that use it, in a few words. norms: those in the block itself.
        needs: patterns of names that a block has. lacks: a pattern of names that it lacks.
        beside: names of modules beside or above the stack, of which one is needed; () for none.
        before, after, residual: where the norms stand.
        is_rms: whether a norm without a bias is an RMS norm here. one_plus: whether 1 is added to
            the gain.
        heads: layers above the stack that take its last norm. last: names of that, beside the
            stack or above it, of which one alone is there. heads_need: a name beside it as well.
        mixed: whether blocks of other conventions are in its stacks. but: what networks that are
            written alike do otherwise, in a clause.

    """

    networks: str
    norms: str
    needs: tuple[str, ...]
    lacks: str = ""
    beside: tuple[str, ...] = ()
    before: Patterns = field(default_factory=dict)
    after: Patterns = field(default_factory=dict)
    residual: Patterns = field(default_factory=dict)
    is_rms: bool = False
    one_plus: bool = False
    heads: tuple[str, ...] = ()
    last: tuple[str, ...] = _LAST
    heads_need: str = ""
    mixed: bool = False
    but: str = ""

    def place(self, layer: str) -> tuple[str, str] | None:
        """Return the norm and the place of a layer, by its name in the block."""
        for place in ("before", "after", "residual"):
            of_place: Patterns = getattr(self, place)
            for norm, pattern in of_place.items():
                if matcher(pattern).fullmatch(layer):
                    return norm, place
        return None


@lru_cache(maxsize=512)
def matcher(pattern: str) -> re.Pattern[str]:
    """A pattern of names, compiled."""
    return re.compile(pattern)


_QKV = (
    r"(self_attn|attention|self_attention)\."
    r"([qkv]_proj|qkv_proj|query_key_value|q_a_proj|kv_a_proj_with_mqa|W_pack)"
)
_GATED = r"(mlp|feed_forward)(\.experts\.\*|\.shared_experts?)?\.(gate_proj|up_proj|gate_up_proj)"
_ROUTED = (
    r"mlp\.(gate|shared_expert_gate)|block_sparse_moe\.(gate|experts\.\*\.w[13])"
    r"|feed_forward\.router"
)
_MLP = rf"{_GATED}|{_ROUTED}|mlp\.(fc1|c_fc|dense_h_to_4h)"
_HEADS = ("lm_head", "embed_out")
_GPT = r"attn\.(attention\.)?(c_attn|[qkv]_proj|qkv_proj)|attn|self_attention"

CONVENTIONS = (
    Convention(
        text("Llama, Mistral, Qwen"),
        "input_layernorm post_attention_layernorm",
        (_QKV, rf"{_GATED}|{_ROUTED}"),
        r"self_attn\.[qk]_norm\.bias|mlp\.fc1",  # Chameleon may have its norms after the parts
        before={"input_layernorm": _QKV, "post_attention_layernorm": _MLP},
        is_rms=True,
        heads=_HEADS,
        but=text(
            "Gemma 1, Nemotron and Qwen3-Next are written alike and add 1 to the gain, to be stated"
        ),
    ),
    Convention(
        text("GPT-NeoX, BLOOM, Starcoder 2"),
        "input_layernorm post_attention_layernorm",
        (_QKV, r"mlp\.(fc1|c_fc|dense_h_to_4h)"),
        rf"{_GATED}|self_attn\.[qk]_norm\.bias",
        before={"input_layernorm": _QKV, "post_attention_layernorm": _MLP},
        heads=_HEADS,
    ),
    Convention(
        text("Gemma 2 and 3"),
        "input_layernorm post_attention_layernorm pre_feedforward_layernorm "
        "post_feedforward_layernorm",
        (_QKV, r"self_attn\.o_proj", _GATED),
        r"(altup|laurel|per_layer).*",
        before={"input_layernorm": _QKV, "pre_feedforward_layernorm": _GATED},
        after={
            "post_attention_layernorm": r"self_attn\.o_proj",
            "post_feedforward_layernorm": r"mlp\.down_proj",
        },
        is_rms=True,
        one_plus=True,
        heads=_HEADS,
    ),
    Convention(
        text("OLMo 2"),
        "post_attention_layernorm post_feedforward_layernorm",
        (_QKV, r"self_attn\.o_proj", _GATED),
        after={
            "post_attention_layernorm": r"self_attn\.o_proj",
            "post_feedforward_layernorm": r"mlp\.down_proj",
        },
        is_rms=True,
        heads=_HEADS,
    ),
    Convention(
        text("Phi, Falcon, Cohere"),
        "input_layernorm",
        (_QKV, _MLP),
        r"encoder_attn.*",
        before={"input_layernorm": rf"{_QKV}|{_MLP}"},
        heads=_HEADS,
    ),
    Convention(
        text("Falcon with two norms"),
        "ln_attn ln_mlp",
        (_QKV, _MLP),
        before={"ln_attn": _QKV, "ln_mlp": _MLP},
        heads=_HEADS,
    ),
    Convention(
        text("Jamba"),
        "input_layernorm pre_ff_layernorm",
        (_GATED + "|" + _ROUTED,),
        before={"input_layernorm": _QKV, "pre_ff_layernorm": rf"{_GATED}|{_ROUTED}"},
        is_rms=True,
        heads=_HEADS,
    ),
    Convention(
        text("Llama as it was published"),
        "attention_norm ffn_norm",
        (r"attention\.(wq|wqkv)", r"feed_forward\.w1"),
        r"attention\.[qk]_normalization.*",
        before={"attention_norm": r"attention\.(w[qkv]|wqkv)", "ffn_norm": r"feed_forward\.w[13]"},
        is_rms=True,
        heads=("output",),
    ),
    Convention(
        text("GPT-2, CLIP"),
        "ln_1 ln_2",
        (_GPT, r"mlp\.(c_fc|0|linear_1)"),
        beside=("ln_f", "ln", "ln_final", "ln_post"),  # GPT-1, whose norms follow sums, has none
        before={"ln_1": _GPT, "ln_2": r"mlp\.(c_fc|0|linear_1)"},
        heads=("lm_head", "heads.head"),
        last=("ln_f", "ln"),
    ),
    Convention(
        text("GPT-J, CodeGen"),
        "ln_1",
        (_GPT, r"mlp\.fc_in"),
        before={"ln_1": rf"{_GPT}|mlp\.fc_in"},
        heads=_HEADS,
    ),
    Convention(
        text("MPT"),
        "norm_1 norm_2",
        (r"attn\.Wqkv", r"ffn\.up_proj"),
        before={"norm_1": r"attn\.Wqkv", "norm_2": r"ffn\.up_proj"},
        heads=_HEADS,
    ),
    Convention(
        text("ModernBERT"),
        "attn_norm mlp_norm",
        (r"attn\.Wqkv", r"mlp\.Wi"),
        before={"attn_norm": r"attn\.Wqkv", "mlp_norm": r"mlp\.Wi"},
    ),
    Convention(
        text("Mamba"),
        "norm",
        (r"mixer\.in_proj", r"mixer\.A_log"),
        before={"norm": r"mixer\.in_proj"},
        is_rms=True,
        heads=_HEADS,
    ),
    Convention(
        text("T5"),
        "layer_norm",
        (r"(SelfAttention|EncDecAttention|DenseReluDense)\.(q|wi|wi_0)",),
        before={
            "layer_norm": r"SelfAttention\.[qkv]|EncDecAttention\.q|DenseReluDense\.wi(_[01])?"
        },
        is_rms=True,
    ),
    Convention(
        text("Pegasus, OPT, Whisper"),
        "self_attn_layer_norm final_layer_norm",
        (r"self_attn\.q_proj", "fc1"),
        beside=("layer_norm", "final_layer_norm"),  # BART, whose norms follow sums, has none
        before={"self_attn_layer_norm": r"self_attn\.[qkv]_proj", "final_layer_norm": "fc1"},
    ),
    Convention(
        text("Pegasus, Whisper"),
        "self_attn_layer_norm encoder_attn_layer_norm final_layer_norm",
        (r"self_attn\.q_proj", r"encoder_attn\.q_proj", "fc1"),
        beside=("layer_norm",),
        before={
            "self_attn_layer_norm": r"self_attn\.[qkv]_proj",
            "encoder_attn_layer_norm": r"encoder_attn\.q_proj",
            "final_layer_norm": "fc1",
        },
    ),
    Convention(
        text("BERT"),
        "",
        (r"(.*\.)?output\.LayerNorm", r"(.*\.)?output\.dense"),
        r"(.*\.)?bottleneck\..*",  # MobileBERT's are no norms
        residual={"{parent}.LayerNorm": r"(.*\.)?output\.dense"},
    ),
    Convention(
        text("DistilBERT"),
        "sa_layer_norm output_layer_norm",
        (r"attention\.out_lin", r"ffn\.lin2"),
        residual={"sa_layer_norm": r"attention\.out_lin", "output_layer_norm": r"ffn\.lin2"},
    ),
    Convention(
        text("ALBERT"),
        "full_layer_layer_norm",
        (r"attention\.LayerNorm", "ffn_output"),
        residual={
            "full_layer_layer_norm": "ffn_output",
            "attention.LayerNorm": r"attention\.dense",
        },
    ),
    Convention(
        text("ViT, Swin"),
        "layernorm_before layernorm_after",
        (r"attention\.(attention|self)\.query", r"intermediate\.dense"),
        r"attention\.self\.(logit_scale|continuous_position_bias_mlp.*)",  # Swin 2 has them after
        before={
            "layernorm_before": r"attention\.(attention|self)\.(query|key|value)",
            "layernorm_after": r"intermediate\.dense",
        },
        heads=("classifier",),
        last=("layernorm",),
        heads_need="embeddings.cls_token",  # Swin takes a mean before its head
    ),
    Convention(
        text("CLIP, SigLIP"),
        "layer_norm1 layer_norm2",
        (r"self_attn\.(q_proj|qkv)", r"mlp\.fc1"),
        beside=("post_layernorm", "final_layer_norm"),  # CLIPSeg's decoder has its own after sums
        before={"layer_norm1": r"self_attn\.([qkv]_proj|qkv)", "layer_norm2": r"mlp\.fc1"},
    ),
    Convention(
        text("ViT of timm"),
        "norm1 norm2",
        (r"attn\.qkv\.bias", r"mlp\.fc1"),
        r"attn\.(logit_scale|q_bias|rel_pos.*|cpb_mlp.*|relative.*)|ls[12].*|layer_scale.*",
        beside=("cls_token",),  # others may have their norms after the parts
        before={"norm1": r"attn\.qkv", "norm2": r"mlp\.fc1"},
        heads=("head",),
        last=("norm", "fc_norm"),
    ),
    Convention(
        text("ViT with layer scales"),
        "norm1 norm2",
        (
            r"attn\.qkv\.bias|attention\.attention\.query",
            r"mlp\.(fc1|weights_in|w12)",
            r"ls1.*|layer_scale1.*",
        ),
        r"attn\.(logit_scale|q_bias|rel_pos.*|cpb_mlp.*)",
        before={
            "norm1": r"attn\.qkv|attention\.attention\.(query|key|value)",
            "norm2": r"mlp\.(fc1|weights_in|w12)",
        },
        heads=("head",),
        last=("norm", "fc_norm"),
        heads_need="cls_token",
    ),
    Convention(
        text("Swin"),
        "norm1 norm2",
        (r"attn\.relative_position_bias_table", r"attn\.qkv", r"mlp\.(fc1|0)"),
        r"attn\.(logit_scale|cpb_mlp.*)",  # Swin 2 has them after
        before={"norm1": r"attn\.qkv", "norm2": r"mlp\.(fc1|0)"},
    ),
    Convention(
        text("MLP-Mixer"),
        "norm1 norm2",
        (r"mlp_tokens\.fc1", r"mlp_channels\.fc1"),
        before={"norm2": r"mlp_channels\.fc1"},
    ),
    Convention(
        text("ViT in JAX"),
        "LayerNorm_0 LayerNorm_2",
        (r"MultiHeadDotProductAttention_1\.query", r"MlpBlock_3\.Dense_0"),
        beside=("encoder_norm",),
        before={
            "LayerNorm_0": r"MultiHeadDotProductAttention_1\.(query|key|value)",
            "LayerNorm_2": r"MlpBlock_3\.Dense_0",
        },
    ),
    *(
        Convention(
            text("ConvNeXt"),
            norm,
            (r"dwconv|conv_dw", r"pwconv1|mlp\.fc1"),
            before={norm: r"pwconv1|mlp\.fc1"},
            after={norm: r"dwconv|conv_dw"},
        )
        for norm in ("norm", "layernorm")
    ),
    Convention(
        text("EfficientNet of timm"),
        "bn1 bn2 bn3",
        ("conv_pw", "conv_dw", "conv_pwl"),
        after={"bn1": "conv_pw", "bn2": "conv_dw", "bn3": "conv_pwl"},
        mixed=True,
    ),
    Convention(
        text("EfficientNet of timm"),
        "bn1 bn2",
        ("conv_dw", "conv_pw"),
        r"conv_pwl.*|conv_exp.*",
        after={"bn1": "conv_dw", "bn2": "conv_pw"},
        mixed=True,
    ),
    Convention(
        text("EfficientNet of timm"),
        "bn1 bn2",
        ("conv_exp", "conv_pwl"),
        r"conv_pw|conv_dw.*",
        after={"bn1": "conv_exp", "bn2": "conv_pwl"},
        mixed=True,
    ),
)
