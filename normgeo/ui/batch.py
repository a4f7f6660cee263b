"""The tabs of the page Batch: the noise of a batch, images, a real network, the equation."""

from __future__ import annotations

from math import isfinite, nan
from typing import Any

import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.batch_statistics import ONE_CASE, TWO_CASES
from normgeo.normalizers.shared_statistics import SHARINGS
from normgeo.pictures.batch.accuracy import RATE, RATE_AT
from normgeo.pictures.batch.axes import Shared, nothing_measured
from normgeo.pictures.batch.noise import Noise
from normgeo.pictures.batch.training import LARGE_BATCH
from normgeo.settings import Settings
from normgeo.ui import results, tex, url
from normgeo.ui.defects import ABOVE
from normgeo.ui.tabs import Tabs, points

_CHOICE, _CLICKED = "run_in_batches_of", "_run_clicked"


def noise(settings: Settings, drawn: Any) -> None:
    """Draw the error of μ, σ and z of a batch against those of all cases."""
    _runs(drawn)
    picture = results.show("noise", settings)
    if picture is not None:
        st.markdown(
            text(
                "At test time batch norm's μ and σ are frozen, so z of a case differs from its "
                "z in training. Layer norm computes the same z in both."
            )
        )
        st.markdown(_four_times(picture))
        st.markdown(_first_order(picture))
        st.markdown(text("**A batch of one.** {reason}", reason=text(ONE_CASE)))
        st.markdown(text("**A batch of two.** {reason}", reason=text(TWO_CASES)))
        for note in picture.notes:
            st.caption(str(note))


def _four_times(picture: Noise) -> str:
    """Say how the error of μ changes with four times as many cases, for small and large batches."""
    law = text(
        "Four times the cases halve the error of μ while m ≪ N: its size is √(f/m) σ. The batches "
        "are drawn without replacement, so it falls faster as m comes near N, and at m = N it is "
        "0: f = (N − m)/(N − 1)."
    )
    factors = picture.four_times
    if not factors:
        return law
    first, last = min(factors), max(factors)
    return text(
        "{law} Measured with N = {N:,}: × {few:.2f} from m = {m:,} to {m4:,}, × {many:.2f} from "
        "{n:,} to {n4:,}.",
        law=law,
        N=picture.cases,
        few=factors[first],
        m=first,
        m4=4 * first,
        many=factors[last],
        n=last,
        n4=4 * last,
    )


def _first_order(picture: Noise) -> str:
    """Say how far the prediction for σ can be trusted on these data."""
    ratios = dict(zip(picture.noise.sizes.tolist(), picture.first_order.tolist(), strict=True))
    measured = ", ".join(
        text("{ratio:.2f} times at m = {m}", ratio=ratios[m], m=m)
        for m in (2, 16)
        if isfinite(ratios.get(m, nan))
    )
    law = text(
        "The prediction for σ is first order in 1/m: heavy tails, a large κ, make it too large for "
        "small batches, light ones too small."
    )
    if not measured:
        return law
    if picture.first_order_from is None:
        return text(
            "{law} Compared with what is measured it is {measured}.", law=law, measured=measured
        )
    return text(
        "{law} Compared with what is measured it is {measured}, and within 10% of it from "
        "m = {m:,} on.",
        law=law,
        measured=measured,
        m=picture.first_order_from,
    )


def sizes(settings: Settings, drawn: Any) -> None:
    """Say at which size the picture opens if there is no frame for the size asked for.

    Also say why accuracies are missing.
    """
    if drawn is None:
        return
    if drawn.opens_at != drawn.start:
        st.info(
            text(
                "The slider has no step at m = {asked}, so it opens at the nearest, m = "
                "{start}. The run under “A real network” takes batches of {asked}.",
                asked=drawn.start,
                start=drawn.opens_at,
            ),
            icon=":material/info:",
        )
    if drawn.accuracy is None:
        st.caption(str(nothing_measured(drawn)))


def _runs(drawn: Any) -> None:
    """Draw links to the runs behind the accuracies, one for each batch size."""
    if drawn is not None and drawn.classes:
        st.session_state[_CHOICE] = None  # a button, not a state
        label = str(text("Watch a run in batches of"))
        with st.container(horizontal=True, vertical_alignment="center", key="sizes"):
            st.markdown(label, width="content")
            st.segmented_control(
                label,
                drawn.panels,
                key=_CHOICE,
                on_change=_train,
                label_visibility="collapsed",
                width="content",
            )


def _train() -> None:
    """Open the run with the clicked batch size, and start it."""
    if (m := st.session_state[_CHOICE]) is not None:
        st.session_state[_CLICKED] = m
        url.change(tab="network", batch_size=m)


def images(settings: Settings, drawn: Any) -> None:
    """Draw who shares a statistic where a case has images, not numbers."""
    results.show("channels", settings)


def network(settings: Settings, drawn: Any) -> None:
    """Train a small network, on demand, with a bar and a way to stop."""
    clicked = st.session_state.pop(_CLICKED, None) == settings.batch_size
    _runs(drawn)
    size = text("{m}", m=settings.batch_size)
    if drawn is not None and drawn.opens_at == settings.batch_size:
        size = text("as many cases as at the slider")  # which moves while this sentence stands
    st.markdown(
        text(
            "The same network from the same weights, with batch norm and with layer norm, in "
            "batches of {large} and of {m}: {epochs} epochs, seed {seed}. One fifth of the "
            "cases is held out; batch norm is tested with running averages. The automatic "
            "learning rate is η = {rate} m/{at}, as in the picture above.",
            large=LARGE_BATCH,
            rate=number(RATE),
            at=RATE_AT,
            m=size,
            epochs=settings.epochs,
            seed=settings.seed,
        )
    )
    results.show(
        "training",
        settings,
        start="" if clicked else None,
        again=text("Train again"),
    )


def equation(settings: Settings, drawn: Any) -> None:
    """Write z of the marked entry with today's numbers in it."""
    if drawn is None:
        st.markdown(str(ABOVE))
        return
    left, right = st.columns(2, gap="large")
    with left:
        st.latex(
            r"z = \frac{a - \mu}{\sigma}, \quad \mu = \frac{1}{|S|}\sum_{S} a, \quad "
            r"\sigma^2 = \frac{1}{|S|}\sum_{S} (a - \mu)^2"
        )
        lines = [
            rf"{tex.words(text(SHARINGS[key].title))}:\quad {_numbers(found)}"
            for key, found in drawn.panels[drawn.opens_at].items()
        ]
        st.latex(r"\begin{aligned} &" + r"\\[6pt] &".join(lines) + r"\end{aligned}")
    with right:
        points(
            (
                text(
                    "S is the set of lit entries, which share one μ and one σ. The numbers are "
                    "those of the marked entry, in a batch of {m}.",
                    m=drawn.opens_at,
                ),
                text(
                    "Only batch norm has other cases in S: in a different batch, the same case "
                    "has a different z."
                ),
                text("For a batch of one image, batch norm and instance norm are the same."),
                text(
                    "Group norm with one group is layer norm; with a group for each channel it is "
                    "instance norm."
                ),
            ),
            text("Sections 2 and 3, Eq. 2 and 3 of the paper; Wu and He 2018, Fig. 2."),
        )


def _numbers(found: Shared | str) -> str:
    """Return the fraction of Eq. 5 for one entry, in KaTeX."""
    if isinstance(found, str):
        return tex.words(text("the groups do not divide the channels"))
    entry = found.entry
    if entry.z is None:
        return rf"\sigma = 0: {tex.words(text('no z'))}"
    sign = "-" if entry.mu >= 0 else "+"
    above = rf"{tex.number(entry.a)} {sign} {tex.number(abs(entry.mu))}"
    fraction = rf"\frac{{{above}}}{{{tex.number(entry.sigma)}}}"
    return rf"|S| = {found.entries}, \quad z = {fraction} = {tex.number(entry.z)}"


TABS: Tabs = {
    "noise": (text("Small batches"), noise),
    "images": (text("Images"), images),
    "network": (text("A real network"), network),
    "equation": (text("Equation"), equation),
}
