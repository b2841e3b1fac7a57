"""The documented permissions are sufficient, and values that do not fit into a record are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.notes import PAGE, SITE, Note
from tests.store.cases import content, posting
from tests.store.redis.stores import HEADER, admin, opened, waits
from tests.store.server import RedisServer

ROOT = Path(__file__).parents[3]


@waits
async def test_the_documented_permissions_are_sufficient(server: RedisServer) -> None:
    client = admin(server.url)
    # The second paragraph is about clusters.
    page = (ROOT / "docs" / "how-to" / "stores.rst").read_text("utf-8")
    permissions = page.partition("Permissions\n-----------\n\n")[2].partition("\n\n")[0]
    words = permissions.split("``")[1::2]
    commands = [f"+{word.lower()}" for word in words]
    assert "+evalsha" in commands
    client.acl_setuser("crawler", enabled=True, passwords=["+x"], keys=["p:*"], commands=commands)
    url = server.url.replace("//", "//crawler:x@")
    async with opened(url, "p", HEADER, keep=100, reset=True) as store:
        store.check()
        await store.claim(posting("a", content(0)))
        await store.claim(posting("b", content(0, edited=10)))
        await store.claim(posting("c", 1, is_short=True))
        assert await store.get(b"c")
        await store.deliver({b"c": 1})
        assert await store.remove(b"c")
        assert await store.note(SITE, "a.example") == (0, None)
        assert await store.replace_notes(SITE, [Note("b.example", 0, b"profile")])
        assert [note async for note in store.notes(SITE)] == [("b.example", b"profile")]
        assert await store.replace_notes(PAGE, [Note(b"a", None, b"about")])
        await store.touch([(b"a", 1)])
        assert len([page async for page in store]) == 2
        await store.close()
    async with opened(url, "p", HEADER) as store:
        await store.claim(posting("b", content(0, edited=10)))


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
