"""Pictures on a page: computed once for all sessions, with a bar and a stop where it takes longer.

What is short by its estimated cost is computed in the page's script, at once. What is long goes
to a worker process, and the script waits for it; when somebody clicks, Streamlit starts the script
anew, and it finds the run again. Whole results, refusals and figures are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Any, final
from uuid import uuid4

import streamlit as st

from normgeo.base.budget import MEGABYTE, PAGES, Cost
from normgeo.base.cache import Cache
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.pictures import PICTURES, Picture
from normgeo.pictures.picture import small
from normgeo.pictures.style.chart import Chart
from normgeo.settings import Settings
from normgeo.ui import waiting
from normgeo.ui.defects import Explained
from normgeo.ui.figures import export_row, figure
from normgeo.ui.teaching import break_it, pin
from normgeo.workers.pool import Pool
from normgeo.workers.run import Run

Compute = Callable[[Settings, Progress], Any]
GoOn = Callable[[Settings, Any, Progress], Any]
Key = tuple[Compute, Settings]

AGAIN = text("Compute again")
CONTINUE = text("Continue")
STEP = "Step {done:,} of {steps:,}"

LONGEST = 0.4  # seconds that a computation in the script itself may take
_ASKED, _VISITOR = "_asked", "_visitor"
# Threads share Python's lock: in turn, each is done sooner, and a page whose pictures are kept does
# not compete with all who wait for theirs.
_TURN = Lock()


@final
@dataclass(frozen=True, eq=False)
class Part:
    """What may be seen of a result: another picture of it, or the picture of less.

    `name` tells it from all other parts of the same result.
    """

    name: str
    picture: Picture
    result: Any

    @property
    def place(self) -> int | None:
        """Of the frame that it opens at, where a setting says so."""
        return self.result.opening if self.picture.study.slider else None


def whole(name: str, settings: Settings, result: Any) -> Part:
    """All of a result, as it opens where the settings say."""
    picture = PICTURES[name]
    return Part(name, picture, picture.opened(result, settings))


@final
@dataclass(frozen=True, eq=False)
class Found:
    """A result, whole or stopped, with its charts by picture and theme."""

    result: Any
    stopped: bool
    charts: dict[tuple[str, str], Chart] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    def chart(self, part: Part, theme: str) -> Chart:
        """The chart of a picture, or of a part of it, made once for each theme."""
        with self._lock:
            if (part.name, theme) not in self.charts:
                with _TURN:
                    drawn = part.picture.figure(part.result, theme)
                    self.charts[part.name, theme] = Chart.of(drawn)
                KEPT.measure(self)
            return self.charts[part.name, theme]


KEPT: Cache[Key, Found] = Cache(bytes=256 * MEGABYTE)
"""What was computed, for all sessions."""


POOL = Pool(
    # Imports take seconds: they are done before the first computation waits for them.
    prepare=(
        partial(import_module, "normgeo.pictures"),
        partial(import_module, "normgeo.claims"),
        DATASETS[Settings.dataset].load,
    ),
)
"""The workers of this server; they begin with `POOL.start`, or when they are needed."""


@final
@dataclass(eq=False)
class _Asked:
    """What a session asked for, as its scripts share it.

    Attributes:
        settings: that it was asked for. slot: in which. stopped: whether this session stopped it.
        run: its run by a worker; None before it begins, and where the script itself computes.
        part: what there is when it was stopped.
        new: whether no run of the page has looked at it since it was asked for.
        go_on, begun: goes on from what there was, for this session alone, which keeps what comes
            of it in the place of what it began with; None for a computation from its start.

    """

    key: Key
    settings: Settings
    slot: str
    run: Run | None = None
    stopped: bool = False
    part: Found | None = None
    new: bool = True
    go_on: GoOn | None = None
    begun: Found | None = None

    def stop(self) -> None:
        """End the run, unless others wait for it."""
        self.stopped = True
        if self.run is not None:
            self.run.leave(visitor())


def show(
    name: str,
    settings: Settings,
    *,
    start: str | None = None,
    again: str = AGAIN,
    seen: Callable[[Any], Part | None] | None = None,
) -> Any:
    """Draw a picture with its export row, and meanwhile how far it is; return its result.

    Args:
        name: key of `PICTURES`. settings: of the picture.
        start, again: labels of buttons, as in `found`; the picture's own `begins` for None.
        seen: of the result, a part that is drawn in its place, without exports; None for all.

    Returns:
        The result, stopped or whole; None where there is no picture yet, or none at all.

    """
    above = st.container() if break_it.is_broken(name, settings) else None
    result, part = None, None
    with pin.beside_pinned(name, settings), Explained():
        there = of_picture(name, settings, start=start, again=again)
        if there is not None:
            drawn = whole(name, settings, there.result)
            result = drawn.result
            part = seen(result) if seen is not None else None
            _draw(name, settings, there, part or drawn, exports=part is None)
    if above is not None:
        with above:
            break_it.tell(name, None if part else result)
    return result


def _draw(name: str, settings: Settings, there: Found, drawn: Part, *, exports: bool) -> None:
    """Draw a picture or a part of it, with an export row or without."""
    with st.container(key=f"view_{name}"):
        figure.draw(
            f"figure_{name}",
            there.chart(drawn, settings.theme),
            title=drawn.picture.title,
            alt=drawn.picture.description(drawn.result),
            place=drawn.place,
        )
        if exports:
            export_row.draw(drawn.picture, settings, drawn.result)


def of_picture(
    name: str,
    settings: Settings,
    *,
    start: str | None = None,
    again: str = AGAIN,
    slot: str = "",
) -> Found | None:
    """The result of a picture, for its numbers; says why where there is none.

    `slot` is the name of its widgets where another state of it is on the page.
    """
    picture = PICTURES[name]
    with Explained():
        # Pictures of one computation share its result.
        return found(
            slot or name,
            picture.study.compute,
            picture.used(settings),
            decisive=picture.decisive(settings),
            what=picture.title,
            cost=picture.cost,
            start=picture.study.begins if start is None else start,
            again=again,
            slot=slot,
            go_on=picture.study.go_on,
        )
    return None


def kept(name: str, settings: Settings) -> Found | None:
    """The whole result of a picture, where it is there already."""
    with suppress(Refusal):
        picture = PICTURES[name]
        return KEPT.get((picture.study.compute, picture.decisive(settings)))
    return None


def found(
    name: str,
    compute: Compute,
    settings: Settings,
    *,
    what: str,
    cost: Callable[[Settings], Cost] = small,
    words: str = STEP,
    start: str = "",
    again: str = AGAIN,
    slot: str = "",
    decisive: Settings | None = None,
    go_on: GoOn | None = None,
) -> Found | None:
    """What a computation gives, kept or computed now.

    Args:
        name: of the widgets. settings: all that the computation uses.
        compute: (settings, progress) → result; a worker imports the module that it is in, which
            must not be a page's.
        what: its title. cost: settings → what it takes, which decides where it runs.
        words: beside the bar, of {done} and {steps}.
        start: the label of a button that starts it; without one it starts by itself.
        again: the label of the button that starts over what was stopped; "" for none.
        slot: keeps apart what a page asks of one computation with several settings.
        decisive: settings that are equal where the result may be shared; None for all of them.
        go_on: (settings, result, progress) → more of it, at the click of a button; None for none.

    Raises:
        Refusal: there is no result for these settings, or it would take too much.

    """
    key = compute, decisive or settings
    asked, why = _asked_for(key, settings, slot), ""
    if go_on is not None:
        _drop_others(key, slot)
    further = asked is not None and asked.begun is not None
    there = None if further else KEPT.get(key)
    if there is not None:
        _all_asked(slot).pop(compute, None)
    elif asked is not None:
        there, why = _left_of(asked)
    elif not start:
        _ask(key, settings, slot)
        asked = _asked_for(key, settings, slot)
    waits = there is None and asked is not None and not why
    label = start if there is None and start and not why else again
    with st.container(horizontal=True, key=f"row_{name}") if go_on is not None else nullcontext():
        if label and (there is None or there.stopped) and (start or not waits):
            st.button(
                str(text(label)),
                key=f"start_{name}",
                on_click=_ask,
                args=(key, settings, slot),
                disabled=waits,
                type="primary",
            )
        if go_on is not None and there is not None:
            st.button(
                str(text(CONTINUE)),
                key=f"continue_{name}",
                on_click=_ask,
                args=(key, settings, slot, go_on, there),
            )
    if why:
        st.info(str(why), icon=":material/info:")
    if waits and asked is not None:
        PAGES.require(expected := cost(settings), what)
        if expected.seconds <= LONGEST and not further:
            there = KEPT.found(key, partial(_computed_here, compute, settings))
        else:
            _wait(asked, name, words)
            there = None if start or further else KEPT.get(key)
        if there is None or start:
            st.rerun()  # with another button, or without one
    return there


def _computed_here(compute: Compute, settings: Settings) -> Found:
    with _TURN:
        return Found(compute(settings, Progress()), stopped=False)


def _wait(asked: _Asked, name: str, words: str) -> None:
    """Begin a run or find it again, and show how far it is until it has ended."""
    key = asked.key
    if asked.run is None and asked.go_on is not None and asked.begun is not None:
        own = *key, visitor(), asked.slot
        asked.run = POOL.ask(visitor(), own, asked.go_on, asked.settings, asked.begun.result)
    elif asked.run is None:
        end = partial(keep, key)
        asked.run = POOL.ask(visitor(), key, key[0], asked.settings, on_end=end)
    waiting.until_ended(asked.run, POOL, visitor(), name, words, asked.stop)


def keep(key: Key, run: Run) -> None:
    """Keep what a run ended with, for all sessions, and even where nobody waits for it now."""
    if isinstance(run.error, Refusal):
        KEPT.keep(key, run.error)
    elif run.whole:
        KEPT.keep(key, Found(run.result, stopped=False))


def _left_of(asked: _Asked) -> tuple[Found | None, str]:
    """What there is of a run that ended here, and a sentence where there is less than all."""
    run = asked.run
    if run is None or not (run.ended or asked.stopped):
        return None, ""
    if asked.stopped and not run.ended:
        if run.wanted(POOL.limits.moment):
            return None, text(
                "Stopped here. Others wait for the same computation, so it goes on for them."
            )
        run.wait(POOL.limits.patience)
    if run.error is not None:
        _all_asked(asked.slot).pop(asked.key[0], None)
        raise run.error
    if run.result is not None:
        asked.part = asked.part or Found(run.result, stopped=not run.whole)
        if asked.begun is not None:
            asked.begun = asked.part
        return asked.part, run.why
    if asked.stopped:
        nothing = text("Stopped before there was anything to show.")
        return asked.begun, "" if asked.begun is not None else nothing
    if not run.why:
        asked.run = None  # It was given up while nobody looked; now somebody does.
        return None, ""
    return asked.begun, run.why


def visitor() -> str:
    """What tells this session from others."""
    name: str = st.session_state.setdefault(_VISITOR, uuid4().hex)
    return name


def _all_asked(slot: str) -> dict[Compute, _Asked]:
    """What this session asked for last, one of each kind in each slot."""
    slots: dict[str, dict[Compute, _Asked]] = st.session_state.setdefault(_ASKED, {})
    return slots.setdefault(slot, {})


def _asked_for(key: Key, settings: Settings, slot: str) -> _Asked | None:
    asked = _all_asked(slot).get(key[0])
    if asked is not None and asked.new and asked.go_on is None and asked.key != key:
        # A slider has moved since the run that drew the button.
        _ask(key, settings, slot)
        asked = _all_asked(slot)[key[0]]
    if asked is None or asked.key != key:
        return None
    asked.new = False
    return asked


def _drop_others(key: Key, slot: str) -> None:
    """Forget what this session asked for with other settings: what may go on is large."""
    other = _all_asked(slot).get(key[0])
    if other is not None and other.key != key:
        other.stop()
        del _all_asked(slot)[key[0]]


def _ask(
    key: Key,
    settings: Settings,
    slot: str,
    go_on: GoOn | None = None,
    begun: Found | None = None,
) -> None:
    """Begin to ask, or to go on, and wait no more for the same with other settings."""
    before = _all_asked(slot).get(key[0])
    if before is not None:
        before.stop()
    _all_asked(slot)[key[0]] = _Asked(key, settings, slot, go_on=go_on, begun=begun)
