"""Networks in JAX, plain PyTorch, and of other kinds."""

from tests.checkpoints.architectures.names import (
    HEAD,
    D,
    F,
    N,
    Shapes,
    V,
    add,
    bn,
    conv,
    lin,
    ln,
    of,
    rms,
    thirds,
    truth,
)


def dense(path: str, out: int, into: int) -> Shapes:
    return {f"params/{path}/kernel": (into, out), f"params/{path}/bias": (out,)}


def flax_ln(path: str, size: int = D) -> Shapes:
    return {f"params/{path}/scale": (size,), f"params/{path}/bias": (size,)}


def flax_bn(path: str, size: int) -> Shapes:
    return flax_ln(path, size) | {f"batch_stats/{path}/{n}": (size,) for n in ("mean", "var")}


def kernels(place: str, norm: str, *layers: str) -> dict[str, tuple[str, str]]:
    return {f"params/{layer}/kernel": (norm, place) for layer in layers}


FV = [f"Transformer/encoderblock_{i}" for i in range(N)]
add(
    "ViT in JAX",
    [{"params/Transformer/posembed_input/pos_embedding": (1, 5, D)}, {"params/cls": (1, 1, D)}]
    + [
        flax_ln(f"{b}/LayerNorm_0")
        | {
            f"params/{b}/MultiHeadDotProductAttention_1/{x}/kernel": (D, 2, HEAD)
            for x in ("query", "key", "value")
        }
        | {f"params/{b}/MultiHeadDotProductAttention_1/out/kernel": (2, HEAD, D)}
        | flax_ln(f"{b}/LayerNorm_2")
        | dense(f"{b}/MlpBlock_3/Dense_0", F, D)
        | dense(f"{b}/MlpBlock_3/Dense_1", D, F)
        for b in FV
    ]
    + [flax_ln("Transformer/encoder_norm"), dense("head", V, D)],
    [
        one
        for b in FV
        for dots in [b.replace("/", ".")]
        for one in (
            kernels(
                "before",
                f"{dots}.LayerNorm_0",
                *(f"{b}/MultiHeadDotProductAttention_1/{x}" for x in ("query", "key", "value")),
            ),
            kernels("before", f"{dots}.LayerNorm_2", f"{b}/MlpBlock_3/Dense_0"),
        )
    ]
    + [kernels("before", "Transformer.encoder_norm", "head")],
    untold=1,
)
SIZES = [(4, 4), (4, 4), (4, 6), (6, 6), (6, 8), (8, 8), (8, 10), (10, 10)]
FR = [(f"ResNetBlock_{i}", into, out) for i, (into, out) in enumerate(SIZES)]
add(
    "ResNet in flax",
    [
        {
            f"params/{b}/Conv_0/kernel": (3, 3, into, out),
            f"params/{b}/Conv_1/kernel": (3, 3, out, out),
        }
        | flax_bn(f"{b}/BatchNorm_0", out)
        | flax_bn(f"{b}/BatchNorm_1", out)
        for b, into, out in FR
    ]
    + [{"params/conv_init/kernel": (7, 7, 3, 4)}, flax_bn("bn_init", 4), dense("Dense_0", V, 10)],
    [kernels("after", f"{b}.BatchNorm_{k}", f"{b}/Conv_{k}") for b, _, _ in FR for k in (0, 1)]
    + [kernels("after", "bn_init", "conv_init")],
    untold=1,
)
FB = [f"Block_{i}" for i in range(N)]
add(
    "blocks in flax with numbers of their own",
    [
        flax_ln(f"{b}/LayerNorm_0")
        | dense(f"{b}/Dense_0", F, D)
        | dense(f"{b}/Dense_1", D, F)
        | flax_ln(f"{b}/LayerNorm_1")
        for b in FB
    ],
    [kernels("before", f"{b}.LayerNorm_0", f"{b}/Dense_0") for b in FB],
    untold=N,
)
ENC = [f"layers.{i}" for i in range(N)]
add(
    "encoder of PyTorch, with norms that norm_first decides",
    [
        {f"{b}.self_attn.in_proj_weight": (3 * D, D), f"{b}.self_attn.in_proj_bias": (3 * D,)}
        | lin(f"{b}.self_attn.out_proj", D, D)
        | lin(f"{b}.linear1", F, D)
        | lin(f"{b}.linear2", D, F)
        | ln(f"{b}.norm1")
        | ln(f"{b}.norm2")
        for b in ENC
    ],
    [truth("residual", f"{b}.norm1", f"{b}.self_attn.out_proj") for b in ENC]
    + [truth("residual", f"{b}.norm2", f"{b}.linear2") for b in ENC],
    untold=2 * N,
)
add(
    "blocks with a lone norm before a square layer",
    [ln(f"blocks.{i}.norm") | lin(f"blocks.{i}.fc", D, D) for i in range(N)],
    [truth("before", f"blocks.{i}.norm", f"blocks.{i}.fc") for i in range(N)],
    untold=N,
)
add(
    "a small network with norms behind its activations",
    [
        conv("conv1", 4, 3),
        bn("bn1", 4),
        conv("conv2", 6, 4),
        bn("bn2", 6),
        lin("fc1", 9, 6),
        bn("bn3", 9),
        lin("fc2", V, 9),
    ],
    [truth("before", "bn3", "fc2")],
    untold=1,
)
add(
    "a sequence",
    [lin("net.0", F, D), ln("net.1", F), lin("net.3", D, F), ln("net.4"), lin("net.5", V, D)],
    [
        truth("after", "net.1", "net.0"),
        truth("after", "net.4", "net.3"),
        truth("before", "net.4", "net.5"),
    ],
)
add(
    "RWKV, which shifts between norm and layer",
    [
        ln(f"{b}.ln1")
        | ln(f"{b}.ln2")
        | {
            n: s
            for x in ("key", "value", "receptance", "output")
            for n, s in lin(f"{b}.attention.{x}", D, D, False).items()
        }
        | lin(f"{b}.feed_forward.key", F, D, False)
        | lin(f"{b}.feed_forward.value", D, F, False)
        for b in (f"blocks.{i}" for i in range(N))
    ]
    + [{"emb.weight": (V, D)}],
    [],
)
add(
    "Mamba",
    [
        rms(f"backbone.layers.{i}.norm")
        | lin(f"backbone.layers.{i}.mixer.in_proj", 4 * D, D, False)
        | conv(f"backbone.layers.{i}.mixer.conv1d", 2 * D, 1, 4, bias=True)
        | lin(f"backbone.layers.{i}.mixer.x_proj", 5, 2 * D, False)
        | lin(f"backbone.layers.{i}.mixer.dt_proj", 2 * D, 3)
        | lin(f"backbone.layers.{i}.mixer.out_proj", D, 2 * D, False)
        | {f"backbone.layers.{i}.mixer.A_log": (2 * D, 4)}
        for i in range(N)
    ]
    + [rms("backbone.norm_f"), lin("lm_head", V, D, False)],
    [
        truth("before", f"backbone.layers.{i}.norm", f"backbone.layers.{i}.mixer.in_proj")
        for i in range(N)
    ]
    + [truth("before", "backbone.norm_f", "lm_head")],
)
add(
    "ModernBERT",
    [
        (rms(f"layers.{i}.attn_norm") if i else {})
        | rms(f"layers.{i}.mlp_norm")
        | lin(f"layers.{i}.attn.Wqkv", 3 * D, D, False)
        | lin(f"layers.{i}.attn.Wo", D, D, False)
        | lin(f"layers.{i}.mlp.Wi", 2 * F, D, False)
        | lin(f"layers.{i}.mlp.Wo", D, F, False)
        for i in range(N)
    ]
    + [{"embeddings.tok_embeddings.weight": (V, D)}, rms("embeddings.norm"), rms("final_norm")],
    [thirds("before", f"layers.{i}.attn_norm", f"layers.{i}.attn.Wqkv.weight") for i in (1, 2)]
    + [truth("before", f"layers.{i}.mlp_norm", f"layers.{i}.mlp.Wi") for i in range(N)],
    untold=1,
)
add(
    "Llama as it was published",
    [{"tok_embeddings.weight": (V, D)}, rms("norm"), lin("output", V, D, False)]
    + [
        rms(f"{b}.attention_norm")
        | rms(f"{b}.ffn_norm")
        | {n: s for x in "qkvo" for n, s in lin(f"{b}.attention.w{x}", D, D, False).items()}
        | lin(f"{b}.feed_forward.w1", F, D, False)
        | lin(f"{b}.feed_forward.w2", D, F, False)
        | lin(f"{b}.feed_forward.w3", F, D, False)
        for b in ENC
    ],
    [truth("before", f"{b}.attention_norm", *of(f"{b}.attention", "wq wk wv")) for b in ENC]
    + [truth("before", f"{b}.ffn_norm", *of(f"{b}.feed_forward", "w1 w3")) for b in ENC]
    + [truth("before", "norm", "output")],
)
