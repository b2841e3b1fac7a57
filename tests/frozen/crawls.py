"""Crawls of the example site: each action with the default and the classic rule; SQLite (twice) and Redis as well.

A file has the pages by URL, with the marks that the spider found, and the items, stats and log lines. The crawls that
only mark, with a store in memory, are written in full, one for each rule; of the others what differs from that one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from magazine.server import serving

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.frozen.masks import masked
from tests.store.server import RedisServer

RULES = ("similarity", "classic")
ACTIONS = ("mark", "drop_items", "drop_links", "drop_items,drop_links", "drop_page")
SETTINGS = {
    **IN_ORDER,
    # No page is asked for before all links of the last one wait: so pages come in one order.
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
    "HTTPERROR_ALLOW_ALL": True,
    "ROBOTSTXT_OBEY": True,
}
#: All that is off by default, and writes no file of the crawl's own kind.
OBSERVED = {
    "SIMHASH_RESULT_FIELD": "near_duplicate",
    "SIMHASH_EXACT_ACTION": "drop_page",
    "SIMHASH_URL_RULES": "skip",
    "HTTPCACHE_ENABLED": True,
    "HTTPCACHE_POLICY": "scrapy_simhash.RecrawlPolicy",
    "HTTPCACHE_STORAGE": "scrapy_simhash.PageStorage",
    "SIMHASH_RECRAWL": {"": "always"},
    "SIMHASH_REVISIT_ACTION": "drop_items",
    "SIMHASH_REPORT": "report.jsonl",
    "SIMHASH_CHANGES": "changes.jsonl",
}

#: What is said of a page, an item, a stat or a log line, by its name and how often the name had come before.
Told = dict[tuple[str, int], dict[str, str]]


def made() -> dict[str, str]:
    """Return the text of each file by its name."""
    with TemporaryDirectory() as place, RedisServer(Path(place), appendonly="no") as redis:
        plans: dict[str, dict[str, Any]] = {
            f"crawl-{rule}-{action.replace(',', '+')}": {"SIMHASH_RULE": rule, "SIMHASH_ACTION": action}
            for rule in RULES
            for action in ACTIONS
        }
        for rule in RULES:
            store = {"SIMHASH_RULE": rule, "SIMHASH_STORE": f"{place}/{rule}"}
            plans[f"crawl-{rule}-sqlite"] = store
            plans[f"crawl-{rule}-sqlite-again"] = store
            plans[f"crawl-{rule}-redis"] = {
                "SIMHASH_RULE": rule,
                "SIMHASH_STORE": f"{redis.url}?prefix={rule}",
            }
        observed = {
            name: f"{place}/{value}" if ".jsonl" in str(value) else value for name, value in OBSERVED.items()
        }
        observed |= {"SIMHASH_STORE": f"{place}/observed", "HTTPCACHE_DIR": f"{place}/cache"}
        plans["crawl-observed"] = plans["crawl-observed-again"] = observed
        with serving() as server:
            # The same for all: what a store knows is known by its URL.
            port = server.port
        found = {name: _told(_crawled(plan, port), place) for name, plan in plans.items()}
        texts = {
            name: masked(Path(place, f"{name}.jsonl").read_text("utf-8"), place)
            for name in ("report", "changes")
        }
    for name, told in found.items():
        base = "crawl-classic-mark" if "classic" in name else "crawl-similarity-mark"
        texts[name] = _written(told, {} if name == base else found[base])
    return texts


def _crawled(settings: Mapping[str, Any], port: int) -> Crawl:
    """Each crawl has a server of its own, whose pages have never been visited."""
    with serving(port) as server:
        (done,) = crawl(Plan("Magazine", {**SETTINGS, **settings}, {"urls": [f"{server.url}/"]}))
    return done


def _told(done: Crawl, place: str) -> Told:
    """Return what can be said of each page by its visit, and of the whole crawl."""
    told: Told = {}
    for page in done.pages:
        facts = {"http": page.status, "flags": page.flags, **page.marks}
        _add(
            told,
            masked(page.url, place),
            {name: masked(json.dumps(fact), place) for name, fact in facts.items()},
        )
    for item in done.items:
        mark = masked(json.dumps(item.get("near_duplicate")), place)
        _add(told, f"item {masked(item['url'], place)}", {"mark": mark})
    counts = ("item_scraped_count", "item_dropped_count")
    for name, value in done.stats.items():
        if name == "simhash/slow_pages":
            # That depends on the machine, as does the line about it.
            continue
        if name.startswith("simhash/") or name in counts:
            _add(told, f"stat {name}", {"is": str(value)})
    for level, source, line in done.records:
        if source.startswith("scrapy_simhash") and level != "DEBUG" and "slow_pages" not in line:
            _add(told, f"log {masked(line, place)}", {})
    _add(told, f"error {done.error}", {})
    return told


def _add(told: Told, name: str, facts: dict[str, str]) -> None:
    visit = sum(other == name for other, _ in told)
    told[name, visit] = facts


def _written(told: Told, base: Told) -> str:
    lines = []
    for (name, visit), facts in sorted(told.items()):
        before = base.get((name, visit))
        if before is None or facts != before:
            before = before or {}
            names = sorted(fact for fact in {*facts, *before} if facts.get(fact) != before.get(fact))
            changed = [f"{fact}={facts.get(fact, 'none')}" for fact in names]
            lines.append(" ".join([name, *([f"visit {visit}"] if visit else []), *changed]))
    lines += [
        f"not there: {name}{f' visit {visit}' * (visit > 0)}"
        for name, visit in sorted(base.keys() - told.keys())
    ]
    return "\n".join(lines) + "\n"
