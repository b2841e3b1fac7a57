"""The built site: it builds without warnings, and links have targets."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

import pytest
from lxml import html

from tests.docs.reader import DOCS, PAGES, ROOT

pytestmark = pytest.mark.slow("it builds the documentation")

NAMES = [page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES]

#: All links except those of sphinx.ext.viewcode to undocumented base classes.
LINKS = "//a[not(@class = 'viewcode-back')]/@href | //link/@href | //script/@src | //img/@src"


@dataclass(frozen=True)
class Built:
    """A built site: its folder, and exit code and output of Sphinx."""

    folder: Path
    code: int
    output: str


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q"]
    command += ["-d", str(folder / "trees"), str(DOCS), str(folder / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=300)
    return Built(folder / "html", done.returncode, done.stderr)


def test_the_docs_build_without_a_warning(built: Built) -> None:
    assert (built.code, built.output) == (0, "")
    assert (built.folder / "index.html").is_file()


def test_every_link_leads_to_an_existing_page_and_anchor(built: Built) -> None:
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


def test_llms_txt_has_a_line_for_every_page_and_its_links_lead_to_text(built: Built) -> None:
    lines = (built.folder / "llms.txt").read_text("utf-8").splitlines()
    assert lines[0] == "# scrapy-simhash"
    listed = dict(re.findall(r"^- \[.+?\]\((.+?)\): (.+)$", "\n".join(lines), flags=re.MULTILINE))
    assert set(listed) == {f"_sources/{name}.rst.txt" for name in NAMES if name != "index"}
    for link, sentence in listed.items():
        assert (built.folder / link).is_file()
        assert len(sentence.split()) > 3, link


#: Search words, and the page that the search must show first.
SEARCHES = {
    "SIMHASH_STORE": "reference/settings",
    "exit status": "reference/command-line",
    "getting started": "tutorial",
    "near duplicate": "how-to/actions",
    "pagination": "how-to/actions",
    "job board": "how-to/sites",
    "why was my page dropped": "how-to/look",
    "nothing is marked": "faq",
    "duplicate items": "how-to/items",
    "spider trap": "how-to/url-rules",
    "incremental crawl": "how-to/crawl-again",
    "redis": "how-to/stores",
    "javascript": "how-to/deployment",
    "memory usage": "performance",
    "WARC": "how-to/stored-pages",
    "Spark": "how-to/sql",
    "pandas": "how-to/python",
    "deltafetch": "comparison",
    "minhash": "concepts/how-it-works",
    "accuracy": "concepts/accuracy",
}


def test_the_search_shows_the_right_page_first(built: Built, browser: Any) -> None:
    page = browser.new_page()
    first = {}
    for words in SEARCHES:
        page.goto(f"{built.folder.as_uri()}/search.html?q={quote(words)}")
        page.wait_for_function("document.querySelector('.search-summary')?.textContent.includes('found')")
        link = page.locator("#search-results ul.search li > a").first.get_attribute("href")
        first[words] = urlsplit(link).path.removesuffix(".html")
    assert first == SEARCHES
