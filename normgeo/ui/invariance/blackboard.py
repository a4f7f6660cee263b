"""The smallest integers at which a change moves z, for the blackboard."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import streamlit as st

from normgeo.base.budget import MEGABYTE
from normgeo.base.cache import cached
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.invariance.certificate import Verdict
from normgeo.invariance.smallest_witness import smallest_witness
from normgeo.invariance.transforms import Transform
from normgeo.invariance.witness import Side, Witness
from normgeo.normalizers.normalizer import Normalizer
from normgeo.settings import Settings
from normgeo.ui import tex
from normgeo.ui.defects import Explained
from normgeo.ui.verdict_table import verdict

witness = cached(bytes=16 * MEGABYTE)(smallest_witness)
"""`smallest_witness`, kept for all sessions."""


def blackboard(settings: Settings, picture: Any) -> None:
    """Draw the smallest integers at which z moves."""
    normalizer, transform = settings.selected
    known = verdict(normalizer, transform, settings.seed)
    if known.invariant:
        st.markdown(
            text(
                "There is no counterexample to write down: z stays as it is. Choose a ✗ in the "
                "table above, and its smallest counterexample stands here."
            )
        )
        return
    found = None
    with Explained():
        found = _found(normalizer, transform, known)
    if found is None:
        return
    G, H = normalizer.groups, len(found.before.W)
    change = _change(found, G)
    st.markdown(
        text(
            "The smallest integers at which {transform} moves the z of {normalizer}:",
            transform=text(transform.label),
            normalizer=text(normalizer.title),
        )
    )
    left, right = st.columns(2, gap="large")
    with left:
        W, X = tex.matrix(found.before.W, G), tex.matrix(found.before.X)
        st.latex(rf"W = {W} \qquad X = {X}")
        M = transform.matrix
        changed = tex.matrix(found.after.W, G) if M == "W" else tex.matrix(found.after.X)
        st.latex(rf"{M} \;\xrightarrow{{\;{change}\;}}\; {M}' = {changed}")
    with right:
        st.latex(
            tex.aligned(
                (
                    _squares("", found.before, found.place, found.z_squared),
                    _squares("'", found.after, found.place, found.z_squared_after),
                ),
                gap=12,
            )
        )
        n, h = found.place
        st.markdown(text("for case {n} and neuron {h}, counted from 0.", n=n, h=h))
        if tex.SHOWN_GROUPS < G:
            st.markdown(
                text(
                    "The dots stand for {n} more groups of {K} neurons, each like the second one.",
                    n=G - tex.SHOWN_GROUPS,
                    K=H // G,
                )
            )


def in_a_line(settings: Settings) -> str:
    """The same in a line, for beside the picture; "" where there is none, or the tab tells why."""
    normalizer, transform = settings.selected
    known = verdict(normalizer, transform, settings.seed)
    if known.invariant:
        return ""
    try:
        found = _found(normalizer, transform, known)
    except Refusal:
        return ""
    G = normalizer.groups
    W, X = (tex.matrix(M, G if M is found.before.W else 1, small=True) for M in found.before[:2])
    return text(
        "By hand: ${numbers}$ moves $z^2$ from {before} to {after}.",
        numbers=rf"W = {W},\; X = {X},\; {_change(found, G, small=True)}",
        before=found.z_squared,
        after=found.z_squared_after,
    )


def _found(normalizer: Normalizer, transform: Transform, known: Verdict) -> Witness:
    """The smallest witness, with the ε without which there is none; raises Refusal."""
    eps = Fraction(f"{float(normalizer.eps):g}") if known.only_without_eps else Fraction(0)
    return witness(replace(normalizer, eps=eps), transform)


def _change(found: Witness, groups: int, *, small: bool = False) -> str:
    """By what W or X is changed, as δ or γ = a number or a vector."""
    gamma = found.parameters.gamma
    if gamma is None:
        return rf"\delta = {tex.number(found.parameters.delta or 1)}"
    of_groups = groups if len(gamma) == len(found.before.W) else 1
    return rf"\gamma = {tex.matrix(gamma, of_groups, small=small)}"


def _squares(prime: str, side: Side, place: tuple[int, int], value: Fraction) -> str:
    """Return z² = (a − μ)²/σ² at a place, in fractions; with a prime after the change."""
    c, v = side.C[place], np.broadcast_to(side.v, side.C.shape)[place]
    plain = c.denominator == 1 and c >= 0
    square = f"{tex.number(c)}^2" if plain else rf"\left({tex.number(c)}\right)^2"
    return (
        rf"z{prime}^2 &= \frac{{(a{prime}-\mu{prime})^2}}{{\sigma{prime}^2}} = "
        rf"\frac{{{square}}}{{{tex.number(v)}}} = "
        rf"{tex.number(value)}"
    )
