"""The store of a crawl that forgets: everything in this process."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy_simhash import kernel
from scrapy_simhash.judge.measured import BASES
from scrapy_simhash.page.fingerprint import subject_number
from scrapy_simhash.store import candidates
from scrapy_simhash.store.base import Claim, Posting, Run
from scrapy_simhash.store.candidates import BLOCKS, FIRST_COPIES
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.local import (
    EQUAL_TEXT,
    ContentRow,
    ContentsOf,
    Entry,
    Ledger,
    LocalStore,
    PageRow,
    Text,
)
from scrapy_simhash.verdict import NearMiss

if TYPE_CHECKING:
    from scrapy_simhash.kernel._hamming import Rows as NativeRows


class Rows:
    """See :class:`~scrapy_simhash.store.local.Ledger`. No damage is possible.

    The native twin is ``Rows`` in ``scrapy_simhash/kernel/_hamming.pyx``, which takes less than half of the memory.
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._pages: list[PageRow | None] = []
        self._contents: list[ContentRow] = []
        #: By scope and hash of a text: the content of the pages that have it now, and how many these are.
        self._texts: dict[tuple[str, int], tuple[int, int]] = {}
        #: By cluster and rank: the pages that joined it first.
        self._first_copies: dict[tuple[int, int], int] = {}

    def find(self, key: bytes) -> int | None:
        """See `Ledger.find`. O(1)."""
        return self._numbers.get(key)

    def page(self, number: int) -> PageRow | None:
        """See `Ledger.page`. O(1)."""
        return self._pages[number]

    def content(self, number: int) -> ContentRow:
        """See `Ledger.content`. O(1)."""
        return self._contents[number]

    def contents_of(self, page: int) -> list[int]:
        """See `Ledger.contents_of`. O(contents)."""
        return [number for number, row in enumerate(self._contents) if row.page == page]

    def first_copies(self, cluster: int) -> list[int]:
        """See `Ledger.first_copies`. O(1)."""
        ranks = range(1, FIRST_COPIES + 1)
        return [self._first_copies[cluster, rank] for rank in ranks if (cluster, rank) in self._first_copies]

    def write(self, entry: Entry, compared: bytes) -> None:
        """Keep *entry*, of a page with a fingerprint."""
        number, (key, url, scope, _, is_short, text_hash, seen, _), _, content, is_new, has_own, *_ = entry
        if entry.takes is not None:
            known, pages = self._texts.get(entry.takes[:2], (content, 0))
            self._texts[entry.takes[:2]] = content, pages + 1 if known == content else 1
        self._leave(entry.leaves)
        if is_new:
            self._contents.append(ContentRow(number, scope, is_short, compared, text_hash, seen))
        its = compared if has_own else self._contents[content].compared
        row = PageRow(key, url, its, text_hash, seen, content, entry.rank, 0)
        if entry.former is None:
            self._numbers[key] = number
            self._pages.append(row)
        elif former := self._pages[number]:
            self._pages[number] = row._replace(joined=former.joined)
        if entry.joins is not None:
            if joined := self._pages[entry.joins]:
                self._pages[entry.joins] = joined._replace(joined=entry.rank)
            if 0 < entry.rank <= FIRST_COPIES:
                self._first_copies[entry.joins, entry.rank] = number

    def remove(self, key: bytes, text: Text | None) -> None:
        """Forget a page, which must be there, and leaves *text*; its contents stay."""
        self._pages[self._numbers.pop(key)] = None
        self._leave(text)

    def with_text(self, scope: str, text_hash: int) -> int | None:
        """Return the content of the pages that have a text now, None if there are none."""
        return self._texts.get((scope, text_hash), (None, 0))[0]

    def _leave(self, text: Text | None) -> None:
        if text is None:
            return
        content, pages = self._texts.get(text[:2], (None, 0))
        # Of an original that was removed pages may be left whose text is another content's by now.
        if content == text.content:
            if pages > 1:
                self._texts[text[:2]] = content, pages - 1
            else:
                del self._texts[text[:2]]


class Door:
    """What the kernel's rows ask of Python."""

    claim = Claim
    near_miss = NearMiss
    page = PageRow
    content = ContentRow
    bases = BASES
    equal_text = EQUAL_TEXT
    subject_number = staticmethod(subject_number)


class MemoryStore(LocalStore):
    """A :class:`~scrapy_simhash.store.base.Store` in memory; gone with the process.

    A claim costs one look-up, one insert and a few microseconds. Nothing in here is ever settled: what is not
    kept cannot be relied on by a later crawl.
    """

    _rows: Rows

    def __init__(self, header: Header | None = None, blocks: int = BLOCKS) -> None:
        """Make an empty store for fingerprints of *header*, the default one if None."""
        self._native: NativeRows | None = None if kernel.hamming is None else kernel.hamming.Rows(Door)
        super().__init__(header or Header(), self._native or Rows(), Damage("memory"), blocks)
        self._run = Run(1, int(time.time()), None, None)
        self._short_contents: dict[tuple[str, int], int] = {}

    def __str__(self) -> str:
        """Return where it is."""
        return "memory"

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. With the kernel, one call of it."""
        if self._native is not None and self._look is not None:
            most, nearby = candidates.MOST_COMPARED, candidates.MOST_NEARBY
            generic_from = candidates.GENERIC - self.titled_elsewhere
            scope = posting.scope
            index = self._indexes.get(scope)
            if index is None:
                index = self._index(scope)
            done = self._native.claim(
                posting, index.core, self._look, most, nearby, generic_from, self.explains
            )
            if done is not None:
                claim, found_by = done
                self._size += 1
                self._page_end += 1
                if found_by is not None:
                    self._content_end += 1
                    # To be found by its text is the rule.
                    if found_by & candidates.BY_TEXT:
                        self.index_size += 1
                    else:
                        self._count(scope, found_by)
                return claim
        return super().claim(posting)

    def runs(self) -> list[Run]:
        """Return the one run there is."""
        return [self._run]

    def close(self, reason: str = "finished") -> None:
        """End the run; all else stays, as long as the store does."""
        if self._run.ended is None:
            self._run = self._run._replace(ended=int(time.time()), reason=reason)

    @contextmanager
    def _reading(self) -> Iterator[tuple[Ledger, Iterable[int], ContentsOf]]:
        contents = defaultdict(list)
        for content in range(self._content_end):
            contents[self._rows.content(content).page].append(content)
        yield self._rows, range(self._page_end), contents.__getitem__

    def _short(self, scope: str, value: int) -> int | None:
        return self._short_contents.get((scope, value))

    def _with_text(self, scope: str, text_hash: int) -> int | None:
        return self._rows.with_text(scope, text_hash)

    def _write(self, entry: Entry) -> None:
        posting = entry.posting
        self._rows.write(entry, posting.fingerprint.compared_bytes())
        if entry.is_new_content and posting.is_short:
            self._short_contents[posting.scope, posting.fingerprint.value] = entry.content

    def _erase(self, number: int, key: bytes, contents: Iterable[ContentRow], text: Text | None) -> None:
        self._rows.remove(key, text)
        for row in contents:
            if row.is_short:
                self._short_contents.pop((row.scope, int.from_bytes(row.compared[:8], "big")), None)
