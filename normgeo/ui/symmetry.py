"""The page Symmetry: the direction of the walk, and the tabs beneath."""

from __future__ import annotations

from math import degrees

import streamlit as st

from normgeo.base.numbers import number
from normgeo.base.subspaces import SAME
from normgeo.base.text import text
from normgeo.normalizers.centers import CENTERS
from normgeo.normalizers.scales import SCALES
from normgeo.pictures.symmetry.null_directions import NullDirections
from normgeo.pictures.symmetry.walk import Walks
from normgeo.settings import Settings
from normgeo.tables.formats import render
from normgeo.tables.marks import in_markdown
from normgeo.tables.table import Table
from normgeo.ui import results, url
from normgeo.ui.tabs import Tabs, points


def choose(settings: Settings, walks: Walks) -> None:
    """Draw the choice of the reason whose direction is walked along, if there are several."""
    found = {one.reason: one for one in walks.directions}
    if walks.chosen is None or len(found) < 2:
        return
    st.session_state["along"] = walks.chosen.reason

    def changed() -> None:
        url.change(along=st.session_state["along"])

    st.selectbox(
        str(text("Walk along")),
        found,
        format_func=lambda key: str(text("along {title}", title=text(found[key].title))),
        key="along",
        on_change=changed,
        width=340,
        label_visibility="collapsed",
    )


def spectrum(settings: Settings, found: NullDirections) -> None:
    """Draw the singular values that decide the null space, and a bar for each reason."""
    results.show("symmetry", settings, again=text("Compute the singular values"))


def angles(settings: Settings, picture: NullDirections) -> None:
    """Write the principal angles between each change's tangents and the null space."""
    if picture.explanation is None:
        st.info(text("Stopped before the null directions were explained."))
        return
    changes = [reason for reason in picture.explanation.reasons if reason.angle is not None]
    signs = ["✓" if reason.null == reason.span else "✗" for reason in changes]
    rows = tuple(
        (
            f"{sign} {reason.title}",
            str(text("{null} of {span}", null=reason.null, span=reason.span)),
            f"{number(0.0 if reason.angle < SAME else degrees(reason.angle), 3)}°",
        )
        for sign, reason in zip(signs, changes, strict=True)
        if reason.angle is not None
    )
    names = (text("change of W"), text("null tangents"), text("largest angle"))
    theme = settings.theme
    st.markdown(in_markdown(render(Table(names, rows), "markdown"), theme))
    points(
        in_markdown(f"{sign} {text(reason.title)}: {text(reason.sentence)}", theme)
        for sign, reason in zip(signs, changes, strict=True)
    )
    legend = text(
        "A change that z ignores is a curve along which the KL stays 0, so its tangent is "
        "a null direction: the largest principal angle between all its tangents and the "
        "null space is 0, up to rounding. ✓ all of its tangents are null directions, ✗ not "
        "all. Each weight is measured in units of 1/(the size of its feature), so that the "
        "angles do not depend on the units of the data. Section 5.2.2 with Table 1."
    )
    st.caption(in_markdown(str(legend), theme))


def formula(settings: Settings, picture: NullDirections) -> None:
    """Write the dimension by formula for all centers and scales, with today's H, D and family."""
    H, D, own = picture.neurons, picture.features, picture.normalizer.words
    rows = [
        (
            str(centering.title),
            *(
                "▸ " * ((center, scale) == own) + str(text("no z") if count is None else count)
                for scale in SCALES
                for count in [picture.grid[center, scale]]
            ),
        )
        for center, centering in CENTERS.items()
    ]
    titles = (str(scaling.title) for scaling in SCALES.values())
    corner = text("{center} \\ {scale}", center=text("center"), scale=text("scale"))
    st.markdown(render(Table((corner, *titles), tuple(rows)), "markdown"))
    G = picture.normalizer.groups
    points(
        (
            text(
                "Null directions of F_WW by formula for H = {H} neurons, D = {D} features, G = "
                "{G} groups of K = {K}, {family} outputs; ▸ marks those of this page.",
                H=H,
                D=D,
                G=G,
                K=H // G,
                family=text(picture.family.title),
            ),
            text(
                "A layer center hides G·D shifts of all weight vectors together, a weight center "
                "one offset of each of the H weight vectors."
            ),
            text(
                "A layer scale hides G re-scalings of all weight vectors together; a batch or "
                "weight scale one of each weight vector, but only G max(1, K − D) where a layer "
                "center mixes them."
            ),
            text(
                "With ε > 0 a batch or layer scale hides nothing: the directions of the center are "
                "left."
            ),
        )
    )


def coupling(settings: Settings, picture: NullDirections) -> None:
    """Draw the exact spectrum beside that of Eq. 13."""
    both = results.show("coupling", settings, again=text("Compute Eq. 13"))
    if both is None or both.paper is None:
        return
    if both.paper.dimension != picture.null.dimension:
        line = text(
            "Eq. 13 with Eq. 14 lets a weight vector change its own neuron only. Under a layer "
            "statistic it changes all: the exact F has {exact} null directions, Eq. 13 has "
            "{paper}. So Eq. 13 lacks symmetries of the model, and is not its Fisher "
            "information.",
            exact=picture.null.dimension,
            paper=both.paper.dimension,
        )
    else:
        line = text(
            "Both have the same {k} null directions. Without a statistic over the neurons a weight "
            "vector changes its own neuron only, and Eq. 13 is exact; choose layer norm to see the "
            "difference.",
            k=picture.null.dimension,
        )
    st.markdown(line)


TABS: Tabs = {
    "angles": (text("Principal angles"), angles),
    "spectrum": (text("Singular values"), spectrum),
    "formula": (text("By formula"), formula),
    "coupling": (text("Eq. 13"), coupling),
}
