"""The documented permissions are sufficient, and values that do not fit into a record are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.notes import PAGE, SITE, Note
from tests.docs.reader import DOCS
from tests.store.cases import content, posting
from tests.store.cluster import RedisCluster, cluster_without_replicas
from tests.store.redis.stores import HEADER, admin, opened, waits
from tests.store.server import RedisServer


@pytest.mark.parametrize("is_cluster", [False, True], ids=["server", "cluster"])
@waits
async def test_the_documented_permissions_are_sufficient(is_cluster: bool, tmp_path: Path) -> None:
    page = (DOCS / "how-to" / "stores.rst").read_text("utf-8")
    alone, _, of_cluster = page.partition("Permissions\n-----------\n\n")[2].partition("\n\n")
    words = (alone + of_cluster if is_cluster else alone).split("``")[1::2]
    commands = [f"+{word.lower()}" for word in words]
    assert ("+evalsha" in commands, "+cluster" in commands) == (True, is_cluster)
    with cluster_without_replicas(tmp_path) if is_cluster else RedisServer(tmp_path) as servers:
        node = servers.nodes[0] if isinstance(servers, RedisCluster) else servers
        keys = ["{p:*" if is_cluster else "p:*"]
        admin(node.url).acl_setuser("crawler", enabled=True, passwords=["+x"], keys=keys, commands=commands)
        url, header = servers.url.replace("//", "//crawler:x@"), replace(HEADER, scope="domain")
        for _ in range(2):
            async with opened(url, "p", header, keep=100, reset=True) as store:
                store.check()
                await store.claim(posting("a", content(0), "a.example", page_hash=1))
                await store.claim(posting("b", content(0, edited=10), "a.example"))
                await store.claim(posting("c", 1, "c.example", is_short=True))
                await store.deliver({b"c": 1})
                assert await store.remove(b"c")
                assert await store.note(SITE, "a.example") == (0, None)
                assert await store.replace_notes(SITE, [Note("b.example", 0, b"profile".ljust(17))])
                await store.replace_notes(PAGE, [Note(b"a", None, b"about")])
                await store.touch([(b"a", 1)])
                await store.close()
        async with opened(url, "p", None, read_only=True) as reader:
            assert await reader.get(b"a")
            assert len([page async for page in reader]) == 2
            assert len([site async for site in reader.notes(SITE)]) == len(await reader.runs()) == 1


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"key": bytes(300)}, "a key must have at most 254 bytes"),
        ({"scope": "é" * 200}, "a scope must"),
    ],
)
@waits
async def test_values_that_do_not_fit_into_a_record_are_refused(
    shared: RedisServer, prefix: str, part: dict[str, Any], message: str
) -> None:
    async with opened(shared.url, prefix) as store:
        with pytest.raises(ValueError, match=message):
            await store.claim(posting("a", content(0))._replace(**part))
