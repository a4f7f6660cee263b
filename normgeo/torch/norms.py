"""Norms of a module that runs, told by what they make of their inputs, not by their classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.shared_statistics import SHARINGS

EPSILONS = ("eps", "variance_epsilon", "epsilon")
"""What modules call ε."""

GAINS, SHIFTS = ("weight", "gamma", "scale"), ("bias", "beta")
"""What modules call the gain and the shift."""

CLOSE = 1e-5
"""Of the length of the outputs: norms of transformers run in single precision themselves."""

INSTANCE = replace(NORMALIZERS["batch"], name=SHARINGS["instance"].title)
"""Instance norm: the batch norm of each image by itself, whose cases are its places."""

OVER_IMAGES = Normalizer("none", "layer", name=NORMALIZERS["group"].title)
"""Group norm over images. Its mean is over places as well, so that none over neurons comes off."""


@final
@dataclass(frozen=True, eq=False)
class Norm:
    """A module that is a norm, as it was seen to run.

    Attributes:
        path: of the module. normalizer: with its ε. axis: of the channels in its inputs.
        channels: how many. taken, made: its inputs and outputs. parameters: its own, by role.
        one_plus: whether its gain is 1 and its parameter. of_images: whether its statistics are
            over all places of each image, so that those of its cases together are others.

    """

    path: str
    normalizer: Normalizer
    axis: int
    channels: int
    taken: Any
    made: Any
    parameters: Mapping[str, Any]
    one_plus: bool = False
    of_images: bool = False

    @property
    def is_instance(self) -> bool:
        """Whether it is the batch norm of each image by itself."""
        return self.normalizer.name == INSTANCE.name

    def rows(self, values: Any) -> Any:
        """Return what it takes or makes with a case in each row, (cases, channels)."""
        return values.movedim(self.axis, -1).reshape(-1, self.channels)


def recognized(path: str, module: Any, taken: Any, made: Any) -> tuple[Norm, ...]:
    """Return the norms that a module may be read as: of NORMALIZERS, with a gain and a shift.

    There are several where the axis of the neurons decides: what is a layer norm of the outputs of
    a linear layer, (cases, places, neurons), is an instance norm of those of a convolution,
    (cases, neurons, places).

    Args:
        path: of the module. taken, made: its inputs and outputs, tensors.

    """
    if taken.shape != made.shape or taken.ndim < 2 or not taken.numel():
        return ()
    own = dict(module.named_parameters())
    if any(parameter.ndim != 1 for parameter in own.values()) or len(own) > 2:
        return ()
    gain = next((own[name] for name in GAINS if name in own), None)
    shift = next((own[name] for name in SHIFTS if name in own), None)
    u, y = taken.double(), made.double()
    activation = getattr(module, "act", None)
    found: list[Norm] = []
    for normalizer, axis, z in _candidates(module, u):
        channels = u.shape[axis]
        if any(one is not None and len(one) != channels for one in (gain, shift)):
            continue
        along = [channels if a == axis % u.ndim else 1 for a in range(u.ndim)]
        g = 1.0 if gain is None else gain.double().reshape(along)
        b = 0.0 if shift is None else shift.double().reshape(along)
        for one_plus in (False, True)[: 1 + (gain is not None)]:
            expected = z * (g + one_plus) + b
            if callable(activation):
                expected = activation(expected)
            if (expected - y).norm() <= CLOSE * y.norm():
                roles = {"gain": gain, "bias": shift}
                kept = {role: one for role, one in roles.items() if one is not None}
                one = Norm(path, normalizer, axis, channels, taken, made, kept, one_plus)
                apart = len(u) > 1 if one.is_instance else normalizer.shared_by_neurons
                of_images = u.ndim > 2 and apart and (one.is_instance or _is_group(module))
                found.append(replace(one, of_images=of_images))
                break
    return (*found,)


def _is_group(module: Any) -> bool:
    return isinstance(getattr(module, "num_groups", None), int)


def _is_instance(module: Any) -> bool:
    import torch

    kinds = (torch.nn.InstanceNorm1d, torch.nn.InstanceNorm2d, torch.nn.InstanceNorm3d)
    return isinstance(module, kinds)


def _candidates(module: Any, u: Any) -> Iterator[tuple[Normalizer, int, Any]]:
    """Each normalizer that a module may be, the axis of its channels, and z."""
    layer, rms, batch = (NORMALIZERS[key] for key in ("layer", "rms", "batch"))
    eps = _eps(module)
    places = tuple(range(2, u.ndim))
    if _is_group(module):
        groups = module.num_groups
        if u.shape[1] % groups == 0:
            z = _scaled(u.reshape(len(u), groups, -1), (2,), eps, center=True).reshape(u.shape)
            one = replace(NORMALIZERS["group"], groups=groups) if groups > 1 else layer
            if places:
                one = INSTANCE if groups == u.shape[1] else replace(OVER_IMAGES, groups=groups)
            yield replace(one, eps=eps), 1, z
        return
    if places and _is_instance(module):  # of a single image, batch norm makes the same
        yield replace(INSTANCE, eps=eps), 1, _scaled(u, places, eps, center=True)
    for axis in (-1, 1)[: 1 + (u.ndim > 2)]:
        for one in (layer, rms):
            z = _scaled(u, (axis,), eps, center=one.centering.subtracts)
            yield replace(one, eps=eps), axis, z
    yield replace(batch, eps=eps), 1, _scaled(u, (0, *places), eps, center=True)
    if places and len(u) > 1 and not _is_instance(module):
        yield replace(INSTANCE, eps=eps), 1, _scaled(u, places, eps, center=True)


def _eps(module: Any) -> float:
    import torch

    for name in EPSILONS:
        if hasattr(module, name):
            value = getattr(module, name)
            if value is None:  # as of torch.nn.RMSNorm
                return float(torch.finfo(torch.get_default_dtype()).eps)
            if isinstance(value, float | int) and value >= 0:
                return float(value)
    return 0.0


def _scaled(u: Any, axes: tuple[int, ...], eps: float, *, center: bool) -> Any:
    c = u - u.mean(axes, keepdim=True) if center else u
    return c / (c.square().mean(axes, keepdim=True) + eps).sqrt()
