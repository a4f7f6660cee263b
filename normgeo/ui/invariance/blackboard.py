"""The smallest integers at which a change moves z, for the blackboard."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import streamlit as st

from normgeo.base.budget import MEGABYTE
from normgeo.base.cache import cached
from normgeo.base.text import text
from normgeo.invariance.smallest_witness import smallest_witness
from normgeo.invariance.witness import Side
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
    eps = Fraction(f"{float(normalizer.eps):g}") if known.only_without_eps else Fraction(0)
    found = None
    with Explained():
        found = witness(replace(normalizer, eps=eps), transform)
    if found is None:
        return
    G, H, gamma = normalizer.groups, len(found.before.W), found.parameters.gamma
    if gamma is None:
        change = rf"\delta = {tex.number(found.parameters.delta or 1)}"
    else:
        change = rf"\gamma = {tex.matrix(gamma, G if len(gamma) == H else 1)}"
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
