"""Against: some pairs of URLs whose pages differed, although a rule says that they do not. They are only shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from scrapy_simhash.observers.url_rules.cut_url import CutUrl, cut
from scrapy_simhash.observers.url_rules.hypotheses import hypothesis_of
from scrapy_simhash.observers.url_rules.reduced import Reduced

#: Pairs of a rule.
MOST_PAIRS = 3
#: A rule, a URL without what it is about, and the content of the other page.
Differing: TypeAlias = tuple[str, CutUrl, int]
_Pair: TypeAlias = tuple[str, str]


class Against(dict[str, tuple[_Pair, ...]]):
    """By rule, the first pairs."""

    def add(
        self,
        url: str,
        differing: Iterable[Differing],
        known: Sequence[tuple[str, int, int]],
        reduce: Callable[[CutUrl], Reduced],
    ) -> int:
        """Find the URLs that *url* was compared with among those *known*, and return how many pairs were added.

        *known* has URLs, latest last, with their content; *reduce* takes out of a URL what rules in force are about.
        """
        added = 0
        for rule, shorter, other in differing:
            pairs = self.get(rule, ())
            if len(pairs) < MOST_PAIRS:
                same_content = (former for former, content, _ in reversed(known) if content == other)
                found = next((each for each in same_content if _is(each, shorter, rule, reduce)), url)
                if found != url:
                    self[rule] = (*pairs, (found, url))
                    added += 1
        return added

    def join(self, rule: str, pairs: Iterable[Sequence[str]]) -> None:
        """Add the *pairs* of others; theirs are first."""
        theirs = [(first, second) for first, second in pairs]
        self[rule] = tuple(dict.fromkeys((*theirs, *self.get(rule, ()))))[:MOST_PAIRS]


def _is(url: str, shorter: CutUrl, rule: str, reduce: Callable[[CutUrl], Reduced]) -> bool:
    """Tell whether *url* is *shorter* without what *rule* is about."""
    parts = cut(url)
    if parts is None:
        return False
    hypothesis, about = hypothesis_of(rule)
    rest = reduce(parts).url
    return shorter in (rest, hypothesis.without(rest, about))
