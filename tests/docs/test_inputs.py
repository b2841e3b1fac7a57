"""Every command of the pages about kinds of input runs, on files of that kind."""

from __future__ import annotations

import json
import pickle
import re
import shlex
from pathlib import Path

import pytest

from scrapy_simhash.cli.main import main
from scrapy_simhash.files.records import Record, open_writer
from tests.crawls.site import article
from tests.docs.reader import DOCS, blocks

URLS = ["https://example.com/news/a", "https://example.com/news/a-print", "https://example.com/news/b"]
PAGES = [article(1), article(1, before="<nav><a href='/'>Print this page</a></nav>"), article(2)]


def make_cache(folder: Path) -> None:
    for number, (url, page) in enumerate(zip(URLS, PAGES, strict=True)):
        # The last key first.
        key = f"{9 - number}0".ljust(40, "0")
        entry = folder / key[:2] / key
        entry.mkdir(parents=True)
        meta = {"url": url, "response_url": url, "status": 200, "timestamp": 1_790_000_000 + number}
        (entry / "pickled_meta").write_bytes(pickle.dumps(meta, protocol=4))
        (entry / "response_headers").write_bytes(b"Content-Type: text/html; charset=utf-8\r\n")
        (entry / "response_body").write_text(page, "utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the same pages in each kind of input."""
    monkeypatch.chdir(tmp_path)
    for name in ("crawl.warc.gz", "pages.parquet", "archive/"):
        if name == "pages.parquet":
            pytest.importorskip("pyarrow")
        with open_writer(name) as writer:
            for url, page in zip(URLS, PAGES, strict=True):
                writer.write(Record(url, page, "made:1"))
    make_cache(tmp_path / ".scrapy" / "httpcache" / "news")
    return tmp_path


@pytest.mark.parametrize("page", ["warc", "parquet", "http-cache", "folders"])
def test_every_command_of_the_page_runs_and_drops_the_copy(
    page: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shown = "".join(block.text for block in blocks(DOCS / "how-to" / f"{page}.rst", "console"))
    commands = re.findall(r"^\$ scrapy-simhash (.*)$", shown, flags=re.MULTILINE)
    assert len(commands) > 1
    for command in commands:
        assert main(shlex.split(command)) == 0, command
        said = capfd.readouterr()
        assert (command, said.err) == (command, "")
        if command.startswith("dedup"):
            assert said.out.startswith("records: 3, kept: 2, near-duplicates: 1"), command
        elif command.startswith("import"):
            assert said.out.startswith("records: 3, new: 2, near-duplicates: 1, ")
        else:
            assert json.loads(said.out.splitlines()[0])["members"] == URLS[:2]
