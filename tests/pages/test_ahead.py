"""What visitors open first is there before they come."""

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest

from normgeo.base.cache import HOUR, Cache
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.claims import checked
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.ui import ahead, results
from normgeo.ui.frame import PAGES
from normgeo.workers.run import Run


class Here:
    """A pool that computes at once, and counts."""

    spare = True

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def start(self) -> None:
        """There is no process to start."""

    def ask(
        self, visitor: str, key: Any, compute: Any, settings: Any, on_end: Callable[[Run], object]
    ) -> Run:
        self.asked.append(key)
        run = Run(key, visitor, b"", on_end)
        try:
            run.end(result=compute(settings, Progress()), whole=True)
        except Refusal as refusal:
            run.end(error=refusal)
        return run


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Here:
    pool = Here()
    monkeypatch.setattr(results, "POOL", pool)
    return pool


@pytest.fixture
def nothing_computed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called, a page that computes or draws anything fails."""

    def begin() -> None:
        def fail(*given: Any) -> None:
            pytest.fail(f"It is computed only now: {given}")

        monkeypatch.setattr(results, "_computed_here", fail)
        monkeypatch.setattr(results, "_wait", fail)
        monkeypatch.setattr(results, "Chart", fail)

    return begin


def test_every_page_opens_with_what_is_there(
    shown: Any,
    keep_audit: Callable[[], object],
    pool: Here,
    nothing_computed: Callable[[], None],
) -> None:
    keep_audit()
    for name, settings in ahead.defaults():
        ahead._keep(name, settings)
    assert len(pool.asked) == len(ahead.OPENED), "each once, and the audit is there"
    nothing_computed()
    for page in PAGES:
        assert shown(page).figures or page == "audit"


def test_pages_with_another_method_or_other_data_are_there_too(
    shown: Any,
    nothing_kept: Cache[Any, results.Found],
    pool: Here,
    nothing_computed: Callable[[], None],
) -> None:
    """Iris is 150 cases: the pages of it are soon computed."""
    for name, settings in ahead.neighbors():
        if settings.dataset == "iris":
            ahead._keep(name, settings)
    nothing_computed()
    for page in PAGES:
        if page != "audit":
            assert shown(page, dataset="iris").figures


@pytest.mark.exhaustive
def test_any_method_with_any_data_needs_to_be_drawn_only(
    shown: Any,
    nothing_kept: Cache[Any, results.Found],
    pool: Here,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as drawing:
        drawing.setattr(results, "Chart", lambda figure: pytest.fail("It is drawn for nobody."))
        for name, settings in ahead.methods_with_data():
            if (settings.dataset, settings.method) == ("iris", "rms"):
                ahead._keep(name, settings, drawn=False)
    monkeypatch.setattr(results, "_computed_here", lambda *given: pytest.fail(str(given)))
    monkeypatch.setattr(results, "_wait", lambda *given: pytest.fail(str(given)))
    for page in PAGES:
        if page != "audit":
            assert shown(page, dataset="iris", method="rms").figures


def test_what_is_kept_or_refused_is_not_computed_again(
    nothing_kept: Cache[Any, results.Found], pool: Here
) -> None:
    for name, settings in 2 * [*islice(ahead.defaults(), 2)]:
        ahead._keep(name, settings)
    assert len(pool.asked) == 2
    asked = len(pool.asked)
    for name, settings in ahead.neighbors():
        if name == "turn" and settings.dataset.startswith("linnerud"):
            for _ in range(2):
                ahead._keep(name, settings)
    assert len(pool.asked) - asked == 2


def test_it_stays_there_while_the_server_runs(monkeypatch: pytest.MonkeyPatch, pool: Here) -> None:
    """A day without a visitor."""
    now = [0.0]
    kept: Cache[Any, results.Found] = Cache(bytes=1e9, clock=lambda: now[0])
    kept.keep((checked, Settings()), results.Found((), stopped=False))
    monkeypatch.setattr(results, "KEPT", kept)
    monkeypatch.setattr(ahead, "OPENED", {"averages": {}, "turn": {}})
    monkeypatch.setattr(ahead, "NORMALIZERS", ("batch", "layer"))
    monkeypatch.setattr(ahead, "DATASETS", ("iris", "plane"))
    computed: list[int] = []

    def sleep(seconds: float) -> None:
        computed.append(len(pool.asked))
        now[0] += seconds
        if now[0] > 24 * HOUR:
            raise KeyboardInterrupt

    monkeypatch.setattr(ahead, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        ahead._compute()
    assert set(computed) == {len(pool.asked)}, "each once"
    assert all(key in kept for key in pool.asked)


def test_a_switch_leaves_all_to_those_who_ask(
    monkeypatch: pytest.MonkeyPatch, nothing_kept: Cache[Any, results.Found], pool: Here
) -> None:
    begun: list[str] = []

    class Begun:
        def __init__(self, *, name: str, **_: Any) -> None:
            self.name = name

        def start(self) -> None:
            begun.append(self.name)

    monkeypatch.setattr(ahead, "Thread", Begun)
    monkeypatch.setenv(ahead.SWITCH, "0")
    ahead.start()
    assert begun == []
    monkeypatch.delenv(ahead.SWITCH)
    ahead.start()
    assert begun == ["ahead", "ahead"]


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Go after the visitors that are known of by now."""
    monkeypatch.setattr(ahead, "_SEEN", deque(maxlen=16))
    monkeypatch.setattr(ahead, "_DONE", Cache(bytes=1e6))
    monkeypatch.setattr(ahead, "QUIET", -1.0)

    class News:
        def __init__(self) -> None:
            self.waited = 0

        def set(self) -> None:
            """All news is there when somebody looks."""

        clear = set

        def wait(self) -> None:
            self.waited += 1
            if self.waited > 1:
                raise KeyboardInterrupt

    def once() -> None:
        monkeypatch.setattr(ahead, "_NEWS", News())
        with pytest.raises(KeyboardInterrupt):
            ahead._follow()

    return once


def test_what_stands_next_in_a_menu_is_there_before_it_is_chosen(
    shown: Any,
    nothing_kept: Cache[Any, results.Found],
    pool: Here,
    follow: Callable[[], None],
    nothing_computed: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ahead, "NORMALIZERS", ("batch", "weight", "rms"))
    monkeypatch.setattr(ahead, "DATASETS", ("iris", "wine"))
    own = {"dataset": "iris", "seed": "7", "theme": "dark"}
    shown("learning_rate", **own)
    follow()
    nothing_computed()
    for change in ({"method": "weight"}, {"method": "rms"}, {"dataset": "wine"}):
        assert shown("learning_rate", **{**own, **change}).figures


def test_the_nearest_come_first_and_nothing_long() -> None:
    near = [*ahead.beside("symmetry", Settings(seed=7, method="weight"), ("method",))]
    methods = [*NORMALIZERS]
    away = [abs(methods.index(settings.method) - methods.index("weight")) for _, settings in near]
    assert {name for name, _ in near} == {"walk"}
    assert {settings.seed for _, settings in near} == {7}
    assert away == sorted(away)
    assert {settings.method for _, settings in near} == {*methods} - {"weight"}
    assert not [*ahead.beside("audit", Settings(), ())]


def test_those_who_wait_come_before_those_who_may_ask(
    pool: Here, follow: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        pool.spare = len(waited) == 3

    pool.spare = False
    monkeypatch.setattr(ahead, "sleep", sleep)
    kept: list[str] = []

    def keep(name: str, settings: Settings, **_: Any) -> None:
        assert pool.spare
        kept.append(settings.method)
        if len(kept) == 1:
            ahead.follow("symmetry", Settings(method="rms", seed=1), ("method",))

    monkeypatch.setattr(ahead, "_keep", keep)
    ahead.follow("symmetry", Settings(method="layer"), ("method",))
    follow()
    assert len(waited) == 3
    assert len(kept) == 1 + len(NORMALIZERS) - 1, "of the first one, only what was begun"


def test_while_anybody_goes_on_nothing_is_computed_that_nobody_asked_for(
    follow: Callable[[], None], pool: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hall leaves no such moment; who is alone has it half a second after each change."""
    now, kept, place = [100.0], [], ("symmetry", Settings(), ("method",))

    def sleep(seconds: float) -> None:
        now[0] += seconds
        if now[0] < 103.0:
            ahead.follow(*place)  # where all is there already

    monkeypatch.setattr(ahead, "QUIET", 0.5)
    monkeypatch.setattr(ahead, "monotonic", lambda: now[0])
    monkeypatch.setattr(ahead, "sleep", sleep)
    monkeypatch.setattr(ahead, "_keep", lambda *given, **_: kept.append(now[0]))
    ahead._DONE.keep(place, True)
    ahead.follow("symmetry", Settings(method="layer"), ("method",))
    follow()
    assert 103.0 <= min(kept) < 104.0
    assert len(kept) == len(NORMALIZERS) - 1


def test_where_all_is_there_nobody_looks_again_for_a_while(
    follow: Callable[[], None], pool: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class goes through the same places again and again; looking takes time from all of it."""
    now, looked = [0.0], []
    done: Cache[Any, bool] = Cache(bytes=1e6, seconds=ahead.WHILE, clock=lambda: now[0])
    monkeypatch.setattr(ahead, "_DONE", done)
    monkeypatch.setattr(ahead, "_keep", lambda name, settings, **_: looked.append(settings.method))

    def looks() -> int:
        ahead.follow("symmetry", Settings(method="layer"), ["method"])
        follow()
        return len(looked)

    once = looks()
    assert once == len(NORMALIZERS) - 1
    assert looks() == once
    now[0] += ahead.WHILE + 1
    assert looks() == 2 * once


def test_what_takes_long_is_left_to_those_who_ask(
    nothing_kept: Cache[Any, results.Found], pool: Here
) -> None:
    name, settings = "descent", Settings(steps=5000)
    assert PICTURES[name].cost(settings).seconds > ahead.SHORT
    ahead._keep(name, settings, drawn=False, most=ahead.SHORT)
    assert not pool.asked
