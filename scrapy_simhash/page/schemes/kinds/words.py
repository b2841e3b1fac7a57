"""Words: single words, as in the Spanish digest, the Java class and the slides among the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from scrapy_simhash.page.language import stopwords
from scrapy_simhash.page.schemes.kinds.feature_kind import Page
from scrapy_simhash.page.schemes.kinds.runs import Tokenizer, runs
from scrapy_simhash.page.text.document import Zone


@dataclass(frozen=True)
class Words:
    """Every word of the main text.

    >>> from scrapy_simhash.page.text import plain_text
    >>> page = Page(plain_text("The boats of the harbour", "en"))
    >>> list(Words(stopwords="removed", stem=lambda word: word.removesuffix("s"))(page))
    ['boat', 'harbour']
    """

    stopwords: Literal["ignored", "removed"] = "ignored"
    """``removed`` leaves out those of the page's language, if there is a list."""
    stem: Callable[[str], str] | None = None
    """Called with every word that is left: a stemmer, as the digest of the paper has one. None leaves words as they
    are."""
    zone: Zone | None = None
    """``heading``, ``body`` or ``offer``; None for all."""
    tokenizer: Tokenizer | None = None
    """None for the words of the package, which are bigrams in Chinese and Japanese; see also
    :func:`~scrapy_simhash.page.schemes.tokenizers.segments`."""

    def __call__(self, page: Page) -> Iterable[str]:
        """Return the words, in order."""
        words: Iterable[str] = chain.from_iterable(runs(page, self.zone, self.tokenizer))
        if self.stopwords == "removed":
            known = stopwords(page.document.language)
            words = (word for word in words if word not in known)
        return words if self.stem is None else map(self.stem, words)
