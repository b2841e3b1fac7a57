"""The site as a reader meets it: it builds, links lead somewhere, search finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

import pytest
from lxml import html

from tests.browser import Reader
from tests.docs.conftest import Built
from tests.docs.reader import DOCS, PAGES

pytestmark = pytest.mark.slow("it builds the documentation and opens it in a browser")

NAMES = [page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES]

#: Without those that sphinx.ext.viewcode makes from the source of a base class to documentation that it has not.
LINKS = "//a[not(@class = 'viewcode-back')]/@href | //link/@href | //script/@src | //img/@src"


@pytest.fixture(scope="module")
def reader(browser: Any, address: str) -> Iterator[Reader]:
    # Otherwise colours and menus are still on their way when they are measured.
    context = browser.new_context(reduced_motion="reduce")
    yield Reader(context.new_page(), address)
    context.close()


def test_the_docs_build_without_a_warning(built: Built) -> None:
    assert (built.code, built.said) == (0, "")
    assert (built.folder / "index.html").is_file()


def test_every_link_leads_to_a_page_and_to_a_place_on_it(built: Built) -> None:
    trees = {path: html.parse(path).getroot() for path in built.folder.rglob("*.html")}
    places = {path: set(tree.xpath("//@id | //a/@name")) for path, tree in trees.items()}
    broken = []
    for path, tree in trees.items():
        for link in tree.xpath(LINKS):
            url, place = urldefrag(urljoin(path.as_uri(), link))
            if not url.startswith("file:"):
                continue
            target = Path(unquote(urlsplit(url).path))
            if not target.exists() or (place and unquote(place) not in places.get(target, ())):
                broken.append(f"{path.relative_to(built.folder)}: {link}")
    assert broken == []


#: What a user types into the search, and a page that must be among the first results.
SEARCHED = [
    ("threshold", "how-to/threshold"),
    ("tuning", "how-to/threshold"),
    ("false positive", "concepts/measured"),
    ("spider trap", "how-to/floods"),
    ("query parameter", "concepts/hints"),
    ("FAQ", "faq"),
    ("boilerplate", "concepts/text"),
    ("memory", "performance"),
    ("speed", "performance"),
    ("redis", "how-to/several-machines"),
    ("sqlite", "how-to/keep"),
    ("start()", "how-to/protected"),
    ("revisit", "how-to/revisits"),
    ("recrawl", "how-to/revisits"),
    ("language", "concepts/text"),
    ("translation", "how-to/protected"),
    ("pagination", "how-to/protected"),
    ("product variants", "how-to/protected"),
    ("simhash", "concepts/method"),
    ("hamming", "concepts/hamming"),
    ("minhash", "concepts/method"),
]


@pytest.mark.parametrize(("asked", "page"), SEARCHED)
def test_the_search_finds_a_page_for_what_a_user_types(reader: Reader, asked: str, page: str) -> None:
    reader.open(f"search.html?q={quote(asked)}")
    reader.page.wait_for_selector(".search-summary:has-text('found')")
    found = reader.page.eval_on_selector_all("ul.search li > a", "links => links.map(link => link.href)")
    pages = [urldefrag(link).url.removeprefix(f"{reader.address}/").removesuffix(".html") for link in found]
    assert page in list(dict.fromkeys(pages))[:5], pages
    assert reader.wrong() == []


def test_llms_txt_has_a_line_for_every_page_and_its_links_lead_to_text(built: Built) -> None:
    lines = (built.folder / "llms.txt").read_text("utf-8").splitlines()
    assert lines[0] == "# scrapy-simhash"
    listed = dict(re.findall(r"^- \[.+?\]\((.+?)\): (.+)$", "\n".join(lines), flags=re.MULTILINE))
    assert set(listed) == {f"_sources/{name}.rst.txt" for name in NAMES if name != "index"}
    for link, sentence in listed.items():
        assert (built.folder / link).is_file()
        assert len(sentence.split()) > 3, link


def test_a_setting_is_a_link_to_its_entry_and_a_setting_of_scrapy_to_the_docs_of_scrapy(built: Built) -> None:
    tree = html.parse(built.folder / "how-to" / "keep.html").getroot()
    links = {link.text_content(): link.get("href") for link in tree.xpath("//article//a[code]")}
    assert links["SIMHASH_DIR"] == "../reference/settings.html#simhash-dir"
    assert links["JOBDIR"].startswith("https://docs.scrapy.org/")
