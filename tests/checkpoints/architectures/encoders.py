"""Transformers that encode text, or encode and generate it."""

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
    rms,
    truth,
)

BERT_LAYERS = [f"bert.encoder.layer.{i}" for i in range(N)]


def bert_block(b: str) -> Shapes:
    return (
        {
            n: s
            for x in ("query", "key", "value")
            for n, s in lin(f"{b}.attention.self.{x}", D, D).items()
        }
        | lin(f"{b}.attention.output.dense", D, D)
        | ln(f"{b}.attention.output.LayerNorm")
        | lin(f"{b}.intermediate.dense", F, D)
        | lin(f"{b}.output.dense", D, F)
        | ln(f"{b}.output.LayerNorm")
    )


def bert_truth(b: str) -> dict[str, tuple[str, str]]:
    return {
        f"{b}.{part}.dense.weight": (f"{b}.{part}.LayerNorm", "residual")
        for part in ("attention.output", "output")
    }


add(
    "BERT with its head, whose norm stands behind an activation",
    [
        {"bert.embeddings.word_embeddings.weight": (V, D)},
        {"bert.embeddings.position_embeddings.weight": (V, D)},
        ln("bert.embeddings.LayerNorm"),
        *map(bert_block, BERT_LAYERS),
        lin("bert.pooler.dense", D, D),
        lin("cls.predictions.transform.dense", D, D),
        ln("cls.predictions.transform.LayerNorm"),
        {"cls.predictions.decoder.weight": (V, D), "cls.predictions.bias": (V,)},
    ],
    [
        *map(bert_truth, BERT_LAYERS),
        truth("before", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder"),
    ],
    untold=1,
)
add(
    "ELECTRA's generator",
    [
        *map(bert_block, BERT_LAYERS),
        lin("embeddings_project", D, 4),
        lin("generator_predictions.dense", 4, D),
        ln("generator_predictions.LayerNorm", 4),
    ],
    [*map(bert_truth, BERT_LAYERS)],
)
add(
    "MobileBERT, whose norms are none",
    [
        bert_block(b)
        | lin(f"{b}.bottleneck.input.dense", D, D)
        | ln(f"{b}.bottleneck.input.LayerNorm")
        for b in BERT_LAYERS
    ],
    [],
)
add(
    "DistilBERT",
    [
        {
            n: s
            for x in "qkv"
            for n, s in lin(f"transformer.layer.{i}.attention.{x}_lin", D, D).items()
        }
        | lin(f"transformer.layer.{i}.attention.out_lin", D, D)
        | ln(f"transformer.layer.{i}.sa_layer_norm")
        | lin(f"transformer.layer.{i}.ffn.lin1", F, D)
        | lin(f"transformer.layer.{i}.ffn.lin2", D, F)
        | ln(f"transformer.layer.{i}.output_layer_norm")
        for i in range(N)
    ],
    [
        truth("residual", f"transformer.layer.{i}.{norm}", f"transformer.layer.{i}.{layer}")
        for i in range(N)
        for norm, layer in (
            ("sa_layer_norm", "attention.out_lin"),
            ("output_layer_norm", "ffn.lin2"),
        )
    ],
)
A = "encoder.albert_layer_groups.0.albert_layers.0"
add(
    "ALBERT",
    [
        {
            n: s
            for x in ("query", "key", "value", "dense")
            for n, s in lin(f"{A}.attention.{x}", D, D).items()
        },
        ln(f"{A}.attention.LayerNorm"),
        lin(f"{A}.ffn", F, D),
        lin(f"{A}.ffn_output", D, F),
        ln(f"{A}.full_layer_layer_norm"),
        lin("encoder.embedding_hidden_mapping_in", D, 4),
    ],
    [
        truth("residual", f"{A}.attention.LayerNorm", f"{A}.attention.dense"),
        truth("residual", f"{A}.full_layer_layer_norm", f"{A}.ffn_output"),
    ],
)


def bart_block(b: str, cross: bool) -> Shapes:
    parts = ["self_attn", "encoder_attn"] if cross else ["self_attn"]
    found: Shapes = {}
    for part in parts:
        for x in ("q", "k", "v", "out"):
            found |= lin(f"{b}.{part}.{x}_proj", D, D)
        found |= ln(f"{b}.{part}_layer_norm")
    return found | lin(f"{b}.fc1", F, D) | lin(f"{b}.fc2", D, F) | ln(f"{b}.final_layer_norm")


ENCODER = [f"model.encoder.layers.{i}" for i in range(N)]
DECODER = [f"model.decoder.layers.{i}" for i in range(N)]
BART = [bart_block(b, False) for b in ENCODER] + [bart_block(b, True) for b in DECODER]
BART += [ln(f"model.{s}.layernorm_embedding") for s in ("encoder", "decoder")]
BART += [{"model.shared.weight": (V, D), "model.encoder.embed_positions.weight": (V, D)}]
add(
    "BART",
    BART,
    [
        truth("residual", f"{b}.{norm}", f"{b}.{layer}")
        for b in (*ENCODER, *DECODER)
        for norm, layer in (
            ("self_attn_layer_norm", "self_attn.out_proj"),
            ("final_layer_norm", "fc2"),
        )
    ]
    + [
        truth("residual", f"{b}.encoder_attn_layer_norm", f"{b}.encoder_attn.out_proj")
        for b in DECODER
    ],
    untold=5 * N,
)


def pre_bart(b: str, cross: bool) -> list[dict[str, tuple[str, str]]]:
    found = [
        truth("before", f"{b}.self_attn_layer_norm", *of(b, QKV)),
        truth("before", f"{b}.final_layer_norm", f"{b}.fc1"),
    ]
    if cross:
        found += [truth("before", f"{b}.encoder_attn_layer_norm", f"{b}.encoder_attn.q_proj")]
    return found


add(
    "mBART, Pegasus",
    [*BART, ln("model.encoder.layer_norm"), ln("model.decoder.layer_norm")],
    [one for b in ENCODER for one in pre_bart(b, False)]
    + [one for b in DECODER for one in pre_bart(b, True)],
)
add(
    "Whisper, whose convolutions have no norm",
    [bart_block(b, False) for b in ENCODER]
    + [bart_block(b, True) for b in DECODER]
    + [
        conv("model.encoder.conv1", D, 5, 3, bias=True),
        conv("model.encoder.conv2", D, D, 3, bias=True),
    ]
    + [ln("model.encoder.layer_norm"), ln("model.decoder.layer_norm")],
    [one for b in ENCODER for one in pre_bart(b, False)]
    + [one for b in DECODER for one in pre_bart(b, True)],
)
add(
    "OPT",
    [bart_block(b, False) for b in DECODER] + [ln("model.decoder.final_layer_norm")],
    [one for b in DECODER for one in pre_bart(b, False)],
)
add(
    "DETR, with norms after its sums and one at its end",
    [bart_block(b, False) for b in ENCODER]
    + [bart_block(b, True) for b in DECODER]
    + [ln("model.decoder.layernorm")],
    [
        truth("residual", f"{b}.{norm}", f"{b}.{layer}")
        for b in (*ENCODER, *DECODER)
        for norm, layer in (
            ("self_attn_layer_norm", "self_attn.out_proj"),
            ("final_layer_norm", "fc2"),
        )
    ],
    untold=4 * N,
)
WAV = [f"wav2vec2.encoder.layers.{i}" for i in range(N)]
add(
    "wav2vec 2.0",
    [
        {
            n: s
            for x in ("q", "k", "v", "out")
            for n, s in lin(f"{b}.attention.{x}_proj", D, D).items()
        }
        | ln(f"{b}.layer_norm")
        | lin(f"{b}.feed_forward.intermediate_dense", F, D)
        | lin(f"{b}.feed_forward.output_dense", D, F)
        | ln(f"{b}.final_layer_norm")
        for b in WAV
    ]
    + [ln("wav2vec2.encoder.layer_norm")]
    + [{"wav2vec2.encoder.pos_conv_embed.conv.weight_g": (1, 1, 5)}]
    + [{"wav2vec2.encoder.pos_conv_embed.conv.weight_v": (D, 2, 5)}]
    + [
        lin("wav2vec2.feature_projection.projection", D, 6),
        ln("wav2vec2.feature_projection.layer_norm", 6),
    ],
    [
        truth(
            "before",
            "wav2vec2.feature_projection.layer_norm",
            "wav2vec2.feature_projection.projection",
        )
    ]
    + [truth("residual", f"{b}.layer_norm", f"{b}.attention.out_proj") for b in WAV]
    + [truth("residual", f"{b}.final_layer_norm", f"{b}.feed_forward.output_dense") for b in WAV],
    untold=2 * N + 1,
)

T5E = [f"encoder.block.{i}.layer" for i in range(N)]
T5D = [f"decoder.block.{i}.layer" for i in range(N)]


def attention_t5(b: str, name: str) -> Shapes:
    return {n: s for x in "qkvo" for n, s in lin(f"{b}.{name}.{x}", D, D, False).items()} | rms(
        f"{b}.layer_norm"
    )


def mlp_t5(b: str) -> Shapes:
    return (
        lin(f"{b}.DenseReluDense.wi_0", F, D, False)
        | lin(f"{b}.DenseReluDense.wi_1", F, D, False)
        | lin(f"{b}.DenseReluDense.wo", D, F, False)
        | rms(f"{b}.layer_norm")
    )


add(
    "T5, whose relative positions are no layer",
    [
        {"shared.weight": (V, D)},
        {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": (V, 2)},
        rms("encoder.final_layer_norm"),
        rms("decoder.final_layer_norm"),
        lin("lm_head", V, D, False),
        *(attention_t5(f"{b}.0", "SelfAttention") | mlp_t5(f"{b}.1") for b in T5E),
        *(
            attention_t5(f"{b}.0", "SelfAttention")
            | attention_t5(f"{b}.1", "EncDecAttention")
            | mlp_t5(f"{b}.2")
            for b in T5D
        ),
    ],
    [
        truth("before", f"{b}.0.layer_norm", *of(f"{b}.0.SelfAttention", "q k v"))
        for b in (*T5E, *T5D)
    ]
    + [truth("before", f"{b}.1.layer_norm", *of(f"{b}.1.DenseReluDense", "wi_0 wi_1")) for b in T5E]
    + [truth("before", f"{b}.2.layer_norm", *of(f"{b}.2.DenseReluDense", "wi_0 wi_1")) for b in T5D]
    + [truth("before", f"{b}.1.layer_norm", f"{b}.1.EncDecAttention.q") for b in T5D]
    + [
        truth("before", "encoder.final_layer_norm", *of(f"{b}.1.EncDecAttention", "k v"))
        for b in T5D
    ]
    + [truth("before", "decoder.final_layer_norm", "lm_head")],
    untold=2 * N + 1,
)
