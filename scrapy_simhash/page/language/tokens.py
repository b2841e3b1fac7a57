"""Split text into tokens, which are normalised words of any script.

A token is a run of letters, digits and combining marks. Apostrophes and hyphens separate tokens (``l'été`` gives
``l`` and ``été``), so that typography does not matter. A run of a script without spaces is split into overlapping
character bigrams: 近似网页 becomes 近似, 似网, 网页.
"""

from __future__ import annotations

import re
from functools import cache
from operator import add
from typing import NamedTuple
from unicodedata import combining
from unicodedata import normalize as _to_form

from scrapy_simhash.patterns import lazy_pattern

# The characters of words, and of scripts without spaces.
#
# Python's ``\w`` excludes combining marks, which would split Hindi, Thai or vocalised Arabic words at every vowel
# sign, and it does not distinguish scripts with spaces from those without. Both tables are frozen at Unicode 13.0,
# the version of Python 3.10: fingerprints are stored, so a newer interpreter must not split words differently.
#
# Source: the Unicode Character Database 13.0 (general categories; blocks).


def character_class(ranges: str) -> str:
    r"""Return the inside of a regular expression's ``[...]`` for *ranges*, hexadecimal and space separated.

    >>> character_class("41-43 5F") == r"\U00000041-\U00000043\U0000005F"
    True
    """
    return "".join("-".join(rf"\U{int(end, 16):08X}" for end in part.split("-")) for part in ranges.split())


def in_first_plane(characters: str) -> str:
    r"""Return the part below U+10000 of *characters*, the inside of a regular expression's ``[...]``.

    The re module looks up such a set in a table; larger sets are searched range by range, two to five times slower.

    >>> in_first_plane(character_class("41-43 5F 1B000-1B16F")) == character_class("41-43 5F")
    True
    """
    return "".join(re.findall(r"\\U0000[0-9A-F]{4}(?:-\\U0000[0-9A-F]{4})?", characters))


# Scripts without spaces between words: Han with its radicals and iteration marks, bopomofo, hiragana, katakana, Thai,
# Lao, Myanmar, Khmer. Hangul is not included, because Korean has spaces.
UNSPACED = character_class(
    "2E80-2FD5 3005-3007 3021-3029 3038-303B 3041-3096 309D-309F 30A1-30FA 30FC-30FF 3105-312F 31A0-31BF"
    " 31F0-31FF 3400-4DBF 4E00-9FFF F900-FAD9 1B000-1B16F 20000-2FA1D 30000-3134F"
    " E01-E3A E40-E4E E81-ECD EDC-EDF 1000-103F 1050-108F 109A-109F A9E0-A9EF A9FA-A9FE AA60-AA7F 1780-17D3 17DC-17DD"
)

# Invisible characters: soft hyphen, zero-width spaces and joiners, marks of writing direction, byte order mark,
# variation selectors, tags. Pages that differ only in these look the same.
INVISIBLE = character_class(
    "AD 34F 61C 180B-180E 200B-200F 202A-202E 2060-206F FE00-FE0F FEFF E0000-E007F E0100-E01EF"
)

# Latin, Greek, Cyrillic, Armenian and Hangul letters, punctuation and symbols, without combining marks. Most text has
# no other characters, and is tokenised with a faster pattern.
PLAIN = character_class("0-2FF 370-482 48A-590 1E00-20CF 2100-2CEE AC00-D7A3")

# Combining marks (categories Mn, Mc, Me) except those in INVISIBLE.
MARKS = character_class(
    """
    300-34E 350-36F 483-489 591-5BD 5BF 5C1-5C2 5C4-5C5 5C7 610-61A 64B-65F 670 6D6-6DC 6DF-6E4 6E7-6E8
    6EA-6ED 711 730-74A 7A6-7B0 7EB-7F3 7FD 816-819 81B-823 825-827 829-82D 859-85B 8D3-8E1 8E3-903
    93A-93C 93E-94F 951-957 962-963 981-983 9BC 9BE-9C4 9C7-9C8 9CB-9CD 9D7 9E2-9E3 9FE A01-A03 A3C
    A3E-A42 A47-A48 A4B-A4D A51 A70-A71 A75 A81-A83 ABC ABE-AC5 AC7-AC9 ACB-ACD AE2-AE3 AFA-AFF B01-B03
    B3C B3E-B44 B47-B48 B4B-B4D B55-B57 B62-B63 B82 BBE-BC2 BC6-BC8 BCA-BCD BD7 C00-C04 C3E-C44 C46-C48
    C4A-C4D C55-C56 C62-C63 C81-C83 CBC CBE-CC4 CC6-CC8 CCA-CCD CD5-CD6 CE2-CE3 D00-D03 D3B-D3C D3E-D44
    D46-D48 D4A-D4D D57 D62-D63 D81-D83 DCA DCF-DD4 DD6 DD8-DDF DF2-DF3 E31 E34-E3A E47-E4E EB1 EB4-EBC
    EC8-ECD F18-F19 F35 F37 F39 F3E-F3F F71-F84 F86-F87 F8D-F97 F99-FBC FC6 102B-103E 1056-1059
    105E-1060 1062-1064 1067-106D 1071-1074 1082-108D 108F 109A-109D 135D-135F 1712-1714 1732-1734
    1752-1753 1772-1773 17B4-17D3 17DD 1885-1886 18A9 1920-192B 1930-193B 1A17-1A1B 1A55-1A5E 1A60-1A7C
    1A7F 1AB0-1AC0 1B00-1B04 1B34-1B44 1B6B-1B73 1B80-1B82 1BA1-1BAD 1BE6-1BF3 1C24-1C37 1CD0-1CD2
    1CD4-1CE8 1CED 1CF4 1CF7-1CF9 1DC0-1DF9 1DFB-1DFF 20D0-20F0 2CEF-2CF1 2D7F 2DE0-2DFF 302A-302F
    3099-309A A66F-A672 A674-A67D A69E-A69F A6F0-A6F1 A802 A806 A80B A823-A827 A82C A880-A881 A8B4-A8C5
    A8E0-A8F1 A8FF A926-A92D A947-A953 A980-A983 A9B3-A9C0 A9E5 AA29-AA36 AA43 AA4C-AA4D AA7B-AA7D AAB0
    AAB2-AAB4 AAB7-AAB8 AABE-AABF AAC1 AAEB-AAEF AAF5-AAF6 ABE3-ABEA ABEC-ABED FB1E FE20-FE2F 101FD
    102E0 10376-1037A 10A01-10A03 10A05-10A06 10A0C-10A0F 10A38-10A3A 10A3F 10AE5-10AE6 10D24-10D27
    10EAB-10EAC 10F46-10F50 11000-11002 11038-11046 1107F-11082 110B0-110BA 11100-11102 11127-11134
    11145-11146 11173 11180-11182 111B3-111C0 111C9-111CC 111CE-111CF 1122C-11237 1123E 112DF-112EA
    11300-11303 1133B-1133C 1133E-11344 11347-11348 1134B-1134D 11357 11362-11363 11366-1136C
    11370-11374 11435-11446 1145E 114B0-114C3 115AF-115B5 115B8-115C0 115DC-115DD 11630-11640
    116AB-116B7 1171D-1172B 1182C-1183A 11930-11935 11937-11938 1193B-1193E 11940 11942-11943
    119D1-119D7 119DA-119E0 119E4 11A01-11A0A 11A33-11A39 11A3B-11A3E 11A47 11A51-11A5B 11A8A-11A99
    11C2F-11C36 11C38-11C3F 11C92-11CA7 11CA9-11CB6 11D31-11D36 11D3A 11D3C-11D3D 11D3F-11D45 11D47
    11D8A-11D8E 11D90-11D91 11D93-11D97 11EF3-11EF6 16AF0-16AF4 16B30-16B36 16F4F 16F51-16F87
    16F8F-16F92 16FE4 16FF0-16FF1 1BC9D-1BC9E 1D165-1D169 1D16D-1D172 1D17B-1D182 1D185-1D18B
    1D1AA-1D1AD 1D242-1D244 1DA00-1DA36 1DA3B-1DA6C 1DA75 1DA84 1DA9B-1DA9F 1DAA1-1DAAF 1E000-1E006
    1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A 1E130-1E136 1E2EC-1E2EF 1E8D0-1E8D6 1E944-1E94A
    """
)

#: Max characters of a run of combining marks and invisible characters, as in Unicode's stream-safe text format; later
#: ones are ignored. No language needs so many, and NFKC takes quadratic time.
MAX_MARKS = 30

_ASCII_WORD = lazy_pattern(r"[a-z0-9]+")
_PLAIN_WORD = lazy_pattern(r"[^\W_]+")
_NOT_PLAIN = lazy_pattern(f"[^{PLAIN}]")
_BEYOND_FIRST_PLANE = lazy_pattern("[\U00010000-\U0010ffff]")
# The pattern has no repetition, because a search for a single set is twice as fast, and few texts contain a match.
_INVISIBLE = lazy_pattern(f"[{INVISIBLE}]")


class _Patterns(NamedTuple):
    """Patterns for text that is not plain."""

    overlong: re.Pattern[str]
    unspaced: re.Pattern[str]
    word: re.Pattern[str]
    run: re.Pattern[str]


def normalize(text: str) -> str:
    """Return *text* normalised for comparison: NFKC, case folded, without invisible characters.

    Full-width forms, ligatures, composed and decomposed accents, soft hyphens and case make no difference.
    Normalising twice changes nothing. O(len(text)).

    >>> normalize("ﬁne ＣＡＦÉ Straße")
    'fine café strasse'
    """
    if text.isascii():
        return text.lower()
    if len(text) > MAX_MARKS and _NOT_PLAIN.search(text):
        text = _patterns_for(text).overlong.sub(r"\1", text)
    return normal_form(text)


def normal_form(text: str) -> str:
    """Return the result of `normalize` for *text* without runs of more than `MAX_MARKS` marks."""
    folded = _INVISIBLE.sub("", _to_form("NFKC", text)).casefold()
    # Case folding decomposes some letters (ΐ), so compose them again.
    return _to_form("NFKC", folded)


def tokenize(normalized: str) -> list[str]:
    """Return the tokens of *normalized* text, in order; empty for a text without letters and digits.

    A single character of an unspaced script is a token. O(len(normalized)).

    >>> tokenize("it's 20 °c in 北京市, 好")
    ['it', 's', '20', 'c', 'in', '北京', '京市', '好']
    """
    if normalized.isascii():
        return _ASCII_WORD.findall(normalized)
    if _NOT_PLAIN.search(normalized) is None:
        return _PLAIN_WORD.findall(normalized)
    patterns = _patterns_for(normalized)
    if patterns.unspaced.search(normalized) is None:
        return patterns.word.findall(normalized.replace("_", " "))
    tokens: list[str] = []
    for unspaced, word in patterns.run.findall(normalized):
        if len(unspaced) > 1:
            tokens += map(add, unspaced, unspaced[1:])
        else:
            tokens.append(unspaced or word)
    return tokens


def _patterns_for(text: str) -> _Patterns:
    return _patterns(_BEYOND_FIRST_PLANE.search(text) is not None)


@cache
def _patterns(beyond_first_plane: bool) -> _Patterns:
    if beyond_first_plane:
        unspaced, marks, invisible, last = UNSPACED, MARKS, INVISIBLE, 0x20000  # ideographs from there on
    else:
        unspaced, marks, invisible = map(in_first_plane, (UNSPACED, MARKS, INVISIBLE))
        last = 0x10000
    # Characters that NFKC reorders. The interpreter may know newer marks than this table.
    movable = "".join(filter(combining, map(chr, range(0x300, last)))) + invisible
    return _Patterns(
        # The first character is a separate set, because re has a fast search for a set, but not for a repeated set.
        overlong=re.compile(f"([{movable}][{movable}]{{{MAX_MARKS - 1}}})[{movable}]+"),
        unspaced=re.compile(f"[{unspaced}]"),
        # A set cannot be ``\w`` without the underscore, so the caller replaces underscores with spaces.
        word=re.compile(rf"[\w{marks}]+"),
        # The marks of an unspaced script, such as Thai vowels, are in UNSPACED, whose branch comes first.
        run=re.compile(rf"([{unspaced}][{unspaced}{marks}]*)|((?:[^\W_{unspaced}]|[{marks}])+)"),
    )
