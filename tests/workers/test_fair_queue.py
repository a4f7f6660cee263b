"""The queue: fair to visitors, and it knows each one's place."""

from hypothesis import given
from hypothesis import strategies as st

from normgeo.workers.fair_queue import FairQueue


def queue_of(*arrivals: str) -> FairQueue[str]:
    """Items named by their visitor and number, in the order in which they arrive."""
    queue: FairQueue[str] = FairQueue()
    for item in arrivals:
        queue.add(item[0], item)
    return queue


def all_of(queue: FairQueue[str]) -> list[str]:
    return [queue.take() for _ in range(len(queue))]


def test_visitors_take_turns(subtests):
    for arrivals, taken in [
        ("a1 a2 a3 b1 c1", "a1 b1 c1 a2 a3"),
        ("a1 a2 a3 b1 b2 b3", "a1 b1 a2 b2 a3 b3"),
        ("c1 b1 a1 a2 c2", "c1 b1 a1 a2 c2"),
    ]:
        with subtests.test(arrivals=arrivals):
            assert all_of(queue_of(*arrivals.split())) == taken.split()


def test_newcomer_waits_for_the_round_but_not_for_all_of_another():
    queue = queue_of("a1", "a2", "a3", "b1")
    assert [queue.take(), queue.take()] == ["a1", "b1"]
    queue.add("c", "c1")
    assert all_of(queue) == ["a2", "c1", "a3"]


def test_stream_of_newcomers_holds_nobody_up():
    queue = queue_of("a1", "a2")
    taken = []
    for number in range(4):
        queue.add(f"new {number}", f"n{number}")
        taken.append(queue.take())
    assert taken == ["a1", "n0", "a2", "n1"]


def test_dropped_items_cost_their_visitor_nothing():
    """Who moves a slider ten times while they wait is not ten turns behind."""
    queue = queue_of("z0", "a0")
    queue.take()
    for number in range(1, 10):
        queue.drop(f"a{number - 1}")
        queue.add("a", f"a{number}")
    queue.add("b", "b1")
    queue.add("b", "b2")
    assert all_of(queue) == ["a9", "b1", "b2"]


@given(st.lists(st.sampled_from("abcd"), max_size=20), st.data())
def test_items_are_taken_in_rounds_and_know_their_place(visitors, data):
    queue: FairQueue[tuple[str, int]] = FairQueue()
    items = [(visitor, arrival) for arrival, visitor in enumerate(visitors)]
    for item in items:
        queue.add(item[0], item)
    for item in data.draw(st.lists(st.sampled_from(items), unique=True) if items else st.just([])):
        queue.drop(item)
        items.remove(item)

    def own_items_before(item: tuple[str, int]) -> int:
        return sum(other < item for other in items if other[0] == item[0])

    expected = sorted(items, key=lambda item: (own_items_before(item), item[1]))
    assert [queue.before(item) for item in expected] == list(range(len(items)))
    assert all_of(queue) == expected
