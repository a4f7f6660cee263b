"""Why a direction can be null: one function for each reason, taken along the chain of maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.subspaces import SAME, orthonormal, principal_angles, shared, without
from normgeo.base.text import text
from normgeo.fisher.operator import SATURATED
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.symmetry.null_chain import NullChain
from normgeo.symmetry.null_space import TOLERANCE

WEIGHT_CHANGES = tuple(change for change in TRANSFORMS.values() if change.matrix == "W")

MOST_OUTPUTS = 2000
"""N·H above which too few cases are not looked for: the search takes O((N·H)³)."""


def tangents(change: Transform, W: Array, X: Array, groups: int = 1) -> Array:
    """Return the tangents (m, H, D) of a change of W (H, D), one for each parameter.

    That is, for every neuron where the change is of one row, every unit vector γ where it is a
    shift, and every group by itself where it is of all rows.
    """
    one_row = change.operation.one_row
    rows = range(len(W)) if one_row else range(1)
    shifts = [None] if change.rescales else list(np.eye(change.gamma_shape(W, X)[0]))
    all_tangents = np.stack(
        [change.tangent(W, X, gamma=gamma, index=h)[0] for h in rows for gamma in shifts]
    )
    if groups == 1 or one_row:
        return all_tangents
    members = np.repeat(np.eye(groups), len(W) // groups, axis=1)
    by_group: Array = (members[:, None, :, None] * all_tangents).reshape(-1, *W.shape)
    return by_group


@final
@dataclass(frozen=True, eq=False)
class Finding:
    """A reason before it is credited: `part` (P, a) is a basis of the null directions it holds."""

    key: str
    title: str
    sentence: str
    part: Array
    span: int = 0
    angles: Array = field(default_factory=lambda: np.zeros(0))


def _signs(chain: NullChain, credited: Array) -> list[Finding]:
    if not np.allclose(np.abs(chain.z), 1.0, rtol=0, atol=SAME):
        return []
    return [
        Finding(
            "signs",
            text("only signs are left"),
            text(
                "z = ±1 everywhere: of two numbers, centered and scaled together, only the sign is "
                "left. No small change of the weights changes the model, and F_WW = 0."
            ),
            shared(chain.coordinates(chain.null.layout.weights), chain.unseen),
        )
    ]


def _weight_changes(chain: NullChain, credited: Array) -> list[Finding]:
    groups = chain.normalized.groups
    within = text(" within a group") if groups > 1 else ""
    W = chain.model.W.astype(np.float64)
    found = []
    for change in WEIGHT_CHANGES:
        span = orthonormal(chain.at_weights(tangents(change, W, chain.inputs, groups)))
        angles, _ = principal_angles(span, chain.null.basis)
        to_unseen, _ = principal_angles(span, chain.unseen)
        holds = bool(to_unseen[-1] < SAME)
        if holds:
            sentence = text("z ignores it, so the model does.")
        elif angles[-1] < SAME:
            sentence = text("z changes, but the distribution of y does not.")
        else:
            sentence = text(
                "It changes the model: {null} of its {span} independent tangents are null "
                "directions, the others up to {angle:.3g}° from them.",
                null=int(np.count_nonzero(angles < SAME)),
                span=len(angles),
                angle=float(np.degrees(angles[-1])),
            )
        title = text(change.label)
        if not change.operation.one_row and within:
            title = text("{change}{within}", change=title, within=within)
        part = span if holds else span[:, :0]
        found.append(Finding(change.key, title, sentence, part, span.shape[1], angles))
    return found


def _vectors_together(chain: NullChain, credited: Array) -> list[Finding]:
    if not chain.normalized.center.neuron_dimensions_lost:
        return []
    return [
        Finding(
            "vectors_together",
            text("centered weight vectors re-scaled together"),
            text(
                "Each centered weight vector w̃_h grows at its own rate c_h, and Σ c_h w̃_h = 0, so "
                "that the mean over the neurons stays 0: besides equal rates this takes more "
                "neurons in a group, K, than there are features, D."
            ),
            shared(orthonormal(chain.at_weights(chain.each_vector)), chain.unseen),
        )
    ]


def _gain_for_scale(chain: NullChain, credited: Array) -> list[Finding]:
    if chain.null.weights_only or chain.at.gain is None:
        return []
    gains = chain.coordinates(chain.null.layout.gains)
    span = np.concatenate([chain.at_weights(chain.each_vector), gains], axis=1)
    return [
        Finding(
            "gain_for_scale",
            text("gain traded for scale"),
            text("w̃_h × δ with g_h ÷ δ: nothing normalizes the scale, so two parameters share it."),
            shared(orthonormal(span), chain.silent),
        )
    ]


def _zero_gains(chain: NullChain, credited: Array) -> list[Finding]:
    gain = chain.at.gain
    if gain is None or gain.all():
        return []
    layout = chain.null.layout
    off = layout.weights.reshape(-1, layout.features)[gain == 0].reshape(-1)
    return [
        Finding(
            "zero_gains",
            text("gains of zero"),
            text(
                "The gain is 0 at {count} of {H} neurons: their weights reach no output.",
                count=int(np.count_nonzero(gain == 0)),
                H=len(gain),
            ),
            shared(chain.coordinates(off), chain.silent),
        )
    ]


def _data(chain: NullChain, credited: Array) -> list[Finding]:
    X = chain.inputs
    dW, dC = chain.summed(chain.neurons(chain.silent)[0])
    if not chain.null.weights_only:
        # b can undo what is constant over the cases.
        X, dC = X - X.mean(axis=0), dC - dC.mean(axis=1, keepdims=True)
    norm = float(np.linalg.norm(chain.inputs))
    part = chain.part_without(chain.silent, norm, dC)
    part = without(part, chain.part_without(chain.silent, 1.0, dW))
    sentence = text("The cases differ in every direction that the weights can look in.")
    if part.shape[1]:
        sentence = text(
            "The {N} cases span {rank} of {D} dimensions{origin} (constant features: {constant}): "
            "weights along what is missing change no output.",
            N=len(X),
            rank=int(np.linalg.matrix_rank(X, tol=TOLERANCE * norm)),
            D=X.shape[1],
            origin="" if chain.null.weights_only else text(" around their mean"),
            constant=int(np.count_nonzero(np.ptp(X, axis=0) == 0)),
        )
    return [Finding("data", text("the data"), sentence, part)]


def _case_factors(chain: NullChain, credited: Array) -> list[Finding]:
    """What a layer scale ignores, dC_n = t_n C_n, with factors t_n that differ."""
    if not chain.normalized.scale.shared_by_neurons:
        return []
    _, dC = chain.summed(chain.neurons(chain.unseen)[0])
    none = chain.part_without(chain.unseen, float(np.linalg.norm(chain.inputs)), dC)
    return [
        Finding(
            "case_factors",
            text("cases re-scaled one by one"),
            text(
                "The summed inputs of each case grow at a rate of its own, which a layer scale "
                "ignores. Weights can do that where few cases look in their direction."
            ),
            without(chain.unseen, none),
        )
    ]


def _cases(chain: NullChain, credited: Array) -> list[Finding]:
    """Whether J reaches all the outputs that the cases have, so that counting explains the rest."""
    silent = chain.silent
    if chain.z.size > MOST_OUTPUTS or credited.shape[1] == silent.shape[1]:
        return []
    layout = chain.null.layout
    columns = layout.weights.size if chain.null.weights_only else layout.size
    outputs = _outputs(chain)
    if columns - silent.shape[1] < outputs:
        return []
    return [
        Finding(
            "cases",
            text("too few cases"),
            text(
                "The {N} cases have {outputs} independent changes of outputs to show, for "
                "{columns} parameters.",
                N=len(chain.z),
                outputs=outputs,
                columns=columns,
            ),
            silent,
        )
    ]


def _outputs(chain: NullChain) -> int:
    """Return how many independent changes of s there are for any changes of the inputs' products.

    dC (N·H, N, H) runs over all changes of A that the center lets through.
    """
    at, gain = chain.normalized, chain.at.gain
    N, H = chain.z.shape
    changes = np.eye(N * H).reshape(-1, N, H)
    changes = at.center.project_neurons(changes.mT, at.groups).mT
    dz = at.scale.differential(at.center.project_inputs(changes), None, at.point)
    ds = dz if gain is None else gain * dz
    if not chain.null.weights_only:
        one_neuron = np.eye(H)[:, None, :]
        ds = np.concatenate([ds, np.broadcast_to(one_neuron, (H, N, H)), one_neuron * chain.z])
    return int(np.linalg.matrix_rank(ds.reshape(len(ds), -1)))


def _softmax(chain: NullChain, credited: Array) -> list[Finding]:
    if not chain.model.family.coupled:
        return []
    return [
        Finding(
            "softmax",
            text("the softmax"),
            text("Every output of a case changes by the same c(x), which a softmax ignores."),
            without(chain.shifting, chain.silent),
        )
    ]


def _saturation(chain: NullChain, credited: Array) -> list[Finding]:
    if chain.model.family.covariance_diagonal(chain.at.s).min() > SATURATED:
        return []
    return [
        Finding(
            "saturation",
            text("saturated outputs"),
            text("s changes, but only at outputs so certain that their variance A'' hides it."),
            without(chain.null.basis, chain.shifting),
        )
    ]


REASONS: tuple[Callable[[NullChain, Array], list[Finding]], ...] = (
    _signs,
    _weight_changes,
    _vectors_together,
    _gain_for_scale,
    _zero_gains,
    _data,
    _case_factors,
    _cases,
    _softmax,
    _saturation,
)
"""The order in which reasons are credited; the first five weight changes as in `TRANSFORMS`."""
