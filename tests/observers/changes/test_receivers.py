"""A line of the feed is also sent as a signal, unless the signal has no receivers."""

from typing import Any

import pytest
from pydispatch import dispatcher  # type: ignore[import-untyped]
from scrapy.signalmanager import SignalManager

from scrapy_simhash.observers.changes.reporter import _has_receivers
from scrapy_simhash.signals import page_changed


@pytest.mark.parametrize("sender", ["the crawler", "any"])
@pytest.mark.parametrize("signal", [page_changed, dispatcher.Any], ids=["the signal", "any"])
def test_a_signal_has_receivers_if_sending_it_calls_one(sender: str, signal: Any) -> None:
    manager = SignalManager(object())
    calls: list[object] = []

    def receive(change: object) -> None:
        calls.append(change)

    manager.connect(receive, object())
    assert not _has_receivers(manager, page_changed)
    at = manager.sender if sender == "the crawler" else dispatcher.Any
    manager.connect(receive, signal, sender=at)
    assert _has_receivers(manager, page_changed)
    manager.send_catch_log(page_changed, change="a line")
    assert calls == ["a line"]
    manager.disconnect(receive, signal, sender=at)
    assert not _has_receivers(manager, page_changed)
