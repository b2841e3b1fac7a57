"""The store of a crawl that forgets: everything in this process."""

from __future__ import annotations

import time
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from struct import Struct
from typing import Any

from scrapy_simhash.page.fingerprint import SKETCH_BYTES, Fingerprint
from scrapy_simhash.store.base import Page, Posting, Run, Visit
from scrapy_simhash.store.candidates import BLOCKS
from scrapy_simhash.store.columns import Keys, OwnParts, Urls
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.local import Entry, Kin, LocalStore


class _Rows:
    """Rows of numbers side by side, without the weight of Python's objects."""

    __slots__ = ("_data", "_pack", "_pack_into", "_size", "_unpack", "count")

    def __init__(self, form: str) -> None:
        row = Struct(form)
        self._pack, self._pack_into, self._unpack, self._size = (
            row.pack,
            row.pack_into,
            row.unpack_from,
            row.size,
        )
        self._data = bytearray()
        #: How many rows there are.
        self.count = 0

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        return self._unpack(self._data, number * self._size)

    def __setitem__(self, number: int, row: tuple[Any, ...]) -> None:
        """Put *row* in the place of another."""
        self._pack_into(self._data, number * self._size, *row)

    def append(self, *row: Any) -> int:
        """Add a *row* and return its number."""
        number = self.count
        self._data += self._pack(*row)
        self.count = number + 1
        return number


#: By page: value, hash of the text and whether it has one, time, content, sketch, rank. The last three have 32 bits
#: each: four billion pages would take a terabyte.
_PAGE = "<QQ?qIII"
#: By content: page it came from, sketch, head, scope, whether only an equal value is a match.
_CONTENT = "<IIII?"
#: What a content came with: value, hash of the text and whether it has one, time.
_HEAD = "<QQ?q"
#: The row of heads that holds none: the content came with what is in the row of its page, whose content it still is.
_AS_PAGE = 0
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
        self._keys = Keys()
        self._pages, self._contents, self._heads = _Rows(_PAGE), _Rows(_CONTENT), _Rows(_HEAD)
        self._heads.append(0, 0, False, 0)
        #: By page: how many have joined its cluster.
        self._joined = array("I")
        self._urls = Urls()
        self._sketches = _Rows(f"{SKETCH_BYTES}s")
        for _ in (_AS_CONTENT, _NO_SKETCH):
            self._sketches.append(b"")
        #: As the sketches: what of a page is not its site's.
        self._own_parts = OwnParts()
        self._own_parts[_AS_CONTENT] = self._own_parts[_NO_SKETCH] = b""
        self._scopes: list[str] = []
        self._scope_numbers: dict[str, int] = {}
        self._short_contents: dict[tuple[str, int], int] = {}
        self._removed: set[int] = set()

    def __str__(self) -> str:
        """Return where it is."""
        return "memory"

    def __len__(self) -> int:
        """Return how many pages are known. O(1)."""
        return len(self._keys)

    def unsettle(self, keys: Collection[bytes]) -> None:
        """Do nothing: nothing in here is ever settled."""

    def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`. O(1)."""
        number = self._keys.find(key)
        return None if number is None else self._page(key, number)

    def __iter__(self) -> Iterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`. O(n)."""
        contents = defaultdict(list)
        for content in range(self._contents.count):
            contents[self._contents[content][0]].append(content)
        for key, number in self._keys:
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

    def _visit(self, key: bytes) -> tuple[int, Visit, int] | None:
        number = self._keys.find(key)
        if number is None:
            return None
        value, text_hash, has_hash, seen, content, _, rank = self._pages[number]
        is_short = self._contents[content][4]
        return number, Visit(value, text_hash if has_hash else None, seen, content, False, is_short), rank

    def _content(self, number: int) -> tuple[int, Fingerprint, int | None]:
        page, slot, head, _, _ = self._contents[number]
        value, text_hash, has_hash, _ = self._head(page, head)
        fingerprint = Fingerprint(value, sketch=self._sketch(slot), own=self._own_parts[slot])
        return page, fingerprint, text_hash if has_hash else None

    def _origin(self, number: int) -> tuple[int, int | None]:
        page, _, head, _, _ = self._contents[number]
        _, text_hash, has_hash, _ = self._head(page, head)
        return page, text_hash if has_hash else None

    def _short(self, scope: str, value: int) -> int | None:
        return self._short_contents.get((scope, value))

    def _cluster(self, kin: Kin) -> tuple[str, bytes, int]:
        number = kin.cluster
        return self._urls[number], self._keys[number], self._joined[number]

    def _write(self, entry: Entry) -> None:
        number, posting, former, content, is_new_content, has_own_sketch, _, rank, joins, _ = entry
        key, url, scope_name, fingerprint, is_short, text_hash, seen, _ = posting
        row = (fingerprint.value, text_hash or 0, text_hash is not None, seen)
        if former is not None:
            self._keep_head(number, row, content)
        if is_new_content:
            scope = self._scope_numbers.setdefault(scope_name, len(self._scopes))
            if scope == len(self._scopes):
                self._scopes.append(scope_name)
            self._contents.append(number, self._keep(fingerprint), _AS_PAGE, scope, is_short)
            if is_short:
                self._short_contents[scope_name, fingerprint.value] = content
            self._content_end += 1
        slot = _AS_CONTENT
        if has_own_sketch:
            # A page that changes again and again takes no more room each time.
            slot = self._keep(fingerprint, _AS_CONTENT if former is None else self._pages[number][5])
        if joins is not None:
            self._joined[joins] = rank
        if former is None:
            self._pages.append(*row, content, slot, rank)
            self._keys.add(key)
            self._joined.append(0)
            self._urls.append(url)
            self._page_end += 1
        else:
            self._pages[number] = (*row, content, slot, rank)
            self._urls[number] = url

    def _erase(self, page: Page) -> list[tuple[int, Posting]]:
        key, number = page.posting.key, page.number
        self._keys.remove(key)
        self._removed.add(number)
        contents = [
            content for content in range(self._contents.count) if self._contents[content][0] == number
        ]
        postings = [(content, self._first(content, key, page.posting.url)) for content in contents]
        for _, posting in postings:
            if posting.is_short:
                self._short_contents.pop((posting.scope, posting.fingerprint.value), None)
        return postings

    def _page(self, key: bytes, number: int) -> Page:
        *row, content, slot, _ = self._pages[number]
        cluster, content_slot, _, scope, is_short = self._contents[content]
        slot = content_slot if slot == _AS_CONTENT else slot
        posting = self._posting(key, self._urls[number], row, slot, scope, is_short)
        is_original = cluster == number or cluster in self._removed
        return Page(number, posting, content, cluster, None if is_original else self._urls[cluster])

    def _first(self, content: int, key: bytes, url: str) -> Posting:
        """Return the posting that a content came with."""
        page, slot, head, scope, is_short = self._contents[content]
        return self._posting(key, url, self._head(page, head), slot, scope, is_short)

    def _posting(
        self, key: bytes, url: str, row: Sequence[Any], slot: int, scope: int, is_short: bool
    ) -> Posting:
        value, text_hash, has_hash, seen = row
        fingerprint = Fingerprint(value, sketch=self._sketch(slot), own=self._own_parts[slot])
        text_hash = text_hash if has_hash else None
        return Posting(
            key, url, self._scopes[scope], fingerprint, is_short, text_hash, seen, is_delivered=False
        )

    def _head(self, page: int, head: int) -> tuple[Any, ...]:
        """Return what a content of *page* came with, whose row of heads is *head*."""
        return self._pages[page][:4] if head == _AS_PAGE else self._heads[head]

    def _keep_head(self, page: int, row: tuple[Any, ...], content: int) -> None:
        """Keep what the content of *page* came with, if that is about to be replaced by *row* and *content*."""
        *former_row, former, _, _ = self._pages[page]
        origin, slot, head, scope, is_short = self._contents[former]
        if origin == page and head == _AS_PAGE and (tuple(former_row), former) != (row, content):
            head = self._heads.append(*former_row)
            self._contents[former] = (origin, slot, head, scope, is_short)

    def _keep(self, fingerprint: Fingerprint, slot: int = _AS_CONTENT) -> int:
        """Keep sketch and own part, in the place of those in *slot* if there are any, and return their slot."""
        if not fingerprint.sketch:
            return _NO_SKETCH
        if slot > _NO_SKETCH:
            self._sketches[slot] = (fingerprint.sketch,)
        else:
            slot = self._sketches.append(fingerprint.sketch)
        self._own_parts[slot] = fingerprint.own
        return slot

    def _sketch(self, slot: int) -> bytes:
        sketch: bytes = self._sketches[slot][0]
        return sketch if slot > _NO_SKETCH else b""
