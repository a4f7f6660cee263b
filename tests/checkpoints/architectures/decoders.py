"""Transformers that generate text."""

from tests.checkpoints.architectures.names import (
    HEAD,
    QKV,
    D,
    F,
    N,
    Shapes,
    V,
    add,
    gpt,
    lin,
    ln,
    of,
    rms,
    thirds,
    truth,
)


def llama_block(b: str, bias: bool = False, kv: int = HEAD) -> Shapes:
    return (
        lin(f"{b}.self_attn.q_proj", D, D, bias)
        | lin(f"{b}.self_attn.k_proj", kv, D, bias)
        | lin(f"{b}.self_attn.v_proj", kv, D, bias)
        | lin(f"{b}.self_attn.o_proj", D, D, False)
    )


def gated(b: str) -> Shapes:
    return (
        lin(f"{b}.mlp.gate_proj", F, D, False)
        | lin(f"{b}.mlp.up_proj", F, D, False)
        | lin(f"{b}.mlp.down_proj", D, F, False)
    )


GATED = "mlp.gate_proj mlp.up_proj"
L = [f"model.layers.{i}" for i in range(N)]
EMBED = {"model.embed_tokens.weight": (V, D)}
HEAD_OF_NORM = truth("before", "model.norm", "lm_head")


def decoder(
    name: str,
    norms: str,
    truths: dict[str, str],
    *,
    norm=rms,
    more=lambda b: {},
    block=lambda b: llama_block(b) | gated(b),
    after: dict[str, str] | None = None,
    head: bool = True,
    untold: int = 0,
) -> None:
    shapes, told = [EMBED], []
    for b in L:
        shapes += [block(b), more(b), *(norm(f"{b}.{one}") for one in norms.split())]
        told += [truth("before", f"{b}.{n}", *of(b, layers)) for n, layers in truths.items()]
        told += [truth("after", f"{b}.{n}", *of(b, ls)) for n, ls in (after or {}).items()]
    shapes.append(norm("model.norm"))
    if head:
        shapes, told = [*shapes, lin("lm_head", V, D, False)], [*told, HEAD_OF_NORM]
    add(name, shapes, told, untold)


PRE = {"input_layernorm": QKV, "post_attention_layernorm": GATED}
decoder("Llama", "input_layernorm post_attention_layernorm", PRE)
decoder(
    "Qwen 3",
    "input_layernorm post_attention_layernorm",
    {"input_layernorm": "self_attn.v_proj", "post_attention_layernorm": GATED},
    more=lambda b: rms(f"{b}.self_attn.q_norm", HEAD) | rms(f"{b}.self_attn.k_norm", HEAD),
    after={"self_attn.q_norm": "self_attn.q_proj", "self_attn.k_norm": "self_attn.k_proj"},
)
decoder(
    "Mixtral",
    "input_layernorm post_attention_layernorm",
    {
        "input_layernorm": QKV,
        "post_attention_layernorm": "block_sparse_moe.gate block_sparse_moe.experts.0.w1 "
        "block_sparse_moe.experts.0.w3 block_sparse_moe.experts.1.w1 "
        "block_sparse_moe.experts.1.w3",
    },
    block=lambda b: (
        llama_block(b)
        | lin(f"{b}.block_sparse_moe.gate", 2, D, False)
        | {
            name: shape
            for e in (0, 1)
            for name, shape in (
                lin(f"{b}.block_sparse_moe.experts.{e}.w1", F, D, False)
                | lin(f"{b}.block_sparse_moe.experts.{e}.w2", D, F, False)
                | lin(f"{b}.block_sparse_moe.experts.{e}.w3", F, D, False)
            ).items()
        }
    ),
)
FOUR = (
    "input_layernorm post_attention_layernorm pre_feedforward_layernorm post_feedforward_layernorm"
)
FOUR_BEFORE = {"input_layernorm": QKV, "pre_feedforward_layernorm": GATED}
FOUR_AFTER = {
    "post_attention_layernorm": "self_attn.o_proj",
    "post_feedforward_layernorm": "mlp.down_proj",
}
decoder("Gemma 2", FOUR, FOUR_BEFORE, after=FOUR_AFTER, head=False)
decoder(
    "Gemma 3",
    FOUR,
    {"input_layernorm": "self_attn.v_proj", "pre_feedforward_layernorm": GATED},
    more=lambda b: rms(f"{b}.self_attn.q_norm", HEAD) | rms(f"{b}.self_attn.k_norm", HEAD),
    after=FOUR_AFTER
    | {"self_attn.q_norm": "self_attn.q_proj", "self_attn.k_norm": "self_attn.k_proj"},
    head=False,
)
decoder(
    "OLMo 2",
    "post_attention_layernorm post_feedforward_layernorm",
    {},
    more=lambda b: rms(f"{b}.self_attn.q_norm") | rms(f"{b}.self_attn.k_norm", HEAD),
    after=FOUR_AFTER
    | {"self_attn.q_norm": "self_attn.q_proj", "self_attn.k_norm": "self_attn.k_proj"},
)
decoder(
    "GLM 4, four norms of other names",
    "input_layernorm post_attention_layernorm post_self_attn_layernorm post_mlp_layernorm",
    PRE,
    after={"post_self_attn_layernorm": "self_attn.o_proj", "post_mlp_layernorm": "mlp.down_proj"},
    untold=N * 7 + 1,
)
decoder(
    "Chameleon with norms after its parts",
    "input_layernorm post_attention_layernorm",
    {},
    more=lambda b: (
        {f"{b}.self_attn.{n}_norm.weight": (2, HEAD) for n in "qk"}
        | {f"{b}.self_attn.{n}_norm.bias": (2, HEAD) for n in "qk"}
    ),
    after={"input_layernorm": "self_attn.o_proj", "post_attention_layernorm": "mlp.down_proj"},
    untold=N * 2 + 1,
)
decoder("Cohere", "input_layernorm", {"input_layernorm": f"{QKV} {GATED}"}, head=False)
decoder("OLMo, whose norms have no parameters", "", {}, head=False)
decoder(
    "StableLM",
    "input_layernorm post_attention_layernorm",
    PRE,
    norm=ln,
)

H_ = [f"h.{i}" for i in range(N)]
add(
    "GPT-2",
    [{"wte.weight": (V, D), "wpe.weight": (V, D)}, ln("ln_f")]
    + [
        ln(f"{b}.ln_1")
        | ln(f"{b}.ln_2")
        | gpt(f"{b}.attn.c_attn", 3 * D, D)
        | gpt(f"{b}.attn.c_proj", D, D)
        | gpt(f"{b}.mlp.c_fc", F, D)
        | gpt(f"{b}.mlp.c_proj", D, F)
        for b in H_
    ],
    [thirds("before", f"{b}.ln_1", f"{b}.attn.c_attn.weight") for b in H_]
    + [truth("before", f"{b}.ln_2", f"{b}.mlp.c_fc") for b in H_],
)
add(
    "GPT-1, the same with norms after the sums",
    [{"tokens_embed.weight": (V, D), "positions_embed.weight": (V, D)}]
    + [
        ln(f"{b}.ln_1")
        | ln(f"{b}.ln_2")
        | gpt(f"{b}.attn.c_attn", 3 * D, D)
        | gpt(f"{b}.attn.c_proj", D, D)
        | gpt(f"{b}.mlp.c_fc", F, D)
        | gpt(f"{b}.mlp.c_proj", D, F)
        for b in H_
    ],
    [truth("residual", f"{b}.ln_1", f"{b}.attn.c_proj") for b in H_]
    + [truth("residual", f"{b}.ln_2", f"{b}.mlp.c_proj") for b in H_],
    untold=2 * N,
)
add(
    "GPT-J",
    [{"transformer.wte.weight": (V, D)}, ln("transformer.ln_f"), lin("lm_head", V, D)]
    + [
        ln(f"transformer.{b}.ln_1")
        | {
            n: s
            for x in "qkv"
            for n, s in lin(f"transformer.{b}.attn.{x}_proj", D, D, False).items()
        }
        | lin(f"transformer.{b}.attn.out_proj", D, D, False)
        | lin(f"transformer.{b}.mlp.fc_in", F, D)
        | lin(f"transformer.{b}.mlp.fc_out", D, F)
        for b in H_
    ],
    [
        truth(
            "before",
            f"transformer.{b}.ln_1",
            *of(f"transformer.{b}", "attn.q_proj attn.k_proj attn.v_proj mlp.fc_in"),
        )
        for b in H_
    ]
    + [truth("before", "transformer.ln_f", "lm_head")],
)
add(
    "CodeGen, whose projections stand in four partitions",
    [{"transformer.wte.weight": (V, D)}, ln("transformer.ln_f"), lin("lm_head", V, D)]
    + [
        ln(f"transformer.{b}.ln_1")
        | lin(f"transformer.{b}.attn.qkv_proj", 3 * D, D, False)
        | lin(f"transformer.{b}.attn.out_proj", D, D, False)
        | lin(f"transformer.{b}.mlp.fc_in", F, D)
        | lin(f"transformer.{b}.mlp.fc_out", D, F)
        for b in H_
    ],
    [
        truth(
            "before",
            f"transformer.{b}.ln_1",
            *of(f"transformer.{b}", "attn.qkv_proj mlp.fc_in"),
        )
        for b in H_
    ]
    + [truth("before", "transformer.ln_f", "lm_head")],
)
for title, b0, attention, last, head in (
    ("GPT-NeoX", "gpt_neox.layers", "attention", "gpt_neox.final_layer_norm", "embed_out"),
    ("BLOOM", "h", "self_attention", "ln_f", ""),
):
    add(
        title,
        [{"word_embeddings.weight": (V, D)}, ln(last)]
        + ([lin(head, V, D, False)] if head else [])
        + [
            ln(f"{b0}.{i}.input_layernorm")
            | ln(f"{b0}.{i}.post_attention_layernorm")
            | lin(f"{b0}.{i}.{attention}.query_key_value", 3 * D, D)
            | lin(f"{b0}.{i}.{attention}.dense", D, D)
            | lin(f"{b0}.{i}.mlp.dense_h_to_4h", F, D)
            | lin(f"{b0}.{i}.mlp.dense_4h_to_h", D, F)
            for i in range(N)
        ],
        [
            truth("before", f"{b0}.{i}.{norm}", f"{b0}.{i}.{layer}")
            for i in range(N)
            for norm, layer in (
                ("input_layernorm", f"{attention}.query_key_value"),
                ("post_attention_layernorm", "mlp.dense_h_to_4h"),
            )
        ]
        + ([truth("before", last, head)] if head else []),
    )
add(
    "Phi",
    [EMBED, ln("model.final_layernorm"), lin("lm_head", V, D)]
    + [
        ln(f"{b}.input_layernorm")
        | {n: s for x in "qkv" for n, s in lin(f"{b}.self_attn.{x}_proj", D, D).items()}
        | lin(f"{b}.self_attn.dense", D, D)
        | lin(f"{b}.mlp.fc1", F, D)
        | lin(f"{b}.mlp.fc2", D, F)
        for b in L
    ],
    [truth("before", f"{b}.input_layernorm", *of(b, f"{QKV} mlp.fc1")) for b in L]
    + [truth("before", "model.final_layernorm", "lm_head")],
)
