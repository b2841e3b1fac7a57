"""Judge: one read page after another compared with all before it, as a detector does, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable

from scrapy_simhash.config import Config
from scrapy_simhash.detector import NOTHING_SAID, NearDuplicateDetector
from scrapy_simhash.exceptions import RecordDamaged
from scrapy_simhash.files.batch.steps import Step, fate_of
from scrapy_simhash.files.records import Broken
from scrapy_simhash.page.site import SiteProfiles
from scrapy_simhash.store import Store
from scrapy_simhash.verdict import Reason, Status, Verdict


class Judge:
    """Gives the verdicts that *detector* would give. It learns nothing about sites: whoever reads the pages does."""

    def __init__(
        self,
        config: Config,
        store: Store | None = None,
        *,
        remembers: bool = True,
        key_of: Callable[[str], bytes | None] = lambda url: None,
    ) -> None:
        """Compare with the pages of *store*: in memory if None.

        Without *remembers*, pages are only looked up. *key_of* returns the key of a URL, None for the URL itself.
        """
        # When a page was fetched, 0 where nobody knows: by the clock of this run no two runs would be the same.
        self._seen = 0
        self._detector = NearDuplicateDetector(config, store, clock=lambda: self._seen)
        self._remembers = remembers
        self._key_of = key_of

    @property
    def sites(self) -> SiteProfiles | None:
        """What is known about sites; None where nothing is learned."""
        return self._detector.sites

    def judge(self, step: Step) -> None:
        """Set verdict, content and fate of a step whose page was read. Raises StoreUnavailable."""
        item, read = step.item, step.read
        if isinstance(item, Broken) or read is None:
            return
        self._seen = item.seen or 0
        if read.reading is None:
            step.fault = read.fault
            step.verdict = _TOO_LARGE if not read.fault else Verdict(Status.UNKNOWN)
            return
        try:
            step.verdict, step.content = self._verdict(step, item.url)
        except RecordDamaged as error:
            step.fault = str(error)
            step.verdict = Verdict(Status.UNKNOWN, reason=Reason.STORE)
            return
        step.fate = fate_of(step.verdict)

    def _verdict(self, step: Step, url: str) -> tuple[Verdict, int | None]:
        if step.read is None or step.read.reading is None or step.page is None:
            raise TypeError("the page was not read")
        detector = self._detector
        posting = detector.posting(step.read.reading, url, self._key_of(url))
        if posting is None:
            return NOTHING_SAID, None
        claim = detector.claim(posting, self._remembers)
        return detector.verdict(posting, claim), claim.content


_TOO_LARGE = Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE)
