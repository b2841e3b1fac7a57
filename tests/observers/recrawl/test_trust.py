from __future__ import annotations

from itertools import permutations

import pytest

from scrapy_simhash.observers.recrawl import Host, Trust, Trusts
from scrapy_simhash.observers.recrawl.trust import FORGIVEN, SHARED

NOW = 1_800_000_000


def found(trust: Trust, since: int = NOW) -> Host:
    host = Host()
    host.trust, host.since, host.url = trust, since, f"https://example.com/{trust.value}"
    return host


@pytest.mark.parametrize("trusts", [*permutations(Trust, 2)])
def test_the_worst_of_two_findings_holds_in_whatever_order_they_are_joined(
    trusts: tuple[Trust, Trust],
) -> None:
    host = found(trusts[0])
    host.join(found(trusts[1]).to_bytes(), NOW)
    worst = max(trusts, key=list(Trust).index)
    assert (host.trust, host.url) == (worst, f"https://example.com/{worst.value}")


def test_a_finding_that_is_forgiven_is_not_joined() -> None:
    host = found(Trust.DATES)
    host.join(found(Trust.LIED, NOW - FORGIVEN).to_bytes(), NOW)
    assert host.trust is Trust.DATES


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[1]", b'["lied", "x", ""]', b'["other", 1, ""]', b"\xff", b"[[], 1, 2]"]
)
def test_what_is_no_finding_raises_value_error_and_changes_nothing(data: bytes) -> None:
    host = found(Trust.DATES)
    with pytest.raises(ValueError):
        host.join(data, NOW)
    assert host.trust is Trust.DATES


def came(trusts: Trusts, etags: list[bytes], first: int = 0) -> Trust:
    """Return how a host is trusted after pages of different texts with these *etags*."""
    host = trusts.find("a") or trusts.add("a")
    for number, etag in enumerate(etags, first):
        trusts.came_in_full("a", f"https://a/{number}", etag, number, (b"", None), NOW)
    return host.trust


def test_one_etag_for_different_texts_is_seen_after_a_few_pages() -> None:
    assert came(Trusts(), [b"1"] * SHARED) is Trust.FULL
    assert came(Trusts(), [b"1"] * (SHARED + 1)) is Trust.ETAGS


def test_etags_that_files_share_by_chance_are_trusted() -> None:
    etags = [b"%d" % number for number in range(100)]
    etags[10] = etags[9]
    etags[20] = etags[19]
    etags[30] = etags[29]
    assert came(Trusts(), etags) is Trust.FULL


def test_pages_of_one_text_may_have_one_etag() -> None:
    trusts = Trusts()
    trusts.add("a")
    for number in range(20):
        trusts.came_in_full("a", f"https://a/{number}", b"1", 7, (b"", None), NOW)
    assert trusts.lost() == []


def test_pages_that_change_under_their_etags_are_seen() -> None:
    trusts = Trusts()
    host = trusts.add("a")
    for number in range(SHARED):
        etag = b"%d" % number
        trusts.came_in_full("a", f"https://a/{number}", etag, number, (etag, number + 100), NOW)
    assert host.trust is Trust.ETAGS


def test_less_is_not_found_of_a_host_that_has_lied() -> None:
    trusts = Trusts()
    trusts.lower("a", Trust.LIED, "https://a/1", NOW)
    trusts.lower("a", Trust.DATES, "https://a/2", NOW)
    assert [(site, host.trust, host.url) for site, host in trusts.lost()] == [
        ("a", Trust.LIED, "https://a/1")
    ]


def test_the_first_answers_of_304_are_checked_more_often_than_later_ones() -> None:
    trusts = Trusts()
    trusts.add("a")
    chances = [trusts.answered_304("a", True) for _ in range(10_000)]
    assert chances[0] == 1
    assert chances == sorted(chances, reverse=True)
    assert 17 < sum(chances[:72]) < 20
    assert 55 < sum(chances) < 60
    assert trusts.answered_304("a", False) == 0
