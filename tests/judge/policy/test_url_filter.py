"""Addresses by pattern and by domain."""

import pytest

from scrapy_simhash.judge.policy import UrlFilter

URL = "https://www.example.com:8443/shop/lamps?page=2"


@pytest.mark.parametrize(
    ("rules", "is_in"),
    [
        ({}, True),
        ({"allow": ["lamps"]}, True),
        ({"allow": ["^/shop"]}, False),  # the whole URL is looked at, not the path
        ({"allow": ["/boats", "page="]}, True),
        ({"deny": ["page="]}, False),
        ({"allow": ["lamps"], "deny": [r"page=\d+$"]}, False),
        ({"allow_domains": ["example.com"]}, True),
        ({"allow_domains": [".EXAMPLE.com."]}, True),
        ({"allow_domains": ["www.example.com"]}, True),
        ({"allow_domains": ["ample.com", "example.org"]}, False),
        ({"allow_domains": ["com"]}, True),
        ({"deny_domains": ["example.com"]}, False),
        ({"deny_domains": ["shop.example.com"]}, True),
        ({"allow_domains": ["example.com"], "deny_domains": ["www.example.com"]}, False),
        ({"allow": ["lamps"], "allow_domains": ["example.org"]}, False),
    ],
)
def test_a_url_is_in_or_out(rules: dict[str, list[str]], is_in: bool) -> None:
    assert (URL in UrlFilter(**rules)) is is_in


@pytest.mark.parametrize("url", ["", "mailto:a@example.com", "http://[broken", "data:text/html,a"])
def test_what_has_no_host_is_of_no_domain(url: str) -> None:
    assert url not in UrlFilter(allow_domains=["example.com"])
    assert url in UrlFilter(deny_domains=["example.com"])
