"""scrapy-simhash rules, on the store of a crawl that has learned some."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash import Config
from scrapy_simhash.detector import header_for
from scrapy_simhash.notes import RULES, Note
from scrapy_simhash.observers.url_rules.evidence import Evidence
from scrapy_simhash.observers.url_rules.host import Page
from scrapy_simhash.observers.url_rules.kept import KeptRules, RuleKeeper
from scrapy_simhash.observers.url_rules.novelty import STOPPED_AFTER
from scrapy_simhash.observers.url_rules.rules import UrlRules
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.waiting import finished
from tests.cli.conftest import Cli

HEADS = "host         rule           pairs  different  clusters  loss at most  saved  since  in force"


def plain(any_variant: bool) -> int | None:
    return 0


def learn(rules: UrlRules, host: str, visits: int) -> None:
    for visit in range(visits):
        rules.learn([Page(f"https://{host}/story/{visit % 30}?sid={visit}", 1 + visit % 30, plain)])


@contextmanager
def learning(path: Path) -> Iterator[UrlRules]:
    """Yield rules that are kept in a store at *path*."""
    with closing(SqliteStore(path, header_for(Config()))) as kept:
        keeper = RuleKeeper(kept)
        yield UrlRules(keeper=keeper)
        finished(keeper.share())


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with the rules of two hosts, one of them not believed yet."""
    path = tmp_path / "pages.sqlite"
    with learning(path) as rules:
        learn(rules, "example.com", 300)
        # Which pairs are compared hangs on hashes: so few of them are written down.
        rules.of("https://other.example/").evidence["parameter sid"] = Evidence.from_list([6, 0, 6, 0, 0, 0])
    return str(path)


def test_groups_that_brought_nothing_new_are_listed_and_never_in_force(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "pages.sqlite"
    with learning(path) as rules:
        for number in range(STOPPED_AFTER + 1):
            url = f"https://example.com/day/{number}"
            rules.learn([Page(url, 7, plain, asked=url, parent="https://example.com/")], 1_700_000_000)
    _, line = cli("rules", str(path)).splitlines()
    assert line.split()[:6] == ["example.com", "group", "/day/{number}", str(STOPPED_AFTER), "0", "0"]
    assert line.endswith("no")
    assert json.loads(cli("rules", str(path), "--settings").partition("=")[2]) == []
    exported = tmp_path / "rules.json"
    exported.write_text(cli("rules", str(path), "--json"))
    # To each crawl its own.
    empty = str(tmp_path / "empty.sqlite")
    with closing(SqliteStore(Path(empty), header_for(Config()))):
        pass
    cli("rules", empty, "--import", str(exported))
    assert len(cli("rules", empty).splitlines()) == 1


def test_rules_are_listed_with_their_evidence(store: str, cli: Cli) -> None:
    heads, first, *rest = cli("rules", store).splitlines()
    assert heads.split() == HEADS.split()
    assert first.startswith("example.com  parameter sid")
    assert first.endswith("stage 3")
    # What is far from proven is listed when it is asked for.
    assert rest == []
    assert any(
        line.startswith("other.example") and line.endswith("no")
        for line in cli("rules", store, "--all").splitlines()
    )
    assert "other.example" not in cli("rules", store, "www.EXAMPLE.com")


def test_pairs_of_urls_that_speak_against_a_rule_are_named(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "pages.sqlite"
    with learning(path) as rules:
        learn(rules, "example.com", 300)
        for value, content in (("x", 501), ("y", 502)):
            rules.learn([Page(f"https://example.com/other?sid={value}", content, plain)])
    *_, line = cli("rules", str(path)).splitlines()
    pair = ["https://example.com/other?sid=x", "https://example.com/other?sid=y"]
    assert line == f"differs, against parameter sid: {' '.join(pair)}"
    (host,) = cli.json("rules", str(path))["hosts"]
    assert host["rules"][0]["against"] == [pair]
    # What crawls add later is joined with it.
    with closing(SqliteStore(path, header_for(Config()))) as kept:
        found = KeptRules(UrlRules(keeper=RuleKeeper(kept)).of("https://example.com"))
        assert found.host.against == {"parameter sid": (tuple(pair),)}


def test_rules_are_written_as_settings_and_for_duplicate_url_discarder(store: str, cli: Cli) -> None:
    assert cli("rules", store, "--settings") == (
        'SIMHASH_URL_RULES_PIN = [\n    "example.com: parameter sid"\n]\n'
    )
    assert json.loads(cli("rules", store, "--discarder")) == [
        {
            "order": 100,
            "processor": "queryRemoval",
            "urlPattern": {"include": ["example.com"]},
            "args": ["sid"],
        }
    ]


def test_exported_rules_are_the_same_in_another_store_however_often_they_are_imported(
    store: str, tmp_path: Path, cli: Cli
) -> None:
    exported = cli("rules", store, "example.com", "--json")
    file, other = tmp_path / "rules.json", tmp_path / "other.sqlite"
    file.write_text(exported)
    SqliteStore(other, header_for(Config())).close()
    for _ in range(2):
        cli("rules", str(other), "--import", str(file))
        found = cli.json("rules", str(other))
        (host,), (rule, *_) = found["hosts"], json.loads(exported)["hosts"][0]["rules"]
        same = host["rules"][0]
        assert {name: same[name] for name in ("rule", "stage", "pairs")} == {
            name: rule[name] for name in ("rule", "stage", "pairs")
        }


@pytest.mark.parametrize("way", ["export and import", "merge"])
def test_rules_come_along_from_store_to_store(way: str, store: str, tmp_path: Path, cli: Cli) -> None:
    with closing(SqliteStore(store, header_for(Config()))) as kept:
        host = UrlRules(keeper=RuleKeeper(kept)).of("https://example.com/")
        host.trials.put("parameter sid", "/other/*?sid", Evidence.from_list([0, 1, 0, 0, 0, 0]))
        kept.replace_notes(RULES, [Note("example.com", None, KeptRules(host).to_bytes())])
    export, other = tmp_path / "export.jsonl", tmp_path / "other.sqlite"
    # The same once more adds nothing.
    for _ in range(2):
        if way == "merge":
            cli("merge", other, store)
        else:
            cli("export", store, "--output", export)
            cli("import", other, "--input", export)
        for place in ("example.com", "other.example"):
            assert cli("rules", str(other), place, "--json") == cli("rules", store, place, "--json")
    with closing(SqliteStore(other, header_for(Config()))) as kept:
        again = UrlRules(keeper=RuleKeeper(kept)).of("https://example.com/")
    assert again.in_force == ["parameter sid"]
    assert list(again.trials.wrong_groups()["parameter sid"]) == ["/other/*?sid"]


@pytest.mark.parametrize("rules", ['{"sid": [1, 0, 1, 0, 0, 0]}', '{"parameter sid": [1]}', "[]", "7"])
def test_wrong_rules_in_an_export_are_refused(rules: str, store: str, tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "export.jsonl"
    cli("export", store, "--output", file)
    file.write_text(file.read_text("utf-8") + f'{{"site": "example.com", "url_rules": {rules}}}\n', "utf-8")
    status, complaint = cli.fails("import", tmp_path / "other.sqlite", "--input", file)
    assert (status, "has wrong URL rules" in complaint) == (2, True)


@pytest.mark.parametrize(
    "text", ["{}", "no JSON", '{"kind": "scrapy-simhash url rules", "version": 2}', "[]"]
)
def test_what_is_no_export_is_refused(text: str, store: str, tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(text)
    assert "has no URL rules" in cli.fails("rules", store, "--import", str(file))[1]


def test_what_is_not_there_or_damaged_is_a_failure(store: str, cli: Cli) -> None:
    assert "has no URL rules of nobody.example" in cli.fails("rules", store, "nobody.example")[1]
    with closing(SqliteStore(store, header_for(Config()))) as kept:
        kept.replace_notes(RULES, [Note("example.com", None, b"damaged")])
    assert "are damaged" in cli.fails("rules", store)[1]


def test_profiles_and_rules_do_not_mix(store: str, cli: Cli) -> None:
    assert cli("profile", store).splitlines()[1:] == []
    assert cli("info", store, "--check").splitlines()[-1].split() == ["damaged", "records", "0"]


def test_crawlers_that_share_a_store_share_what_they_learn(redis: Any, cli: Cli) -> None:
    async def crawl() -> list[int]:
        pairs = []
        stores = [RedisStore(redis.url, "rules", header_for(Config())) for _ in range(2)]
        keepers = [RuleKeeper(store) for store in stores]
        crawls = [UrlRules(keeper=keeper) for keeper in keepers]
        for _ in range(2):
            for rules, keeper in zip(crawls, keepers, strict=True):
                learn(rules, "example.com", 90)
                await keeper.share()
                pairs.append(rules.of("https://example.com/").evidence["parameter sid"].same)
        for store in stores:
            await store.close()
        return pairs

    pairs = asyncio.run(crawl())
    # Each has what the other had, once.
    assert pairs == sorted(pairs)
    assert pairs[1] == 2 * pairs[0]
    assert "parameter sid" in cli("rules", f"{redis.url}?prefix=rules")
