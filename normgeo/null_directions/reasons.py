"""Why a direction can be null: one function for each reason, along the chain of maps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.subspaces import SAME, principal_angles, without
from normgeo.base.text import text
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.null_directions.data_reasons import case_factors, cases, data
from normgeo.null_directions.null_chain import Finding, NullChain

WEIGHT_CHANGES = tuple(change for change in TRANSFORMS.values() if change.matrix == "W")


def tangents(change: Transform, W: Array, X: Array, groups: int = 1) -> Array:
    """Return the tangents (m, H, D) of a change of W (H, D), one for each parameter.

    One for every neuron if the change acts on one row, for every unit vector γ if it is a shift,
    and for every group if it acts on all rows.
    """
    one_row = change.operation.one_row
    shifts, at = None, W[None]
    if not change.rescales:
        shifts = np.eye(change.gamma_shape(W, X)[0])
        at = np.zeros((len(shifts), *W.shape))  # computed at 0, a shift has no rounding errors
    all_tangents = np.concatenate(
        [
            change.tangent(at, X, gamma=shifts, index=h)[0]
            for h in (range(len(W)) if one_row else range(1))
        ]
    )
    if groups == 1 or one_row:
        return all_tangents
    members = np.repeat(np.eye(groups), len(W) // groups, axis=1)
    by_group: Array = (members[:, None, :, None] * all_tangents).reshape(-1, *W.shape)
    return by_group


def _signs(chain: NullChain, credited: Array) -> list[Finding]:
    off = np.abs(np.abs(chain.normalized.z) - 1).max()
    if chain.normalized.added or off > chain.outputs.rounding * chain.outputs.condition:
        return []
    layout = chain.null.layout
    each = np.eye(layout.weights.size).reshape(-1, layout.neurons, layout.features)
    return [
        Finding(
            "signs",
            text("only signs are left"),
            text(
                "z = ±1 everywhere: of two numbers, centered and scaled together, only the sign is "
                "left. No small change of the weights changes the model, and F_WW = 0."
            ),
            chain.weights(each),
        )
    ]


def _weight_changes(chain: NullChain, credited: Array) -> list[Finding]:
    groups = chain.normalized.groups
    within = text(" per group") if groups > 1 else ""
    W = chain.model.W.astype(np.float64)
    found = []
    for change in WEIGHT_CHANGES:
        span = chain.weights(tangents(change, W, chain.normalized.inputs, groups))
        angles, _ = principal_angles(span, chain.null.coordinates)
        null, ignored = int(np.count_nonzero(angles < SAME)), 0
        if span.shape[1] <= chain.null.dimension:
            null = ignored = chain.zero(chain.outputs, span).shape[1]
            if chain.normalized_inputs is not chain.outputs:
                ignored = chain.zero(chain.normalized_inputs, span).shape[1]
        known = not span.shape[1] or null < span.shape[1] or chain.decided(span)
        holds = known and 0 < span.shape[1] == ignored
        if not known:
            null = int(np.count_nonzero(angles < SAME))
            sentence = text("Its effect is rounding, and float64 cannot decide whether it is 0.")
        elif holds:
            sentence = text("z ignores it, and so does the model.")
        elif not span.shape[1]:
            sentence = text("It moves nothing here: what it would change is zero.")
        elif null == span.shape[1]:
            sentence = text("z changes, but the distribution of y does not.")
        else:
            sentence = text(
                "it changes the model: {null} of its {span} independent tangents are null "
                "directions, the others up to {angle:.3g}° from them.",
                null=null,
                span=len(angles),
                angle=float(np.degrees(angles[-1])),
            )
        title = text(change.label)
        if not change.operation.one_row and within:
            title = text("{change}{within}", change=title, within=within)
        part = span if holds else span[:, :0]
        found.append(Finding(change.key, title, sentence, part, span.shape[1], angles, null))
    return found


def _vectors_together(chain: NullChain, credited: Array) -> list[Finding]:
    center = chain.normalized.center
    if not center.shared_by_neurons:
        return []
    sentence = text(
        "Each centered weight vector w̃_h grows at its own rate c_h, with Σ c_h w̃_h = 0, so "
        "that the mean over the neurons stays 0. Apart from equal rates, this needs more "
        "neurons in a group, K, than there are features, D."
    )
    if not center.neuron_dimensions_lost:
        sentence = text(
            "Each centered weight vector w̃_h grows at its own rate. That moves the mean over "
            "the neurons, and so the model; but in Eq. 13 each output depends on its own "
            "neuron only."
        )
    return [
        Finding(
            "vectors_together",
            text("centered weight vectors re-scaled together"),
            sentence,
            chain.zero(chain.normalized_inputs, chain.weights(chain.each_vector)),
        )
    ]


def _zero_gains(chain: NullChain, credited: Array) -> list[Finding]:
    gain, layout = chain.at.gain, chain.null.layout
    if gain is None or gain.all():
        return []
    off = np.flatnonzero(gain == 0)
    each = np.eye(layout.weights.size).reshape(layout.neurons, -1, *chain.model.W.shape)
    return [
        Finding(
            "zero_gains",
            text("gains of zero"),
            text(
                "The gain is 0 at {count} of {H} neurons: their weights reach no output.",
                count=len(off),
                H=len(gain),
            ),
            chain.zero(chain.parameters, chain.weights(np.concatenate(each[off]))),
        )
    ]


def _bias_for_gain(chain: NullChain, credited: Array) -> list[Finding]:
    """If z_h is the same in every case, db_h = −z_h dg_h leaves s unchanged (N = 2, z = ±1)."""
    if chain.null.weights_only or chain.at.gain is None:
        return []
    part = chain.zero(chain.parameters, chain.of_outputs)
    return [
        Finding(
            "bias_for_gain",
            text("gain traded for bias"),
            text(
                "z is the same in every case at {count} of {H} neurons: a change of g_h adds a "
                "constant there, which b_h takes back.",
                count=part.shape[1],
                H=len(chain.at.gain),
            ),
            part,
        )
    ]


def _gain_for_scale(chain: NullChain, credited: Array) -> list[Finding]:
    """dw̃_h = w̃_h with dg_h = −g_h, and db_h if the mean is a constant that does not grow."""
    if chain.null.weights_only or chain.at.gain is None:
        return []
    H = len(chain.at.gain)
    constant_mean = chain.normalized.center.subtract_frozen(np.zeros((1, H))).any()
    traded = chain.of_outputs if constant_mean else chain.of_outputs[:, H:]
    span = np.concatenate([chain.weights(chain.each_vector), traded], axis=1)
    return [
        Finding(
            "gain_for_scale",
            text("gain traded for scale"),
            text("w̃_h × δ with g_h ÷ δ: nothing normalizes the scale, so two parameters share it."),
            chain.zero(chain.parameters, span),
        )
    ]


def _softmax(chain: NullChain, credited: Array) -> list[Finding]:
    if not chain.model.family.coupled:
        return []
    left = chain.left(credited)
    return [
        Finding(
            "softmax",
            text("the softmax"),
            text("Every output of a case changes by the same c(x), which a softmax ignores."),
            without(chain.shifting(left), chain.zero(chain.parameters, left)),
        )
    ]


def _saturation(chain: NullChain, credited: Array) -> list[Finding]:
    if not chain.outputs.saturated:
        return []
    left = chain.left(credited)
    return [
        Finding(
            "saturation",
            text("saturated outputs"),
            text(
                "s changes, but only at outputs so certain that their variance A'' is 0 in "
                "floating point."
            ),
            without(left, chain.shifting(left)),
        )
    ]


REASONS: tuple[Callable[[NullChain, Array], list[Finding]], ...] = (
    _signs,
    _weight_changes,
    _vectors_together,
    _zero_gains,
    _bias_for_gain,
    _gain_for_scale,
    data,
    case_factors,
    cases,
    _softmax,
    _saturation,
)
"""The order in which reasons are credited; the first five are weight changes of `TRANSFORMS`."""
