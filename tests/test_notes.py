"""Concurrent writes of notes lose nothing, in any order."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import closing
from itertools import chain, cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import notes
from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.notes import SITE, Name, Note, change
from scrapy_simhash.page.fingerprint import sketch
from scrapy_simhash.page.site import KeptProfile, SiteProfile
from scrapy_simhash.waiting import maybe_await, run_in, run_sync

HOST = "a.example"


class Table:
    """A remote table: other coroutines may write before and after each operation, at each ``sleep(0)``."""

    is_remote = True

    def __init__(self) -> None:
        self.rows: dict[tuple[str, Name], tuple[int, bytes]] = {}

    async def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        await asyncio.sleep(0)
        found = self.rows.get((kind, name), (0, None))
        await asyncio.sleep(0)
        return found

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]]:
        yield from ((name, data) for (its, name), (_, data) in self.rows.items() if its == kind)

    async def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        versions: list[int | None] = []
        for name, version, data in notes:
            await asyncio.sleep(0)
            former, _ = self.rows.get((kind, name), (0, b""))
            if version not in (None, former):
                versions.append(None)
                continue
            self.rows[kind, name] = former + 1, data
            versions.append(former + 1)
        await asyncio.sleep(0)
        return versions


def interleaved(coroutines: list[Coroutine[Any, Any, None]], order: Iterator[int]) -> None:
    """Run coroutines to the end, interleaved in *order*."""
    while coroutines:
        coroutine = coroutines[next(order) % len(coroutines)]
        try:
            coroutine.send(None)
        except StopIteration:
            coroutines.remove(coroutine)


schedules = st.lists(st.integers(0, 5), max_size=120).map(lambda order: chain(order, cycle(range(7))))
learned = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=2, max_size=4)


@given(learned, schedules)
def test_concurrent_writes_of_profiles_are_merged(pages: list[list[int]], order: Iterator[int]) -> None:
    table = Table()

    async def crawl(crawler: int, mine: list[int]) -> None:
        profile = KeptProfile()
        for number in mine:
            for page in range(number):
                about = sketch([1, 2, 3], [f"title key {crawler} {number} {page}"])
                profile.learn((2 * crawler + 2).to_bytes(8, "little"), about)
            await change(table, SITE, HOST, profile.merged)
            profile.was_kept()

    interleaved([crawl(*one) for one in enumerate(pages)], order)
    profile = SiteProfile.from_bytes(table.rows[SITE, HOST][1])
    assert profile.pages == sum(map(sum, pages))
    assert {key for key, _ in profile.pieces()} == {2 * crawler + 2 for crawler in range(len(pages))}


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5), schedules)
def test_a_change_applies_to_the_current_note(numbers: list[int], order: Iterator[int]) -> None:
    table = Table()

    def more(number: int) -> Coroutine[Any, Any, None]:
        return change(table, SITE, HOST, lambda kept: str(int(kept or b"0") + number).encode())

    interleaved([more(number) for number in numbers], order)
    assert int(table.rows[SITE, HOST][1]) == sum(numbers)


def test_a_writer_that_loses_every_conflict_gets_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()

    class Busy(Table):
        is_remote = False

        def note(self, kind: str, name: Name) -> Any:
            asked["note"] += 1
            return asked["note"], b"0"

        def replace_notes(self, kind: str, notes: Sequence[Note]) -> Any:
            return [None] * len(notes)

    monkeypatch.setattr(notes, "_MAX_ATTEMPTS", 3)
    with pytest.raises(StoreUnavailable, match=r"other crawlers changed the .* data of 'a\.example'"):
        run_sync(change(Busy(), SITE, HOST, lambda kept: b"1"))
    assert asked["note"] == 3


def test_a_result_may_be_immediate_or_awaited() -> None:
    async def later() -> int:
        await asyncio.sleep(0)
        return 7

    async def both() -> tuple[int, int]:
        return await maybe_await(5), await maybe_await(later())

    assert asyncio.run(both()) == (5, 7)
    assert run_sync(maybe_await(5)) == 5

    async def wait() -> int:
        return await maybe_await(later())

    waiting = wait()
    with pytest.raises(TypeError, match="is_remote = True"):
        run_sync(waiting)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot delay signals")
def test_an_interrupt_is_handled_between_two_results() -> None:
    steps = []
    # A process in the background may ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    async def work() -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0)
        steps.append("ended")

    try:
        with closing(asyncio.new_event_loop()) as loop, pytest.raises(KeyboardInterrupt):
            run_in(loop, work())
    finally:
        signal.signal(signal.SIGINT, before)
    assert steps == ["ended"]
