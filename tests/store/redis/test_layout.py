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


def ranks(rank: int, joined: int) -> bytes:
    return rank.to_bytes(4, "big") + joined.to_bytes(4, "big")


def stamp(value: int, seen: int, page_hash: int) -> bytes:
    return value.to_bytes(8, "big") + seen.to_bytes(8, "big") + page_hash.to_bytes(8, "big")


@waits
async def test_the_records_are_as_the_page_says(shared: RedisServer, prefix: str) -> None:
    client = admin(shared.url)
    own = own_part(6)
    first = posting("a", replace(content(5), own=own), "x.example", page_hash=7, seen=9)
    async with opened(shared.url, prefix) as store:
        await store.claim(first)
        await store.claim(posting("b", content(4), "x.example"))
        await store.claim(posting("a", content(FAR, text="t"), "x.example"))
        await store.claim(posting("c", 3, is_short=True))
        await store.remove(b"c")
        await store.claim(posting("d", 3, is_short=True))
        for name in "ef":
            await store.claim(posting(name, 1 << 40, "x", page_hash=8))
        await store.remove(b"b")
        await store.remove(b"a")
        (version,) = await store.replace_notes(SITE, [Note("a.example", 0, b"profile")])
        (answer,) = await store.replace_notes(PAGE, [Note(b"d", 0, b"about")])
        await store.touch([(b"d", 77), (b"a", 78)])
        await store.close("shutdown")
    key = {name: f"{prefix}:{name}" for name in layout.KEYS}
    kinds = {name.strip("`"): kind for name, kind, _ in rows("redis-keys")}
    assert {name: client.type(key[name]).decode() for name in key} == kinds

    fields = client.hgetall(key["header"])
    assert {name.decode() for name in fields} == {row[0].strip("`") for row in rows("redis-header")}
    counters = {name: int(fields[name.encode()]) for name in ("version", "pages", "contents", "runs")}
    assert counters == {"version": layout.VERSION, "pages": 7, "contents": 5, "runs": 1}
    assert f"Of this layout: {layout.VERSION}." in LAYOUT

    assert client.hgetall(key["short"]) == {(3).to_bytes(8, "big"): b"3"}
    assert client.hgetall(key["texts"]) == {
        stamp(0, 0, 8)[16:] + b"x": (4).to_bytes(8, "big") + (2).to_bytes(4, "big")
    }
    page = read("redis-page", client.hget(key["pages"], b"d"))
    assert page == [4, 3, 4, 1, 0, 1, stamp(3, 77, 3), b"https://example.com/d"]
    assert client.hgetall(key["answers"]) == {b"d": layout.packed_version(answer or 0) + b"about"}

    record = client.hget(key["contents"], "0")
    sketch = first.fingerprint.sketch
    assert read("redis-content", record) == [
        *(0, 0, 1 + 2 + 8 + 128, stamp(5, 9, 7), 1, 9),
        b"a" + b"x.example" + sketch + own,
    ]
    assert read("redis-content", client.hget(key["contents"], "1"))[:3] == [2, 0, 2 + 8]
    assert read("redis-content", client.hget(key["contents"], "3"))[:3] == [4, 0, 5]

    events = [read("redis-event", event) for event in client.lrange(key["events"], 0, -1)]
    named, other = (subject_number(content(0, text=text).sketch) for text in ("", "t"))
    assert [event[:6] for event in events] == [
        [b"+", 0, 1 + 2 + 4, 5, 6, named],
        [b"-", 0, 1 + 2 + 4, 5, 6, named],
        [b"+", 1, 1 + 4, FAR, 0, other],
        [b"+", 4, 1, 1 << 40, 0, 0],
        [b"-", 1, 1 + 4, FAR, 0, other],
    ]
    whole = client.lindex(key["events"], 0)
    assert whole[-4:] == hashlib.sha1(fields[b"id"] + whole[:-4] + b"a" + sketch + own).digest()[:4]
    assert whole[34:-4] == b"x.example"

    assert read("redis-note", client.hget(key["notes"], b"site a.example")) == [
        layout.packed_version(version or 0),
        b"profile",
    ]
    assert [name for name, _ in client.zscan_iter(key["latest"])] == [b"site a.example"]

    token, began, ended, reason = read("redis-run", client.hget(key["runs"], "1"))
    assert (len(token), ended >= began, reason) == (8, True, b"shutdown")


@waits
async def test_a_sketch_and_an_own_part_that_differ_are_where_the_page_says(
    shared: RedisServer, prefix: str
) -> None:
    async with opened(shared.url, prefix) as store:
        await store.claim(posting("a", content(5)))
        await store.claim(posting("b", content(4, edited=20)))
        await store.claim(posting("c", content(5)))
        far = content(FAR, text="t")
        await store.claim(posting("d", replace(far, own=own_part(1))))
        # A small change of an original: it is compared by what its content says.
        await store.claim(posting("d", replace(far, value=FAR + 1, own=own_part(1, 10))))
    client = admin(shared.url)
    flags, rest = {}, {}
    for key in "abcd":
        *_, flags[key], _, rest[key] = read("redis-page", client.hget(f"{prefix}:pages", key))
    assert flags == {"a": 32, "b": 2 + 16 + 32, "c": 32, "d": 64}
    assert rest["a"] == ranks(0, 2) + b"https://example.com/a"
    assert rest["b"] == ranks(1, 0) + content(4, edited=20).sketch + b"https://example.com/b"
    assert rest["c"] == ranks(2, 0) + b"https://example.com/c"
    assert rest["d"] == b"https://example.com/d"


@waits
async def test_what_the_page_permits_is_enough(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    client = admin(server.url)
    # The second paragraph is about clusters.
    page = (ROOT / "docs" / "how-to" / "redis.rst").read_text("utf-8")
    permissions = page.partition("Permissions\n-----------\n\n")[2].partition("\n\n")[0]
    words = permissions.split("``")[1::2]
    commands = [f"+{word.lower()}" for word in words]
    assert "+info" in commands
    monkeypatch.setattr(sites, "MOST_NOTES", 1)
    client.acl_setuser("crawler", enabled=True, passwords=["+x"], keys=["p:*"], commands=commands)
    url = server.url.replace("//", "//crawler:x@")
    async with opened(url, "p", HEADER, expire=100, reset=True) as store:
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
        ({"key": bytes(70_000)}, "a key must have at most 65535 bytes"),
        ({"scope": "é" * 40_000}, "a scope must"),
    ],
)
@waits
async def test_what_does_not_fit_a_record_is_refused(
    shared: RedisServer, prefix: str, part: dict[str, Any], message: str
) -> None:
    async with opened(shared.url, prefix) as store:
        with pytest.raises(ValueError, match=message):
            await store.claim(posting("a", content(0))._replace(**part))
