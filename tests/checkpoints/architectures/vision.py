"""Vision transformers of the packages transformers, timm and torchvision."""

from tests.checkpoints.architectures.names import (
    QKV,
    D,
    F,
    N,
    Shapes,
    V,
    add,
    conv,
    lin,
    ln,
    of,
    thirds,
    truth,
)


def vit_block(b: str, inner: str) -> Shapes:
    return (
        {
            n: s
            for x in ("query", "key", "value")
            for n, s in lin(f"{b}.attention.{inner}.{x}", D, D).items()
        }
        | lin(f"{b}.attention.output.dense", D, D)
        | lin(f"{b}.intermediate.dense", F, D)
        | lin(f"{b}.output.dense", D, F)
        | ln(f"{b}.layernorm_before")
        | ln(f"{b}.layernorm_after")
    )


VIT = [f"vit.encoder.layer.{i}" for i in range(N)]
VIT_TRUTH = [
    one
    for b in VIT
    for one in (
        truth(
            "before", f"{b}.layernorm_before", *of(f"{b}.attention.attention", "query key value")
        ),
        truth("before", f"{b}.layernorm_after", f"{b}.intermediate.dense"),
    )
]
add(
    "ViT of transformers",
    [
        {"vit.embeddings.cls_token": (1, 1, D), "vit.embeddings.position_embeddings": (1, 5, D)},
        conv("vit.embeddings.patch_embeddings.projection", D, 3, 4, 4, bias=True),
        *(vit_block(b, "attention") for b in VIT),
        ln("vit.layernorm"),
        lin("classifier", V, D),
    ],
    [*VIT_TRUTH, truth("before", "vit.layernorm", "classifier")],
)
SWIN = [f"swin.encoder.layers.0.blocks.{i}" for i in range(N)]
SWIN_MORE = [
    ln("swin.encoder.layers.0.downsample.norm", 4 * D),
    lin("swin.encoder.layers.0.downsample.reduction", 2 * D, 4 * D, False),
    ln("swin.layernorm", 2 * D),
    lin("classifier", V, 2 * D),
]
add(
    "Swin, whose head takes a mean",
    [
        vit_block(b, "self") | {f"{b}.attention.self.relative_position_bias_table": (9, 2)}
        for b in SWIN
    ]
    + SWIN_MORE,
    [
        one
        for b in SWIN
        for one in (
            truth("before", f"{b}.layernorm_before", *of(f"{b}.attention.self", "query key value")),
            truth("before", f"{b}.layernorm_after", f"{b}.intermediate.dense"),
        )
    ]
    + [
        truth(
            "before",
            "swin.encoder.layers.0.downsample.norm",
            "swin.encoder.layers.0.downsample.reduction",
        )
    ],
    untold=1,
)
add(
    "Swin 2, the same with norms after its parts",
    [vit_block(b, "self") | {f"{b}.attention.self.logit_scale": (2, 1, 1)} for b in SWIN],
    [
        one
        for b in SWIN
        for one in (
            truth("after", f"{b}.layernorm_before", f"{b}.attention.output.dense"),
            truth("after", f"{b}.layernorm_after", f"{b}.output.dense"),
        )
    ],
    untold=2 * N,
)
CLIP = [f"vision_model.encoder.layers.{i}" for i in range(N)]
add(
    "CLIP of transformers",
    [
        {
            n: s
            for x in ("q", "k", "v", "out")
            for n, s in lin(f"{b}.self_attn.{x}_proj", D, D).items()
        }
        | ln(f"{b}.layer_norm1")
        | ln(f"{b}.layer_norm2")
        | lin(f"{b}.mlp.fc1", F, D)
        | lin(f"{b}.mlp.fc2", D, F)
        for b in CLIP
    ]
    + [ln("vision_model.pre_layrnorm"), ln("vision_model.post_layernorm")]
    + [lin("visual_projection", 6, D, False)],
    [
        one
        for b in CLIP
        for one in (
            truth("before", f"{b}.layer_norm1", *of(b, QKV)),
            truth("before", f"{b}.layer_norm2", f"{b}.mlp.fc1"),
        )
    ]
    + [truth("before", "vision_model.post_layernorm", "visual_projection")],
    untold=1,
)

SEG = [f"decoder.layers.{i}" for i in range(N)]
add(
    "decoder of CLIPSeg, the same with norms after its sums",
    [
        {
            n: s
            for x in ("q", "k", "v", "out")
            for n, s in lin(f"{b}.self_attn.{x}_proj", D, D).items()
        }
        | ln(f"{b}.layer_norm1")
        | ln(f"{b}.layer_norm2")
        | lin(f"{b}.mlp.fc1", F, D)
        | lin(f"{b}.mlp.fc2", D, F)
        for b in SEG
    ],
    [truth("residual", f"{b}.layer_norm1", f"{b}.self_attn.out_proj") for b in SEG]
    + [truth("residual", f"{b}.layer_norm2", f"{b}.mlp.fc2") for b in SEG],
    untold=2 * N,
)


def timm_block(b: str, bias: bool = True) -> Shapes:
    return (
        ln(f"{b}.norm1")
        | lin(f"{b}.attn.qkv", 3 * D, D, bias)
        | lin(f"{b}.attn.proj", D, D)
        | ln(f"{b}.norm2")
        | lin(f"{b}.mlp.fc1", F, D)
        | lin(f"{b}.mlp.fc2", D, F)
    )


B = [f"blocks.{i}" for i in range(N)]
TIMM = [
    one
    for b in B
    for one in (
        thirds("before", f"{b}.norm1", f"{b}.attn.qkv.weight"),
        truth("before", f"{b}.norm2", f"{b}.mlp.fc1"),
    )
]
CLS = {"cls_token": (1, 1, D), "pos_embed": (1, 5, D)}
add(
    "ViT of timm",
    [
        CLS,
        conv("patch_embed.proj", D, 3, 4, 4, bias=True),
        *map(timm_block, B),
        ln("norm"),
        lin("head", V, D),
    ],
    [*TIMM, truth("before", "norm", "head")],
)
add(
    "DeiT 3, with layer scales",
    [
        CLS,
        *(timm_block(b) | {f"{b}.ls1.gamma": (D,), f"{b}.ls2.gamma": (D,)} for b in B),
        ln("norm"),
        lin("head", V, D),
    ],
    [*TIMM, truth("before", "norm", "head")],
)
add(
    "ViT of timm with norms after its parts",
    [
        {"pos_embed": (1, 5, D)},
        *(timm_block(b, False) for b in B),
        ln("fc_norm"),
        lin("head", V, D),
    ],
    [truth("after", f"{b}.norm1", f"{b}.attn.proj") for b in B]
    + [truth("after", f"{b}.norm2", f"{b}.mlp.fc2") for b in B]
    + [truth("before", "fc_norm", "head")],
    untold=2 * N + 1,
)
add(
    "EVA of timm with norms after its parts",
    [
        CLS,
        *(timm_block(b, False) | {f"{b}.attn.q_bias": (D,), f"{b}.attn.v_bias": (D,)} for b in B),
        ln("norm"),
        lin("head", V, D),
    ],
    [truth("after", f"{b}.norm1", f"{b}.attn.proj") for b in B]
    + [truth("after", f"{b}.norm2", f"{b}.mlp.fc2") for b in B]
    + [truth("before", "norm", "head")],
    untold=2 * N + 1,
)
add(
    "Swin of timm",
    [
        *(
            timm_block(f"layers.0.{b}")
            | {f"layers.0.{b}.attn.relative_position_bias_table": (9, 2)}
            for b in B
        ),
        ln("norm"),
        lin("head.fc", V, D),
    ],
    [
        one
        for b in B
        for one in (
            thirds("before", f"layers.0.{b}.norm1", f"layers.0.{b}.attn.qkv.weight"),
            truth("before", f"layers.0.{b}.norm2", f"layers.0.{b}.mlp.fc1"),
        )
    ],
)
add(
    "Swin 2 of timm",
    [
        timm_block(f"layers.0.{b}", False)
        | {f"layers.0.{b}.attn.logit_scale": (2, 1, 1), f"layers.0.{b}.attn.q_bias": (D,)}
        | lin(f"layers.0.{b}.attn.cpb_mlp.0", 5, 2)
        | lin(f"layers.0.{b}.attn.cpb_mlp.2", 2, 5, False)
        for b in B
    ],
    [truth("after", f"layers.0.{b}.norm1", f"layers.0.{b}.attn.proj") for b in B]
    + [truth("after", f"layers.0.{b}.norm2", f"layers.0.{b}.mlp.fc2") for b in B],
    untold=2 * N,
)
add(
    "MLP-Mixer",
    [
        conv("stem.proj", D, 3, 4, 4, bias=True),
        *(
            ln(f"{b}.norm1")
            | ln(f"{b}.norm2")
            | lin(f"{b}.mlp_tokens.fc1", 6, 5)
            | lin(f"{b}.mlp_tokens.fc2", 5, 6)
            | lin(f"{b}.mlp_channels.fc1", F, D)
            | lin(f"{b}.mlp_channels.fc2", D, F)
            for b in B
        ),
        ln("norm"),
        lin("head", V, D),
    ],
    [truth("before", f"{b}.norm2", f"{b}.mlp_channels.fc1") for b in B],
)
add(
    "ViT of torchvision",
    [
        {"class_token": (1, 1, D), "encoder.pos_embedding": (1, 5, D)},
        conv("conv_proj", D, 3, 4, 4, bias=True),
        *(
            ln(f"encoder.layers.encoder_layer_{i}.ln_1")
            | {f"encoder.layers.encoder_layer_{i}.self_attention.in_proj_weight": (3 * D, D)}
            | {f"encoder.layers.encoder_layer_{i}.self_attention.in_proj_bias": (3 * D,)}
            | lin(f"encoder.layers.encoder_layer_{i}.self_attention.out_proj", D, D)
            | ln(f"encoder.layers.encoder_layer_{i}.ln_2")
            | lin(f"encoder.layers.encoder_layer_{i}.mlp.0", F, D)
            | lin(f"encoder.layers.encoder_layer_{i}.mlp.3", D, F)
            for i in range(N)
        ),
        ln("encoder.ln"),
        lin("heads.head", V, D),
    ],
    [
        one
        for i in range(N)
        for e in [f"encoder.layers.encoder_layer_{i}"]
        for one in (
            thirds("before", f"{e}.ln_1", f"{e}.self_attention.in_proj_weight"),
            truth("before", f"{e}.ln_2", f"{e}.mlp.0"),
        )
    ]
    + [truth("before", "encoder.ln", "heads.head")],
)
