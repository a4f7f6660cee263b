"""Convolutional networks."""

from tests.checkpoints.architectures.names import D, F, N, Shapes, V, add, bn, conv, lin, ln, truth


def basic(b: str, into: int, out: int) -> Shapes:
    return (
        conv(f"{b}.conv1", out, into)
        | bn(f"{b}.bn1", out)
        | conv(f"{b}.conv2", out, out)
        | bn(f"{b}.bn2", out)
    )


STAGES = [(4, 4), (4, 4), (4, 6), (6, 6), (6, 8), (8, 8), (8, 10), (10, 10)]
RES = [f"layer{1 + i // 2}.{i % 2}" for i in range(8)]
add(
    "ResNet-18",
    [conv("conv1", 4, 3, 7, 7), bn("bn1", 4), lin("fc", V, 10)]
    + [basic(b, *sizes) for b, sizes in zip(RES, STAGES, strict=True)]
    + [
        conv(f"layer{i}.0.downsample.0", out, into, 1, 1) | bn(f"layer{i}.0.downsample.1", out)
        for i, (into, out) in ((2, (4, 6)), (3, (6, 8)), (4, (8, 10)))
    ],
    [truth("after", "bn1", "conv1")]
    + [truth("after", f"{b}.bn{k}", f"{b}.conv{k}") for b in RES for k in (1, 2)]
    + [truth("after", f"layer{i}.0.downsample.1", f"layer{i}.0.downsample.0") for i in (2, 3, 4)],
)
add(
    "ResNet with norms before its convolutions",
    [conv("conv1", 4, 3), bn("bn1", 10), lin("fc", V, 10)]
    + [
        bn(f"{b}.bn1", into)
        | conv(f"{b}.conv1", out, into)
        | bn(f"{b}.bn2", out)
        | conv(f"{b}.conv2", out, out)
        for b, (into, out) in zip(RES, STAGES, strict=True)
    ],
    [],
)
add(
    "ResNet v2 of timm",
    [conv("stem.conv", 4, 3), ln("norm", 16), conv("head.fc", V, 16, 1, 1, bias=True)]
    + [
        ln(f"stages.{s}.blocks.{i}.norm1", 4 if s == i == 0 else 16)
        | conv(f"stages.{s}.blocks.{i}.conv1", 4, 4 if s == i == 0 else 16, 1, 1)
        | ln(f"stages.{s}.blocks.{i}.norm2", 4)
        | conv(f"stages.{s}.blocks.{i}.conv2", 4, 4)
        | ln(f"stages.{s}.blocks.{i}.norm3", 4)
        | conv(f"stages.{s}.blocks.{i}.conv3", 16, 4, 1, 1)
        for s in range(2)
        for i in range(2)
    ],
    [],
)
add(
    "DenseNet",
    [conv("features.conv0", 6, 3), bn("features.norm0", 6)]
    + [
        bn(f"features.denseblock1.denselayer{i}.norm1", 6 + 2 * i)
        | conv(f"features.denseblock1.denselayer{i}.conv1", 8, 6 + 2 * i, 1, 1)
        | bn(f"features.denseblock1.denselayer{i}.norm2", 8)
        | conv(f"features.denseblock1.denselayer{i}.conv2", 2, 8)
        for i in range(N)
    ]
    + [bn("features.transition1.norm", 12), conv("features.transition1.conv", 6, 12, 1, 1)],
    [truth("after", "features.norm0", "features.conv0")],
    untold=1,
)
add(
    "VGG and MobileNet of torchvision",
    [
        conv("features.0", 4, 3, bias=True),
        bn("features.1", 4),
        conv("features.3", 4, 4),
        bn("features.4", 4),
        conv("b.1.conv.0.0", 4, 1),
        bn("b.1.conv.0.1", 4),
        conv("b.1.conv.1", 6, 4, 1, 1),
        bn("b.1.conv.2", 6),
        conv("se.fc1", 2, 6, 1, 1, bias=True),
        conv("se.fc2", 6, 2, 1, 1, bias=True),
        lin("classifier.0", 7, 6),
        lin("classifier.3", V, 7),
    ],
    [truth("after", f"features.{i + 1}", f"features.{i}") for i in (0, 3)]
    + [truth("after", "b.1.conv.0.1", "b.1.conv.0.0"), truth("after", "b.1.conv.2", "b.1.conv.1")],
)
add(
    "EfficientNet of timm",
    [
        conv("conv_stem", 4, 3),
        bn("bn1", 4),
        conv("conv_head", F, 6, 1, 1),
        bn("bn2", F),
        lin("classifier", V, F),
    ]
    + [
        conv("blocks.0.0.conv_dw", 4, 1)
        | bn("blocks.0.0.bn1", 4)
        | conv("blocks.0.0.se.conv_reduce", 2, 4, 1, 1, bias=True)
        | conv("blocks.0.0.se.conv_expand", 4, 2, 1, 1, bias=True)
        | conv("blocks.0.0.conv_pw", 4, 4, 1, 1)
        | bn("blocks.0.0.bn2", 4)
    ]
    + [
        conv(f"blocks.{i}.0.conv_pw", 8, 4, 1, 1)
        | bn(f"blocks.{i}.0.bn1", 8)
        | conv(f"blocks.{i}.0.conv_dw", 8, 1)
        | bn(f"blocks.{i}.0.bn2", 8)
        | conv(f"blocks.{i}.0.conv_pwl", 4, 8, 1, 1)
        | bn(f"blocks.{i}.0.bn3", 4)
        for i in (1, 2)
    ],
    [truth("after", "bn1", "conv_stem"), truth("after", "bn2", "conv_head")]
    + [
        truth("after", "blocks.0.0.bn1", "blocks.0.0.conv_dw"),
        truth("after", "blocks.0.0.bn2", "blocks.0.0.conv_pw"),
    ]
    + [
        truth("after", f"blocks.{i}.0.{norm}", f"blocks.{i}.0.{layer}")
        for i in (1, 2)
        for norm, layer in (("bn1", "conv_pw"), ("bn2", "conv_dw"), ("bn3", "conv_pwl"))
    ],
    untold=2,
)
add(
    "Inception",
    [
        conv(f"Mixed_{i}.branch1x1.conv", 5 + i, 4) | bn(f"Mixed_{i}.branch1x1.bn", 5 + i)
        for i in range(N)
    ],
    [truth("after", f"Mixed_{i}.branch1x1.bn", f"Mixed_{i}.branch1x1.conv") for i in range(N)],
)
for title, dw, norm, up, down in (
    ("ConvNeXt of timm", "conv_dw", "norm", "mlp.fc1", "mlp.fc2"),
    ("ConvNeXt of transformers", "dwconv", "layernorm", "pwconv1", "pwconv2"),
):
    C = [f"stages.0.blocks.{i}" for i in range(N)]
    add(
        title,
        [
            conv(f"{b}.{dw}", D, 1, 7, 7, bias=True)
            | ln(f"{b}.{norm}")
            | lin(f"{b}.{up}", 4 * D, D)
            | lin(f"{b}.{down}", D, 4 * D)
            | {f"{b}.gamma": (D,)}
            for b in C
        ]
        + [conv("stem.0", D, 3, 4, 4, bias=True), ln("stem.1")]
        + [ln("stages.1.downsample.0"), conv("stages.1.downsample.1", 2 * D, D, 2, 2, bias=True)]
        + [ln("head.norm", 2 * D), lin("head.fc", V, 2 * D)],
        [truth("after", f"{b}.{norm}", f"{b}.{dw}") for b in C]
        + [truth("before", f"{b}.{norm}", f"{b}.{up}") for b in C]
        + [truth("after", "stem.1", "stem.0"), truth("before", "head.norm", "head.fc")],
        untold=1,
    )
