"""Real networks, small, each with what is derived of its tensors by hand, beside the derivation.

Signs are those of all × δ, one row × δ, all rows + the same, each row + its own number, one
column × δ, all columns + the same: "i" for ignored (or but for ε), "x" for not, "-" for nothing to
ask. A vector has the first three. Vectors are drawn anew, gains around 1 and others around 0, so
that nothing holds by chance. A line ends with the places: a = after, b = after with its bias,
s = after a sum, c = centered, r = before (it reads a norm), u = unused; "?" behind one that may be
told or not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn

import normgeo.torch
from normgeo import MeasuredTable


@dataclass(frozen=True)
class Known:
    """A network, its batch, and lines of what is true of tensors: a pattern, signs, places."""

    build: Callable[[], tuple[Any, Any]]
    truth: tuple[tuple[str, str, str], ...]
    train: bool


NETWORKS: dict[str, Known] = {}


def known(truth: str, train: bool = False) -> Any:
    """Register a network with lines "pattern signs places"."""
    lines = [line.split("#")[0].split() for line in truth.strip().splitlines()]
    rows = tuple((line[0], line[1], line[2] if len(line) > 2 else "") for line in lines if line)

    def register(build: Callable[[], tuple[Any, Any]]) -> Callable[[], tuple[Any, Any]]:
        NETWORKS[build.__name__] = Known(build, rows, train)
        return build

    return register


def drawn(model: nn.Module) -> nn.Module:
    """Vectors as after some training, gains around 1; and what begins near 0 larger."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1 or parameter.abs().max() < 0.1:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@cache
def built(name: str) -> tuple[nn.Module, Any]:
    """A network of NETWORKS and its batch, the same for all tests."""
    known = NETWORKS[name]
    torch.manual_seed(0)
    model, batch = known.build()
    return drawn(model).train(known.train), batch


@cache
def measured(name: str) -> MeasuredTable:
    """What is measured of a network of NETWORKS."""
    return normgeo.torch.measure(*built(name))


def tokens(vocabulary: int = 11, length: int = 6) -> torch.Tensor:
    """Sequences in which every token occurs."""
    return (torch.arange(4 * length) * 7 % vocabulary).reshape(4, length)


@known(
    """
    self_attn.in_proj_weight xxxxxx
    self_attn.in_proj_bias xxx
    self_attn.out_proj.weight xxixxx c    # norm1 takes off what is the same in all rows
    self_attn.out_proj.bias xxi
    norm\\d.(weight|bias) xxx              # the gain is read by a sum as well: no trade
    linear1.weight xxxxxx
    linear1.bias xxx
    linear2.weight xxixxx c
    linear2.bias xxi
    """
)
def post_norm_encoder() -> tuple[Any, Any]:
    layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True)
    return layer, torch.randn(3, 6, 8)


@known(
    """
    embed.weight xxxixi s                 # a number of its own for a token is in its mean
    encoder.*in_proj_weight xxxxxx r
    encoder.*in_proj_bias xxx
    encoder.*out_proj.weight xxixxx s     # all that writes to the stream, together
    encoder.*out_proj.bias xxi
    encoder.*linear1.weight xxxxxx r
    encoder.*linear1.bias xxx
    encoder.*linear2.weight xxixxx s
    encoder.*linear2.bias xxi
    encoder.*norm\\d?.(weight|bias) xxx
    head.weight xxxxxx r
    head.bias xxx
    """
)
def pre_norm_encoder() -> tuple[Any, Any]:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(11, 8)
            layer = nn.TransformerEncoderLayer(
                8, 2, 12, dropout=0.0, batch_first=True, norm_first=True
            )
            self.encoder = nn.TransformerEncoder(
                layer, 2, norm=nn.LayerNorm(8), enable_nested_tensor=False
            )
            self.head = nn.Linear(8, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.encoder(self.embed(x)))

    return Model(), tokens()


@known(
    """
    transformer.wte.weight xxxxxx          # tied: it reads the last norm as well
    transformer.wpe.weight xxxixi          # a number of its own for a place is in a mean
    .*ln_\\d.(weight|bias) xxx
    .*ln_f.(weight|bias) xxx
    .*c_attn.weight xxxxxx r
    .*c_attn.bias xxx
    .*attn.c_proj.weight xxixxx c          # Conv1D: its neurons are along the last axis
    .*mlp.c_proj.weight xxixxx c
    .*c_proj.bias xxi
    .*c_fc.weight xxxxxx r
    .*c_fc.bias xxx
    """
)
def gpt2_with_tied_head() -> tuple[Any, Any]:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=11, n_embd=8, n_layer=2, n_head=2, n_positions=6,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, initializer_range=0.4,
    )  # fmt: skip
    return GPT2LMHeadModel(config), tokens()


@known(
    """
    embeddings.word_embeddings.weight xxxixi s
    embeddings.position_embeddings.weight xxxixi s
    embeddings.token_type_embeddings.weight xxxixi s
    .*LayerNorm.(weight|bias) xxx
    .*(query|value).weight xxxxxx
    .*(query|value).bias xxx
    .*key.weight xxxxxx
    .*key.bias --- u                       # the same for all keys: softmax takes it off
    .*output.dense.weight xxixxx c
    .*output.dense.bias xxi
    .*intermediate.dense.weight xxxxxx
    .*intermediate.dense.bias xxx
    pooler.dense.weight xxxxxx
    pooler.dense.bias xxx
    """
)
def bert() -> tuple[Any, Any]:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=11, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=12, max_position_embeddings=6, initializer_range=0.4,
    )  # fmt: skip
    return BertModel(config), tokens()


LLAMA = dict(  # noqa: C408 - as it is called with
    vocab_size=11, hidden_size=8, num_hidden_layers=2, num_attention_heads=4, intermediate_size=12,
    num_key_value_heads=2, max_position_embeddings=16, initializer_range=0.4, head_dim=4,
)  # fmt: skip


@known(
    """
    embed_tokens.weight xxxxxx s
    .*(q|k|v)_proj.weight xxxxxx r
    .*o_proj.weight xxxxxx s
    .*(gate|up)_proj.weight xxxxxx r
    .*down_proj.weight xxxxxx s
    .*norm.weight xxx
    """
)
def llama() -> tuple[Any, Any]:
    from transformers import LlamaConfig, LlamaModel

    return LlamaModel(LlamaConfig(**LLAMA)), tokens()


@known(
    """
    embed_tokens.weight xxxxxx s
    .*(q|k)_proj.weight ixxxxx ar          # an RMS norm over each head
    .*v_proj.weight xxxxxx r
    .*o_proj.weight xxxxxx s
    .*(gate|up)_proj.weight xxxxxx r
    .*down_proj.weight xxxxxx s
    .*norm.weight xxx
    """
)
def decoder_with_qk_norm() -> tuple[Any, Any]:
    from transformers import Qwen3Config, Qwen3Model

    return Qwen3Model(Qwen3Config(**LLAMA)), tokens()


@known(
    """
    embed_tokens.weight xxxxxx s
    .*in_proj_qkvz.weight xxxxxx r         # z is a gate; a SiLU is before the norms of q, k
    .*in_proj_ba.weight xxxxxx r
    .*conv1d.weight xxxxxx
    .*(dt_bias|A_log) xxx
    .*out_proj.weight xxxxxx s
    .*q_proj.weight xxxxxx r               # a half of its rows is a gate, which no norm takes
    .*k_proj.weight ixxxxx ar              # an RMS norm over each head
    .*v_proj.weight xxxxxx r
    .*o_proj.weight xxxxxx s
    .*(gate|up)_proj.weight xxxxxx r
    .*down_proj.weight xxxxxx s
    .*norm.weight xxx                      # gains 1 + g, but for that of the gated norm
    """
)
def qwen3_next() -> tuple[Any, Any]:
    from transformers import Qwen3NextConfig, Qwen3NextModel

    config = Qwen3NextConfig(
        **LLAMA, layer_types=["linear_attention", "full_attention"], linear_conv_kernel_dim=2,
        linear_key_head_dim=4, linear_value_head_dim=4, linear_num_key_heads=2,
        linear_num_value_heads=4, mlp_only_layers=[0, 1],  # experts run in single precision alone
    )  # fmt: skip
    return Qwen3NextModel(config), tokens()


@known(
    """
    embed_tokens.weight xxxxxx
    .*(q|k)_proj.weight ixxxxx ar
    .*v_proj.weight ixxxxx ar?             # only the norm behind o_proj stands after it
    .*o_proj.weight ixxxxx a
    .*gate_proj.weight xxxxxx r
    .*up_proj.weight ixxxxx ar?
    .*down_proj.weight ixxxxx a
    .*norm.weight xxx                      # gains 1 + g
    """
)
def gemma3() -> tuple[Any, Any]:
    from transformers import Gemma3TextConfig, Gemma3TextModel

    config = Gemma3TextConfig(**LLAMA, query_pre_attn_scalar=4, sliding_window=8)
    return Gemma3TextModel(config), tokens()


@known(
    """
    shared.weight xxxxxx s
    .*(q|k|v).weight xxxxxx r
    .*SelfAttention.o.weight xxxxxx s
    .*relative_attention_bias.weight xxixxx c  # the same for all distances: softmax takes it off
    .*wi.weight xxxxxx r
    .*wo.weight xxxxxx s
    .*layer_norm.weight xxx
    """
)
def t5_encoder() -> tuple[Any, Any]:
    from transformers import T5Config, T5EncoderModel

    config = T5Config(
        vocab_size=11, d_model=8, d_kv=4, d_ff=12, num_layers=1, num_heads=2, dropout_rate=0.0,
        relative_attention_num_buckets=6, relative_attention_max_distance=8,
    )  # fmt: skip
    return T5EncoderModel(config), tokens()


@known(
    """
    cls_token xxi
    pos_embed xxxixx s                     # one row of places and channels
    patch_embed.proj.weight xxixxx s
    patch_embed.proj.bias xxi
    .*norm\\d?.(weight|bias) xxx
    .*qkv.weight xxxxxx r
    .*qkv.bias xxx
    .*attn.proj.weight xxixxx s
    .*attn.proj.bias xxi
    .*fc1.weight xxxxxx r
    .*fc1.bias xxx
    .*fc2.weight xxixxx s
    .*fc2.bias xxi
    head.weight xxxxxx r
    head.bias xxx
    """
)
def vit() -> tuple[Any, Any]:
    from timm.models.vision_transformer import VisionTransformer

    model = VisionTransformer(
        img_size=8, patch_size=4, embed_dim=8, depth=1, num_heads=2, mlp_ratio=1.5, num_classes=5
    )
    return model, torch.randn(3, 3, 8, 8)


def resnet() -> tuple[Any, Any]:
    import timm

    model = timm.create_model("resnet18", channels=(6, 8, 10, 12), stem_width=6, num_classes=5)
    images = torch.randn(8, 3, 32, 32)
    with torch.no_grad():
        model.train()(images)  # running statistics of their own
    return model, images


@known(
    """
    conv1.weight iixxxx a
    .*conv1.weight iixxxx ar?
    .*conv2.weight iixxxx ar               # bn1 and ReLU before it
    .*downsample.0.weight iixxxx ar?
    .*(bn\\d|downsample.1).(weight|bias) xxx
    fc.weight xxxxxx r?
    fc.bias xxx
    """,
    train=True,
)
def resnet18_in_training() -> tuple[Any, Any]:
    return resnet()


@known(
    """
    conv1.weight xxxxxx
    .*conv1.weight xxxxxx r?
    .*conv2.weight xxxxxx r
    .*downsample.0.weight xxxxxx r?
    .*(bn\\d|downsample.1).(weight|bias) xxx
    fc.weight xxxxxx r?
    fc.bias xxx
    """
)
def resnet18_in_evaluation() -> tuple[Any, Any]:
    return resnet()


@known(
    """
    stem.0.weight xxixxx b
    stem.0.bias xxi
    .*conv_dw.weight xxxxxx b              # each neuron has an input of its own: no mean comes off
    .*conv_dw.bias xxi
    .*fc1.weight xxxxxx r
    .*fc1.bias xxx
    .*fc2.(weight) xxxxxx
    .*fc2.bias xxx
    .*gamma xxx
    stages.\\d.downsample.1.weight xxxxxx sr   # with the gain and the bias of what is added to it
    stages.\\d.downsample.1.bias xxx
    .*(norm|stem.1|downsample.0).(weight|bias) xxx
    head.fc.weight xxxxxx r
    head.fc.bias xxx
    """
)
def convnext() -> tuple[Any, Any]:
    from timm.models.convnext import ConvNeXt

    model = ConvNeXt(depths=(1, 1, 1, 1), dims=(6, 8, 10, 12), num_classes=5, ls_init_value=0.5)
    return model, torch.randn(3, 3, 32, 32)


@known(
    """
    stem.proj.weight xxixxx s
    stem.proj.bias xxi
    .*norm\\d?.(weight|bias) xxx
    .*mlp_tokens.fc1.weight xxxxxx
    .*mlp_tokens.fc1.bias xxx
    .*mlp_tokens.fc2.weight xxxxxx s
    .*mlp_tokens.fc2.bias --- u            # the same in all channels of a token: a norm's mean
    .*mlp_channels.fc1.weight xxxxxx r
    .*mlp_channels.fc1.bias xxx
    .*mlp_channels.fc2.weight xxixxx s
    .*mlp_channels.fc2.bias xxi
    head.weight xxxxxx r
    head.bias xxx
    """
)
def mlp_mixer() -> tuple[Any, Any]:
    from timm.models.mlp_mixer import MlpMixer

    model = MlpMixer(img_size=8, patch_size=4, num_blocks=1, embed_dim=8, num_classes=5)
    return model, torch.randn(3, 3, 8, 8)


@known(
    """
    0.weight_.h_l0 xxxxxx
    0.bias_.h_l0 xxx
    2.weight xxxxxx
    2.bias xxx
    """
)
def lstm() -> tuple[Any, Any]:
    class First(nn.Module):
        def forward(self, answer: tuple[torch.Tensor, Any]) -> torch.Tensor:
            return answer[0]

    return nn.Sequential(nn.LSTM(5, 6, batch_first=True), First(), nn.Linear(6, 3)), torch.randn(
        3, 5, 5
    )


@known(
    """
    features.0.0.weight iixxxx a
    .*conv.0.0.weight iixx[xi][xi] ar?     # an expansion reads a norm
    .*conv.1.0.weight iixxix a             # depthwise: all × δ is one column × δ
    features.1.conv.1.weight iixxxx a      # ReLU6 is not homogeneous
    features.[23].conv.2.weight iixxxx a
    features.4.0.weight iixxxx ar
    features.1.conv.2.weight [xi]xx        # a norm whose outputs only convolutions with a norm read
    features.1.conv.2.bias ---  u          # so that they take its bias off
    features.[23].conv.3.weight [xi]xx
    features.[23].conv.3.bias --- u
    classifier.1.weight xxxxxx r?
    classifier.1.bias xxx
    .*.(weight|bias) xxx                   # of the other batch norms
    """,
    train=True,
)
def mobilenet_v2() -> tuple[Any, Any]:
    from torchvision.models import MobileNetV2

    model = MobileNetV2(5, 0.1, [[1, 8, 1, 1], [2, 8, 2, 2]], 8, dropout=0.0)
    return model, torch.randn(8, 3, 16, 16)


@known(
    """
    conv_stem.weight iixxxx a
    .*conv_dw.weight iixxix a              # depthwise: all × δ is one column × δ
    .*conv_(pw|pwl|head).weight iixxxx ar?
    .*se.conv_reduce.weight xxxxxx r?
    .*se.conv_expand.weight xxxxxx
    .*se.conv_(reduce|expand).bias xxx
    blocks.0.0.bn2.weight xxx
    blocks.1.0.bn3.weight ixx              # its bias has no say: a gain before a norm
    blocks.0.0.bn2.bias --- u              # what reads it is a convolution with a norm
    blocks.1.0.bn3.bias --- u
    classifier.weight xxxxxx r
    classifier.bias xxx
    .*bn\\d.(weight|bias) xxx
    """,
    train=True,
)
def efficientnet() -> tuple[Any, Any]:
    from timm.models._efficientnet_builder import decode_arch_def
    from timm.models.efficientnet import EfficientNet

    model = EfficientNet(
        decode_arch_def([["ds_r1_k3_s1_e1_c8_se0.5"], ["ir_r1_k3_s2_e2_c8_se0.5"]]),
        num_classes=5, stem_size=8, num_features=12,
    )  # fmt: skip
    for block in (model.blocks[0][0], model.blocks[1][0]):
        nn.init.ones_(block.se.conv_reduce.bias)  # its units are on
    return model, torch.randn(8, 3, 16, 16)


@known(
    """
    0.parametrizations.weight.original0 xxx    # the length of each row, (6, 1): a vector
    0.parametrizations.weight.original1 iixxxx a
    .*bias xxx
    2.weight xxxxxx r
    """
)
def weight_norm() -> tuple[Any, Any]:
    first = nn.utils.parametrizations.weight_norm(nn.Linear(5, 6))
    return nn.Sequential(first, nn.ReLU(), nn.Linear(6, 3)), torch.randn(20, 5)


@known(
    """
    body.0.weight xxxxxx
    body.0.bias xxx
    body.1.(weight|bias) xxx               # (1, 6, 1, 1) each: a gain and a shift of the channels
    body.3.weight xxxxxx                   # (1, 6, 1, 1): one neuron that reads six channels
    body.5.weight xxxxxx                   # (4, 1, 1, 1): four neurons that read one channel
    body.[35].bias xxx
    head.weight xxxxxx r?                  # (1, 4)
    head.bias xxx
    scale xxx                              # (1, 4): a gain
    """
)
def weights_of_one_neuron() -> tuple[Any, Any]:
    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(1 + 0.3 * torch.randn(1, 6, 1, 1))
            self.bias = nn.Parameter(0.3 * torch.randn(1, 6, 1, 1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight + self.bias

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(3, 6, 3), Scale(), nn.GELU(), nn.Conv2d(6, 1, 1), nn.Tanh(),
                nn.Conv2d(1, 4, 1), nn.Tanh(),
            )  # fmt: skip
            self.scale = nn.Parameter(1 + 0.3 * torch.randn(1, 4))
            self.head = nn.Linear(4, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(torch.tanh(self.body(x).mean(dim=(2, 3)) * self.scale))

    return Model(), torch.randn(4, 3, 8, 8)


@known(
    """
    0.weight ixxxxx a                      # each of two groups by itself
    1.(weight|bias) xxx
    3.weight xxxxxx r
    .*bias xxx
    """
)
def group_norm() -> tuple[Any, Any]:
    model = nn.Sequential(
        nn.Conv2d(3, 6, 3, bias=False), nn.GroupNorm(2, 6), nn.ReLU(), nn.Conv2d(6, 4, 3)
    )
    return model, torch.randn(4, 3, 8, 8)
