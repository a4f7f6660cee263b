"""The stated margins of figures hold the labels of their axes: plotly does not make them larger.

With the settings that they open with, exported files are looked at (`test_export_files`).
"""

from typing import Any

import pytest
from playwright.sync_api import Page

from normgeo.base.refusal import Refusal
from normgeo.pictures import PICTURES
from normgeo.pictures.style.player import written
from normgeo.settings import Settings
from tests.quick import QUICK

from .conftest import DRAW

# Other data, methods and units have longer labels.
STATES: tuple[dict[str, Any], ...] = (
    {"dataset": "breast_cancer", "neurons": 8, "method": "weight"},
    {"method": "layer", "eps": 1.0, "dataset": "wine"},
)
LABELED_OTHERWISE = [
    name for name, picture in PICTURES.items() if any(set(picture.uses) & set(s) for s in STATES)
]
WIDTHS = (1216, 358)

# Lists what is written beyond the edges of a figure or over the title of an axis, and the margins
# that plotly has made larger.
CUT = """
    const found = [];
    const boxes = (query) => [...host.querySelectorAll(query)]
        .map(one => [one.textContent, one.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0);
    const labels = boxes('[class*=tick] text');
    const titles = boxes('text[class*=title]:not([class*=gtitle])');
    for (const [words, box] of [...labels, ...titles]) {
        const over = Math.max(
            edge.left - box.left, box.right - edge.right,
            edge.top - box.top, box.bottom - edge.bottom,
        );
        if (over > 1) {
            found.push(`${words} ${Math.round(over)} px outside`);
        }
    }
    // On a phone it stays at the foot of the screen, and ends beneath its figure.
    host.querySelector('.narrow .frames')?.style.setProperty('position', 'relative');
    const slider = host.querySelector('.frames')?.getBoundingClientRect();
    const apart = (one, other) => one.right <= other.left + 1 || other.right <= one.left + 1
        || one.bottom <= other.top + 1 || other.bottom <= one.top + 1;
    for (const [words, box] of slider ? [...labels, ...titles] : []) {
        if (!apart(box, slider)) {
            found.push(`${words} under the slider and its buttons`);
        }
    }
    for (const [title, box] of titles) {
        for (const [words, label] of labels) {
            if (!apart(box, label)) {
                found.push(`${title} over ${words}`);
            }
        }
    }
    // A caption is written in another font here, which is wider.
    for (const [words, box] of width < 640 ? boxes('.infolayer text') : []) {
        if (box.right - edge.right > 1) {
            found.push(`${words} ${Math.round(box.right - edge.right)} px outside`);
        }
    }
    const {_size: size, margin} = host.querySelector('.js-plotly-plot')._fullLayout;
    for (const side of ['l', 'r', 't', 'b']) {
        if (size[side] > margin[side] + 12) {
            found.push(`margin ${side}: ${margin[side]}, needed ${Math.round(size[side])}`);
        }
    }
    return found;
}"""
LOOK = DRAW + CUT  # draws it as pages do
LOOK_AT_FILE = f"""(width) => {{
    const host = document.body, edge = host.querySelector('.main-svg').getBoundingClientRect();
    {CUT}"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LABELED_OTHERWISE)
def test_labels_have_room(name: str, paper: Page) -> None:
    picture, found = PICTURES[name], {}
    for state in STATES:
        given = {**state, **QUICK.get(name, {})}
        used = {key: value for key, value in given.items() if key in picture.uses}
        try:
            made = written(picture.figure(picture.compute(Settings(**used)), "light"))
        except Refusal:
            continue
        for width in WIDTHS:
            paper.set_viewport_size({"width": width + 64, "height": 720})
            if wrong := paper.evaluate(LOOK, {"text": made, "width": width}):
                found[f"{name} {used} {width}"] = wrong
    assert not found, "\n".join(f"{key}: {wrong}" for key, wrong in found.items())
