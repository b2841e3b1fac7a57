"""Scrapy's other commands never drop a page."""

import subprocess
from typing import TypeAlias

import pytest

from tests.crawls.harness import ENABLED, make_project, scrapy
from tests.crawls.site import Routes, Site, article, links

SPIDER = '''
import scrapy

class TidesSpider(scrapy.Spider):
    name = "tides"
    start_urls = ["{front}"]

    def parse(self, response):
        """
        @url {front}
        @returns items 1 1
        @returns requests 2 2
        """
        yield {{"path": response.url.rpartition("/")[2]}}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.parse)

    def parse_copy(self, response):
        """
        @url {copy}
        @returns items 1 1
        @scrapes path
        """
        yield {{"path": response.url.rpartition("/")[2]}}
'''


#: All three have the same text.
PAGES: Routes = {
    "/front": article(0, before=links("/copy", "/other-copy")),
    "/copy": article(0, title="Once more"),
    "/other-copy": article(0),
}


Outcomes: TypeAlias = "dict[str, subprocess.CompletedProcess[str]]"


@pytest.fixture(scope="module")
def outcomes(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The output of each command in a project that drops pages."""
    folder = tmp_path_factory.mktemp("project")
    make_project(folder, **ENABLED, SPIDER_MODULES=["tides"], SIMHASH_ACTION="drop_page")
    (folder / "tides.py").write_text(SPIDER.format(front=site.url("/front"), copy=site.url("/copy")))
    look = f"fetch({site.url('/copy')!r}) or (response, response and response.css('title::text').get())"
    commands = {
        "parse": ("parse", "--nocolour", "-d", "2", "--spider", "tides", site.url("/front")),
        "check": ("check",),
        "shell": ("shell", "-c", look, site.url("/front")),
    }
    return {name: scrapy(*command, cwd=folder) for name, command in commands.items()}


def test_parse_shows_the_items_and_links_of_near_duplicates_at_every_depth(outcomes: Outcomes) -> None:
    done = outcomes["parse"]
    for path in ("front", "copy", "other-copy"):
        assert f"{{'path': '{path}'}}" in done.stdout
    # The near-duplicates were recognised; the log states that they are only marked.
    assert "1 new, 2 near-duplicates" in done.stderr
    assert "action: mark (this command does not crawl)" in done.stderr


def test_scrapy_check_runs_contracts_on_near_duplicates(outcomes: Outcomes) -> None:
    done = outcomes["check"]
    assert done.returncode == 0, done.stderr
    assert "Ran 4 contracts" in done.stderr
    assert done.stderr.rstrip().endswith("OK")


def test_scrapy_shell_has_the_response_of_a_near_duplicate(outcomes: Outcomes) -> None:
    done = outcomes["shell"]
    assert "Once more" in done.stdout, done.stderr
    assert "/copy is a near-duplicate of " in done.stderr
