"""The site as a reader meets it: it builds, links lead somewhere, search finds, a browser shows all of every page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

import pytest
from lxml import etree, html

from tests.browser import Reader
from tests.docs.conftest import Built
from tests.docs.reader import DOCS, PAGES

pytestmark = pytest.mark.slow("it builds the documentation and opens it in a browser")

PHONE, LAPTOP, DESKTOP = 390, 1280, 1920
SCHEMES = ("light", "dark")
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


@pytest.mark.parametrize(
    ("style", "fault"),
    [
        ("article pre { overflow: hidden !important; width: 40px }", "cut: PRE"),
        ("body { width: 3000px }", "the page scrolls sideways"),
        ("article p { width: 3000px }", "reaches beyond the screen: P"),
        (
            ".table-wrapper { overflow: visible !important } article table { width: 3000px }",
            "reaches beyond the screen: TABLE",
        ),
        ("article p { color: #888 !important }", "contrast"),
    ],
)
def test_a_fault_of_a_page_is_found(reader: Reader, style: str, fault: str) -> None:
    reader.open("how-to/items.html")
    assert reader.faults(PHONE, "light") == []
    reader.page.add_style_tag(content=style)
    assert any(fault in found for found in reader.faults(PHONE, "light"))


def test_an_error_of_a_script_a_missing_file_and_another_server_are_noticed(reader: Reader) -> None:
    reader.open("index.html")
    assert reader.wrong() == []
    reader.page.evaluate("fetch('missing.css')")
    reader.page.evaluate("fetch('http://127.0.0.2:9/').catch(() => null)")
    reader.page.evaluate("setTimeout(() => { throw Error('a script failed') })")
    reader.page.wait_for_timeout(100)
    told = " ".join(reader.wrong())
    assert "404" in told
    assert "asks another server" in told
    assert "a script failed" in told


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


def test_every_page_shows_all_it_has_at_every_size_in_both_colour_schemes(
    reader: Reader, built: Built
) -> None:
    wrong = {}
    for path in sorted(built.folder.rglob("*.html")):
        name = path.relative_to(built.folder).as_posix()
        reader.open(name)
        faults = [
            fault
            for scheme in SCHEMES
            for width in (PHONE, LAPTOP, DESKTOP)
            for fault in reader.faults(width, scheme)
        ]
        if found := faults + reader.wrong():
            wrong[name] = found
    assert wrong == {}


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


PICTURES = sorted((DOCS / "pictures").iterdir())


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_on_a_page_can_be_read_aloud_and_follows_the_colours_of_the_page(path: Path) -> None:
    assert any(f".. picture:: {path.name}\n" in page.read_text("utf-8") for page in PAGES)
    svg = etree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert svg.tag == f"{space}svg"
    title, text = svg.find(f"{space}title"), svg.find(f"{space}desc")
    assert title is not None
    assert text is not None
    assert len(title.text or "") > 10
    assert len(text.text or "") > 40
    assert svg.get("aria-labelledby") == f"{title.get('id')} {text.get('id')}"
    assert str(title.get("id")) == f"{path.stem}-title"
    assert svg.get("fill") == "currentColor"
    # Colours that do not follow the scheme are only for a program that does not know the classes.
    coloured = [element for element in svg.iter() if str(element.get("fill", "")).startswith("#")]
    coloured += [element for element in svg.iter() if str(element.get("stroke", "")).startswith("#")]
    assert all(element.get("class") for element in coloured)
    assert path.stat().st_size < 12_000
