"""What stands behind a cell of the table: why, how sure, and a counterexample to write down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, log10

import numpy as np
import streamlit as st

from normgeo.base.text import text
from normgeo.invariance.before_and_after import Moments
from normgeo.invariance.certificate import Counterexample, Verdict
from normgeo.invariance.rules import Law, Laws, laws
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.invariance.witness import Side
from normgeo.normalizers.normalizer import Normalizer
from normgeo.settings import Settings
from normgeo.ui import cached, export, tex, verdict_table
from normgeo.ui.controls import controls
from normgeo.ui.frame import explain

SHIFT = {
    ("all_plus", "W"): "s = γ·x, the same for all neurons of a case",
    ("one_plus", "W"): "s = γ·x, in one neuron only",
    ("own_plus", "W"): "s = cₕ times the sum of x, each neuron its own",
    ("all_plus", "X"): "s = γ·w, the same for all cases of a neuron",
    ("one_plus", "X"): "s = γ·w, in one case only",
    ("own_plus", "X"): "s = cₙ times the sum of w, each case its own",
}


def why(settings: Settings) -> None:
    """Draw one line of algebra with today's numbers: how a, μ and σ moved."""
    normalizer, transform = settings.selected
    try:
        picture = cached.result("effect", settings)
    except ValueError:
        st.markdown(text("There are no numbers for this cell; the reason stands above."))
        return
    effect = picture.effect
    method = next(m for m in effect.methods.values() if m.normalizer == normalizer)
    step = int(np.abs(effect.strengths - picture.start).argmin())
    after, h = method.after[step], effect.neuron
    strength = float(effect.strengths[step])
    if after.problem:
        st.info(after.problem)
        return
    found = laws(normalizer, transform)
    left, right = st.columns(2, gap="large")
    with left:
        st.latex(_algebra(found, method.verdict, strength, normalizer.added_eps > 0))
        st.latex(
            rf"\begin{{aligned}} z &= {_fraction(method.before, h)} \\[0.5em] "
            rf"z' &= {_fraction(after, h)} \end{{aligned}}"
        )
    with right:
        lines = [
            text(
                "Neuron {h} of case {n}, before and after, where the slider starts ({name} = "
                "{strength:g}):",
                h=h,
                n=effect.case,
                name="δ" if transform.rescales else "γ ×",
                strength=strength,
            ),
            *_reasons(found, normalizer, transform),
        ]
        st.markdown("\n- ".join(lines))


def certificate(settings: Settings) -> None:
    """Draw what the verdict rests on: the proof's size and error, or the counterexample."""
    verdict = cached.verdict(*settings.selected)
    st.markdown(
        text(
            "**{normalizer}, {transform}: {word}.**",
            word=verdict.word,
            normalizer=verdict.normalizer.title,
            transform=verdict.transform.label,
        )
    )
    if verdict.only_without_eps:
        normalizer, transform = settings.selected
        st.markdown(text("At ε = 0: ") + _proof(cached.verdict(_at(normalizer, 0), transform)))
        st.markdown(text("At ε = {eps:g}:", eps=float(normalizer.eps)))
    if verdict.witness is None:
        st.markdown(_proof(verdict))
        return
    N, H, D = verdict.shape
    n, h = verdict.witness.place
    st.markdown(
        text(
            "Disproved by a counterexample in exact arithmetic, N = {N}, H = {H}, D = {D}: at "
            "case {n}, neuron {h}, {moved}. Its numbers:",
            N=N,
            H=H,
            D=D,
            n=n,
            h=h,
            moved=_moved(verdict.witness.ratio),
        )
    )
    st.code(_counterexample(verdict.witness), language=None)


def blackboard(settings: Settings) -> None:
    """Draw the smallest integers at which z moves."""
    normalizer, transform = settings.selected
    verdict = cached.verdict(normalizer, transform)
    if verdict.invariant:
        st.markdown(text("There is no counterexample to write down: the verdict is ✓."))
        return
    eps = Fraction(f"{float(normalizer.eps):g}") if verdict.only_without_eps else Fraction(0)
    try:
        found = cached.witness(_at(normalizer, eps), transform)
    except ValueError as error:
        explain(error)
        return
    M = transform.matrix
    given = {"W": found.before.W, "X": found.before.X}
    if found.parameters.gamma is None:
        change = rf"\delta = {tex.number(found.parameters.delta or 1)}"
    else:
        change = rf"\gamma = {tex.matrix(found.parameters.gamma)}"
    st.markdown(
        text(
            "The smallest integers at which {transform} moves the z of {normalizer}:",
            transform=transform.label,
            normalizer=normalizer.title,
        )
    )
    left, right = st.columns(2, gap="large")
    with left:
        st.latex(r" \qquad ".join(f"{name} = {tex.matrix(A)}" for name, A in given.items()))
        st.latex(
            rf"{M} \;\xrightarrow{{\;{change}\;}}\; {M}' = {tex.matrix(getattr(found.after, M))}"
        )
    with right:
        st.latex(
            rf"\begin{{aligned}} z^2 &= {_squares(found.before, found.place, found.z_squared)} "
            rf"\\[0.75em] z'^2 &= "
            rf"{_squares(found.after, found.place, found.z_squared_after)} \end{{aligned}}"
        )
        n, h = found.place
        st.markdown(text("for case {n} and neuron {h}, counted from 0.", n=n, h=h))


def floating_point(settings: Settings) -> None:
    """Draw how exact the verdict is in floating point."""
    export.show(
        "floating_point",
        settings,
        alt="Largest change of z against the strength of the change, a line for each number type.",
    )


def own(settings: Settings) -> None:
    """Draw the row of one's own normalizer: two words, groups, ε, frozen."""
    with st.container(horizontal=True):
        controls(settings, ("center", "scale", "groups", "eps", "statistics"), prefix="own_")
    verdict_table.draw(
        {"own": settings.own_normalizer},
        TRANSFORMS,
        key="own_table",
        caption="The verdicts on your own normalizer",
    )


DEPTHS: Mapping[str, tuple[str, Callable[[Settings], None]]] = {
    "why": ("Why", why),
    "certificate": ("Certificate", certificate),
    "floating_point": ("Floating point", floating_point),
    "blackboard": ("Blackboard", blackboard),
    "own": ("Build your own", own),
}


def opening(settings: Settings) -> str:
    """Return the depth that a cell opens with: the smallest counterexample of a ✗."""
    verdict = cached.verdict(*settings.selected)
    if verdict.only_without_eps:
        return "floating_point"
    return "why" if verdict.invariant else "blackboard"


def _algebra(found: Laws, verdict: Verdict, strength: float, takes_eps: bool) -> str:
    size = r"\delta" if strength > 0 else r"|\delta|"
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
        Law.SCALED: rf"{size}\sigma",
        Law.OTHERWISE: r"\sigma'",
    }[found.scale]
    if takes_eps:
        v = {Law.SAME: "v", Law.SCALED: r"\delta^2 v", Law.OTHERWISE: "v'"}[found.scale]
        sigma = rf"\sqrt{{{v} + \varepsilon}}"
    if verdict.invariant:
        end = "= -z" if strength < 0 and verdict.sign_flip else "= z"
    else:
        end = r"\neq z"
    return rf"z' = \frac{{{a}{mu}}}{{{sigma}}} {end}"


def _fraction(case: Moments, h: int) -> str:
    a, mu, sigma, z = (float(v[h]) for v in (case.summed_inputs, case.mu, case.sigma, case.z))
    sign = "-" if mu >= 0 else "+"
    numerator = f"{tex.number(a)} {sign} {tex.number(abs(mu))}" if mu else tex.number(a)
    return rf"\frac{{{numerator}}}{{{tex.number(sigma)}}} = {tex.number(z)}"


def _squares(side: Side, place: tuple[int, int], value: Fraction) -> str:
    """Return (a − μ)²/σ² at a place, in fractions."""
    c, v = side.C[place], np.broadcast_to(side.v, side.C.shape)[place]
    plain = c.denominator == 1 and c >= 0
    square = f"{tex.number(c)}^2" if plain else rf"\left({tex.number(c)}\right)^2"
    return (
        rf"\frac{{(a-\mu)^2}}{{\sigma^2}} = \frac{{{square}}}{{{tex.number(v)}}} = "
        rf"{tex.number(value)}"
    )


def _reasons(found: Laws, normalizer: Normalizer, transform: Transform) -> list[str]:
    """Return a sentence each for a, μ, σ, and for what was not changed."""
    key = (transform.operation.key, transform.matrix)
    a = {
        Law.SCALED: text("**a** becomes δ a."),
        Law.SHIFTED: text("**a** becomes a + s, {shift}.", shift=text(SHIFT.get(key, ""))),
    }[found.summed_input]
    mu = {
        Law.ABSENT: text("**μ** = 0: no mean takes anything off."),
        Law.SAME: text("**μ** stays."),
        Law.SCALED: text("**μ** becomes δ μ with it."),
        Law.SHIFTED: text(
            "**μ**, over {over}, moves by the same s and takes it off again.",
            over=normalizer.centering.over,
        ),
        Law.OTHERWISE: text("**μ**, over {over}, does not follow.", over=normalizer.centering.over),
    }[found.mean]
    sigma = {
        Law.ABSENT: text("**σ** = 1: nothing divides the factor out."),
        Law.SAME: text("**σ** stays."),
        Law.SCALED: text("**σ** becomes δ σ: the factor cancels."),
        Law.OTHERWISE: text("**σ**, over {over}, does not follow.", over=normalizer.scaling.over),
    }[found.scale]
    lines = [a, mu, sigma]
    if found.elsewhere:
        lines.append(text("z moves where nothing was changed, too: the statistic is shared."))
    return lines


def _at(normalizer: Normalizer, eps: Fraction | int) -> Normalizer:
    return replace(normalizer, eps=eps)


def _proof(verdict: Verdict) -> str:
    """Return how a "yes" is known."""
    N, H, D = verdict.shape
    return text(
        "Proved at N = {N}, H = {H}, D = {D} in exact arithmetic: z′ = z is a polynomial identity "
        "of degree {degree} at most, and it held at {draws} draw of random integers below 2⁶¹. "
        "A false identity passes with a probability below 10{exponent}.",
        N=N,
        H=H,
        D=D,
        degree=verdict.degree,
        draws=verdict.draws,
        exponent=_superscript(ceil(log10(verdict.error_bound))),
    )


def _moved(ratio: Fraction | None) -> str:
    """Return by how much z² moved, also where it is very little."""
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


def _superscript(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
