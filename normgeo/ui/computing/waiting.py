"""What a page shows while a worker computes: the place in the queue, a bar, a stop button."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.workers.pool import Pool
from normgeo.workers.run import Run

MOMENT = 0.3  # seconds before there is a bar
BETWEEN = 0.2  # seconds between two messages to the page
OFTEN = 1.0  # seconds between two drawings of what there is

Draw = Callable[[Sequence[Any]], object]


def until_ended(
    run: Run,
    pool: Pool,
    visitor: str,
    name: str,
    words: str,
    stop: Callable[[], None],
    slot: Any,
    draw: Draw | None = None,
) -> None:
    """Show how far a run is until it has ended, or has given more than was drawn.

    Streamlit ends an abandoned script at its next message to the page. The run continues, for the
    script that takes over.

    Args:
        run: of the pool. visitor: who waits. name: of the widgets.
        words: beside the bar, of {done} and {steps}. stop: what the button does.
        slot: an empty element, for the bar and the button.
        draw: draws what the run has given, beneath the bar; None to draw nothing.

    """
    bar = None
    run.stay(visitor)
    given = () if draw is None or run.ended else tuple(run.given)
    if draw is not None and given:
        share, sentence = _state(run, pool, words)
        bar = _drawn(slot, name, share, sentence, stop)
        draw(given)
    drawn = monotonic()
    ended = run.wait(MOMENT)
    while not ended:
        if draw is not None and len(run.given) > len(given) and monotonic() - drawn > OFTEN:
            return
        share, sentence = _state(run, pool, words)
        if bar is None:
            bar = _drawn(slot, name, share, sentence, stop)
        else:
            bar.progress(share, sentence)
        run.stay(visitor)
        ended = run.wait(BETWEEN)
    slot.empty()


def _state(run: Run, pool: Pool, words: str) -> tuple[float, str]:
    """Return the share of steps done, and a sentence."""
    before = pool.before(run)
    if before == 1:
        return 0.0, str(text("Waiting: 1 computation before yours"))
    if before:
        return 0.0, str(text("Waiting: {n} computations before yours", n=before))
    if not run.steps:
        return 0.0, str(text("Computing"))
    return run.done / run.steps, str(text(words, done=run.done, steps=run.steps))


def _drawn(slot: Any, name: str, share: float, sentence: str, stop: Callable[[], None]) -> Any:
    with slot.container(horizontal=True, vertical_alignment="center", key=f"progress_{name}"):
        bar = st.progress(share, sentence, width=420)
        st.button(str(text("Stop")), key=f"stop_{name}", on_click=stop)
    return bar
