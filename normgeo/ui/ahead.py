"""Pictures that are computed before somebody asks for them.

When the server has its first visitor, a worker computes what every page shows at its defaults,
then with any other method and data set: what a class opens is there already, as long as the server
runs. Where a visitor has other settings, their neighbors in the menus of the heading are computed
while nobody waits. In the queue, all this counts as one more visitor, with few wishes at a time.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from threading import Event, Thread
from typing import Any, final

from normgeo.base.budget import MEGABYTE, PAGES
from normgeo.base.cache import Cache
from normgeo.base.refusal import Refusal
from normgeo.base.rules import Choice
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.claims import checked
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PAGE_OF, PICTURES
from normgeo.settings import RULES, Settings
from normgeo.story.story import story
from normgeo.ui.computing.server import Server
from normgeo.ui.defects import LOG
from normgeo.ui.results import whole

SWITCH = "NORMGEO_AHEAD"  # an environment variable; "0": compute nothing ahead
LAYER = {"method": "layer"}
OPENED: Mapping[str, Mapping[str, Any]] = {
    "effect": {},
    "turn": {},
    "descent": {},
    "walk": {},
    "equal_kl": LAYER,
    "fisher": LAYER,
    "axes": {},
    "noise": {},
    "recurrence": {},
    "placement": {},
    "experiments": {},
    "order": {},
    "trained_layer": {"neuron": EXAMPLES[Settings.layer].neuron},
}
"""The pictures that pages open with, and where a page's default is not that of `Settings`."""

AGAIN = 1800.0  # seconds; what nobody asks for during an hour is forgotten
MOMENT = 0.2  # seconds between two looks at whether somebody waits
QUIET = 0.5  # seconds without a change by anybody, before neighbors are computed
WHILE = 600.0  # seconds in which the neighbors of a place are computed once
SHORT = 2.0  # seconds of a processor that a neighbor may take, which nobody may ever ask for
_SELF = "ahead"
_Place = tuple[str, Settings, tuple[str, ...]]


@final
@dataclass(eq=False)
class Ahead:
    """Computes what the visitors of a server may ask for next.

    Attributes:
        server: keeps the results. opened: the pictures, as in `OPENED`.
        now: a clock in seconds. sleep: waits for some seconds. quiet: as in `QUIET`.

    """

    server: Server
    opened: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: OPENED)
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    quiet: float = QUIET
    _places: deque[_Place] = field(default_factory=lambda: deque(maxlen=16))
    _changed: float = 0.0  # when somebody changed something
    _news: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._done: Cache[_Place, bool] = Cache(bytes=MEGABYTE, seconds=WHILE, clock=self.now)
        self.server.on_visit = self.visit

    def start(self) -> None:
        """Begin in threads of its own, unless the environment forbids it."""
        if os.environ.get(SWITCH) != "0":
            for task in (self.keep_defaults, self._follow):
                Thread(target=copy_context().run, args=(task,), name=_SELF, daemon=True).start()

    def visit(self, page: str, settings: Settings, controls: Sequence[str]) -> None:
        """Take note of where a visitor is, and of the settings in the heading there."""
        self._changed = self.now()
        place = page, settings, (*controls,)
        if place not in self._done:
            self._places.append(place)
            self._news.set()

    def keep_defaults(self) -> None:
        """Compute what pages open with, again and again, so that it is never forgotten."""
        while True:
            for name, settings in self.defaults():
                self._try(name, settings)
            for name, settings in self.methods_with_data():
                self._try(name, settings, drawn=False)
            self.sleep(AGAIN)

    def defaults(self) -> Iterator[tuple[str, Settings]]:
        """What pages show at their defaults, by the name of the picture, and the audit."""
        for name, own in self.opened.items():
            yield name, Settings(**own)
        for chapter in story("en").chapters:
            if chapter.picture:
                yield chapter.picture, chapter.settings(Settings())
        yield "audit", Settings()

    def methods_with_data(self) -> Iterator[tuple[str, Settings]]:
        """The same with any data and any method; the default data come first."""
        for dataset, method in product(DATASETS, NORMALIZERS):
            for name, own in self.opened.items():
                yield name, Settings(**{**own, "method": method, "dataset": dataset})

    def beside(
        self, page: str, settings: Settings, controls: Sequence[str]
    ) -> Iterator[tuple[str, Settings]]:
        """What a page opens with if one setting changes; the next in its menu first."""
        menus = {name: rule.options for name in controls if isinstance(rule := RULES[name], Choice)}
        for steps in range(1, max(map(len, menus.values()), default=0)):
            for (control, options), way in product(menus.items(), (1, -1)):
                place = options.index(getattr(settings, control)) + way * steps
                if 0 <= place < len(options):
                    change: dict[str, Any] = {control: options[place]}
                    for name in self.opened:
                        if PAGE_OF[name] == page:
                            yield name, replace(settings, **change)

    def keep_neighbors(self) -> None:
        """Compute the neighbors of all places that visitors have been at; the last place first."""
        while self._places:
            place = self._places.pop()
            for name, settings in self.beside(*place):
                while not (self._places or (self.server.pool.spare and self._is_quiet)):
                    self.sleep(MOMENT)
                if self._places:  # somebody has gone on
                    break
                self._try(name, settings, most=SHORT)
            else:
                self._done.keep(place, True)

    def keep(
        self, name: str, settings: Settings, *, drawn: bool = True, most: float = float("inf")
    ) -> None:
        """Let a worker compute a picture or the audit, unless it is kept or takes too long.

        Args:
            name: of the picture, or "audit". settings: of it.
            drawn: whether to draw it too, in this process, which takes time from its visitors.
            most: seconds of a processor that it may take.

        """
        compute: Callable[..., Any] = checked
        used, kept = settings, self.server.kept
        picture = PICTURES.get(name)
        try:
            if picture is not None:
                compute, used = picture.study.compute, picture.decisive(settings)
                cost = picture.cost(used)
                PAGES.require(cost, picture.title)
                if cost.seconds > most:
                    return
            key = compute, used
            there = kept.get(key)  # a refusal is kept as well
        except Refusal:
            return
        if there is None:
            asked = partial(self.server.keep, key)
            run = self.server.pool.ask(_SELF, key, compute, used, on_end=asked)
            while not run.wait(1.0):
                run.stay(_SELF)
            there = None if run.error else kept.get(key)
        # Pictures may share a result, of which one is drawn already.
        if picture is not None and drawn and there is not None:
            whole(name, settings, there.result).chart(self.server, there, settings.theme)

    def _try(self, name: str, settings: Settings, **how: Any) -> None:
        try:
            self.keep(name, settings, **how)
        except Exception:  # a mistake of the program in one picture leaves the others
            LOG.exception("What is computed ahead has a defect: %s, %s", name, settings)

    @property
    def _is_quiet(self) -> bool:
        return self.now() - self._changed > self.quiet

    def _follow(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            self.keep_neighbors()
