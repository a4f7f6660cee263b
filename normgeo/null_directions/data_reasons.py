"""Why data leave a direction null: no case has a feature direction, or there are too few cases."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.subspaces import graded_null_space, mapped_to_zero, without
from normgeo.base.text import text
from normgeo.null_directions.null_chain import Finding, NullChain
from normgeo.null_directions.units import column_sizes

MOST_OUTPUTS = 2000
"""N·H above which there is no search for too few cases: it takes O((N·H)³)."""


def data(chain: NullChain, credited: Array) -> list[Finding]:
    """Weights along a v that no case has: X̃ v = 0 or, for all of θ, constant, which b cancels."""
    outputs, weights_only = chain.outputs, chain.null.weights_only
    it, sizes = chain.normalized, column_sizes(chain.normalized.inputs)
    varied = (it.centered_inputs - it.centered_inputs.mean(axis=0)) / sizes
    X = varied
    if weights_only:
        X, sizes = outputs.at.whole.centered_inputs, outputs.input_sizes
    every = np.eye(X.shape[1])
    allowed = graded_null_space(outputs.losses.features.T / sizes)
    rounding = outputs.rounding * len(X) ** 0.5
    missing = mapped_to_zero(allowed, X @ allowed, rounding) / sizes[:, None]
    others = outputs.losses.others
    dW = np.einsum("hb,dm->bmhd", others, missing).reshape(-1, *chain.model.W.shape)
    part = chain.of_centered(dW)
    if not weights_only:
        part = np.concatenate([part, chain.of_outputs], axis=1)
    part = chain.zero(chain.parameters, part)
    if not weights_only:
        part = without(part, chain.zero(chain.parameters, chain.of_outputs))
    sentence = text("The cases differ in every direction that the weights can look in.")
    if part.shape[1]:
        rank = X.shape[1] - mapped_to_zero(every, X, rounding).shape[1]
        numbers = {
            "N": len(X),
            "rank": rank,
            "D": X.shape[1],
            "origin": "" if weights_only else text(" around their mean"),
            "constant": int(np.count_nonzero(np.linalg.norm(varied, axis=0) <= rounding)),
        }
        sentence = text(
            "The {N} cases span {rank} of {D} dimensions{origin} (constant features: "
            "{constant}): weights along the missing dimensions change no output.",
            **numbers,
        )
        if not chain.decided(part):
            sentence = text(
                "In all but {rank} of {D} dimensions the {N} cases differ by rounding{origin}, and "
                "float64 cannot decide whether they differ.",
                **numbers,
            )
    return [Finding("data", text("the data"), sentence, part)]


def case_factors(chain: NullChain, credited: Array) -> list[Finding]:
    """Changes beyond a re-scaling that a layer scale ignores: dC_n = t_n C_n, different t_n."""
    if not chain.normalized.scale.shared_by_neurons:
        return []
    return [
        Finding(
            "case_factors",
            text("cases re-scaled one by one"),
            text(
                "These changes of the weights multiply the centered summed inputs of each case "
                "by its own factor, which a layer scale ignores."
            ),
            chain.beyond(chain.zero(chain.normalized_inputs, chain.silent), credited),
        )
    ]


def cases(chain: NullChain, credited: Array) -> list[Finding]:
    """Check whether J reaches all outputs that the cases allow: then counting explains the rest."""
    silent, left = chain.silent, chain.left(credited)
    if chain.normalized.z.size > MOST_OUTPUTS or not left.shape[1]:
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
                "The outputs of the {N} cases can change in only {outputs} independent ways, "
                "and there are {columns} parameters.",
                N=len(chain.normalized.z),
                outputs=outputs,
                columns=columns,
            ),
            chain.zero(chain.parameters, left),
        )
    ]


def _outputs(chain: NullChain) -> int:
    """Return the number of independent changes of s, for any changes of the inputs' products.

    dC (N·H, N, H) runs over all changes of A that the center lets through.
    """
    center, at = chain.normalized.center, chain.parameters.at
    it, (N, H) = at.whole, at.z.shape
    changes = np.eye(N * H).reshape(-1, N, H)
    changes = center.project_inputs(center.project_neurons(changes.mT, it.groups).mT)
    ds = it.scale.differential(changes, None, it.point)
    ds = ds if at.gain is None else at.gain * ds
    if not chain.null.weights_only:
        one_neuron = np.eye(H)[:, None, :]
        ds = np.concatenate([ds, np.broadcast_to(one_neuron, (H, N, H)), one_neuron * at.z])
    return int(np.linalg.matrix_rank(ds.reshape(len(ds), -1), rtol=chain.independent))
