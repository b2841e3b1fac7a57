"""``simhash(response)`` in ``scrapy shell``: what it says of a page, by its settings, without a trace."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from lxml.html import fromstring
from scrapy import Request
from scrapy.http import HtmlResponse, TextResponse

from scrapy_simhash import PageFingerprinter, Reason, Status, Verdict
from scrapy_simhash.shell import MOST, WIDTH, simhash
from tests.crawls.harness import ENABLED, Plan, crawl, make_project, scrapy
from tests.crawls.site import Site, article, edited, links

PAGES = {
    "/first": article(0, before=links("/copy")),
    "/copy": edited(article(0)),
}


def in_shell(folder: Path, settings: Mapping[str, object], code: str, url: str) -> str:
    """Return what *code* prints in a project with *settings*."""
    make_project(folder, **settings, COMMANDS_MODULE="scrapy_simhash.shell")
    return scrapy("shell", url, "-c", code, cwd=folder).stdout


def test_the_shell_has_it_and_it_tells_what_the_store_knows_and_stores_nothing(
    site: Site, tmp_path: Path
) -> None:
    # The spider that the shell makes up is called default.
    (done,) = crawl(Plan("Visitor", {"SIMHASH_STORE": str(tmp_path)}, {"urls": site.urls("/first")}))
    assert done.error is None
    (file,) = tmp_path.glob("*.sqlite")
    store = file.rename(tmp_path / "default.sqlite")
    settings = {**ENABLED, "SIMHASH_STORE": str(tmp_path)}
    said = in_shell(tmp_path, settings, "simhash(response)", site.url("/copy"))
    assert (
        f"{site.url('/copy')} is a near-duplicate of {site.url('/first')}, which was seen first"
        in " ".join(said.split())
    )
    page = PageFingerprinter().from_html(edited(article(0)))
    assert page is not None
    assert f"\nfingerprint: {page.hex}\n" in said
    assert "\nmain text  " in said
    assert max(map(len, said.splitlines())) <= WIDTH
    with closing(sqlite3.connect(store)) as database:
        assert database.execute("SELECT count(*) FROM pages").fetchone() == (1,)


def test_without_the_add_on_it_tells_the_text(site: Site, tmp_path: Path) -> None:
    said = in_shell(tmp_path, {}, "simhash(response)", site.url("/first"))
    assert "was not compared with other pages: the add-on is not enabled" in " ".join(said.split())
    assert "\nleft out: 1 x navigation" in said
    assert "\nchrome     /copy\n" in said


def response(html: str, **meta: object) -> HtmlResponse:
    url = "https://example.com/"
    return HtmlResponse(url, body=html.encode(), encoding="utf-8", request=Request(url, meta=dict(meta)))


def test_it_is_the_verdict_in_meta_and_the_reading_of_the_library() -> None:
    html = article(1)
    verdict = Verdict(Status.NEAR_DUPLICATE, duplicate_of="https://a.example/")
    found = simhash(response(html, simhash_result=verdict.to_dict(), depth=3))
    assert found.verdict is not None
    assert found.verdict.items() >= verdict.to_dict().items()
    fingerprinter = PageFingerprinter()
    page = fingerprinter.from_html(html)
    assert page is not None
    assert found.fingerprint == page.hex
    assert found.document is not None
    assert found.document.text == fingerprinter.extract(fromstring(html)).text
    longer = simhash(response(html), {"SIMHASH_SCHEME": "web?shingle_size=3"})
    assert longer.fingerprint != found.fingerprint
    assert longer.verdict is None


def test_of_what_is_no_html_it_tells_the_verdict_only() -> None:
    url = "https://example.com/a.txt"
    request = Request(url, meta={"simhash_result": Verdict(Status.SKIPPED, reason=Reason.NOT_HTML).to_dict()})
    found = simhash(TextResponse(url, body=b"text", request=request))
    assert repr(found) == f"{url} was not compared: it is not HTML."
    assert "was not compared with other pages" in repr(simhash(TextResponse(url, body=b"text")))


def test_nothing_of_a_page_moves_the_cursor_and_a_long_page_is_cut() -> None:
    paragraphs = "<p>A ship \x9b2J and \u202e a quay." * (MOST + 5)
    html = f"<title>A\x9b2J\u202e</title>{paragraphs}<p>{'x' * 1_000_000}"
    said = repr(simhash(response(html)))
    assert said.replace("\n", "").isprintable()
    assert max(map(len, said.splitlines())) <= WIDTH
    assert said.endswith("... and 6 more paragraphs")
