from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.scope import host_of, scope_of


@pytest.mark.parametrize(
    ("url", "domain", "host"),
    [
        ("https://www.example.com/a?b#c", "example.com", "www.example.com"),
        ("https://example.com:8443/", "example.com", "example.com"),  # ports do not matter
        ("https://user:secret@www.example.com/", "example.com", "www.example.com"),
        ("https://www.example.com./", "example.com", "www.example.com"),  # fully qualified
        # public suffixes of several labels
        ("https://news.example.co.uk/", "example.co.uk", "news.example.co.uk"),
        # private suffixes: each name below them is another site
        ("https://one.github.io/", "one.github.io", "one.github.io"),
        # IP addresses, and names without a suffix
        ("http://127.0.0.1:8000/", "127.0.0.1", "127.0.0.1"),
        # international names are compared as written; Scrapy always writes punycode
        ("https://www.bücher.de/", "bücher.de", "www.bücher.de"),
        # no host
        ("", "", ""),
        # broken
        ("http://[broken/", "", ""),
    ],
)
def test_scope_of_a_url(url: str, domain: str, host: str) -> None:
    assert scope_of(url, "domain") == domain
    assert scope_of(url, "host") == host
    assert scope_of(url, "crawl") == ""


@given(st.text(st.sampled_from("ab.:/@[]%-?#\\ \t\n1A")).map("https://".__add__))
def test_the_host_of_a_url_is_the_one_of_the_standard_library(url: str) -> None:
    try:
        expected = urlsplit(url).hostname or ""
    except ValueError:
        expected = ""
    assert host_of(url) == expected


def test_the_public_suffix_list_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    from scrapy_simhash.scope import _extractor

    _extractor.cache_clear()
    assert scope_of("https://news.example.co.uk/", "domain") == "example.co.uk"


def first_folder(url: str) -> str:
    """Return a custom scope: the first folder."""
    return url.split("/")[3]


def test_a_custom_function_is_found_by_its_path() -> None:
    detector = NearDuplicateDetector(Config(scope=f"{__name__}.first_folder"))
    page = "<p>" + " ".join(f"the ship and {word} went out to the sea" for word in "abcdefgh")
    statuses = [
        detector.check(page, f"https://example.com/{path}").status.value
        for path in ("~ann/1", "~bob/1", "~ann/2")
    ]
    assert statuses == ["new", "new", "near_duplicate"]
