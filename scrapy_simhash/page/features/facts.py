"""Find the facts of a document: words outside its sentences, which distinguish pages of one template.

A fact is a word of the heading or title of a page, of a short line, or of the value of a row. Sentences are compared
by their shingles, so a word that is also in a sentence is not a fact, unless it is in the heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice, pairwise
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from scrapy_simhash.page.features.extract import (
    AGO,
    LONGEST_LABEL,
    LONGEST_VALUE,
    ROTATING,
    boxes,
    compared,
    is_byline,
    is_date_above,
    is_line_above,
    is_link_at_title,
    is_long,
    is_title,
    row,
)
from scrapy_simhash.page.fingerprint.facts import (
    ABOVE,
    LINE,
    NAME,
    NAME_IN_BOTH,
    NAME_IN_TEXT,
    NAME_IN_URL,
    NONE,
    NUMBERED,
    PLAIN,
    ROW,
    SIGNED,
    TITLE,
    TITLE_IN_URL,
    WORD_BITS,
    hashes_of,
    packed,
)
from scrapy_simhash.page.fingerprint.fold import SCATTER, number
from scrapy_simhash.page.language import normalize, stopwords, tokenize
from scrapy_simhash.page.pieces import is_year
from scrapy_simhash.page.text.columns import DATE, SENTENCE_MARKS, has_price
from scrapy_simhash.page.text.document import Document, Paragraph
from scrapy_simhash.page.text.main_text import HIDDEN, LINKED, REASONS
from scrapy_simhash.page.text.title_key import UNNAMED, segments, unnumbered
from scrapy_simhash.patterns import lazy_pattern

#: Max tokens of a heading or title, and max segments of a title.
LONGEST_HEADING, MAX_SEGMENTS = 64, 32
#: Max tokens of a line. Longer lines are compared by their shingles.
LONGEST_LINE = 24
#: Max lines of a page; later lines are ignored.
MAX_LINES = 16
#: Min tokens in sentences of a long page, and of a very long page. On a long page, lines after the first sentence
#: count only if they are values; on a very long page, only lines without a date before that sentence count.
LONG_TEXT, LONGER_TEXT = 200, 600
#: Min labels of a paragraph of fewer than `LONGEST_LINE` tokens that is a line of several facts, with line breaks
#: between them. Such a line has fewer than one stopword in `SENTENCE_SHARE` tokens, and no mark that ends a sentence.
MIN_LABELS, SENTENCE_SHARE = 2, 3
#: Min digits of a number in the URL of the page to be an id, which is not a fact.
MIN_NUMBER = 4
#: Max pairs of numbers per page whose order is a fact.
MAX_ORDERS = 4
#: Max words of the heading whose signs are facts.
MAX_SIGNED = 2
#: Number of blocks at the top of a page that may be the name of the site.
FIRST_BLOCKS = 3
#: A version in a title: ``v1.26``, ``13.0.0``.
_VERSION = lazy_pattern(r"v?[0-9]+(?:\.[0-9]+)+[A-Za-z0-9]*")
#: A date that looks like a version: ``1.03.2026``.
_DATE = lazy_pattern(r"[0-9]{1,2}\.[0-9]{1,2}\.(?:19|20)[0-9]{2}")
_LETTERS = lazy_pattern("[a-z0-9]+")
_DIGIT = lazy_pattern("[0-9]")
_SIGN = lazy_pattern("[-+\N{MINUS SIGN}]")
#: A word and signs after it: ``C++``, ``C#``, ``S9+``.
_SIGNED = lazy_pattern(r"(?<![0-9A-Za-z])([0-9A-Za-z]+)(\++|#)(?![+#0-9A-Za-z])")


class Line(NamedTuple):
    """A short line, or the value of a row."""

    text: str
    label: str
    """Label of the row; empty for a line."""
    words: tuple[str, ...]
    """Words that are facts."""
    is_numbered: bool
    """Whether the line has a number."""
    whole: tuple[str, ...] = ()
    """All words of a short line without facts, such as a size *S* or a word that is also in a sentence, or with a
    last letter that is not a fact, as in *Size S*."""
    orders: tuple[tuple[str, str], ...] = ()
    """Each short number of the line with the next one, so that ``2:1`` is not ``1:2``."""
    is_above: bool = False
    """Whether it is a line directly above the title, or a link at the title. It is compared only with pages of the
    same host, because other sites have their names there."""
    repeated: frozenset[str] = frozenset()
    """Numbers of the line that occur more than once."""


class Facts(NamedTuple):
    """Facts of a page."""

    names: dict[str, int]
    """Words of the heading and the title, in order, with their kinds; see ``fingerprint/facts.py``."""
    lines: tuple[Line, ...]
    words: tuple[str, ...]
    """All words outside the sentences except stopwords and rotating text, beginning with the words of names."""
    rows: tuple[tuple[int, int], ...]
    """Hashes of label and value of each row with a unique label."""
    host: int
    """Number of the host, 1 to 255; 0 if unknown."""
    signed: tuple[tuple[str, ...], ...] = ()
    """The first words of the heading that have signs, with them, so that ``C++`` is not ``C``."""


def find_facts(document: Document, url: str = "") -> Facts | None:
    """Return the facts of the page *document* at *url*; None for plain text, which has no facts.

    - **Names**: the words of the first ``h1``, else of the title key, and other words of the title, without the name
      and version of the site.
    - **Lines**: the first short lines, short headings and values after the title, from the text of the page hash (see
      :func:`~scrapy_simhash.page.features.extract.compared`), without rotating lines and prices.
    - **Rows**: label and value, if both are short.

    Stopwords and ids in the URL of the page are not facts. O(characters).
    """
    if not any(part.path for part in document.paragraphs):
        return None
    known = stopwords(document.language)
    chosen = set(compared(document))
    beside = {place for box in boxes(document.paragraphs) for place in box}
    parts = [
        part._replace(tokens=tuple(_words(part.text)))
        if place in chosen and part.boilerplate == REASONS[HIDDEN]
        else part
        for place, part in enumerate(document.paragraphs)
    ]
    title = next((place for place, part in enumerate(parts) if is_title(part)), len(parts))
    sentences = [place for place, part in enumerate(parts) if _is_sentence(part, known)]
    first = next((place for place in sentences if place > title), -1)
    in_text = {token for place in sentences for token in parts[place].tokens}
    length = sum(len(parts[place].tokens) for place in sentences)
    address = _Address(url)
    names = _names(document, title, in_text, address, known)
    all_words = dict.fromkeys((*names, *_unknown(_words(document.title), False, known)))
    lines: list[Line] = []
    rows: dict[int, int | None] = {}
    headings = {place for place, part in enumerate(parts) if part.zone == "heading"}
    at_title = {place for place in headings if title < place < first or is_line_above(parts, place, title)}
    others = headings - at_title - beside
    # Most headings in the text are only names of sections, so all other lines come first.
    possible_names = {place for place in others if place > title and _may_name(parts[place], in_text, known)}
    for place in sorted(range(len(parts)), key=possible_names.__contains__):
        part = parts[place]
        if not (place in chosen or (place in headings and part.boilerplate not in UNNAMED)):
            continue
        is_link = is_link_at_title(parts, place, title, first)
        if not 0 < len(part.tokens) < LONGEST_LINE or _is_sentence(part, known):
            continue
        if part.link_density >= LINKED and not is_link:
            continue
        has_date = DATE.search(part.text) is not None
        is_section = place in others - possible_names
        # A quotation is a sentence, however short, and many sites show a different quotation each time.
        if is_section or "blockquote" in part.path.split("/"):
            all_words.update(dict.fromkeys(_unknown(part.tokens, has_date, known)))
            continue
        label, value = row(parts, place)
        if not label:
            value = _without_count(value, known)
        is_left_out_byline = part.boilerplate is not None and is_byline(part, known)
        if is_left_out_byline or not value or not ROTATING.isdisjoint(label or value[:1]):
            continue
        all_words.update(dict.fromkeys(_unknown(part.tokens, has_date, known)))
        tag = part.path.rpartition("/")[2]
        is_near = is_date_above(parts, place, title) or is_line_above(parts, place, title)
        if (place < title < len(parts) and tag not in _VALUES and not is_near) or tag in _LABELS:
            continue
        if len(lines) >= MAX_LINES or has_price(part.text):
            continue
        is_above = first < 0 or place < first
        is_longer = length >= LONGER_TEXT
        is_value = bool(label) or tag in _VALUES or place in beside
        if not is_above and (is_longer if is_value else length >= LONG_TEXT):
            continue
        if is_longer and has_date:
            continue
        is_numbered = any(word.isdecimal() for word in value)
        if label and (is_numbered or len(value) == 1):
            key, unified = _mixed(label), _mixed((*_unified(value, has_date), *_signs(part.text)))
            rows[key] = None if key in rows and rows[key] != unified else unified
        are_facts = [
            word not in known and word not in in_text and word not in address.numbers for word in value
        ]
        words = list(compress(_unified(value, has_date), are_facts))
        numbers = [
            word for word, whole in zip(words, compress(value, are_facts), strict=True) if whole.isdecimal()
        ]
        is_short = len(value) <= LONGEST_VALUE and not has_date
        ends_in_letter = len(value[-1]) == 1 and not are_facts[-1]
        is_whole = is_short and (ends_in_letter or not any(are_facts)) and address.numbers.isdisjoint(value)
        orders = _pairs_of_numbers(value, has_date)
        lines.append(
            Line(
                part.text,
                " ".join(label),
                tuple(words),
                is_numbered,
                tuple(value) if is_whole else (),
                orders,
                is_link or is_line_above(parts, place, title),
                frozenset(number for number in numbers if numbers.count(number) > 1),
            )
        )
    labelled = tuple((label, value) for label, value in rows.items() if value is not None)
    return Facts(
        names, tuple(lines), tuple(all_words), labelled, address.host, tuple(_signed(document, title))
    )


def facts_bytes(found: Facts | None) -> bytes:
    """Return *found* in the format of ``fingerprint/facts.py``."""
    if found is None:
        return NONE
    words: dict[int, int] = {}
    for word, kind in found.names.items():
        words.setdefault(_hash(word), kind)
    for signed in found.signed:
        words.setdefault(_mixed(signed) >> 64 - WORD_BITS, SIGNED)
    for line in found.lines:
        kind = ABOVE if line.is_above else ROW if line.label else NUMBERED if line.is_numbered else LINE
        for fact in _facts_of(line):
            words.setdefault(fact, kind)
    for order in [order for line in found.lines for order in line.orders][:MAX_ORDERS]:
        words.setdefault(_mixed(order) >> 64 - WORD_BITS, NUMBERED)
    for word in found.words:
        words.setdefault(_hash(word), PLAIN)
    return packed(found.host, words, found.rows)


def changed_facts(former: bytes, document: Document, url: str) -> list[str]:
    """Return the words of names, and the lines, of *document* at *url* that are not in *former* facts.

    *former* is a result of `facts_bytes`. Facts that do not fit into the stored facts are left out.
    """
    found = find_facts(document, url)
    if found is None:
        return []
    new = hashes_of(facts_bytes(found)) - hashes_of(former)
    names = [word for word in found.names if _hash(word) in new]
    names += ["".join(word) for word in found.signed if _mixed(word) >> 64 - WORD_BITS in new]
    lines = [line.text for line in found.lines if any(_hash(word) in new for word in line.words)]
    return names + lines


def _facts_of(line: Line) -> Iterator[int]:
    """Yield the hash of each word of *line*; a repeated number has a different hash each time.

    Otherwise ``19 May, 19:30`` would have no word that ``28 May, 19:30`` lacks, and the two would not contradict each
    other.
    """
    for place, word in enumerate(line.words):
        is_again = word in line.repeated and word in line.words[:place]
        yield _mixed((word,)) >> 64 - WORD_BITS if is_again else _hash(word)
    if line.whole:
        yield _mixed(line.whole) >> 64 - WORD_BITS


#: Tags of values and of their labels.
_VALUES, _LABELS = ("td", "dd", "address"), ("th", "dt")


class _Address:
    """Words in the URL of a page."""

    def __init__(self, url: str) -> None:
        _, _, rest = url.encode("utf-8", "replace").decode().partition("://")
        end = min((rest.index(mark) for mark in "?#" if mark in rest), default=len(rest))
        place, _, path = rest[:end].partition("/")
        host = place.encode().lower().removeprefix(b"www.")
        #: Letters and digits of the host.
        self.letters = "".join(_LETTERS.findall(host.decode()))
        self.host = xxh3_64_intdigest(host) % 255 + 1 if place else 0
        folders, _, last = path.rstrip("/").rpartition("/")
        #: Tokens of the folders, and of the last part of the path.
        self.folders = frozenset(_words(folders))
        self.last = frozenset(_words(last))
        #: Tokens of the folder before a last part with a digit, which may be an id.
        has_digit = _DIGIT.search(last) is not None
        self.before_id = frozenset(_words(folders.rpartition("/")[2])) if has_digit else frozenset()
        self.numbers = {
            word
            for word in self.folders | self.last
            if word.isdecimal() and len(word) >= MIN_NUMBER and not is_year(word)
        }


def _names(
    document: Document, title: int, in_text: set[str], address: _Address, known: frozenset[str]
) -> dict[str, int]:
    parts = document.paragraphs
    _, heading = _heading(document, title)
    name = [word for word in dict.fromkeys(heading) if word not in known]
    # The last part of the path may be an id instead of the name, as in a print view; an id may also follow the name.
    fitting = (
        part
        for part in (address.last, address.before_id)
        if 2 * sum(word in part for word in name) >= len(name)
    )
    in_url = next(fitting, frozenset())
    names = {word: _KIND_OF_NAME[word in in_url, word in in_text] for word in name}
    firsts = [part.tokens for part in parts[:FIRST_BLOCKS]]
    left = LONGEST_HEADING
    for segment in segments(_VERSION.sub(_blank, document.title))[:MAX_SEGMENTS]:
        words = tuple(_words(segment))
        most, left = left, max(0, left - len(words))
        if words in firsts or "".join(words) in address.letters:
            continue
        for word in words[:most]:
            is_version = word in address.folders and word.isdecimal() and not is_year(word)
            if word not in known and not is_version:
                names.setdefault(word, TITLE_IN_URL if word in in_url else TITLE)
    return names


def _heading(document: Document, title: int) -> tuple[str, Sequence[str]]:
    """Return text and words of the first ``h1``, which is at *title*, or else of the title."""
    parts = document.paragraphs
    text, words = document.title, document.title_key
    if title < len(parts) and parts[title].boilerplate not in UNNAMED:
        text, words = parts[title].text, unnumbered(parts[title].text, parts[title].tokens)
    return text, words[:LONGEST_HEADING]


def _signed(document: Document, title: int) -> Iterator[tuple[str, ...]]:
    """Yield the first `MAX_SIGNED` words of the heading that have signs, with the signs.

    A # after a word of several letters is the link of a heading to itself.
    """
    text, heading = _heading(document, title)
    found = ((match[1].lower(), *match[2]) for match in _SIGNED.finditer(text))
    signed = (word for word in found if word[0] in heading and (len(word[0]) == 1 or word[1] != "#"))
    return islice(signed, MAX_SIGNED)


_KIND_OF_NAME = {
    (False, False): NAME,
    (True, False): NAME_IN_URL,
    (False, True): NAME_IN_TEXT,
    (True, True): NAME_IN_BOTH,
}


def _unified(words: Sequence[str], has_date: bool) -> Sequence[str]:
    """Return *words* with dates in a single form, so that ``03 December`` and ``3 Dec`` are equal.

    If there is a date, leading zeros are removed, and a word next to a number is cut to three letters.
    """
    if not has_date:
        return words
    decimal = [False, *(word.isdecimal() for word in words), False]
    return [
        (word.lstrip("0") or "0") if decimal[i] else word[:3] if decimal[i - 1] or decimal[i + 1] else word
        for i, word in enumerate(words, 1)
    ]


def _signs(text: str) -> Iterator[str]:
    """Yield each plus and minus with a space on only one side, as in ``-3 °C`` and ``A+``, but not in ``4-5``."""
    for found in _SIGN.finditer(text):
        is_first = found.start() == 0 or text[found.start() - 1] == " "
        is_last = found.end() == len(text) or text[found.end()] == " "
        if is_first != is_last:
            yield "+" if found[0] == "+" else "-"


def _pairs_of_numbers(words: Sequence[str], has_date: bool) -> tuple[tuple[str, str], ...]:
    """Return each number with the next one, without numbers of four digits or more."""
    pairs = zip(words, _unified(words, has_date), strict=True)
    return tuple(pairwise(unified for word, unified in pairs if word.isdecimal() and len(word) < MIN_NUMBER))


def _unknown(words: Sequence[str], has_date: bool, known: frozenset[str]) -> list[str]:
    """Return the result of `_unified` for *words*, without the stopwords that it leaves unchanged."""
    pairs = zip(words, _unified(words, has_date), strict=True)
    return [unified for word, unified in pairs if word != unified or word not in known]


def _is_sentence(part: Paragraph, known: frozenset[str]) -> bool:
    if part.boilerplate is not None or not is_long(part):
        return False
    is_line = len(part.tokens) < LONGEST_LINE and part.text.count(": ") >= MIN_LABELS
    if not is_line or not known or part.text[-1] in SENTENCE_MARKS:
        return True
    return SENTENCE_SHARE * sum(token in known for token in part.tokens) >= len(part.tokens)


def _may_name(heading: Paragraph, in_text: set[str], known: frozenset[str]) -> bool:
    """Return whether a heading in the main text may be a name, such as that of a person in an interview."""
    if heading.boilerplate is not None or len(heading.tokens) > LONGEST_LABEL:
        return False
    if not ROTATING.isdisjoint(heading.tokens):
        return False
    return any(word not in known and word not in in_text for word in heading.tokens)


def _without_count(words: tuple[str, ...], known: frozenset[str]) -> tuple[str, ...]:
    """Return *words* without a count at the end, such as ``12 comments`` or ``2 hours ago``."""
    if not words:
        return words
    is_counted = words[-1] in ROTATING and words[-1] not in known
    if is_counted and len(words) > 1 and words[-2].isdecimal():
        return words[:-2]
    if words[-1] in AGO and len(words) > 2 and words[-3].isdecimal():
        return words[:-3]
    return words


def _words(text: str) -> list[str]:
    return tokenize(normalize(text))


def _hash(word: str) -> int:
    return number(word) >> 64 - WORD_BITS


def _mixed(words: Iterable[str]) -> int:
    """Return a 64-bit hash of words in order."""
    key = 0
    for word in words:
        key = (key ^ number(word)) * SCATTER & _MASK
        key ^= key >> 32
    return key


def _blank(found: re.Match[str]) -> str:
    return found[0] if _DATE.fullmatch(found[0]) else " " * len(found[0])


_MASK = 2**64 - 1
