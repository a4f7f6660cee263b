"""`normgeo.torch.layers` finds each layer's norm, and makes what the real norm makes."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

import normgeo
import normgeo.torch
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.basis import SEEN
from normgeo.checkpoints.place import freedoms
from normgeo.normalizers.named import NORMALIZERS
from tests.frameworks.architectures import built

X = torch.randn(24, 5, generator=torch.Generator().manual_seed(1))
IMAGES = torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(2))
TOLD = {
    "post_norm_encoder": {"linear1.weight": None, "linear2.weight": ("residual", "norm2")},
    "pre_norm_encoder": {
        "encoder.layers.0.linear1.weight": ("before", "encoder.layers.0.norm2"),
        "encoder.layers.0.linear2.weight": None,
        "encoder.layers.1.linear2.weight": ("residual", "encoder.norm"),
        "head.weight": ("before", "encoder.norm"),
    },
    "gpt2_with_tied_head": {
        "transformer.h.0.attn.c_attn.weight[q]": ("before", "transformer.h.0.ln_1"),
        "transformer.h.0.attn.c_proj.weight": None,
        "transformer.h.0.mlp.c_fc.weight": ("before", "transformer.h.0.ln_2"),
        "transformer.h.1.mlp.c_proj.weight": ("residual", "transformer.ln_f"),
        "lm_head.weight": ("before", "transformer.ln_f"),
    },
    "bert": {
        "encoder.layer.0.attention.self.query.weight": None,  # a sum takes that norm as well
        "encoder.layer.0.attention.output.dense.weight": (
            "residual",
            "encoder.layer.0.attention.output.LayerNorm",
        ),
        "encoder.layer.0.intermediate.dense.weight": None,
        "encoder.layer.0.output.dense.weight": ("residual", "encoder.layer.0.output.LayerNorm"),
        "pooler.dense.weight": None,
    },
    "llama": {
        "layers.0.self_attn.q_proj.weight": ("before", "layers.0.input_layernorm"),
        "layers.0.self_attn.o_proj.weight": None,
        "layers.1.mlp.gate_proj.weight": ("before", "layers.1.post_attention_layernorm"),
        "layers.1.mlp.down_proj.weight": ("residual", "norm"),
    },
    "decoder_with_qk_norm": {
        "layers.0.self_attn.q_proj.weight": ("after", "layers.0.self_attn.q_norm"),
        "layers.0.self_attn.k_proj.weight": ("after", "layers.0.self_attn.k_norm"),
        "layers.0.self_attn.v_proj.weight": ("before", "layers.0.input_layernorm"),
    },
    "gemma3": {
        "layers.0.self_attn.o_proj.weight": ("after", "layers.0.post_attention_layernorm"),
        "layers.1.mlp.down_proj.weight": ("after", "layers.1.post_feedforward_layernorm"),
        "layers.0.mlp.up_proj.weight": ("before", "layers.0.pre_feedforward_layernorm"),
    },
    "resnet18_in_training": {
        "conv1.weight": ("after", "bn1"),
        "layer1.0.conv1.weight": ("after", "layer1.0.bn1"),
        "layer4.0.downsample.0.weight": ("after", "layer4.0.downsample.1"),
        "fc.weight": None,
    },
    "resnet18_in_evaluation": {"conv1.weight": None, "layer1.0.conv1.weight": None},
    "convnext": {
        "stem.0.weight": ("after", "stem.1"),
        "stages.0.blocks.0.conv_dw.weight": ("after", "stages.0.blocks.0.norm"),
        "stages.0.blocks.0.mlp.fc1.weight": ("before", "stages.0.blocks.0.norm"),
        "stages.0.blocks.0.mlp.fc2.weight": None,
    },
    "mobilenet_v2": {
        "features.1.conv.0.0.weight": ("after", "features.1.conv.0.1"),
        "features.2.conv.0.0.weight": ("after", "features.2.conv.0.1"),
    },
    "efficientnet": {
        "conv_stem.weight": ("after", "bn1"),
        "blocks.0.0.conv_dw.weight": ("after", "blocks.0.0.bn1"),
        "blocks.1.0.conv_pwl.weight": ("after", "blocks.1.0.bn3"),
    },
    "weight_norm": {"0.parametrizations.weight.original1": ("after", ""), "2.weight": None},
    "group_norm": {"0.weight": ("after", "1"), "3.weight": None},
}
"""Networks → layers → where their norm stands and its path, as their sources have it."""


def told(layer):
    if layer.normalizer.is_standard:
        return None
    path = re.match(r"(\S+) takes|its inputs are what (\S+) makes", layer.why)
    return layer.place.key, "" if path is None else path[1] or path[2]


@cache
def layers_of(name):
    model, batch = built(name)
    return model, batch, normgeo.torch.layers(model, batch)


@pytest.mark.parametrize("name", TOLD)
def test_norms_are_those_of_the_sources(name):
    _, _, found = layers_of(name)
    assert {layer: told(found[layer]) for layer in TOLD[name]} == TOLD[name]
    assert {one.basis.key for one in found.values()} == {SEEN}


class Made:
    """What modules take and make in a call of their own, seen by hooks."""

    def __init__(self, model, batch):
        self.taken, self.made = {}, {}
        hooks = [
            module.register_forward_hook(self.keep(name)) for name, module in model.named_modules()
        ]
        with torch.no_grad():
            model(batch)
        for hook in hooks:
            hook.remove()

    def keep(self, name):
        def hook(module, given, made):
            if name not in self.made and given and isinstance(made, torch.Tensor):
                self.taken[name] = given[0].detach().double().numpy().copy()
                self.made[name] = made.detach().double().numpy().copy()

        return hook


def made_by(layer):
    """What the layer with its norm makes of its inputs, by the library's own lines."""
    z = layer.normalizer.normalize(*layer.place.normalized(layer.W, layer.X, layer._added)).z
    z = z if layer.gain is None else z * layer.gain
    return z if layer.shift is None else z + layer.shift


@pytest.mark.parametrize("name", TOLD)
def test_layer_with_its_norm_makes_what_the_module_makes(name, subtests):
    """Cases may be in another order, as of heads, and an activation may follow in the norm."""
    model, batch, found = layers_of(name)
    seen = Made(model, batch)
    for title, layer in found.items():
        norm = (told(layer) or ("", ""))[1]
        if not norm or layer.X is None:
            continue
        with subtests.test(title):
            ours, theirs = made_by(layer), seen.made[norm]
            if callable(act := getattr(model.get_submodule(norm), "act", None)):
                ours = act(torch.from_numpy(ours)).numpy()
            every = [np.sort(made.ravel()) for made in (ours, theirs)]
            np.testing.assert_allclose(*every, atol=2e-4, rtol=2e-4)


def network():
    model = nn.Sequential(
        nn.Linear(5, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU(),
        nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 3),
    )  # fmt: skip
    with torch.no_grad():
        for norm in (model[1], model[4]):
            norm.weight += 0.3 * torch.randn_like(norm.weight)
            norm.bias += 0.3 * torch.randn_like(norm.bias)
    return model


@pytest.mark.parametrize("images", [IMAGES, IMAGES[:1]], ids=["several", "one"])
@pytest.mark.parametrize(
    "norm",
    [nn.InstanceNorm2d(6), nn.InstanceNorm2d(6, affine=True), nn.GroupNorm(6, 6)],
    ids=["plain", "affine", "a group for each channel"],
)
def test_instance_norm_is_the_batch_norm_of_each_image(norm, images):
    torch.manual_seed(1)  # of the weights, for every norm
    model = nn.Sequential(nn.Conv2d(3, 6, 3), norm, nn.ReLU(), nn.Conv2d(6, 4, 3))
    layer = normgeo.torch.layers(model, images)["0.weight"]
    assert told(layer) == ("after", "1")
    assert layer.normalizer.title == "instance norm"
    assert layer.normalizer == replace(NORMALIZERS["batch"], eps=1e-5)
    assert any("the batch norm of each image by itself" in note for note in layer.notes)
    assert (layer.X is None) == (len(images) > 1)
    if layer.X is not None:
        np.testing.assert_allclose(
            np.sort(made_by(layer).ravel()),
            np.sort(model[:2](images).detach().numpy().ravel()),
            atol=1e-5,
        )
    report = normgeo.layer_report(layer, optimizer="gradient_descent", rate=0.1)
    W = model[0].weight.detach().double().flatten(1)
    np.testing.assert_allclose(report.effective_rates, 0.1 / (W**2).sum(dim=1))


@pytest.mark.parametrize("groups", [1, 2])
def test_group_norm_over_images_takes_no_mean_over_neurons_off(groups):
    """What all rows add differs from place to place, and its mean is over places as well."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 6, 3, bias=False), nn.GroupNorm(groups, 6), nn.ReLU())
    layer = normgeo.torch.layers(model, IMAGES)["0.weight"]
    assert told(layer) == ("after", "1")
    assert layer.normalizer.title == "group norm"
    free = {
        one.change.key
        for one in freedoms(layer.place, replace(layer.normalizer, eps=0.0))
        if one.free
    }
    before, W = model(IMAGES).detach(), model[0].weight.detach().clone()
    with torch.no_grad():
        for key, changed in {"all_times": 1e3 * W, "all_plus": W + torch.randn(1, 3, 3, 3)}.items():
            model[0].weight.copy_(changed)
            after = model(IMAGES)
            assert (key in free) == bool((after - before).norm() < 1e-2 * before.norm())
        model[0].weight.copy_(W)
    report = normgeo.layer_report(layer, optimizer="gradient_descent", rate=0.1)
    blocks = W.double().reshape(groups, -1)
    np.testing.assert_allclose(report.effective_rates, 0.1 / (blocks**2).sum(dim=1))


def test_axis_of_the_neurons_decides_what_a_norm_over_the_last_axis_is():
    """Of signals (cases, neurons, places) it is over places, of (cases, places, neurons) not."""
    signals = torch.randn(4, 3, 9)
    for norm in (nn.InstanceNorm1d(6), nn.LayerNorm(9, elementwise_affine=False)):
        model = nn.Sequential(nn.Conv1d(3, 6, 1), norm, nn.Conv1d(6, 2, 1))
        assert normgeo.torch.layers(model, signals)["0.weight"].normalizer.title == "instance norm"
    model = nn.Sequential(nn.Linear(9, 5), nn.InstanceNorm1d(3), nn.Linear(5, 2))
    assert normgeo.torch.layers(model, signals)["0.weight"].normalizer.title == "layer norm"


def test_report_has_rates_angles_and_epsilon_of_the_module():
    model = network()
    nn.functional.cross_entropy(model(X), torch.arange(24) % 3).backward()
    found = normgeo.torch.layers(model, X)
    assert [*found] == ["0.weight", "3.weight", "5.weight"]
    W, G = (one.detach().double().numpy() for one in (model[0].weight, model[0].weight.grad))
    report = normgeo.layer_report(found["0.weight"], optimizer="gradient_descent", rate=0.1)
    np.testing.assert_allclose(report.effective_rates, 0.1 / (W**2).sum(axis=1))
    angles = np.arctan(0.1 * np.linalg.norm(G, axis=1) / np.linalg.norm(W, axis=1))
    np.testing.assert_allclose(report.angles, angles, rtol=1e-6)
    assert report.epsilon is not None
    np.testing.assert_allclose(found["0.weight"].X, X)
    assert found["0.weight"].normalizer.eps == 1e-5
    assert "bn" not in found["0.weight"].why


def test_bias_before_a_layer_norm_is_part_of_its_block():
    model = network()
    layer = normgeo.torch.layers(model, X)["3.weight"]
    assert layer.W.shape == (8, 7)
    np.testing.assert_allclose(layer.W[:, -1], model[3].bias.detach())
    assert any("bias b of the layer" in note for note in layer.notes)


def test_module_is_left_as_it_is():
    model = network().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    normgeo.torch.layers(model, X)
    after = model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())


def test_norm_that_another_module_reads_beside_is_not_the_layers_own():
    """The sum of a residual block is read by the norm and by the stream."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.second = nn.Linear(5, 5), nn.LayerNorm(5), nn.Linear(5, 5)

        def forward(self, x):
            x = x + self.first(x)
            return x + self.second(self.norm(x))

    found = normgeo.torch.layers(Block(), X)
    assert found["first.weight"].normalizer.is_standard
    assert told(found["second.weight"]) == ("before", "norm")


def test_shared_layer_is_told_by_its_first_call():
    model = network()
    again = nn.Sequential(model[3], model[4], nn.Linear(8, 6), model[3])
    layer = normgeo.torch.layers(again, torch.randn(9, 6))["0.weight"]
    assert any("called 2 times" in note for note in layer.notes)
    assert layer.X.shape[0] == 9


def test_weight_that_is_made_of_another_is_left_out():
    spectral = nn.utils.parametrizations.spectral_norm(nn.Linear(5, 6))
    model = nn.Sequential(spectral, nn.ReLU(), nn.Linear(6, 3)).eval()
    assert [*normgeo.torch.layers(model, X)] == ["2.weight"]


def test_wrapped_module_has_the_same_layers():
    model = network()
    assert [*normgeo.torch.layers(nn.DataParallel(model), X)] == [*normgeo.torch.layers(model, X)]


def test_inputs_that_take_too_much_are_left_out(monkeypatch):
    monkeypatch.setattr("normgeo.base.arrays.LARGEST_BYTES", 1000)
    model = nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4))
    layer = normgeo.torch.layers(model, torch.randn(4, 3, 9, 9))["0.weight"]
    assert layer.X is None
    assert told(layer) == ("after", "1")
    assert any(note.startswith("Its inputs are left out: The windows") for note in layer.notes)


NONE_CALLED = (
    r"^`layers` tells of linear layers and convolutions, and the module calls none; "
    r"`normgeo\.torch\.measure` tells of all of its parameters\.$"
)


def test_module_whose_weights_other_modules_take_is_refused_in_a_sentence():
    picked = torch.arange(12).reshape(4, 3)
    for module, batch in [
        (nn.MultiheadAttention(8, 2), [torch.randn(4, 3, 8)] * 3),
        (nn.EmbeddingBag(12, 5), picked),
        (nn.Bilinear(5, 5, 3), [X, X]),
    ]:
        with pytest.raises(Refusal, match=NONE_CALLED):
            normgeo.torch.layers(module, batch)


@pytest.mark.parametrize("kind", [nn.LayerNorm, "of a library"])
def test_norm_without_a_bias_is_found(kind):
    """As in Cohere, MPT and ModernBERT."""

    class Plain(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.weight, self.variance_epsilon = nn.Parameter(torch.ones(size)), 1e-6

        def forward(self, x):
            c = x - x.mean(-1, keepdim=True)
            v = c.pow(2).mean(-1, keepdim=True)
            return self.weight * c * torch.rsqrt(v + self.variance_epsilon)

    own = kind is nn.LayerNorm
    norm, eps = (nn.LayerNorm(8, bias=False), 1e-5) if own else (Plain(8), 1e-6)
    model = nn.Sequential(nn.Linear(5, 8), norm, nn.Linear(8, 3))
    with torch.no_grad():
        norm.weight += 0.3 * torch.randn(8)
    found = normgeo.torch.layers(model, X)
    layer, reader = found["0.weight"], found["2.weight"]
    assert (told(layer), told(reader)) == (("after", "1"), ("before", "1"))
    assert layer.normalizer == replace(NORMALIZERS["layer"], eps=eps)
    assert layer.shift is None
    np.testing.assert_allclose(layer.gain, norm.weight.detach())
    np.testing.assert_allclose(made_by(layer), model[:2](X).detach(), atol=1e-5)
    table = normgeo.torch.measure(model, X)
    assert table.place("0.weight") == ("after_with_bias",)
    assert table.roles["1.weight"] == "gain"


def test_what_is_wrong_is_refused():
    model = network()
    for wrong, sentence in [
        (lambda: normgeo.torch.layers(model, X, names=["fc"]), r"^`names` must be of layers of"),
        (lambda: normgeo.torch.layers(nn.ReLU(), X), NONE_CALLED),
        (lambda: normgeo.torch.layers(abs, X), r"^`model` must be a torch\.nn\.Module; got"),
        (
            lambda: normgeo.torch.layers(nn.Sequential(nn.Linear(5, 3), nn.Dropout()), X),
            r"^Layers are looked at in several calls of the module, which must agree\.",
        ),
    ]:
        with pytest.raises(Refusal, match=sentence):
            wrong()
