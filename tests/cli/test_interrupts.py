from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from scrapy_simhash.cli.stores import HeldBack

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself a signal there")


@pytest.fixture
def handled() -> Iterator[list[int]]:
    """The numbers of SIGTERM and SIGINT as often as their handler is called."""
    numbers: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number in before:
        signal.signal(number, lambda number, _: numbers.append(number))
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_signals_wait_inside_and_the_first_is_handled_at_the_end(handled: list[int]) -> None:
    held = HeldBack()
    for _ in range(2):
        with held:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            assert not handled
        assert handled == [signal.SIGTERM]
        handled.clear()
    held.release()


def test_outside_they_are_handled_at_once_and_afterwards_by_who_did_before(handled: list[int]) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    held = HeldBack()
    signal.raise_signal(signal.SIGTERM)
    assert handled == [signal.SIGTERM]
    held.release()
    assert signal.getsignal(signal.SIGTERM) is handler


def test_what_a_handler_raises_comes_out_at_the_end() -> None:
    # What started the tests may ignore interrupts, as a shell does for what it runs in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    held, reached = HeldBack(), []

    def interrupted() -> None:
        with held:
            signal.raise_signal(signal.SIGINT)
            reached.append("the end of the inside")
        reached.append("what follows")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    held.release()
    signal.signal(signal.SIGINT, before)
    assert reached == ["the end of the inside"]


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    held = HeldBack()
    with held:
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    held.release()
    signal.signal(signal.SIGHUP, before)
