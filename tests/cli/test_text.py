"""scrapy-simhash text: the main text as it is compared, and what was left out, for people, programs and browsers."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml.html import document_fromstring

from scrapy_simhash import PageFingerprinter
from tests.cli.conftest import Cli
from tests.cli.example_files import FERRY, PILOT

PAGE = f"""\
<html lang="en"><title>Ferry</title><body>
<nav><a href="/">Home \x9b2J</a> <a href="/boats">Boats</a></nav>
<main><h1>Ferry</h1><p>{FERRY} it go.</p><p>{PILOT} lost one. &lt;script&gt;</p></main>
<footer>All rights are &lt;b&gt; reserved by the harbour.</footer></body></html>
"""


@pytest.fixture
def page(tmp_path: Path) -> str:
    (tmp_path / "ferry.html").write_text(PAGE, "utf-8")
    return str(tmp_path / "ferry.html")


def test_paragraphs_are_those_that_the_library_compares(page: str, cli: Cli) -> None:
    (facts,) = cli.json_list("text", page)
    document = PageFingerprinter().extract(PAGE)
    told = [(each["text"], each["left_out"]) for each in facts["text"]]
    assert told == [(each.text, each.boilerplate) for each in document.paragraphs]
    assert {reason for _, reason in told} == {None, "chrome"}
    fingerprint = PageFingerprinter().from_html(PAGE)
    assert fingerprint is not None
    assert facts["fingerprint"] == fingerprint.hex


def test_what_is_left_out_begins_with_its_filter_and_moves_no_cursor(page: str, cli: Cli) -> None:
    said = cli("text", page)
    assert "\n- chrome: Home ?2J Boats\n" in said
    assert FERRY.split()[-1] in said.partition("\n- chrome")[2]
    assert max(map(len, said.splitlines()[1:])) <= 80
    assert all(sign.isprintable() or sign == "\n" for sign in said)


def test_several_pages_are_shown_one_after_another(page: str, tmp_path: Path, cli: Cli) -> None:
    short = tmp_path / "short.html"
    short.write_text("<p>No.", "utf-8")
    said = cli("text", page, short)
    assert said.index(page) < said.index(str(short))
    assert said.endswith("too little text for a fingerprint\n")


def test_a_page_of_html_shows_the_same_and_runs_nothing(page: str, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out.html"
    assert cli("text", page, "--html", out) == ""
    tree = document_fromstring(out.read_text("ascii"))
    assert not tree.xpath("//script | //b | //@onclick")
    (left_out,) = tree.xpath("//p[@class='out'][contains(., 'reserved')]")
    assert "navigation, footer" in left_out.text_content()
    assert "<script>" in "".join(tree.xpath("//p[not(@class)]//text()"))
