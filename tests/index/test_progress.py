from __future__ import annotations

from scrapy_simhash.index.values import INTERVAL, paced


def test_it_is_told_at_most_once_in_an_interval() -> None:
    now = 0.0
    told: list[float] = []
    tell = paced(told.append, clock=lambda: now)
    for step in range(100):
        now = step * INTERVAL / 10
        tell(step / 100)
    assert told == [step / 100 for step in range(10, 100, 10)]


def test_the_end_is_told_at_once() -> None:
    told: list[float] = []
    tell = paced(told.append, clock=lambda: 0)
    tell(0.5)
    tell(1.0)
    assert told == [1.0]


def test_there_may_be_nobody_to_tell() -> None:
    paced(None)(1.0)
