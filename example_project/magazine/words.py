"""What the truth file counts: words, and the share of words two texts have in common."""

import re
from collections import Counter

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"

# Chinese writes no spaces, and cutting it into words is a matter of opinion; one character is one word here.
_WORD = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])\w)+(?:['’](?:(?![{_HAN}])\w)+)*")


def words(text: str) -> list[str]:
    """Return the words of *text* in order, case folded; punctuation is dropped.

    >>> words("The Baker's loaf, 1903; 豆腐。")
    ['the', "baker's", 'loaf', '1903', '豆', '腐']
    """
    return [match.group().casefold() for match in _WORD.finditer(text)]


def equal_share(a: str, b: str) -> float:
    """Return the share (0-1) of words two texts have in common, order ignored.

    Dice's coefficient over the two multisets of words: twice the common words, divided by all words.
    Two texts without words are equal (1.0).

    >>> equal_share("one boat, two boats", "two boats, one ship")
    0.75
    """
    return bag_share(Counter(words(a)), Counter(words(b)))


def bag_share(a: "Counter[str]", b: "Counter[str]") -> float:
    """Return what `equal_share` returns, from words already counted. O(distinct words)."""
    total = a.total() + b.total()
    return 1.0 if total == 0 else 2 * (a & b).total() / total
