"""The store of a crawl that forgets: everything in this process."""

from __future__ import annotations

import time
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator
from struct import Struct
from typing import Any

from scrapy_simhash.fingerprint import SKETCH_BYTES, Fingerprint
from scrapy_simhash.store.base import Page, Posting, Run, Visit
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.indexes import BLOCKS
from scrapy_simhash.store.local import Entry, LocalStore
from scrapy_simhash.store.parts import Part
from scrapy_simhash.store.urls import Urls


class _Rows:
    """Rows of numbers side by side, without the weight of Python's objects."""

    def __init__(self, form: str) -> None:
        self._row = Struct(form)
        self._data = bytearray()

    def __len__(self) -> int:
        return len(self._data) // self._row.size

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        return self._row.unpack_from(self._data, number * self._row.size)

    def __setitem__(self, number: int, row: tuple[Any, ...]) -> None:
        """Put *row* in the place of another, or after the last."""
        if number == len(self):
            self._data += self._row.pack(*row)
        else:
            self._row.pack_into(self._data, number * self._row.size, *row)


#: By page: value, hash of the text and whether it has one, time, content, sketch, rank. The last three have 32 bits
#: each: four billion pages would take two terabytes.
_PAGE = "<QQ?qIII"
#: By content: value, hash of the text and whether it has one, time, page it came from, sketch, scope, whether only an
#: equal value is a match.
_CONTENT = "<QQ?qQQI?"
#: Two rows that hold no sketch. Of a page: it is as its content is.
_AS_CONTENT = 0
_NO_SKETCH = 1


class MemoryStore(LocalStore):
    """A :class:`~scrapy_simhash.store.base.Store` in memory; gone with the process.

    A claim costs one look-up, one insert and a few microseconds. Nothing in here is ever settled: what is not
    kept cannot be relied on by a later crawl.
    """

    def __init__(self, header: Header | None = None, blocks: int = BLOCKS) -> None:
        """Make an empty store for fingerprints of *header*, the default one if None."""
        super().__init__(header or Header(), blocks)
        self._run = Run(1, int(time.time()), None, None)
        self._numbers: dict[bytes, int] = {}
        #: By page; the same objects.
        self._keys: list[bytes] = []
        self._pages, self._contents = _Rows(_PAGE), _Rows(_CONTENT)
        #: By page: how many have joined its cluster.
        self._joined = array("I")
        self._urls = Urls()
        self._sketches = _Rows(f"{SKETCH_BYTES}s")
        self._sketches[_AS_CONTENT] = self._sketches[_NO_SKETCH] = (b"",)
        self._scopes: list[str] = []
        self._scope_numbers: dict[str, int] = {}
        self._exact_contents: dict[tuple[str, int], int] = {}
        self._removed: set[int] = set()
        #: By page, of those that have any.
        self._parts: dict[int, tuple[Part, ...]] = {}

    def __str__(self) -> str:
        """Return where it is."""
        return "memory"

    def __len__(self) -> int:
        """Return how many pages are known. O(1)."""
        return len(self._numbers)

    def unsettle(self, keys: Collection[bytes]) -> None:
        """Do nothing: nothing in here is ever settled."""

    def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`. O(1)."""
        number = self._numbers.get(key)
        return None if number is None else self._page(key, number)

    def __iter__(self) -> Iterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`. O(n)."""
        contents = defaultdict(list)
        for content in range(len(self._contents)):
            contents[self._contents[content][4]].append(content)
        for key, number in self._numbers.items():
            page = self._page(key, number)
            for content in contents.get(number, ()):
                former = self._first(content, key, page.posting.url)
                # Fingerprints are equal when their values are; what is kept of them may differ all the same.
                kept, latest = former.fingerprint.to_bytes(), page.posting.fingerprint.to_bytes()
                if content != page.content or kept != latest:
                    yield former
            yield page.posting

    def runs(self) -> list[Run]:
        """Return the one run there is."""
        return [self._run]

    def close(self, reason: str = "finished") -> None:
        """End the run; all else stays, as long as the store does."""
        if self._run.ended is None:
            self._run = self._run._replace(ended=int(time.time()), reason=reason)

    def abandon(self) -> None:
        """Leave the run without an end; all stays, as long as the store does."""

    # --- The ledger.

    def _next_page(self) -> int:
        return len(self._pages)

    def _next_content(self) -> int:
        return len(self._contents)

    def _visit(self, key: bytes) -> tuple[int, Visit, int] | None:
        number = self._numbers.get(key)
        if number is None:
            return None
        value, text_hash, has_hash, seen, content, _, rank = self._pages[number]
        is_exact = self._contents[content][7]
        return number, Visit(value, text_hash if has_hash else None, seen, content, False, is_exact), rank

    def _content(self, number: int) -> tuple[int, bytes, int | None]:
        _, text_hash, has_hash, _, page, slot, _, _ = self._contents[number]
        return page, self._sketch(slot), text_hash if has_hash else None

    def _is_as(self, content: int, fingerprint: Fingerprint) -> bool:
        row = self._contents[content]
        return row[0] == fingerprint.value and self._sketch(row[5]) == fingerprint.sketch

    def _exact(self, scope: str, value: int) -> int | None:
        return self._exact_contents.get((scope, value))

    def _cluster(self, number: int) -> tuple[str, bytes, int]:
        return self._urls[number], self._keys[number], self._joined[number]

    def _write(self, entry: Entry) -> None:
        number, posting, content = entry.number, entry.posting, entry.content
        fingerprint = posting.fingerprint
        head = (fingerprint.value, posting.text_hash or 0, posting.text_hash is not None, posting.seen)
        if entry.is_new_content:
            scope = self._scope_numbers.setdefault(posting.scope, len(self._scopes))
            if scope == len(self._scopes):
                self._scopes.append(posting.scope)
            sketch = self._keep(fingerprint.sketch)
            self._contents[content] = (*head, number, sketch, scope, posting.is_exact)
            if posting.is_exact:
                self._exact_contents[posting.scope, fingerprint.value] = content
        slot = _AS_CONTENT
        if entry.has_own_sketch:
            # A page that changes again and again takes no more room each time.
            former = _AS_CONTENT if entry.former is None else self._pages[number][5]
            slot = self._keep(fingerprint.sketch, former)
        self._pages[number] = (*head, content, slot, entry.rank)
        if posting.parts:
            self._parts[number] = posting.parts
        elif self._parts:
            self._parts.pop(number, None)
        if entry.joins is not None:
            self._joined[entry.joins] = entry.rank
        if entry.former is None:
            self._numbers[posting.key] = number
            self._keys.append(posting.key)
            self._joined.append(0)
            self._urls.append(posting.url)
        else:
            self._urls[number] = posting.url

    def _erase(self, page: Page) -> list[tuple[int, Posting]]:
        key, number = page.posting.key, page.number
        del self._numbers[key]
        self._keys[number] = b""
        self._removed.add(number)
        self._parts.pop(number, None)
        contents = [content for content in range(len(self._contents)) if self._contents[content][4] == number]
        postings = [(content, self._first(content, key, page.posting.url)) for content in contents]
        for _, posting in postings:
            if posting.is_exact:
                self._exact_contents.pop((posting.scope, posting.fingerprint.value), None)
        return postings

    def _page(self, key: bytes, number: int) -> Page:
        value, text_hash, has_hash, seen, content, slot, _ = self._pages[number]
        _, _, _, _, cluster, content_slot, scope, is_exact = self._contents[content]
        sketch = self._sketch(content_slot if slot == _AS_CONTENT else slot)
        posting = Posting(
            key,
            self._urls[number],
            self._scopes[scope],
            Fingerprint(value, sketch=sketch),
            is_exact,
            text_hash if has_hash else None,
            seen,
            is_handed_on=False,
            parts=self._parts.get(number, ()),
        )
        is_original = cluster == number or cluster in self._removed
        return Page(number, posting, content, cluster, None if is_original else self._urls[cluster])

    def _first(self, content: int, key: bytes, url: str) -> Posting:
        """Return the posting that a content came with."""
        value, text_hash, has_hash, seen, _, slot, scope, is_exact = self._contents[content]
        return Posting(
            key,
            url,
            self._scopes[scope],
            Fingerprint(value, sketch=self._sketch(slot)),
            is_exact,
            text_hash if has_hash else None,
            seen,
            is_handed_on=False,
        )

    def _keep(self, sketch: bytes, slot: int = _AS_CONTENT) -> int:
        """Keep *sketch*, in the place of the one in *slot* if there is one, and return its slot."""
        if not sketch:
            return _NO_SKETCH
        slot = slot if slot > _NO_SKETCH else len(self._sketches)
        self._sketches[slot] = (sketch,)
        return slot

    def _sketch(self, slot: int) -> bytes:
        sketch: bytes = self._sketches[slot][0]
        return sketch if slot > _NO_SKETCH else b""
