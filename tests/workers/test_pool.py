"""Runs in worker processes: their results, their ends, and the death of a worker."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event, Thread

import cloudpickle
import numpy as np
import psutil
import pytest

from normgeo.base.refusal import Refusal
from normgeo.base.text import marking, text
from normgeo.workers.pool import Pool
from normgeo.workers.run import Defect, Run

# Workers need not import a test.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

SOON = 120.0  # seconds within which everything here happens, on a machine that others keep busy


@pytest.fixture(scope="module")
def one_worker() -> Iterator[Pool]:
    pool = Pool(1)
    yield pool
    pool.close()


@pytest.fixture
def pool(one_worker: Pool) -> Iterator[Pool]:
    """One worker, which all tests share; where a machine is busy, a visitor may be slow to ask."""
    limits = one_worker.limits
    one_worker.limits = replace(limits, moment=SOON)
    yield one_worker
    one_worker.limits = limits


def ended(run: Run, visitor: str = "a") -> Run:
    """The run, once it has ended; its visitor waits for it as a page does."""
    wait_for(lambda: waited(run, visitor))
    return run


def waited(run: Run, visitor: str = "a") -> bool:
    run.stay(visitor)
    return run.wait(0.01)


def begun(run: Run, visitor: str = "a") -> Run:
    """The run, once it has told of a step."""
    wait_for(lambda: waited(run, visitor) or run.done > 0)
    return run


def wait_for(what: Callable[[], object]) -> None:
    last = time.monotonic() + SOON
    while not what():
        assert time.monotonic() < last
        time.sleep(0.01)


def total(numbers, progress):
    return sum(progress.over(numbers))


def until_stopped(progress):
    """Counts until it is stopped, and returns how far it came."""
    step = 0
    while progress.tell(step, 10**9):
        step += 1
        time.sleep(0.001)
    return step


def busy_until_stopped(progress):
    """The same, and never rests."""
    step = 0
    while progress.tell(step, 10**9):
        step += 1
    return step


def in_parts(progress):
    for letter in "ab":
        progress.give(letter)
    return "abc"


def test_parts_come_back_ahead_of_the_result(pool):
    run = ended(pool.ask("a", "parts", in_parts))
    assert (run.given, run.result, run.whole) == (["a", "b"], "abc", True)


def test_result_comes_back_from_another_process(pool):
    run = ended(pool.ask("a", "pid", lambda progress: (os.getpid(), np.arange(3.0))))
    pid, numbers = run.result
    assert run.whole
    assert pid in pool.pids
    assert pid != os.getpid()
    np.testing.assert_array_equal(numbers, [0, 1, 2])


def test_worker_is_without_streamlit_with_one_thread_and_gives_way(pool):
    def found(progress):
        from threadpoolctl import threadpool_info

        threads = {library["num_threads"] for library in threadpool_info()}
        streamlit = [name for name in sys.modules if name.startswith("streamlit")]
        return threads, streamlit, psutil.Process().nice()

    threads, streamlit, nice = ended(pool.ask("a", "found", found)).result
    assert threads == {1}
    assert streamlit == []
    assert nice > psutil.Process().nice()


def test_worker_that_has_grown_is_replaced_by_one_that_loky_itself_starts(pool):
    import joblib.externals.loky  # noqa: F401 - as scikit-learn does

    pool.limits = replace(pool.limits, kept_bytes=1.0)
    before = ended(pool.ask("a", "before", lambda progress: os.getpid())).result
    wait_for(lambda: pool.pids and before not in pool.pids)
    command = psutil.Process(pool.pids[0]).cmdline()
    assert "loky.backend.popen_loky_posix" in command or os.name != "posix"


def test_refusal_comes_back_as_it_is(pool):
    def refuse(progress):
        raise Refusal(text("There is no {n!r}.", n="x"))

    error = ended(pool.ask("a", "refuse", refuse)).error
    assert isinstance(error, Refusal)
    with marking(str.upper):
        assert f"{error.args[0]}" == "There is no 'X'.", "it knows what comes from outside"


def test_defect_comes_back_with_its_traceback(pool):
    def fails(progress):
        return 1 // 0

    run = ended(pool.ask("a", "fails", fails))
    assert isinstance(run.error, Defect)
    assert "in fails" in str(run.error)
    assert str(run.error).endswith("ZeroDivisionError: integer division or modulo by zero\n")


def test_result_that_cannot_be_sent_is_a_defect(pool):
    run = ended(pool.ask("a", "unsendable", lambda progress: sys._getframe()))
    assert isinstance(run.error, Defect)
    assert "cannot pickle 'frame' object" in str(run.error)


def test_progress_is_heard_and_stop_keeps_what_there_is(pool):
    run = begun(pool.ask("a", "count", until_stopped))
    assert run.steps == 10**9
    pids = pool.pids
    run.leave("a")
    wait_for(lambda: run.ended)
    assert pool.pids == pids, "the worker itself stopped, and stays"
    assert not run.whole
    assert run.why == ""
    assert run.result >= run.done > 0


def test_stop_that_comes_too_late_does_not_stop_the_next_run(pool):
    run = pool.ask("a", "short", total, range(3))
    run.leave("a")
    assert ended(pool.ask("a", "next", total, range(4))).whole


def test_those_who_ask_for_one_result_share_its_run(pool):
    one = pool.ask("a", "shared", until_stopped)
    assert pool.ask("b", "shared", until_stopped) is one
    begun(one, "b").leave("a")
    one.stay("a")  # too late: the script that was stopped does not know yet
    one.stay("b")
    assert not one.wait(0.5)
    one.leave("b")
    wait_for(lambda: one.ended)
    assert pool.ask("a", "shared", total, range(4)) is not one


def test_queue_is_fair_and_tells_each_place(pool):
    order = []

    def asked(visitor: str, name: str) -> Run:
        return pool.ask(visitor, name, total, range(3), on_end=lambda run: order.append(run.key))

    first = begun(pool.ask("a", "first", until_stopped))
    runs = {name: asked(name[0], name) for name in ("a1", "a2", "a3", "b1", "c1")}
    assert pool.before(first) == 0
    before = {name: pool.before(run) for name, run in runs.items()}
    assert before == {"a1": 1, "b1": 2, "c1": 3, "a2": 4, "a3": 5}
    runs["c1"].leave("c")
    assert pool.before(runs["a2"]) == 3
    wait_for(lambda: runs["c1"].ended)
    assert runs["c1"].result is None
    first.leave("a")
    for name in ("a1", "a2", "a3", "b1"):
        ended(runs[name], name[0])
    assert order == ["c1", "a1", "b1", "a2", "a3"]


def test_run_that_nobody_waits_for_is_given_up_after_a_moment(pool):
    pool.limits = replace(pool.limits, moment=0.3)
    begin = time.monotonic()
    run = pool.ask("a", "closed tab", until_stopped)
    wait_for(lambda: run.ended)
    assert time.monotonic() - begin >= 0.3
    assert not run.whole


def test_run_ends_at_its_limit_with_what_it_has_and_says_so(pool):
    pool.limits = replace(pool.limits, seconds=1.5)
    run = ended(pool.ask("a", "long", busy_until_stopped))
    assert not run.whole
    assert run.result > 0
    assert run.why == (
        "This computation reached the limit of 1.5 s of processor time and was stopped there. Ask "
        "for fewer neurons, steps or groups, or use Python or the command line, which have no such "
        "limit."
    )


def test_run_is_not_stopped_because_a_busy_machine_lets_it_wait(pool):
    def waits(progress):
        done = 0
        while done < 20 and progress.tell(done, 20):
            time.sleep(0.1)
            done += 1
        return done

    pool.limits = replace(pool.limits, seconds=1.0)
    run = ended(pool.ask("a", "waits", waits))
    assert (run.result, run.whole, run.why) == (20, True, "")


@pytest.mark.exhaustive
def test_run_that_does_not_stop_is_ended_with_its_worker(pool):
    def deaf(progress):
        progress.tell(1, 2)
        time.sleep(600)

    pool.limits = replace(pool.limits, patience=0.2)
    run = begun(pool.ask("a", "deaf", deaf))
    pids = pool.pids
    run.leave("a")
    wait_for(lambda: run.ended)
    assert not run.whole
    assert ended(pool.ask("a", "after", lambda progress: os.getpid())).result not in pids


def test_killed_worker_is_replaced_and_its_run_says_so(pool):
    ended(pool.ask("a", "before", total, range(3)))
    (idle,) = pool.pids
    os.kill(idle, signal.SIGKILL)
    # Nobody waits for it, and nobody has to: there is a new one before it is needed.
    wait_for(lambda: pool.pids and idle not in pool.pids)
    run = begun(pool.ask("a", "killed", until_stopped))
    (pid,) = pool.pids
    os.kill(pid, signal.SIGKILL)
    assert ended(run).why == (
        "The process that computed this was ended from outside, as happens where a machine runs "
        "out of memory. Nothing else was lost, and there is a new one: compute it again."
    )
    assert run.result is None
    assert ended(pool.ask("a", "killed", total, range(4))).result == 6
    assert pid not in pool.pids


def test_run_that_takes_too_much_memory_is_ended_and_says_so(pool):
    def large(progress):
        kept = []
        while progress.tell(len(kept), 10**9):
            kept.append(np.ones(10**6))
            time.sleep(0.005)

    pool.limits = replace(pool.limits, bytes=5e8)
    assert ended(pool.ask("a", "large", large)).why == (
        "This computation was ended because its process held more than 500 MB of memory. Ask for "
        "fewer neurons, steps or groups, or use Python or the command line, which have no such "
        "limit."
    )


SERVER = """
import sys, time
from normgeo.workers.pool import Pool

def busy(progress):
    progress.tell(1, 2)
    while True:
        pass

pool = Pool(1)
run = pool.ask("a", "busy", busy)
while not run.done:
    run.stay("a")
    run.wait(0.05)
print(*pool.pids, flush=True)
run.wait(600)
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_workers_end_with_a_server_that_is_killed():
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        (pid,) = map(int, server.stdout.readline().split())
        assert psutil.pid_exists(pid)
        server.kill()
    wait_for(lambda: not psutil.pid_exists(pid))


def test_a_server_that_ends_lets_a_start_under_way_end_first():
    """A worker whose server is gone while it reads what to do writes a traceback."""
    started, go_on = Event(), Event()

    class Slow:
        def __reduce__(self):
            started.set()
            go_on.wait()
            return print, ()

    pool = Pool(1, prepare=[Slow()])
    pool.start()
    assert started.wait(SOON)
    closing = Thread(target=pool.close)
    closing.start()
    closing.join(0.2)
    waits = closing.is_alive()
    go_on.set()
    closing.join()
    assert waits
    assert pool.pids == []


def test_a_worker_is_spare_where_nobody_waits_for_the_last_one(pool):
    assert pool.spare, "nothing runs"
    first = begun(pool.ask("a", "first", until_stopped))
    assert not pool.spare, "the only one is busy"
    second = pool.ask("b", "second", total, [1, 2])
    first.leave("a")
    ended(first)
    ended(second, "b")
    wait_for(lambda: pool.spare)
