"""Scrapy's other commands: who asks for one page gets it, whatever the project does to near-duplicates."""

import re
import subprocess
from pathlib import Path
from typing import TypeAlias

import pytest
from scrapy import version_info

from tests.crawls.harness import scrapy
from tests.crawls.site import Routes, Site, article, links

Outcome: TypeAlias = "subprocess.CompletedProcess[str]"

DROPPING = ("drop_items,drop_links", "drop_page")
# Only the page is at stake in a shell: it has no items and follows no links.
TASKS = {
    "parse": ("drop_items,drop_links", "drop_page"),
    "check": ("drop_page",),
    "shell": ("drop_page",),
    "fetch": ("drop_page",),
    "crawl": ("drop_page",),
}

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

    {asynchronous}def parse_other_copy(self, response):
        """
        @url {other_copy}
        @returns items 1 1
        """
        yield {{"path": response.url.rpartition("/")[2]}}
'''


#: All three have the same text.
PAGES: Routes = {
    "/front": article(0, before=links("/copy", "/other-copy")),
    "/copy": article(0, title="The copy"),
    "/other-copy": article(0),
}


@pytest.fixture(scope="module")
def outcomes(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Outcome]:
    """What each command says in a project with each action, by (command, action)."""
    look = f"fetch({site.url('/copy')!r}) or (response, response and response.css('title::text').get())"
    commands = {
        "parse": ("parse", "--nocolour", "-d", "2", "--spider", "tides", site.url("/front")),
        "check": ("check",),
        "shell": ("shell", "-c", look, site.url("/front")),
        "fetch": ("fetch", "--nolog", site.url("/copy")),
        "crawl": ("crawl", "tides"),
    }
    folders = {action: project(tmp_path_factory.mktemp(action), action, site) for action in DROPPING}
    tasks = [(command, action) for command, actions in TASKS.items() for action in actions]
    return {task: scrapy(*commands[task[0]], cwd=folders[task[1]]) for task in tasks}


def project(folder: Path, action: str, site: Site) -> Path:
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (folder / "settings.py").write_text(
        "SPIDER_MODULES = ['tides']\n"
        "ADDONS = {'scrapy_simhash.Addon': 500}\n"
        f"SIMHASH_ACTION = {action!r}\n"
        "TELNETCONSOLE_ENABLED = False\n"
    )
    urls = {"front": site.url("/front"), "copy": site.url("/copy"), "other_copy": site.url("/other-copy")}
    # Scrapy 2.13 has no contracts for callbacks that are async.
    asynchronous = "async " if version_info >= (2, 19) else ""
    (folder / "tides.py").write_text(SPIDER.format(**urls, asynchronous=asynchronous))
    return folder


@pytest.mark.parametrize("action", TASKS["parse"])
def test_parse_shows_the_items_and_links_of_near_duplicates_at_every_depth(
    outcomes: dict[tuple[str, str], Outcome], action: str
) -> None:
    done = outcomes["parse", action]
    for path in ("front", "copy", "other-copy"):
        assert f"{{'path': '{path}'}}" in done.stdout
    # They were recognised; the log says that nothing is done about it.
    assert "1 new, 2 near-duplicates" in done.stderr
    assert "action: mark (this command does not crawl)" in done.stderr


def test_check_tests_contracts_on_near_duplicates(outcomes: dict[tuple[str, str], Outcome]) -> None:
    done = outcomes["check", "drop_page"]
    assert done.returncode == 0, done.stderr
    assert re.search(r"Ran [45] contracts", done.stderr)
    assert done.stderr.rstrip().endswith("OK")


def test_shell_has_the_response_of_a_near_duplicate(outcomes: dict[tuple[str, str], Outcome]) -> None:
    done = outcomes["shell", "drop_page"]
    assert "The copy" in done.stdout, done.stderr
    assert "/copy is a near-duplicate of " in done.stderr


def test_fetch_prints_the_page(outcomes: dict[tuple[str, str], Outcome]) -> None:
    done = outcomes["fetch", "drop_page"]
    assert done.stdout.strip() == article(0, title="The copy")
    assert "Traceback" not in done.stderr


def test_crawl_in_the_same_project_does_act(outcomes: dict[tuple[str, str], Outcome]) -> None:
    done = outcomes["crawl", "drop_page"]
    assert ", action: drop_page, store: memory" in done.stderr
    assert "'simhash/dropped/pages': 2" in done.stderr
