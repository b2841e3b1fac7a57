"""The rules by which changes are told, each alone: no crawl, no page, only what a book is told and what it tells."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.exceptions import StoreDamaged
from scrapy_simhash.observers.changes import PageText
from scrapy_simhash.observers.changes.book import ChangeBook, Sighting
from scrapy_simhash.observers.changes.feed import Feed
from scrapy_simhash.observers.changes.register import ANSWERED, FAILED, MISSING, Register
from scrapy_simhash.page.reading import packed
from scrapy_simhash.page.text import extract, parse

#: When the first crawl begins, in seconds of Unix time; each one begins a day after the one before.
BEGINNING = 1_700_000_000


class Site:
    """Crawls without requests: *crawl* begins one, and the other methods say what comes of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.feed = folder / "changes.jsonl"
        self.days = 0
        self.signals: list[tuple[str, str]] = []
        self._read = 0
        self.crawl()

    def crawl(self, resumed: int | None = None, since: int | None = None) -> None:
        """Begin a crawl; whatever ran before was ended, or is killed by this."""
        self.days += 1
        self.register = Register(self.folder / "register.sqlite")
        self.book = ChangeBook(
            self.register,
            Feed(self.feed),
            lambda change: self.signals.append((change.url, change.change.value)),
            size=100,
            on_error=lambda error: pytest.fail(str(error)),
            clock=lambda: BEGINNING + 86_400 * self.days,
        )
        self.number, self.since = self.book.begin(resumed, since)

    def page(self, key: str, text: str, *, links: str | None = "", sources: str = "") -> str:
        """Answer with a page, whose callback asks for *links*, one letter each; None for one that fails."""
        html = "<main>" + "".join(f"<p>{line}</p>" for line in text.split("/"))
        page = PageText(lambda: extract(parse(html)))
        kept = packed(page.document)
        found = Sighting(_key(key), key, hash(text) % 2**64, False, page, kept)
        change = self.book.sight(found, [(_key(source), source) for source in sources])
        if links is None:
            self.book.read(_key(key), key, [], is_complete=False)
        else:
            self.book.read(_key(key), key, map(_key, links), is_complete=True)
        self.text = page
        assert change is not None
        return change.value

    def answer(self, key: str, answer: int, sources: str = "") -> None:
        self.book.answer(_key(key), key, answer, [(_key(source), source) for source in sources])

    def end(self, reason: str = "finished", *, can_resume: bool = False, starts: str = "") -> int:
        unknown = self.book.end(reason, set(map(_key, starts)), can_resume=can_resume)
        self.book.close()
        return unknown

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines that came since this was asked last."""
        found = [json.loads(line) for line in self.feed.read_text("ascii").splitlines()]
        new, self._read = found[self._read :], len(found)
        return new

    @property
    def told(self) -> list[tuple[str, ...]]:
        """What these lines say: URL, change, and the former URL."""
        return [
            tuple(filter(None, (line["url"], line["change"], line["previous_url"]))) for line in self.lines
        ]


def _key(url: str) -> bytes:
    return (url * 20).encode()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A start page "s" that links to "a", "b" and "c", after its first crawl."""
    site = Site(tmp_path)
    site.page("s", "start", links="abc")
    for key in "abc":
        site.page(key, f"text {key} of the site/and more")
    assert site.end() == 0
    assert site.told == [(key, "new") for key in "sabc"]
    yield site
    site.book.close()


def start(site: Site, pages: Iterable[str] = "abc", links: str = "abc") -> None:
    """Crawl again; *pages* are as they were."""
    site.crawl()
    assert site.page("s", "start", links=links) == "unchanged"
    for key in pages:
        assert site.page(key, f"text {key} of the site/and more") == "unchanged"


def test_what_is_unchanged_is_not_told(site: Site) -> None:
    start(site)
    site.end()
    assert site.told == []
    assert site.text.changed == ()


def test_a_change_says_which_paragraphs_came_and_went(site: Site) -> None:
    start(site, "bc")
    assert site.page("a", "text a of the site/and much, much more/again") == "changed"
    assert [part.text for part in site.text.changed] == ["and much, much more", "again"]
    site.end()
    (line,) = site.lines
    difference = line["difference"]
    assert line["previous_time"] == "2023-11-15T22:13:20Z"
    assert line["time"] == "2023-11-16T22:13:20Z"
    assert len(line["text_hash"]) == len(line["previous_text_hash"]) == 16
    assert difference["paragraphs_kept"] == 1
    assert difference["text_added"] == ["and much, much more", "again"]
    assert difference["paragraphs_added"] == [part.hash for part in site.text.changed]
    assert len(difference["paragraphs_removed"]) == 1
    assert (difference["words_added"], difference["words_removed"]) == (5, 2)
    assert difference["is_cut"] is False


def test_a_line_has_only_so_much_text(site: Site) -> None:
    start(site, "bc")
    site.page("a", f"text a of the site/{'word ' * 18}end/{'other ' * 20}/third")
    site.end()
    (line,) = site.lines
    assert [len(text) for text in line["difference"]["text_added"]] == [93, 7]
    assert line["difference"]["is_cut"] is True
    assert len(line["difference"]["paragraphs_added"]) == 3


def test_a_page_that_answers_404_is_gone_and_comes_back(site: Site) -> None:
    start(site, "bc")
    site.answer("a", MISSING)
    assert site.told == []  # it may have moved
    site.end()
    (line,) = site.lines
    assert (line["url"], line["change"], line["reason"], line["text_hash"]) == ("a", "gone", "status", None)
    start(site, "bc")
    site.answer("a", MISSING)
    site.end()
    assert site.told == []  # told once
    start(site, "bc")
    assert site.page("a", "text a of the site/and more") == "back"
    assert len(site.text.changed) == 2  # whoever deleted its pieces needs all of them
    site.end()
    assert site.told == [("a", "back")]


def test_a_404_that_is_taken_back_in_the_same_crawl_is_not_told(site: Site) -> None:
    start(site, "bc")
    site.answer("a", MISSING)
    assert site.page("a", "text a of the site/and more") == "unchanged"
    site.end()
    assert site.told == []


def test_a_page_that_is_no_longer_linked_is_gone(site: Site) -> None:
    start(site, "bc", links="bc")
    site.end()
    (line,) = site.lines
    assert (line["url"], line["change"], line["reason"]) == ("a", "gone", "not_linked")


@pytest.mark.parametrize("answer", [FAILED, ANSWERED])
def test_a_page_without_an_answer_or_without_a_text_is_not_gone(site: Site, answer: int) -> None:
    start(site, "bc")
    site.answer("a", answer)
    site.end()
    assert site.told == []


def test_a_page_that_was_skipped_is_not_gone(site: Site) -> None:
    start(site, "bc")  # linked, and never asked for: by a depth limit, a budget, a filter
    site.end()
    assert site.told == []
    start(site, "bc", links="bc")
    site.book.skip(_key("a"))  # not linked; by robots.txt, a URL rule, the recrawl filter
    site.end()
    assert site.told == []


def test_a_start_request_is_not_gone(site: Site) -> None:
    start(site, "bc", links="bc")
    site.end(starts="a")
    assert site.told == []


@pytest.mark.parametrize("reason", ["shutdown", "closespider_pagecount"])
def test_a_crawl_that_was_stopped_says_nothing_of_what_it_did_not_ask_for(site: Site, reason: str) -> None:
    site.crawl()
    site.page("s", "start", links="bc")
    site.answer("b", MISSING)
    site.end(reason)
    assert site.told == [("b", "gone")]


def test_what_only_a_page_led_to_that_could_not_be_read_is_not_gone(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.page("s", "start", links="l")
    site.page("l", "list", links="m")
    site.page("m", "sub list", links="x")
    site.page("x", "text of it")
    site.end()
    site.crawl()
    site.page("s", "start", links="l")
    site.answer("l", FAILED)
    site.end()
    assert [change for _, change, *_ in site.told] == ["new"] * 4
    # Its callback failed in the middle: it leads to what it led to before.
    site.crawl()
    site.page("s", "start", links="l")
    site.page("l", "list", links=None)
    site.end()
    assert site.told == []
    # Of what came without a text nothing is told.
    site.crawl()
    site.page("s", "start", links="lp")
    site.page("l", "list", links="m")
    site.answer("p", FAILED)
    site.end()
    site.crawl()
    site.page("s", "start", links="l")
    site.page("l", "list", links="m")
    site.end()
    assert site.told == []


def test_a_callback_that_fails_leads_to_what_it_has_asked_for_and_to_what_it_led_to_before(
    site: Site,
) -> None:
    site.crawl()
    site.page("s", "start", links=None)
    site.book.read(_key("s"), "s", [_key("d")], is_complete=False)
    row = site.register.get(_key("s"))
    assert row is not None
    assert row.links == b"".join(_key(key)[:5] for key in "abcd")
    assert row.was_read == 1


def test_while_a_page_was_never_read_nothing_is_gone_for_a_missing_link(site: Site) -> None:
    start(site, "bc", links="bcn")
    site.answer("n", FAILED)  # perhaps it links to "a"
    assert site.end() == 1
    assert site.told == []
    # Next time it is known that it never led anywhere.
    start(site, "bc", links="bcn")
    site.answer("n", FAILED)
    assert site.end() == 0
    assert site.told == [("a", "gone")]


def test_a_text_at_another_url_has_moved_if_the_old_one_is_gone(site: Site) -> None:
    start(site, "c", links="bcde")
    assert site.page("d", "text a of the site/and more") == "new"
    assert site.page("e", "text b of the site/and more") == "new"
    site.answer("b", MISSING)
    assert site.told == []  # nobody knows yet
    site.end()
    assert site.told == [("d", "moved", "a"), ("e", "moved", "b")]
    site.crawl()
    site.page("s", "start", links="abcde")
    assert site.page("a", "text a of the site/and more") == "back"
    site.end()
    assert site.told == [("a", "back")]


def test_a_text_at_another_url_is_a_copy_if_the_old_one_is_there(site: Site) -> None:
    site.crawl()
    site.page("s", "start", links="abcd")
    assert site.page("d", "text a of the site/and more") == "new"
    start_of_rest = site.told
    for key in "abc":
        site.page(key, f"text {key} of the site/and more")
    site.end()
    assert (start_of_rest, site.told) == ([], [("d", "new")])


def test_a_copy_is_told_at_once_if_the_old_page_was_seen(site: Site) -> None:
    start(site, links="abcd")
    site.page("d", "text a of the site/and more")
    assert site.told == [("d", "new")]
    site.end()


def test_a_copy_of_very_many_pages_waits_for_the_end(tmp_path: Path) -> None:
    site = Site(tmp_path)
    for letter in range(101):
        change = site.page(chr(256 + letter), "the same text")
        assert change == "new"
        assert len(site.told) == (letter < 100)
    site.end("closespider_pagecount")
    assert len(site.told) == 1


def test_a_copy_that_comes_and_goes_is_not_told(site: Site) -> None:
    start(site, "bc", links="abcd")
    site.page("d", "text a of the site/and more")
    site.answer("d", MISSING)
    site.end()
    assert site.told == []


def test_of_two_copies_one_has_moved(site: Site) -> None:
    start(site, "bc", links="bcde")
    site.page("d", "text a of the site/and more")
    site.page("e", "text a of the site/and more")
    site.end()
    assert site.told == [("d", "moved", "a"), ("e", "new")]


def test_a_page_that_redirects_to_its_text_has_moved(site: Site) -> None:
    start(site, "c")
    site.page("e", "text b of the site/and more", sources="b")
    # Linked under its new URL, too, and asked for by that first.
    site.page("d", "text a of the site/and more")
    site.book.redirect(_key("d"), [(_key("a"), "a")])
    site.end()
    assert site.told == [("e", "moved", "b"), ("d", "moved", "a")]
    # The old URL still leads there.
    start(site, "c")
    site.page("d", "text a of the site/and more", sources="a")
    site.answer("b", FAILED)
    site.end()
    assert site.told == []


@pytest.mark.parametrize("answer", [FAILED, ANSWERED, MISSING])
def test_a_redirect_to_something_else_says_nothing(site: Site, answer: int) -> None:
    start(site, "bc")
    site.answer("login", answer, sources="a")
    site.end()
    assert site.told == []


def test_a_page_that_another_one_was_redirected_to_in_vain_has_not_moved(site: Site) -> None:
    start(site, "bc", links="abcd")
    site.answer("d", FAILED, sources="a")
    site.end()
    start(site, "bc", links="abcd")
    site.page("d", "text a of the site/and more")
    site.end()
    assert site.told == [("d", "new")]


def test_a_page_whose_old_url_may_still_be_there_is_new(site: Site) -> None:
    start(site, "bc", links="abcd")
    site.page("d", "text a of the site/and more")
    site.answer("a", FAILED)
    site.end()
    assert site.told == [("d", "new")]


def test_a_crawl_that_is_resumed_goes_on(site: Site) -> None:
    start(site, "bc", links="bcd")
    site.page("d", "text a of the site/and more")
    site.end("shutdown", can_resume=True)
    assert site.told == []
    site.crawl(resumed=site.number)
    site.end()
    assert site.told == [("d", "moved", "a")]
    assert site.number == 2


def test_what_a_crawl_has_left_open_the_next_one_tells(site: Site) -> None:
    start(site, "c", links="bcd")
    site.answer("b", MISSING)
    site.page("d", "text a of the site/and more")
    site.end("shutdown", can_resume=True)
    site.crawl()
    assert site.told == []
    site.page("s", "start", links="acd")
    site.end()
    assert site.told == [("d", "new"), ("b", "gone")]
    # A crawl that came to its end is over, although the folder has its number.
    site.crawl(resumed=site.number)
    assert site.number == 4


def test_a_crawl_that_was_resumed_after_a_kill_leaves_the_rest_to_the_next_one(site: Site) -> None:
    start(site, "c", links="cd")
    site.crawl(site.number, site.since)
    site.page("s", "start", links="cd")  # Scrapy has lost the request for "d"
    site.end()
    site.crawl(site.number, site.since)  # the same folder, where all requests are seen
    site.page("s", "start", links="cd")
    site.end()
    assert site.told == []
    start(site, "c", links="cd")
    site.page("d", "text a of the site/and more")
    site.end()
    assert site.told == [("d", "moved", "a"), ("b", "gone")]


def test_a_page_with_a_text_that_nobody_knew_is_unchanged(tmp_path: Path) -> None:
    former = [(_key("a"), "a", None, 5), (_key("b"), "b", hash("text of b") % 2**64, 5)]
    Register(tmp_path / "register.sqlite", former=former).close()
    site = Site(tmp_path)
    assert site.page("a", "text of a") == "unchanged"
    assert site.page("b", "text of b") == "unchanged"
    site.end()
    site.crawl()
    assert site.page("a", "words of a") == "changed"
    site.end()
    # Of "b" nothing was said before: it is gone now.
    assert site.told == [("a", "changed"), ("b", "gone")]


def test_a_page_of_a_former_store_that_was_not_read_may_lead_anywhere(tmp_path: Path) -> None:
    former = [(_key(key), key, None, 5) for key in "ab"]
    Register(tmp_path / "register.sqlite", former=former).close()
    site = Site(tmp_path)
    site.page("s", "start", links="a")
    assert site.end() == 1
    assert site.told == [("s", "new")]


@pytest.mark.parametrize("torn", [b"", b'{"number": 9, "cr'])
@pytest.mark.parametrize("written", range(4))
def test_after_a_kill_the_feed_gets_what_it_lacks(site: Site, written: int, torn: bytes) -> None:
    site.crawl()
    with site.register.transaction():
        for key in "xyz":
            site.register.add_line({"url": key, "change": "new", "previous_url": None})
    lines = b"".join(line for _, line in site.register.lines(0))
    with site.feed.open("ab") as feed:
        feed.write(b"".join(lines.splitlines(keepends=True)[:written]) + torn)
    site.crawl()
    site.end("shutdown")
    assert [line["number"] for line in site.lines] == [5, 6, 7]
    assert site.feed.read_bytes().endswith(lines)


def test_a_feed_with_a_name_for_each_crawl_keeps_what_belongs_to_it(site: Site) -> None:
    site.crawl()
    with site.register.transaction():
        site.register.add_line({"url": "x", "change": "new", "previous_url": None})
    former, site.feed = site.feed, site.folder / "second.jsonl"
    site.crawl(resumed=site.number)
    site.page("n", "one more text")
    site.end("shutdown", can_resume=True)
    assert not site.feed.read_bytes()
    assert [json.loads(line)["url"] for line in former.read_bytes().splitlines()[-2:]] == ["x", "n"]
    site.crawl()
    site.page("m", "and one more")
    site.end("shutdown")
    assert [json.loads(line)["url"] for line in site.feed.read_bytes().splitlines()] == ["m"]


def test_a_feed_of_another_register_goes_on_with_the_lines_of_this_one(site: Site) -> None:
    former = site.feed.read_bytes() + b'{"number": 70, "url": "of another register"}\n'
    site.feed.write_bytes(former)
    start(site, "bc")
    site.page("a", "other words")
    site.end()
    rest = site.feed.read_bytes().removeprefix(former)
    assert json.loads(rest)["url"] == "a"


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX")
def test_a_full_disk_leaves_no_half_a_line(tmp_path: Path) -> None:
    import resource

    feed = Feed(tmp_path / "changes.jsonl")
    feed.write([(1, b"first\n")])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError):
            feed.write([(2, b"second\n")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert (feed.path.read_bytes(), feed.last) == (b"first\n", 1)


def test_a_feed_that_was_taken_away_begins_anew(site: Site) -> None:
    site.feed.unlink()
    start(site, "bc")
    site.page("a", "other words")
    site._read = 0
    assert site.told == [("a", "changed")]
    site.end()


def test_a_malformed_register_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "shop.changes.sqlite"
    Register(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', ',,') WHERE type = 'table'"
        )
    with pytest.raises(StoreDamaged) as told:
        Register(path)
    assert "(malformed database schema" in str(told.value)
    assert "\n" not in str(told.value)
