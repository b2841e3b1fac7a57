"""How deep a request is, and who says so."""

from typing import Any

import pytest
from scrapy import Request
from scrapy.settings import Settings
from scrapy.spidermiddlewares.depth import DepthMiddleware

from scrapy_simhash.crawling import Depths

PATH = "scrapy.spidermiddlewares.depth.DepthMiddleware"


class OwnDepthMiddleware(DepthMiddleware):
    """Counts in its own way."""


@pytest.mark.parametrize(
    ("middlewares", "are_counted"),
    [
        ({}, True),
        ({PATH: 200}, True),
        ({PATH: None}, False),
        ({DepthMiddleware: None}, False),
        ({DepthMiddleware: 1}, True),
        ({PATH: None, OwnDepthMiddleware: 900}, True),
    ],
)
def test_scrapy_counts_unless_it_is_told_not_to(
    middlewares: dict[Any, int | None], are_counted: bool
) -> None:
    assert Depths(Settings({"SPIDER_MIDDLEWARES": middlewares})).are_counted is are_counted


@pytest.mark.parametrize(
    ("meta", "counted", "uncounted"),
    [
        ({}, 0, None),
        ({"is_start_request": True}, 0, 0),
        ({"is_start_request": True, "depth": 2}, 2, 2),
        ({"depth": 0}, 0, 0),
        ({"depth": 7}, 7, 7),
        ({"depth": "deep"}, 0, None),
    ],
)
def test_the_depth_of_a_request(meta: dict[str, Any], counted: int, uncounted: int | None) -> None:
    request = Request("https://example.com/", meta=meta)
    assert Depths(Settings()).of(request) == counted
    assert Depths(Settings({"SPIDER_MIDDLEWARES": {PATH: None}})).of(request) == uncounted
