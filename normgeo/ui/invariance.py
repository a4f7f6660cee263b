"""What stands behind a cell of the table: why, how sure, and a counterexample to write down."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import streamlit as st

from normgeo.base.budget import MEGABYTE
from normgeo.base.cache import cached
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.invariance.before_and_after import Moments
from normgeo.invariance.certificate import Counterexample, Verdict
from normgeo.invariance.rules import Law, Laws, laws
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.invariance.witness import Side, smallest_witness
from normgeo.settings import OWN, Settings
from normgeo.tables.verdicts import power_above
from normgeo.ui import results, tex, url, verdict_table
from normgeo.ui.controls import controls
from normgeo.ui.defects import ABOVE, Explained
from normgeo.ui.tabs import Tabs
from normgeo.ui.verdict_table import verdict

witness = cached(bytes=16 * MEGABYTE)(smallest_witness)
"""`smallest_witness`, kept for all sessions."""


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
    left, right = st.columns(2, gap="large")
    with left:
        st.latex(_algebra(found, method.verdict, normalizer.added_eps > 0))
        st.latex(
            rf"\begin{{aligned}} z &= {_fraction(method.before, h)} \\[0.5em] "
            rf"z' &= {_fraction(after, h)} \end{{aligned}}"
        )
    with right:
        lines = [
            text(
                "Neuron {h} of case {n}, before and after, where the slider starts ({name} = "
                "{strength}):",
                h=h,
                n=picture.case,
                name="δ" if transform.rescales else "γ ×",
                strength=number(strength),
            ),
            *_reasons(found, method.verdict, transform),
        ]
        st.markdown("\n- ".join(map(str, lines)))


def certificate(settings: Settings, picture: Any) -> None:
    """Draw what the verdict rests on: a check with its size and error, or a counterexample."""
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


def blackboard(settings: Settings, picture: Any) -> None:
    """Draw the smallest integers at which z moves."""
    normalizer, transform = settings.selected
    known = verdict(normalizer, transform, settings.seed)
    if known.invariant:
        st.markdown(text("There is no counterexample to write down: the verdict is ✓."))
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
            rf"\begin{{aligned}} z^2 &= {_squares(found.before, found.place, found.z_squared)} "
            rf"\\[0.75em] z'^2 &= "
            rf"{_squares(found.after, found.place, found.z_squared_after)} \end{{aligned}}"
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


def floating_point(settings: Settings, picture: Any) -> None:
    """Draw how exact the verdict is in floating point."""
    results.show("floating_point", settings)


def where_z_lives(settings: Settings, picture: Any) -> None:
    """Draw the cases as points in the space of three neurons."""
    found = results.show("where_z_lives", settings)
    if found is not None:
        st.caption(" ".join(map(str, found.notes)))


def own(settings: Settings, picture: Any) -> None:
    """Draw the row of one's own normalizer: two words, groups, ε, frozen."""
    with st.container(horizontal=True):
        controls(settings, ("center", "scale", "groups", "eps", "statistics"), prefix="own_")
    verdict_table.draw(
        {OWN: settings.own_normalizer},
        TRANSFORMS,
        key="own_table",
        caption=text("The verdicts on your own normalizer"),
        seed=settings.seed,
        selected=settings.selected if settings.cell.startswith(f"{OWN}.") else None,
        negative=settings.delta < 0,
        on_pick=lambda picked: url.change(cell=picked, tab="own"),
    )
    st.caption(
        str(text("Choose a cell: the picture, Why, Certificate and Blackboard are then about it."))
    )


TABS: Tabs = {
    "why": (text("Why"), why),
    "certificate": (text("Certificate"), certificate),
    "floating_point": (text("Floating point"), floating_point),
    "blackboard": (text("Blackboard"), blackboard),
    "own": (text("Build your own"), own),
    "where_z_lives": (text("Where z lives"), where_z_lives),
}


def opening(settings: Settings) -> str:
    """The tab that a cell opens with: the smallest counterexample of a ✗."""
    found = verdict(*settings.selected, settings.seed)
    if found.only_without_eps:
        return "floating_point"
    return "why" if found.invariant else "blackboard"


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


def _squares(side: Side, place: tuple[int, int], value: Fraction) -> str:
    """Return (a − μ)²/σ² at a place, in fractions."""
    c, v = side.C[place], np.broadcast_to(side.v, side.C.shape)[place]
    plain = c.denominator == 1 and c >= 0
    square = f"{tex.number(c)}^2" if plain else rf"\left({tex.number(c)}\right)^2"
    return (
        rf"\frac{{(a-\mu)^2}}{{\sigma^2}} = \frac{{{square}}}{{{tex.number(v)}}} = "
        rf"{tex.number(value)}"
    )


def _reasons(found: Laws, verdict: Verdict, transform: Transform) -> list[str]:
    """Return a sentence each for a, μ, σ, and for what was not changed; true for every δ."""
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
    """Say what a factor δ of the summed inputs does to a σ that follows it."""
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


def _check(verdict: Verdict) -> str:
    """Return how a "yes" is known, and how well."""
    N, H, D = verdict.shape
    return text(
        "Checked in exact arithmetic at N = {N}, H = {H}, D = {D}: z′ = z is a polynomial identity "
        "of degree {degree} at most, and it held at {draws} draw of random integers of up to 2⁶¹, "
        "seed {seed}. A false identity passes such a draw with a probability below {bound}, so "
        "this is no proof. That it holds at every size is proved by algebra in the documentation "
        "(Mathematics, section 2); the check is that the program computes what the algebra says.",
        N=N,
        H=H,
        D=D,
        degree=verdict.degree,
        draws=verdict.draws,
        seed=verdict.seed,
        bound=power_above(verdict.error_bound),
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
