"""Presenting without a browser: every picture is on a slide."""

from importlib import import_module

from normgeo.pictures import PICTURES
from normgeo.ui.frame import PAGES


def test_every_picture_is_on_a_slide(shown):
    seen: set[str] = set()
    for page in PAGES:
        if page == "audit":
            continue
        for tab in ("auto", *getattr(import_module(f"normgeo.ui.{page}"), "TABS", ())):
            found = shown(page, present="1", tab=tab, steps="20", dataset="iris", epochs="1")
            for start in [one for one in found.app.button if one.key == "start_training"]:
                start.click().run()
            seen |= set(found.figures)
    assert set(PICTURES) - seen == set()
