"""A normalizer as the lines of NumPy that a student would write: μ, σ and z of A = X Wᵀ.

They are text, for readers. Each center and each scale defines its own expression; if one has none,
there are no lines.
"""

from __future__ import annotations

from normgeo.normalizers.normalizer import Normalizer


def in_numpy(normalizer: Normalizer) -> tuple[str, ...]:
    r"""Return the lines that compute mu, sigma and z of A = X @ W.T; () for none.

    They follow those of `prepared`, whose W and X are the reference of frozen statistics.

    >>> print(*in_numpy(Normalizer("layer", "layer")), sep="\n")
    mu = A.mean(axis=1, keepdims=True)
    sigma = np.sqrt(((A - mu) ** 2).mean(axis=1, keepdims=True))
    z = (A - mu) / sigma

    """
    center, scale, groups = normalizer.centering, normalizer.scaling, normalizer.groups
    frozen = normalizer.statistics == "frozen"
    eps = float(normalizer.added_eps)
    mu = center.in_numpy("A", "A0" if frozen else "A", groups)
    sigma = scale.in_numpy(
        "A0 - mu0" if frozen and scale.shared_by_cases else "A - mu",
        center.weights_in_numpy("W", groups),
        f" + {eps!r}" if eps else "",
        groups,
    )
    if not (mu and sigma and center.weights_in_numpy("W", groups)):
        return ()
    return f"mu = {mu}", f"sigma = {sigma}", "z = (A - mu) / sigma"


def gradient_in_numpy(normalizer: Normalizer) -> tuple[str, ...]:
    r"""Return the lines that compute G, the gradient in W̃, from U, that in z (N, H); () for none.

    They follow those of `in_numpy`.

    >>> print(*gradient_in_numpy(Normalizer("batch", "batch")), sep="\n")
    V = U / sigma
    V = V - z * (z * V).mean(axis=0)
    G = V.T @ (X - X.mean(axis=0))

    """
    center, scale, groups = normalizer.centering, normalizer.scaling, normalizer.groups
    frozen = normalizer.statistics == "frozen"
    inputs = "X" if frozen and center.shared_by_cases else center.inputs_in_numpy()
    weights, gradient = (center.weights_in_numpy(M, groups) for M in ("W", "G"))
    frozen_scale = frozen and scale.shared_by_cases
    of_summed, radial = ("V", "") if frozen_scale else scale.adjoint_in_numpy(groups)
    if not (inputs and weights and of_summed):
        return ()
    return (
        "V = U / sigma",
        *((f"V = {of_summed}",) if of_summed != "V" else ()),
        f"G = V.T @ {_grouped(inputs)}",
        *((f"r = {radial}", f"G = G - r[:, None] * {_grouped(weights)}") if radial else ()),
        *((f"G = {gradient}",) if center.projects_weights else ()),
    )


def prepared(normalizer: Normalizer, neurons: int, batch: str = "X @ W.T") -> tuple[str, ...]:
    r"""Return the lines that come before those of `in_numpy`, once: groups, frozen statistics.

    >>> print(*prepared(Normalizer("layer", "layer", groups=2), 6))
    P = np.kron(np.eye(2), np.full((3, 3), 1 / 3))  # takes the means of groups
    >>> print(*prepared(Normalizer("batch", "batch", statistics="frozen"), 6), sep="\n")
    A0 = X @ W.T  # the batch whose statistics are frozen
    mu0 = A0.mean(axis=0)

    """
    lines, groups = [], normalizer.groups
    if groups > 1:
        K = neurons // groups
        mean = f"np.kron(np.eye({groups}), np.full(({K}, {K}), 1 / {K}))"
        lines.append(f"P = {mean}  # takes the means of groups")
    if normalizer.statistics == "frozen":
        lines.append(f"A0 = {batch}  # the batch whose statistics are frozen")
        if normalizer.scaling.shared_by_cases:
            lines.append(f"mu0 = {normalizer.centering.in_numpy('A0', 'A0', groups)}")
    return tuple(lines)


def _grouped(expression: str) -> str:
    """An expression as a factor: in brackets, unless it is a name."""
    return expression if expression.isidentifier() else f"({expression})"
