"""The evidence for a verdict: a check with its size and error, or a counterexample."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.invariance.certificate import Counterexample, Verdict
from normgeo.settings import Settings
from normgeo.tables.verdicts import power_above
from normgeo.ui.verdict_table import verdict


def certificate(settings: Settings, picture: Any) -> None:
    """Draw the evidence for a verdict: a check with its size and error, or a counterexample."""
    found = verdict(*settings.selected, settings.seed)
    st.markdown(
        text(
            "**{normalizer}, {transform}: {word}.**",
            word=text(found.word),
            normalizer=text(found.normalizer.title),
            transform=text(found.transform.label),
        )
    )
    if found.only_without_eps:
        normalizer, transform = settings.selected
        check = _check(verdict(replace(normalizer, eps=0), transform, settings.seed))
        st.markdown(text("At ε = 0: {check}", check=check))
        st.markdown(text("At ε = {eps:g}:", eps=float(normalizer.eps)))
    if found.witness is None:
        st.markdown(_check(found))
        return
    N, H, D = found.shape
    n, h = found.witness.place
    st.markdown(
        text(
            "Disproved by a counterexample in exact arithmetic, N = {N}, H = {H}, D = {D}, seed "
            "{seed}: at case {n}, neuron {h}, {moved}. Its numbers:",
            seed=found.seed,
            N=N,
            H=H,
            D=D,
            n=n,
            h=h,
            moved=_moved(found.witness.ratio),
        )
    )
    st.code(_counterexample(found.witness), language=None)
    if found.normalizer.statistics == "current":
        st.markdown(
            text(
                "That proves it at this size. For the sixteen pairs of words it holds at every "
                "N ≥ 3, H/G ≥ 3 and D ≥ 3, by the algebra in the documentation (Mathematics, "
                "section 2)."
            )
        )


def _check(verdict: Verdict) -> str:
    """Return the evidence for a "yes", with its probability of error."""
    N, H, D = verdict.shape
    return text(
        "Checked in exact arithmetic at N = {N}, H = {H}, D = {D}: z′ = z is a polynomial identity "
        "of degree {degree} at most, and it held at {draws} draw of random integers of up to 2⁶¹, "
        "seed {seed}. A false identity passes such a draw with a probability below {bound}. "
        "Algebra proves it for every size (documentation, Mathematics, section 2); the draw checks "
        "that the program computes what the algebra says.",
        N=N,
        H=H,
        D=D,
        degree=verdict.degree,
        draws=verdict.draws,
        seed=verdict.seed,
        bound=power_above(verdict.error_bound),
    )


def _moved(ratio: Fraction | None) -> str:
    """Return the change of z², even if it is tiny."""
    if ratio is None:
        return text("z = 0 becomes z′ ≠ 0")
    if abs(ratio - 1) < Fraction(1, 10**5):
        return text("z′²/z² = 1 {change:+.3g}", change=float(ratio - 1))
    return text("z′²/z² = {ratio:.6g}", ratio=float(ratio))


def _counterexample(witness: Counterexample) -> str:
    """Return δ or γ, W and X, in full."""
    delta, gamma = witness.parameters.delta, witness.parameters.gamma
    matrices = {"W": witness.W, "X": witness.X} | ({} if gamma is None else {"γ": gamma[None]})
    lines = [] if delta is None else [f"δ = {delta}"]
    for name, values in matrices.items():
        lines.append(f"{name} =")
        lines += ["  ".join(f"{value!s:>22}" for value in row) for row in values]
    return "\n".join(lines)
