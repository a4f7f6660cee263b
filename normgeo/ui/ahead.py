"""What visitors open first, computed before they come.

When the server has its first visitor, a worker computes what every page shows at its defaults,
then with each other method and each other data set, and then with both: what a class opens is there
already, as long as the server runs. Where a visitor has settings of their own, what stands next in
the menus of the heading is computed while nobody waits. All this stands in the queue as one more
visitor, with few wishes at a time.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from itertools import product
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

from normgeo.base.budget import MEGABYTE, PAGES
from normgeo.base.cache import Cache
from normgeo.base.refusal import Refusal
from normgeo.base.rules import Choice
from normgeo.claims import checked
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PAGE_OF, PICTURES
from normgeo.settings import RULES, Settings
from normgeo.ui import results

SWITCH = "NORMGEO_AHEAD"  # an environment variable; "0" leaves all to those who ask
LAYER = {"method": "layer"}
OPENED: Mapping[str, Mapping[str, Any]] = {
    "averages": {},
    "effect": {},
    "turn": {},
    "descent": {},
    "walk": {},
    "equal_kl": LAYER,
    "fisher": LAYER,
    "axes": {},
    "noise": {},
    "radii": {},
    "depth": LAYER,
    "trained_layer": {},
}
"""The pictures that pages open with, and where a page's default is not that of `Settings`."""

AGAIN = 1800.0  # seconds: it is kept while the server runs, as whatever is asked for in an hour
MOMENT = 0.2  # seconds between two looks at whether somebody waits
QUIET = 0.5  # seconds without a change of anybody, before what nobody has asked for is computed
WHILE = 600.0  # seconds in which what stands next to a place is looked for once
SHORT = 2.0  # seconds of a processor that something may take which nobody may ever ask for
_SELF = "ahead"
_Place = tuple[str, Settings, tuple[str, ...]]
_SEEN: deque[_Place] = deque(maxlen=16)
_DONE: Cache[_Place, bool] = Cache(bytes=MEGABYTE, seconds=WHILE)
"""Where all that stands next is there."""
_LAST: deque[float] = deque([0.0], maxlen=1)  # when somebody changed something
_NEWS = Event()


def start() -> None:
    """Begin, without waiting for it."""
    if os.environ.get(SWITCH) != "0":
        for task in (_compute, _follow):
            Thread(target=copy_context().run, args=(task,), name=_SELF, daemon=True).start()


def follow(page: str, settings: Settings, controls: Sequence[str]) -> None:
    """Take note of where a visitor is, and of the settings in the heading there."""
    _LAST.append(monotonic())
    place = page, settings, (*controls,)
    if place not in _DONE:
        _SEEN.append(place)
        _NEWS.set()


def _compute() -> None:
    while True:
        for name, settings in (*defaults(), *neighbors()):
            _keep(name, settings)
        for name, settings in methods_with_data():
            _keep(name, settings, drawn=False)
        sleep(AGAIN)


def _follow() -> None:
    while True:
        _NEWS.wait()
        _NEWS.clear()
        while _SEEN:
            place = _SEEN.pop()
            for name, settings in beside(*place):
                while not (_SEEN or (results.POOL.spare and _quiet())):
                    sleep(MOMENT)
                if _SEEN:  # somebody has gone on
                    break
                _keep(name, settings, most=SHORT)
            else:
                _DONE.keep(place, True)


def _quiet() -> bool:
    return monotonic() - _LAST[0] > QUIET


def beside(
    page: str, settings: Settings, controls: Sequence[str]
) -> Iterator[tuple[str, Settings]]:
    """What a page opens with where one of some settings is another, the next in its menu first."""
    menus = {name: rule.options for name in controls if isinstance(rule := RULES[name], Choice)}
    for steps in range(1, max(map(len, menus.values()), default=0)):
        for (control, options), way in product(menus.items(), (1, -1)):
            place = options.index(getattr(settings, control)) + way * steps
            if 0 <= place < len(options):
                change: dict[str, Any] = {control: options[place]}
                for name in OPENED:
                    if PAGE_OF[name] == page:
                        yield name, replace(settings, **change)


def defaults() -> Iterator[tuple[str, Settings]]:
    """What pages show at their defaults, by the name of the picture, and the audit."""
    for name, own in OPENED.items():
        yield name, Settings(**own)
    yield "audit", Settings()


def neighbors() -> Iterator[tuple[str, Settings]]:
    """The same with another method or with other data."""
    others = ("method", NORMALIZERS), ("dataset", DATASETS)
    for change in ({setting: value} for setting, values in others for value in values):
        for name, own in OPENED.items():
            yield name, Settings(**{**own, **change})


def methods_with_data() -> Iterator[tuple[str, Settings]]:
    """The same with any method and any data."""
    for method, dataset in product(NORMALIZERS, DATASETS):
        for name, own in OPENED.items():
            yield name, Settings(**{**own, "method": method, "dataset": dataset})


def _keep(name: str, settings: Settings, *, drawn: bool = True, most: float = float("inf")) -> None:
    """Let a worker compute a picture, unless it is kept or takes more than `most` seconds; draw it.

    Drawing takes this process's time, from those who are here.
    """
    try:
        compute: Callable[..., Any] = checked
        used = settings
        if picture := PICTURES.get(name):
            compute, used = picture.study.compute, picture.decisive(settings)
            cost = picture.cost(used)
            PAGES.require(cost, picture.title)
            if cost.seconds > most:
                return
        key = compute, used
        if results.KEPT.get(key) is not None:
            return
    except Refusal:
        return
    on_end = partial(results.keep, key)
    run = results.POOL.ask(_SELF, key, compute, used, on_end=on_end)
    while not run.wait(1.0):
        run.stay(_SELF)
    there = None if run.error else results.KEPT.get(key)
    if picture and drawn and there is not None:
        there.chart(results.whole(name, settings, there.result), settings.theme)
