"""Tokenizers beside the default one: a text to its tokens, for the feature kinds that take one."""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import Any

from scrapy_simhash.page.language import normalize

_LETTERS = re.compile("[a-zA-Z]+")


def letters(text: str) -> list[str]:
    """Return the runs of ASCII letters, in their case: the tokenizer of simhash-cpp's generator.

    Digits, accents and all other scripts only part tokens: a page in Chinese has none.

    >>> letters("what's new?How5is été")
    ['what', 's', 'new', 'How', 'is', 't']
    """
    return _LETTERS.findall(text)


def segments(text: str) -> list[str]:
    """Return the words of *text*, Chinese ones as ``jieba`` segments them: the way of the Java class.

    Raises ImportError, which names the extra, without ``jieba``. Fingerprints depend on its dictionary: keep to one
    release of it.
    """
    return [word for word in _segmenter().cut(normalize(text)) if any(map(str.isalnum, word))]


@cache
def _segmenter() -> Any:
    try:
        # Some of its strings have escapes that later releases of Python warn of.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba  # type: ignore[import-untyped, unused-ignore]  # it need not be there
    except ImportError as error:
        raise ImportError(
            "segments() needs jieba, which is not installed: pip install 'scrapy-simhash[chinese]'"
        ) from error
    jieba.setLogLevel("WARNING")
    return jieba.Tokenizer()
