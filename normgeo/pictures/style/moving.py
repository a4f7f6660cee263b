"""A figure that moves without a player: its frames there and back, as an animated GIF."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import plotly.graph_objects as go
from PIL import Image

from normgeo.base.refusal import Refusal
from normgeo.pictures.style.static import Draw, still

SECONDS = 6.0  # for one way through the frames


def gif(figure: go.Figure, draw: Draw, alt: str) -> bytes:
    """Return the frames of a figure, forth and back, in a loop; `alt` is its comment.

    Raises:
        ValueError: a figure without frames.

    """
    if not figure.frames:
        raise Refusal("A .gif moves, and this figure has no slider. Choose .png or .svg.")
    forth = [_image(draw(one, "png")) for one in _frames(figure)]
    first, *others = [*forth, *forth[-2:0:-1]]
    out = BytesIO()
    first.save(
        out,
        "gif",
        save_all=True,
        append_images=others,
        duration=round(1000 * SECONDS / len(forth)),
        loop=0,
        comment=alt.encode(),
    )
    return out.getvalue()


def _image(png: bytes) -> Image.Image:
    """An image of the figure's own size in 256 colors: a PNG has twice as many pixels across."""
    whole = Image.open(BytesIO(png)).convert("RGB")
    return whole.reduce(2).quantize(dither=Image.Dither.NONE)


def _frames(figure: go.Figure) -> Iterator[go.Figure]:
    """Each frame laid over the figure."""
    plain = figure.to_dict()
    base = still(figure)
    for frame in plain["frames"]:
        data = [dict(trace) for trace in base["data"]]
        patches = frame.get("data", ())
        for place, patch in zip(frame.get("traces", range(len(patches))), patches, strict=False):
            data[place] = _over(data[place], patch)
        layout = _over(base["layout"], frame.get("layout", {}))
        yield go.Figure({"data": data, "layout": layout})


def _over(original: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The original with a patch over it."""
    found = dict(original)
    for key, value in patch.items():
        own = found.get(key)
        both = isinstance(value, dict) and isinstance(own, dict) and "bdata" not in value
        found[key] = _over(own, value) if both and own is not None else value
    return found
