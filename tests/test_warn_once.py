"""Log messages for handled exceptions."""

from __future__ import annotations

import logging

import pytest

from scrapy_simhash.crawling import Once
from tests.stand_in import simhash_stats, stand_in


def test_the_first_error_is_a_warning_and_each_has_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    crawler = stand_in()
    faults = Once(crawler, logging.getLogger("scrapy_simhash.someone"), "simhash/errors/compare")
    for page in ("100%", "second"):
        try:
            raise OSError(page)
        except OSError:
            faults.log_exception("Could not read %(about)s: it goes on", page)
    first, second = caplog.records
    assert (first.levelname, second.levelname) == ("WARNING", "DEBUG")
    assert first.name == "scrapy_simhash.someone"
    further = "Further failures are logged at level DEBUG and counted in the stat simhash/errors/compare"
    assert first.getMessage() == f"Could not read 100%: it goes on. {further}"
    assert [record.exc_info and str(record.exc_info[1]) for record in caplog.records] == ["100%", "second"]
    assert simhash_stats(crawler) == {"errors/compare": 2}
