"""Families of networks by the `model_type` of config.json: how their blocks are written.

If the family is known, names decide only within it: blocks follow its conventions or none, and 1 is
added to the gain exactly where its code does so. Order and places of norms, shared norms and RMS
norms are those of its conventions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from normgeo.base.text import text
from normgeo.checkpoints.written.conventions import CONVENTIONS, Convention

LLAMA = "Llama, Mistral, Qwen"


@final
@dataclass(frozen=True)
class Family:
    """How the blocks of a family are written.

    Attributes:
        written: the networks of its conventions. one_plus: whether 1 is added to the gain of the
            file. is_rms: whether its norms are RMS norms; None if its conventions tell. eps: ε, if
            its code fixes it, whatever config.json says; None otherwise.

    """

    written: tuple[str, ...]
    one_plus: bool = False
    is_rms: bool | None = None
    eps: float | None = None


FAMILIES: Mapping[str, Family] = {
    **dict.fromkeys(
        ("llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "phi3"),
        Family((LLAMA,)),
    ),
    "gemma": Family((LLAMA,), one_plus=True),
    "qwen3_next": Family((LLAMA,), one_plus=True),
    "nemotron": Family((LLAMA,), one_plus=True, is_rms=False),
    **dict.fromkeys(["gemma2", "gemma3", "gemma3_text"], Family(("Gemma 2 and 3",), one_plus=True)),
    **dict.fromkeys(("olmo2", "olmo3"), Family(("OLMo 2",))),
    **dict.fromkeys(
        ["gpt_neox", "bloom", "starcoder2"],
        Family(("GPT-NeoX, BLOOM, Starcoder 2", "Phi, Falcon, Cohere")),
    ),
    **dict.fromkeys(
        ["phi", "falcon", "cohere"],
        Family(
            (
                "Phi, Falcon, Cohere",
                "Falcon with two norms",
                "GPT-NeoX, BLOOM, Starcoder 2",
            )
        ),
    ),
    "jamba": Family(("Jamba", "Mamba")),
    **dict.fromkeys(("gpt2", "gpt_neo", "gpt_bigcode"), Family(("GPT-2, CLIP",))),
    **dict.fromkeys(("gptj", "codegen"), Family(("GPT-J, CodeGen",))),
    "mpt": Family(("MPT",)),
    "modernbert": Family(("ModernBERT",)),
    **dict.fromkeys(("mamba", "mamba2"), Family(("Mamba",))),
    **dict.fromkeys(("t5", "mt5", "umt5"), Family(("T5",))),
    **dict.fromkeys(
        ["opt", "whisper", "pegasus"], Family(("Pegasus, OPT, Whisper", "Pegasus, Whisper"))
    ),
    **dict.fromkeys(
        ["bert", "roberta", "xlm-roberta", "electra", "camembert", "deberta", "deberta-v2"],
        Family(("BERT",)),
    ),
    "distilbert": Family(("DistilBERT",), eps=1e-12),
    "albert": Family(("ALBERT",)),
    **dict.fromkeys(("vit", "deit", "swin"), Family(("ViT, Swin",))),
    **dict.fromkeys(("dinov2", "dinov2_with_registers"), Family(("ViT with layer scales",))),
    **dict.fromkeys(
        ["clip", "clip_vision_model", "clip_text_model", "siglip", "siglip_vision_model"],
        Family(("CLIP, SigLIP",)),
    ),
    **dict.fromkeys(("convnext", "convnextv2"), Family(("ConvNeXt",), eps=1e-6)),
}
"""`model_type` → its family. OPT with its norms after the sums has no convention, as names do."""


def conventions_of(model_type: str) -> tuple[Convention, ...]:
    """Return the conventions of a family; all of them if it is unknown.

    >>> [one.one_plus for one in conventions_of("gemma")], len(conventions_of("")) > 20
    ([True], True)

    """
    family = FAMILIES.get(model_type)
    if family is None:
        return CONVENTIONS
    return tuple(
        replace(
            one,
            networks=text("{family!s}, as config.json says", family=model_type),
            one_plus=family.one_plus,
            is_rms=one.is_rms if family.is_rms is None else family.is_rms,
            but="",
        )
        for one in CONVENTIONS
        if one.networks in family.written
    )
