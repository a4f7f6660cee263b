"""The words of a figure in another form, as a player lays them over those of a page."""

from typing import Any

import plotly.graph_objects as go


def over(original: dict[str, Any] | None, patch: dict[str, Any]) -> dict[str, Any]:
    """The original with a patch over it."""
    before = original or {}
    return before | {
        key: over(before.get(key), value) if isinstance(value, dict) else value
        for key, value in patch.items()
    }


def on_a_phone(figure: go.Figure, frame: go.Frame | None = None) -> list[dict[str, Any]]:
    """The annotations of a figure, or of one of its frames, that a phone shows."""
    return shown("narrow", figure, frame)


def shown(form: str, figure: go.Figure, frame: go.Frame | None = None) -> list[dict[str, Any]]:
    """The annotations of a figure, or of one of its frames, in a form."""
    layouts = [figure.layout, *([frame.layout] if frame else [])]
    words = [layout.annotations for layout in layouts if layout.annotations][-1]
    forms = [layout.meta[form] for layout in layouts]
    changed = [form["annotations"] for form in forms if "annotations" in form][-1]
    made = {str(place): one.to_plotly_json() for place, one in enumerate(words)}
    for place, patch in changed.items():
        made[place] = over(made.get(place, {}), patch)
    return [one for one in made.values() if one.get("visible") is not False]
