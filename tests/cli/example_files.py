"""The files that the examples of the commands use: hashes, pages, stores of them, and a report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.detector import header_for
from scrapy_simhash.notes import RULES, Note
from scrapy_simhash.observers.url_rules.urls import Note as RuleNote
from scrapy_simhash.observers.url_rules.urls import parsed_rule
from scrapy_simhash.store.sqlite import SqliteStore

FERRY = "The last wooden ferry on the river left its berth at noon, and half the town came down to the quay to see"
PILOT = "Nobody knows the sandbanks as the night pilot does, who has brought four thousand ships past them and never"
#: The second page is a near-duplicate of the first.
TEXTS = {
    "https://example.com/ferry": f"{FERRY} it go.",
    "https://example.com/print/ferry": f"{FERRY} it go!",
    "https://example.com/pilot": f"{PILOT} lost one of them.",
}
#: Two of them are near-duplicates.
HASHES = (5456993838078482869, 5457064206285785525, 12345)
REPORT = (
    {"url": "https://example.com/ferry", "status": "new"},
    {
        "url": "https://example.com/print/ferry",
        "status": "near_duplicate",
        "duplicate_of": "https://example.com/ferry",
        "distance": 0,
        "similarity": 1.0,
        "threshold": 0.975,
        "action": "drop_items",
    },
)


def html(text: str) -> str:
    return f'<html lang="en"><title>News</title><body><main><p>{text}</p></main></body></html>'


def feed(folder: Path, records: Iterable[Mapping[str, Any]]) -> str:
    """Write the file ``pages.jsonl`` into *folder*, and return its path."""
    path = folder / "pages.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "ascii")
    return str(path)


def write_example_files(folder: Path) -> None:
    """Write the files into *folder*."""
    pages = [{"url": url, "html": html(text)} for url, text in TEXTS.items()]
    lines = {
        "hashes.txt": map(str, HASHES),
        "queries.txt": [str(HASHES[0] - 1)],
        "report.jsonl": map(json.dumps, REPORT),
        "page.html": [pages[0]["html"]],
        "other.html": [html(f"{FERRY} it go out.")],
    }
    feed(folder, pages)
    for name, of_file in lines.items():
        (folder / name).write_text("\n".join(of_file) + "\n", "utf-8")
    for day in ("news", "monday", "tuesday"):
        with closing(SqliteStore(folder / f"{day}.sqlite", header_for(Config()))) as store:
            detector = NearDuplicateDetector(store=store, clock=lambda: 1_790_000_000)
            for url, text in TEXTS.items():
                detector.check(html(text), url)
            detector.flush()
            rules = RuleNote((parsed_rule("parameter sid in /stories/*"),))
            store.replace_notes(RULES, [Note("example.com", None, rules.to_bytes())])
