"""The hash of the lecture slides: a Chinese word as a number whose digits are its characters.

A character's code is its place in GB2312, 0 to 6767 for the hanzi, then ASCII; a word is a number to the base 6,885,
written again and again until 64 bits are full. So similar words have similar hashes, as the slides want it: words
that end alike share their lowest bits.

As Java computes it, whose numbers overflow at 64 bits and whose shifts count modulo 64. What follows from that, and
is kept: a word of five characters or more is not repeated but multiplied (by 3 at five). The full-width punctuation
of GB2312 has negative codes, and a character that GB2312 does not have counts as a question mark.
"""

from __future__ import annotations

from scrapy_simhash.page.schemes.hashes.feature_hash import FeatureHash

#: The hanzi of GB2312: 72 rows of 94.
HANZI = 6768
#: What the slides take as the base: 117 codes more, for ASCII from the tabulator on.
BASE = HANZI + 117
#: Bits that a code needs.
CODE_BITS = 13
_FIRST_ROW, _FIRST_CELL, _CELLS = 176, 161, 94
_FIRST_ASCII = 9
_MASK = 2**64 - 1


def character_code(character: str) -> int:
    """Return the code of a character as the slides count it; below 0 for full-width punctuation.

    >>> [character_code(one) for one in "啊齄a，€"]
    [0, 6767, 6856, -1211, 6822]
    """
    code = character.encode("gb2312", "replace")
    if len(code) == 2:
        return (code[0] - _FIRST_ROW) * _CELLS + code[1] - _FIRST_CELL
    return code[0] - _FIRST_ASCII + HANZI


def _word(feature: str) -> int:
    value, length = 0, 0
    for character in feature:
        # A character beyond the first plane is two to Java, neither of which GB2312 has.
        for unit in character if ord(character) < 0x10000 else "??":
            value = (value * BASE + character_code(unit)) & _MASK
            length += CODE_BITS
    repeated = value
    for _ in range(64 // length + 1 if length else 0):
        repeated = ((repeated << length % 64) + value) & _MASK
    return repeated


GB2312 = FeatureHash("gb2312", 64, _word)
