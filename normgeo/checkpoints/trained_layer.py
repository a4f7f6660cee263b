"""A layer of a network: its weights, its norm, and what is known of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import entry_of, instance_of
from normgeo.base.arrays import Array, real_array
from normgeo.base.constant import Constant
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.basis import Basis
from normgeo.checkpoints.place import PLACES, Place, require_place, rescalable
from normgeo.models.families import Family
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.blocks import Blocks, lengths
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.statistic import group_size

_NO_NORM = Normalizer("none", "none")


@final
@dataclass(init=False, eq=False)
class TrainedLayer(Constant):
    """A layer a = x Wᵀ + b with its norm.

    Attributes:
        title: the name of the weights. W: (H, D), float64.
        normalizer: with the ε in use. place: where it stands, one of PLACES.
        gain, shift: g and β of the norm, (H,), or (D,) where it stands before W; None for 1 and 0.
        bias: b, (H,), None for none.
        running_var: v of each neuron (or feature) as training has averaged it; None without it.
        X: inputs of the layer, (N, D). stream: what its outputs are added to, (N, H).
        labels: y of a model whose outputs these are, (N,) or (N, H).
        gradient: of the loss in W, (H, D), or of several batches, (K, H, D).
        seen: which features a neuron has a weight for, (H, D), as in a convolution in groups; None
            for all. W and the gradient are 0 elsewhere.
        why: the reason for its norm and place. notes: on how it was read.
        basis: whether norm and place are stated, known, guessed or unknown.

    Raises:
        ValueError: bad numbers, shapes that do not fit, or a place that the norm can't have.

    """

    title: Final[str]
    W: Final[Array]
    normalizer: Final[Normalizer]
    place: Final[Place]
    gain: Final[Array | None]
    shift: Final[Array | None]
    bias: Final[Array | None]
    running_var: Final[Array | None]
    X: Final[Array | None]
    stream: Final[Array | None]
    labels: Final[Array | None]
    gradient: Final[Array | None]
    seen: Final[Array | None]
    why: Final[str]
    notes: Final[tuple[str, ...]]
    basis: Final[Basis]

    def __init__(
        self,
        title: str,
        W: ArrayLike,
        normalizer: Normalizer | str,
        place: str | Place = "after",
        *,
        gain: ArrayLike | None = None,
        shift: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        running_var: ArrayLike | None = None,
        X: ArrayLike | None = None,
        stream: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        gradient: ArrayLike | None = None,
        seen: ArrayLike | None = None,
        why: str = "",
        notes: tuple[str, ...] = (),
        basis: Basis | None = None,
    ) -> None:
        self.title = instance_of("title", title, str)
        self.W = real_array("W", W, 2).astype(np.float64)
        self.normalizer = normalizer_of(normalizer)
        self.place = entry_of("place", place, PLACES, Place)
        require_place(self.place, self.normalizer)
        H, D = shape = self.W.shape
        channels = D if self.place.over_features else H
        # Groups that do not divide the channels are refused here.
        group_size(channels, self.normalizer.groups)
        self.gain = _fitting("gain", gain, (channels,), shape)
        self.shift = _fitting("shift", shift, (channels,), shape)
        self.bias = _fitting("bias", bias, (H,), shape)
        self.running_var = _fitting("running_var", running_var, (channels,), shape)
        if self.running_var is not None and (self.running_var < 0).any():
            raise Refusal(
                "`running_var` holds variances, which are 0 or more; got {least:g}. Check "
                "which tensor is what.",
                least=self.running_var.min(),
            )
        self.X = _fitting("X", X, (None, D), shape)
        cases = None if self.X is None else len(self.X)
        self.stream = _fitting("stream", stream, (cases, H), shape)
        self.labels = None if labels is None else real_array("labels", labels, 1, 2)
        several = gradient is not None and np.ndim(real_array("gradient", gradient, 2, 3)) == 3
        self.gradient = _fitting("gradient", gradient, (None, H, D)[not several :], shape)
        mask = _fitting("seen", seen, shape, shape)
        self.seen = None if mask is None else mask.astype(bool)
        self._require_seen()
        self.why = instance_of("why", why, str)
        self.notes = instance_of("notes", notes, tuple)
        self.basis = Basis() if basis is None else instance_of("basis", basis, Basis)

    @property
    def blocks(self) -> Blocks:
        """The homogeneous blocks of W; if it has none, each row is a block."""
        H, center = len(self.W), self.normalizer
        if not self._means_are_free:
            center = Normalizer("none", center.words[1], groups=center.groups)
        if rescalable(self.place, self.normalizer):
            return Blocks.of(center, H)
        return Blocks(
            np.arange(H)[:, None], False, _NO_NORM if self.place.over_features else center
        )

    @property
    def sizes(self) -> Array:
        """How many weights each row of W has, (H,)."""
        H, D = self.W.shape
        return np.full(H, D) if self.seen is None else np.count_nonzero(self.seen, axis=1)

    @property
    def _means_are_free(self) -> bool:
        """Whether the neurons have weights for the same features, so that W may have a mean row."""
        if self.seen is None or self.normalizer.centering.neuron_dimensions_lost == 0:
            return True
        parts = self.seen.reshape(self.normalizer.groups, -1, self.W.shape[1])
        return bool((parts == parts[:, :1]).all())

    def _require_seen(self) -> None:
        if self.seen is None:
            return
        outside = np.any(self.W, where=~self.seen)
        if self.gradient is not None:
            outside = outside or np.any(self.gradient, where=~self.seen)
        if outside:
            raise Refusal(
                "W and its gradient must be 0 where `seen` says that a neuron has no weight; "
                "got other numbers there. Check which features a neuron sees."
            )

    @property
    def full_gain(self) -> Array:
        """The length that the norm gives each neuron's row, (H,).

        |g_h| of a norm after W, since N ignores the length of w_h; ‖g ⊙ w_h‖ of one before it.
        """
        if self.place.over_features:
            return lengths(self.W * (1 if self.gain is None else self.gain))
        return np.ones(len(self.W)) if self.gain is None else np.abs(self.gain)

    def moments(self) -> tuple[Array, Array] | None:
        """Return C (N, channels) and v (N or 1, channels or 1) over X, as `Normalizer.moments`.

        None if the inputs of the norm are unknown.
        """
        if self.X is None or not self.knows_inputs:
            return None
        return self.normalizer.moments(*self.place.normalized(self.W, self.X, self._added))

    def variances(self) -> Array | None:
        """Return v over X, (N or 1, channels or 1); None if the inputs of the norm are unknown."""
        found = self.moments()
        return None if found is None else found[1]

    @property
    def knows_inputs(self) -> bool:
        """Whether all inputs of layer and norm are known: X, and the stream of a residual sum."""
        return self.X is not None and not (self.place.takes_stream and self.stream is None)

    @property
    def _added(self) -> Array:
        """What a residual sum adds to x Wᵀ: the stream and the bias."""
        stream = np.zeros((1, 1)) if self.stream is None else self.stream
        return stream + self.bias if self.bias is not None and self.place.takes_stream else stream

    def model(self, family: Family | str) -> tuple[NormalizedGLM, Array]:
        """Return the layer as a model of its outputs, and the inputs of that model.

        The inputs are X, (N, D), or X and the residual stream, (N, D + H), if the norm takes their
        sum. A norm before W is a part of the inputs, so the model of W is then the standard one.

        Raises:
            ValueError: no inputs, or no residual stream where the norm takes one.

        """
        if self.X is None or not self.knows_inputs:
            raise Refusal(
                "A model of the layer needs all that its norm takes, X and after a residual "
                "sum the stream; {name!r} has {lacks}.",
                name=self.title,
                lacks=text("no X") if self.X is None else text("no stream"),
            )
        if not self.place.over_features:
            inputs, summed = self.X, self.place.takes_stream
            if summed:
                inputs = np.concatenate([inputs, self._added], axis=1)
            standard = self.normalizer.is_standard
            b = self.bias if standard and not summed else self.shift
            gain = None if standard else self.gain
            model = NormalizedGLM(self.normalizer, family, self.W, b, gain, takes_stream=summed)
            return model, inputs
        z = self.normalizer.normalize(np.eye(self.X.shape[1]), self.X).z
        scaled = z if self.gain is None else z * self.gain
        inputs = scaled if self.shift is None else scaled + self.shift
        return NormalizedGLM(_NO_NORM, family, self.W, self.bias), inputs


def _fitting(
    name: str, values: ArrayLike | None, shape: tuple[int | None, ...], of: tuple[int, int]
) -> Array | None:
    """Return values as float64 of a shape, with None for any length; `of` is the shape of W."""
    if values is None:
        return None
    found = real_array(name, values, len(shape))
    wanted = tuple(
        have if need is None else need for need, have in zip(shape, found.shape, strict=True)
    )
    if found.shape != wanted:
        raise Refusal(
            "`{name}` of a layer with W of shape {W} must have shape {shape}; got {found}. "
            "Check which tensor is what.",
            name=name,
            W=of,
            shape=wanted,
            found=found.shape,
        )
    return found.astype(np.float64)


def with_bias_as_weight(
    W: Array, bias: Array, X: Array | None, gradient: Array | None
) -> tuple[Array, Array | None, Array | None]:
    """Add to W, X and the gradient a last feature that is always 1, whose weight is the bias.

    A norm over the neurons takes x Wᵀ + b, so it ignores a scale of W and b, not of W alone.
    The gradient of the bias is unknown, and set to 0.
    """
    W = np.column_stack([W, bias])
    X = None if X is None else np.column_stack([X, np.ones(len(X))])
    if gradient is not None:
        gradient = np.concatenate([gradient, np.zeros((*gradient.shape[:-1], 1))], axis=-1)
    return W, X, gradient
