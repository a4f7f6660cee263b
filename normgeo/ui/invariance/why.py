"""Why z moves or stays: a line of algebra with today's numbers, and a sentence for each part."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.invariance.before_and_after import Moments
from normgeo.invariance.certificate import Verdict
from normgeo.invariance.rules import Law, Laws, laws
from normgeo.invariance.transforms import Transform
from normgeo.settings import Settings
from normgeo.ui import tex
from normgeo.ui.defects import ABOVE


def why(settings: Settings, picture: Any) -> None:
    """Draw one line of algebra with today's numbers: how a, μ and σ moved."""
    normalizer, transform = settings.selected
    if picture is None:
        st.markdown(str(ABOVE))
        return
    effect = picture.effect
    method = next(m for m in effect.methods.values() if m.normalizer == normalizer)
    step = int(np.abs(effect.strengths - picture.start).argmin())
    after, h = method.after[step], effect.neuron
    strength = float(effect.strengths[step])
    if after.problem:
        st.info(str(after.problem))
        return
    found = laws(normalizer, transform)
    left, right = st.columns(2, gap="medium")
    with left:
        st.latex(_algebra(found, method.verdict, normalizer.added_eps > 0))
        st.latex(
            rf"\begin{{aligned}} z &= {_fraction(method.before, h)} \\[0.5em] "
            rf"z' &= {_fraction(after, h)} \end{{aligned}}"
        )
    with right:
        lines = [
            text(
                "Neuron {h} of case {n}, before and after ({name} = {strength}):",
                h=h,
                n=picture.case,
                name="δ" if transform.rescales else "γ ×",
                strength=number(strength),
            ),
            *reasons(found, method.verdict, transform),
        ]
        st.markdown("\n- ".join(map(str, lines)))


def _algebra(found: Laws, verdict: Verdict, takes_eps: bool) -> str:
    """Return z' as it follows from a, μ and σ, for a factor of either sign."""
    a = {Law.SAME: "a", Law.SCALED: r"\delta a", Law.SHIFTED: "(a + s)"}[found.summed_input]
    mu = {
        Law.ABSENT: "",
        Law.SAME: r" - \mu",
        Law.SCALED: r" - \delta\mu",
        Law.SHIFTED: r" - (\mu + s)",
        Law.OTHERWISE: r" - \mu'",
    }[found.mean]
    sigma = {
        Law.ABSENT: "1",
        Law.SAME: r"\sigma",
        Law.SCALED: r"|\delta|\sigma",
        Law.OTHERWISE: r"\sigma'",
    }[found.scale]
    if takes_eps:
        v = {Law.SAME: "v", Law.SCALED: r"\delta^2 v", Law.OTHERWISE: "v'"}[found.scale]
        sigma = rf"\sqrt{{{v} + \varepsilon}}"
    end = r"\neq z"
    if verdict.invariant:
        end = "= z"
        if verdict.sign_flip:
            end = r"= \begin{cases} z & \delta > 0 \\ -z & \delta < 0 \end{cases}"
    return rf"z' = \frac{{{a}{mu}}}{{{sigma}}} {end}"


def _fraction(case: Moments, h: int) -> str:
    a, mu, sigma, z = (float(v[h]) for v in (case.summed_inputs, case.mu, case.sigma, case.z))
    sign = "-" if mu >= 0 else "+"
    numerator = f"{tex.number(a)} {sign} {tex.number(abs(mu))}" if mu else tex.number(a)
    return rf"\frac{{{numerator}}}{{{tex.number(sigma)}}} = {tex.number(z)}"


def reasons(found: Laws, verdict: Verdict, transform: Transform) -> list[str]:
    """Return sentences about a, μ, σ and the unchanged parts, each true for every δ."""
    normalizer = verdict.normalizer
    a = {
        Law.SCALED: text("**a** becomes δ a."),
        Law.SHIFTED: text("**a** becomes a + s, {shift}.", shift=text(transform.added)),
    }[found.summed_input]
    mu = {
        Law.ABSENT: text("**μ** = 0: no mean is subtracted."),
        Law.SAME: text("**μ** stays."),
        Law.SCALED: text("**μ** becomes δ μ as well."),
        Law.SHIFTED: text(
            "**μ**, over {over}, moves by the same s, so that a − μ stays.",
            over=normalizer.centering.over,
        ),
        Law.OTHERWISE: text("**μ**, over {over}, does not follow.", over=normalizer.centering.over),
    }[found.mean]
    sigma = {
        Law.ABSENT: text("**σ** = 1: nothing divides the factor out.")
        if transform.rescales
        else text("**σ** = 1."),
        Law.SAME: text("**σ** stays."),
        Law.SCALED: _scaled_sigma(verdict),
        Law.OTHERWISE: text("**σ**, over {over}, does not follow.", over=normalizer.scaling.over),
    }[found.scale]
    lines = [a, mu, sigma]
    if found.elsewhere:
        lines.append(text("z also moves where nothing was changed, as the statistic is shared."))
    return lines


def _scaled_sigma(verdict: Verdict) -> str:
    """Say how σ changes if δ scales the summed inputs."""
    normalizer = verdict.normalizer
    if normalizer.added_eps:
        return text(
            "**σ** = √(v + ε), over {over}, becomes √(δ² v + ε): ε does not grow with v, so the "
            "factor does not cancel. z′ is near ±z only where v and δ² v are far larger than ε.",
            over=normalizer.scaling.over,
        )
    if not verdict.invariant:
        return text("**σ** becomes |δ| σ, which is not enough: a − μ does not become δ (a − μ).")
    return text("**σ** becomes |δ| σ: the size of the factor cancels, its sign stays.")
