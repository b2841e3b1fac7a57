"""Words, as they are counted here."""

import re

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"

# Chinese writes no spaces, and cutting it into words is a matter of opinion; one character is one word here.
_WORD = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])\w)+(?:['’](?:(?![{_HAN}])\w)+)*")


def words(text: str) -> list[str]:
    """Return the words of *text* in order, case folded; punctuation is dropped.

    >>> words("The Baker's loaf, 1903; 豆腐。")
    ['the', "baker's", 'loaf', '1903', '豆', '腐']
    """
    return [match.group().casefold() for match in _WORD.finditer(text)]
