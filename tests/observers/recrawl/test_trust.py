from __future__ import annotations

import time
from itertools import permutations

import pytest
from scrapy.utils.test import get_crawler

from scrapy_simhash.observers.recrawl.answers import Answer
from scrapy_simhash.observers.recrawl.trust import FORGIVEN, IN_VAIN, SHARED, Host, Trust, TrustedHosts
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.waiting import finished

NOW = int(time.time())


def found(trust: Trust, since: int = NOW) -> Host:
    host = Host()
    host.trust, host.since, host.url = trust, since, f"https://example.com/{trust.value}"
    return host


@pytest.mark.parametrize("trusts", [*permutations(Trust, 2)])
def test_the_worst_of_two_findings_holds_in_whatever_order_they_are_joined(
    trusts: tuple[Trust, Trust],
) -> None:
    host = found(trusts[0])
    assert host.joined(found(trusts[1]).to_bytes()) == host.to_bytes()
    worst = max(trusts, key=list(Trust).index)
    assert (host.trust, host.url) == (worst, f"https://example.com/{worst.value}")


def test_a_finding_that_is_forgiven_is_not_joined() -> None:
    host = found(Trust.DATES)
    host.joined(found(Trust.LIED, NOW - FORGIVEN).to_bytes())
    assert (host.trust, host.is_forgiven) == (Trust.DATES, True)


@pytest.mark.parametrize(
    "data", [None, b"", b"{}", b"[1]", b'["lied", "x", ""]', b'["other", 1, ""]', b"\xff", b"[[], 1, 2]"]
)
def test_what_is_no_finding_changes_nothing(data: bytes | None) -> None:
    host = found(Trust.DATES)
    assert host.joined(data) == host.to_bytes()
    assert host.trust is Trust.DATES


@pytest.fixture
def hosts() -> TrustedHosts:
    """The hosts of a crawl that has met ``a``."""
    hosts = TrustedHosts(SqliteStore(), get_crawler())
    finished(hosts.meet("a"))
    return hosts


def came(
    hosts: TrustedHosts, number: int, etag: bytes, text: int, former: tuple[bytes, int | None] = (b"", None)
) -> Trust:
    """Return how a host is trusted after one more page with this ETag and this text."""
    answer = Answer(0, 0, etag=former[0])
    hosts.came_in_full(f"https://a/{number}", etag, b"", text, (answer, former[1]), False)
    host = hosts.find("a")
    assert host is not None
    return host.trust


def test_one_etag_for_different_texts_is_seen_after_a_few_pages(hosts: TrustedHosts) -> None:
    assert {came(hosts, number, b"1", number) for number in range(SHARED)} == {Trust.FULL}
    assert came(hosts, SHARED, b"1", SHARED) is Trust.ETAGS


def test_etags_that_files_share_by_chance_are_trusted(hosts: TrustedHosts) -> None:
    for number in range(100):
        etag = b"%d" % (number - (number in (10, 20, 30)))
        assert came(hosts, number, etag, number) is Trust.FULL


def test_pages_of_one_text_may_have_one_etag(hosts: TrustedHosts) -> None:
    assert {came(hosts, number, b"1", 7) for number in range(20)} == {Trust.FULL}


def test_pages_that_change_under_their_etags_are_seen(hosts: TrustedHosts) -> None:
    for number in range(SHARED):
        etag = b"%d" % number
        trust = came(hosts, number, etag, number, (etag, number + 100))
    assert trust is Trust.ETAGS


def test_less_is_not_found_of_a_host_that_has_lied(hosts: TrustedHosts) -> None:
    hosts.lower("https://a/1", Trust.LIED)
    hosts.lower("https://a/2", Trust.DATES)
    assert [(site, host.trust, host.url) for site, host in hosts._hosts.items()] == [
        ("a", Trust.LIED, "https://a/1")
    ]


def test_the_first_answers_of_304_are_checked_more_often_than_later_ones(hosts: TrustedHosts) -> None:
    first, later = Answer(0, 0), Answer(0, 0, visits=2)
    chances = [hosts.chance_of_check("a", first) for _ in range(10_000)]
    assert chances[0] == 1
    assert chances == sorted(chances, reverse=True)
    assert 17 < sum(chances[:72]) < 20
    assert 55 < sum(chances) < 60
    assert hosts.chance_of_check("a", later) == 0


@pytest.mark.parametrize(
    ("modified", "trusts"),
    [(b"today", [Trust.FULL, Trust.DATES, Trust.NONE]), (b"", [Trust.FULL, Trust.NONE, Trust.NONE])],
)
def test_validators_that_are_of_no_use_are_given_up_one_after_the_other(
    hosts: TrustedHosts, modified: bytes, trusts: list[Trust]
) -> None:
    former = Answer(0, 0, visits=2, etag=b"old", modified=modified), 7

    def came_in_vain(times: int) -> Trust:
        for number in range(times):
            hosts.came_in_full("https://a/", b"%d" % number, modified, 7, former, True)
        host = hosts.find("a")
        assert host is not None
        return host.trust

    assert came_in_vain(IN_VAIN - 1) is trusts[0]
    # It was right once.
    hosts.chance_of_check("a", former[0])
    assert came_in_vain(IN_VAIN - 1) is trusts[0]
    assert came_in_vain(1) is trusts[1]
    assert came_in_vain(IN_VAIN) is trusts[2]


@pytest.mark.parametrize("was_wrong", [False, True])
def test_a_host_that_was_wrong_once_is_checked_as_at_first_when_it_is_trusted_again(
    was_wrong: bool,
) -> None:
    store = SqliteStore()
    hosts = TrustedHosts(store, get_crawler())
    finished(hosts.meet("a"))
    if was_wrong:
        hosts._hosts["a"].joined(found(Trust.LIED, NOW - FORGIVEN).to_bytes())
    assert not hosts.is_lost("a")
    known = Answer(0, 0, visits=9)
    chances = [hosts.chance_of_check("a", known) for _ in range(3)]
    assert chances == ([1, 8 / 9, 8 / 10] if was_wrong else [0, 0, 0])
