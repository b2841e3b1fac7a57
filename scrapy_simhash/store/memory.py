"""The store of a crawl that forgets: everything in this process."""

from __future__ import annotations

import time
from array import array
from collections import defaultdict
from collections.abc import Iterator
from struct import Struct
from typing import TYPE_CHECKING

from scrapy_simhash import kernel
from scrapy_simhash.judge.measured import BASES
from scrapy_simhash.page.fingerprint import Fingerprint, subject_number
from scrapy_simhash.store import candidates
from scrapy_simhash.store.base import Claim, Page, Posting, Run, Visit
from scrapy_simhash.store.candidates import BLOCKS
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.local import Entry, Kin, LocalStore
from scrapy_simhash.verdict import NearMiss

if TYPE_CHECKING:
    from scrapy_simhash.kernel._hamming import Rows as NativeRows


#: The numbers of a page: time, content, rank, where key and URL end, which come next, hash of the text and whether it
#: has one. A fingerprint of its own comes last.
_PAGE = Struct("<qIIIIQ?")
#: Those of a content, before its fingerprint.
_CONTENT = Struct("<qII?Q?")


class Rows:
    """Pages and contents by number, from 0, and pages by key.

    The native twin is ``Rows`` in ``scrapy_simhash/kernel/_hamming.pyx``, which takes half of the memory.
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        # Packed, which takes half of what their objects would.
        self._pages: list[bytes] = []
        self._contents: list[bytes] = []
        #: By page: how many have joined its cluster.
        self._joined = array("I")

    def find(self, key: bytes) -> int | None:
        """Return the number of a page, None if it is not known. O(1)."""
        return self._numbers.get(key)

    def page(self, number: int) -> tuple[bytes, str, bytes, int | None, int, int, int, int]:
        """Return of a page's latest visit: key, URL, `Fingerprint.compared_bytes`, hash of the text, time.

        Then its content, its rank, and how many have joined its cluster. The fingerprint is its content's, or its own
        where that says something else.
        """
        row = self._pages[number]
        seen, content, rank, url_at, own_at, text_hash, is_known = _PAGE.unpack_from(row)
        url = row[url_at:own_at].decode("utf-8", "surrogatepass")
        compared = row[own_at:] or self.content(content)[3]
        text_hash = text_hash if is_known else None
        return row[_PAGE.size : url_at], url, compared, text_hash, seen, content, rank, self._joined[number]

    def content(self, number: int) -> tuple[int, int, bool, bytes, int | None, int]:
        """Return of a content its page and what it came with: scope, whether it is short, fingerprint, hash, time."""
        row = self._contents[number]
        seen, page, scope, is_short, text_hash, is_known = _CONTENT.unpack_from(row)
        return page, scope, is_short, row[_CONTENT.size :], text_hash if is_known else None, seen

    def contents_of(self, page: int) -> list[int]:
        """Return the contents that came from a page. O(contents)."""
        return [number for number in range(len(self._contents)) if self.content(number)[0] == page]

    def write(self, entry: Entry, scope: int, compared: bytes) -> None:
        """Keep *entry*, of a page in a scope and with a fingerprint."""
        number, (key, url, _, _, is_short, text_hash, seen, _), former, content = entry[:4]
        told = (text_hash or 0, text_hash is not None)
        if entry.is_new_content:
            self._contents.append(_CONTENT.pack(seen, number, scope, is_short, *told) + compared)
        text = url.encode("utf-8", "surrogatepass")
        ends = (_PAGE.size + len(key), _PAGE.size + len(key) + len(text))
        own = compared if entry.has_own_sketch else b""
        row = _PAGE.pack(seen, content, entry.rank, *ends, *told) + key + text + own
        if former is None:
            self._numbers[key] = number
            self._pages.append(row)
            self._joined.append(0)
        else:
            self._pages[number] = row
        if entry.joins is not None:
            self._joined[entry.joins] = entry.rank

    def remove(self, key: bytes) -> None:
        """Let a page not be found by its key any more, which must be there; its number stays."""
        del self._numbers[key]


class Door:
    """What the kernel's rows ask of Python."""

    claim = Claim
    near_miss = NearMiss
    bases = BASES
    subject_number = staticmethod(subject_number)


class MemoryStore(LocalStore):
    """A :class:`~scrapy_simhash.store.base.Store` in memory; gone with the process.

    A claim costs one look-up, one insert and a few microseconds. Nothing in here is ever settled: what is not
    kept cannot be relied on by a later crawl.
    """

    def __init__(self, header: Header | None = None, blocks: int = BLOCKS) -> None:
        """Make an empty store for fingerprints of *header*, the default one if None."""
        super().__init__(header or Header(), blocks)
        self._run = Run(1, int(time.time()), None, None)
        self._native: NativeRows | None = None if kernel.hamming is None else kernel.hamming.Rows(Door)
        self._rows = self._native or Rows()
        self._scopes: list[str] = []
        self._scope_numbers: dict[str, int] = {}
        self._short_contents: dict[tuple[str, int], int] = {}
        self._removed: set[int] = set()

    def __str__(self) -> str:
        """Return where it is."""
        return "memory"

    def __len__(self) -> int:
        """Return how many pages are known. O(1)."""
        return self._page_end - len(self._removed)

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. With the kernel, one call of it."""
        if self._native is not None and self._look is not None:
            scope, most, nearby = posting.scope, candidates.MOST_COMPARED, candidates.MOST_NEARBY
            index = self._index(scope)
            done = self._native.claim(
                posting, self._scope(scope), index.core, self._look, most, nearby, self.explains
            )
            if done is not None:
                claim, found_by = done
                self._page_end += 1
                if found_by is not None:
                    self._content_end += 1
                    self._count(scope, found_by)
                return claim
        return super().claim(posting)

    def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`. O(1)."""
        number = self._rows.find(key)
        return None if number is None else self._page(number)

    def __iter__(self) -> Iterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`. O(n)."""
        contents = defaultdict(list)
        for content in range(self._content_end):
            contents[self._rows.content(content)[0]].append(content)
        for number in range(self._page_end):
            if number in self._removed:
                continue
            page = self._page(number)
            for content in contents.get(number, ()):
                former = self._first(content, page.posting)
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

    # --- The ledger.

    def _visit(self, key: bytes) -> tuple[int, Visit, int] | None:
        number = self._rows.find(key)
        if number is None:
            return None
        _, _, compared, text_hash, seen, content, rank, _ = self._rows.page(number)
        value = int.from_bytes(compared[:8], "big")
        return number, Visit(value, text_hash, seen, content, False, self._rows.content(content)[2]), rank

    def _content(self, number: int) -> tuple[int, Fingerprint, int | None]:
        page, _, _, compared, text_hash, _ = self._rows.content(number)
        return page, Fingerprint.from_compared_bytes(compared), text_hash

    def _origin(self, number: int) -> tuple[int, int | None]:
        page, _, _, _, text_hash, _ = self._rows.content(number)
        return page, text_hash

    def _short(self, scope: str, value: int) -> int | None:
        return self._short_contents.get((scope, value))

    def _cluster(self, kin: Kin) -> tuple[str, bytes, int]:
        key, url, *_, joined = self._rows.page(kin.cluster)
        return url, key, joined

    def _write(self, entry: Entry) -> None:
        posting = entry.posting
        fingerprint, scope = posting.fingerprint, posting.scope
        self._rows.write(entry, self._scope(scope), fingerprint.compared_bytes())
        self._page_end += entry.former is None
        self._content_end += entry.is_new_content
        if entry.is_new_content and posting.is_short:
            self._short_contents[scope, fingerprint.value] = entry.content

    def _scope(self, scope: str) -> int:
        """Return the number of a scope."""
        number = self._scope_numbers.setdefault(scope, len(self._scopes))
        if number == len(self._scopes):
            self._scopes.append(scope)
        return number

    def _erase(self, page: Page) -> list[tuple[int, Posting]]:
        self._rows.remove(page.posting.key)
        self._removed.add(page.number)
        contents = self._rows.contents_of(page.number)
        postings = [(content, self._first(content, page.posting)) for content in contents]
        for _, posting in postings:
            if posting.is_short:
                self._short_contents.pop((posting.scope, posting.fingerprint.value), None)
        return postings

    def _page(self, number: int) -> Page:
        key, url, compared, text_hash, seen, content, _, _ = self._rows.page(number)
        cluster, scope, is_short, *_ = self._rows.content(content)
        fingerprint = Fingerprint.from_compared_bytes(compared)
        posting = Posting(
            key, url, self._scopes[scope], fingerprint, is_short, text_hash, seen, is_delivered=False
        )
        is_original = cluster == number or cluster in self._removed
        return Page(number, posting, content, cluster, None if is_original else self._rows.page(cluster)[1])

    def _first(self, content: int, latest: Posting) -> Posting:
        """Return the posting that a content came with, of a page with a *latest* one."""
        _, scope, is_short, compared, text_hash, seen = self._rows.content(content)
        fingerprint = Fingerprint.from_compared_bytes(compared)
        return latest._replace(
            scope=self._scopes[scope],
            fingerprint=fingerprint,
            is_short=is_short,
            text_hash=text_hash,
            seen=seen,
        )
