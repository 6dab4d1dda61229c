"""The debouncer, whose time is an argument."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ckvd.worktree.debounce import Debouncer, Dirty
from ckvd.worktree.paths import any_above


def paths(*names: bytes) -> Dirty:
    return Dirty(frozenset(names))


def test_a_single_save_is_handled_at_once() -> None:
    debouncer = Debouncer(settle_s=0.02, limit_s=0.5)
    assert debouncer.due() is None
    assert debouncer.take(0.0) is None
    debouncer.add(paths(b"a.py"), 10.0)
    assert debouncer.due() == 10.02
    assert debouncer.take(10.019) is None
    assert debouncer.take(10.02) == paths(b"a.py")
    assert debouncer.due() is None


def test_steps_of_one_save_are_one_batch() -> None:
    debouncer = Debouncer(settle_s=0.02, limit_s=0.5)
    debouncer.add(paths(b"a.py"), 0.0)
    debouncer.add(paths(b".a.py.tmp"), 0.015)
    assert debouncer.take(0.02) is None
    assert debouncer.take(0.035) == paths(b"a.py", b".a.py.tmp")


def test_a_batch_remembers_that_some_of_it_was_only_time_to_look() -> None:
    for last in (paths(b"b"), Dirty(everything=True)):
        debouncer = Debouncer()
        debouncer.add(Dirty(frozenset([b"a"]), polled=True), 0.0)
        debouncer.add(last, 0.0)
        taken = debouncer.take_all()
        assert taken is not None
        assert taken.polled
        debouncer.add(last, 1.0)
        assert debouncer.take_all() == last


def test_a_storm_comes_in_batches_and_never_waits_longer_than_the_limit() -> None:
    debouncer = Debouncer(settle_s=0.02, limit_s=0.5)
    taken = []
    for step in range(1000):  # an event each 10 ms
        now = step / 100
        debouncer.add(paths(b"f%d" % step), now)
        if (dirty := debouncer.take(now)) is not None:
            taken.append((now, dirty))
    waits = [later - earlier for (earlier, _), (later, _) in pairwise(taken)]
    assert 15 <= len(taken) <= 20
    assert max(waits) <= 0.52


def test_a_checkout_is_waited_out() -> None:
    debouncer = Debouncer(settle_s=0.02, limit_s=0.5, busy_s=10.0)
    debouncer.add(paths(b"a"), 0.0)
    assert debouncer.take(0.5, busy=lambda: True) is None
    again = debouncer.due()
    assert again is not None
    assert 0.5 < again < 0.6
    debouncer.add(paths(b"b"), 0.55)
    assert debouncer.take(0.6, busy=lambda: False) == paths(b"a", b"b")


def test_a_checkout_is_waited_for_no_longer_than_the_bound() -> None:
    debouncer = Debouncer(busy_s=10.0)
    debouncer.add(paths(b"a"), 0.0)
    assert debouncer.take(9.99, busy=lambda: True) is None
    assert debouncer.take(10.01, busy=lambda: True) == paths(b"a")


def test_busy_is_not_asked_before_the_time() -> None:
    debouncer = Debouncer()
    debouncer.add(paths(b"a"), 0.0)
    assert debouncer.take(0.001, busy=lambda: 1 / 0 > 0) is None


def test_many_siblings_fold_into_their_folder() -> None:
    debouncer = Debouncer()
    debouncer.add(Dirty(frozenset(b"d/f%d" % i for i in range(501)) | {b"other/x", b"d/sub/y"}), 0.0)
    debouncer.add(paths(b"d/later"), 0.0)
    assert debouncer.take_all() == paths(b"d", b"other/x")


def test_very_many_fold_into_everything_and_so_does_the_root() -> None:
    debouncer = Debouncer()
    debouncer.add(Dirty(frozenset(b"d%d/f%d" % (i, i) for i in range(20_001))), 0.0)
    assert debouncer.take_all() == Dirty(everything=True)
    debouncer.add(paths(b"", b"a"), 0.0)
    assert debouncer.take_all() == Dirty(everything=True)
    debouncer.add(Dirty(control=True), 0.0)
    debouncer.add(Dirty(everything=True), 0.0)
    assert debouncer.take_all() == Dirty(everything=True, control=True)


def test_nothing_is_not_dirty() -> None:
    debouncer = Debouncer()
    debouncer.add(Dirty(), 0.0)
    assert debouncer.due() is None
    assert debouncer.take_all() is None


path = st.lists(st.sampled_from([b"a", b"b", b"c"]), min_size=1, max_size=3).map(b"/".join)
steps = st.lists(st.tuples(st.floats(0, 0.4), st.frozensets(path, max_size=4), st.booleans()), max_size=30)


@given(steps)
def test_every_path_is_taken_once_and_in_time(
    given_steps: list[tuple[float, frozenset[bytes], bool]],
) -> None:
    debouncer = Debouncer(settle_s=0.02, limit_s=0.1, busy_s=1.0)
    now = 0.0
    since: dict[bytes, float] = {}
    for wait, touched, busy in given_steps:
        debouncer.add(Dirty(touched), now)
        for one in touched:
            since.setdefault(one, now)
        now += wait
        dirty = debouncer.take(now, busy=lambda busy=busy: busy)  # type: ignore[misc]
        if dirty is not None:
            assert all(any_above(one, dirty.paths) for one in since)
            since.clear()
        elif since:
            due = debouncer.due()
            assert due is not None
            assert now < due <= max(min(since.values()) + 0.1, now + 0.02)
            assert not busy or now - min(since.values()) < 1.0 + 0.1
    rest = debouncer.take_all()
    assert (rest is not None) == bool(since)


def test_how_many_changes_are_known() -> None:
    d = Debouncer()
    assert d.known == 0
    d.add(Dirty(frozenset({b"a.py", b"b.py"})), 0.0)
    d.add(Dirty(frozenset({b"b.py"})), 0.01)
    assert d.known == 2
    d.add(Dirty(frozenset({b"src"}), polled=True), 0.02)
    assert d.known == 0  # it is merely time to look, nothing told of a change
