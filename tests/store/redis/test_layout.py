"""The page about the layout is true: its bytes are read as it says."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.notes import PAGE, SITE, Note
from scrapy_simhash.page.fingerprint import subject_number
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis import store as sites
from tests.store.cases import FAR, content, own_part, posting
from tests.store.redis.stores import HEADER, admin, opened, waits
from tests.store.server import RedisServer

ROOT = Path(__file__).parents[3]
LAYOUT = (ROOT / "notes" / "redis-layout.rst").read_text("utf-8")


def rows(name: str) -> list[list[str]]:
    """Return the rows of a table of the page without its head."""
    table = LAYOUT.partition(f":name: {name}\n")[2].split("\n\n")[1]
    cells = re.findall(r"^    (\* -| {2}-) (.*(?:\n {8}.*)*)", table, re.M)
    found: list[list[str]] = []
    for bullet, cell in cells:
        if bullet == "* -":
            found.append([])
        found[-1].append(cell)
    return found[1:]


def read(name: str, record: bytes) -> list[Any]:
    """Return the fields of *record* by the table *name*; the last one is the rest."""
    table = rows(name)
    found: list[Any] = []
    for (begin, kind, *_), end in zip(table, [*[int(row[0]) for row in table[1:]], None], strict=True):
        field = record[int(begin) : end]
        if match := re.match(r"(u?)int(\d+)$", kind):
            size = int(match[2]) // 8
            assert end is None or len(field) == size
            found.append(int.from_bytes(field[:size], "big", signed=not match[1]))
            if end is None:
                found.append(field[size:])
        else:
            found.append(field)
    return found


@waits
async def test_the_records_are_as_the_page_says(shared: RedisServer, prefix: str) -> None:
    client = admin(shared.url)
    own = own_part(6)
    first = posting("a", replace(content(5), own=own), "x.example", page_hash=7, seen=9)
    async with opened(shared.url, prefix) as store:
        await store.claim(first)
        await store.claim(posting("b", content(4), "x.example", seen=10))
        await store.claim(posting("s", 3, is_short=True))
        await store.claim(posting("c", 1 << 40, "x", page_hash=8))
        await store.claim(posting("d", 1 << 40, "x", page_hash=8, seen=11))
        await store.claim(posting("a", replace(content(5), own=own), "x.example", page_hash=9, seen=20))
        await store.deliver({b"a": 9, b"c": 7})
        await store.claim(posting("e", content(FAR, text="e"), "x.example"))
        await store.claim(posting("e", content(0xF0F0, text="other"), "x.example"))
        (version,) = await store.replace_notes(SITE, [Note("a.example", 0, b"profile")])
        (answer,) = await store.replace_notes(PAGE, [Note(b"d", 0, b"about")])
        await store.touch([(b"a", 77), (b"unknown", 78)])
        await store.close("shutdown")
    key = {name: f"{prefix}:{name}" for name in layout.KEYS}
    kinds = {name.strip("`"): kind for name, kind, _ in rows("redis-keys")}
    assert {name: client.type(key[name]).decode() for name in key} == kinds
    assert [client.hget(key[name], "") for name in key] == [b""] * 6

    fields = client.hgetall(key["header"])
    fields.pop(b"")
    assert {name.decode() for name in fields} == {row[0].strip("`") for row in rows("redis-header")}
    counters = {name: int(fields[name.encode()]) for name in ("version", "next", "changes", "runs")}
    assert counters == {"version": layout.VERSION, "next": 7, "changes": 1, "runs": 1}
    assert f"Of this layout: {layout.VERSION}." in LAYOUT

    assert client.hgetall(key["texts"]) == {
        b"": b"",
        (9).to_bytes(8, "big") + b"tx.example": (0).to_bytes(8, "big") + (1).to_bytes(4, "big"),
        (3).to_bytes(8, "big") + b"s": (2).to_bytes(8, "big") + (1).to_bytes(4, "big"),
        (8).to_bytes(8, "big") + b"tx": (3).to_bytes(8, "big") + (2).to_bytes(4, "big"),
    }
    sketch = first.fingerprint.sketch
    row = read("redis-row", client.hget(key["pages"], "ka"))
    assert row[:6] == [1, 1 + 2 + 4, 0, 0, 0, 1]
    assert row[6:12] == [1, 9, 77, 77, 3, 1]
    assert row[13:] == [5, 9, 0, 9, len(sketch + own), b"x.example" + sketch + own + b"https://example.com/a"]
    copy = read("redis-row", client.hget(key["pages"], "kb"))
    assert copy[:7] == [0, 0, 1, 0, 1, 0, 0]
    assert copy[13] == 4
    short = read("redis-row", client.hget(key["pages"], "ks"))
    assert (short[0], short[13], short[14]) == (1 + 4, 3, 3)

    block = client.hget(key["log"], "0")
    named = [subject_number(content(0, text=text).sketch) for text in ("", "other")]
    packed = b"".join(number.to_bytes(8, "big") for number in (5, 6, named[0]))
    ending = packed + b"ka" + b"x.example" + b"kb"
    entry = read("redis-entry", block)
    assert entry[:2] == [0, 1 + 2 + 4]
    assert entry[2] == hashlib.sha1(bytes(0) + b"0" + b"ka" + packed).digest()[:4]
    assert entry[3:7] == [2, 9, 2, 0]
    assert entry[7].startswith(ending)
    short_entry = read("redis-entry", block[10 + len(ending) :])
    assert (short_entry[:2], short_entry[3:7]) == ([2, 0], [2, 0, 0, 0])
    change = read("redis-change", client.hget(key["log"], "change 0"))
    assert change[:2] == [b"-", 5]
    assert read("redis-entry", change[2])[:2] == [5, 1 + 4]
    assert bytes([5, 0]) + read("redis-entry", change[2])[2] + bytes(4) in block, "what is left of it"

    assert read("redis-note", client.hget(key["notes"], b"site a.example")) == [
        layout.packed_version(version or 0),
        1,
        b"profile",
    ]
    assert read("redis-note", client.hget(key["notes"], b"page d"))[1:] == [0, b"about"]
    assert answer
    assert client.hmget(key["notes"], "#1", "#oldest", "#latest", "#count") == [
        b"site a.example",
        *(b"1", b"1", b"1"),
    ]

    token, began, ended, reason = read("redis-run", client.hget(key["runs"], "1"))
    assert (len(token), ended >= began, reason) == (8, True, b"shutdown")


@waits
async def test_what_the_page_permits_is_enough(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    client = admin(server.url)
    # The second paragraph is about clusters.
    page = (ROOT / "docs" / "how-to" / "stores.rst").read_text("utf-8")
    permissions = page.partition("Permissions\n-----------\n\n")[2].partition("\n\n")[0]
    words = permissions.split("``")[1::2]
    commands = [f"+{word.lower()}" for word in words]
    assert "+info" in commands
    monkeypatch.setattr(sites, "MOST_NOTES", 1)
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
        for name in ("a.example", "b.example"):
            assert await store.replace_notes(SITE, [Note(name, 0, b"profile")])
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
async def test_what_does_not_fit_a_record_is_refused(
    shared: RedisServer, prefix: str, part: dict[str, Any], message: str
) -> None:
    async with opened(shared.url, prefix) as store:
        with pytest.raises(ValueError, match=message):
            await store.claim(posting("a", content(0))._replace(**part))
