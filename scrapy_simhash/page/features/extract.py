"""Document to what is compared of it: weighted features for the fingerprint, and the whole text, as it is.

A weight never depends on the place in the page: a paragraph put in at the top must not move every other
weight. Weights are integers, so that a fold is exact and the same on every platform.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain

from scrapy_simhash.page.features.shingles import selects_prose, shingle, with_stopword
from scrapy_simhash.page.fingerprint.fold import number
from scrapy_simhash.page.language import stopwords
from scrapy_simhash.page.text.columns import DATE
from scrapy_simhash.page.text.document import Document, Paragraph
from scrapy_simhash.page.text.main_text import (
    CHROME,
    DIALOG,
    EDGE,
    HIDDEN,
    LINKED,
    LINKS,
    PROSE_TOKENS,
    REASONS,
)
from scrapy_simhash.page.text.tags import ENTRIES
from scrapy_simhash.patterns import lazy_pattern

#: The weight of a shingle that occurs once in the body. Large enough that rounding is below one per cent.
UNIT = 64

#: Constant factors of the zones of a page. A heading is text like any other: with more weight, a story and its
#: reprint would differ by what one site adds to it. An offer outweighs the description that variants of a product
#: share. The title is no zone: it names the site as much as the page.
ZONES = {"heading": 1.0, "body": 1.0, "offer": 4.0}

#: The factor of single words beside shingles. Words survive an edit that breaks the shingles around it, but
#: say less about what a page says: at full weight siblings of one template merge.
WORD = 0.7

#: Weight grows with this power of the count. Repeated features steady a fingerprint against edits; at a power of 1
#: a few words of a long and repetitive page would decide alone.
DAMPING = 0.9


@cache
def weight(zone: str, count: int, is_word: bool = False) -> int:
    """Return the weight of a feature that occurs *count* >= 1 times in *zone*.

    >>> weight("body", 1), weight("body", 10), weight("heading", 1), weight("body", 1, is_word=True)
    (64, 508, 64, 45)
    """
    damped: float = count**DAMPING
    return round(UNIT * ZONES[zone] * (WORD if is_word else 1.0) * damped)


def features(
    document: Document, shingle_size: int = 2, min_shingles: int = 12, mask_digits: bool = False
) -> dict[str, int]:
    """Return the weight of every feature of *document*; empty when it has fewer than *min_shingles*.

    Features are the shingles of *shingle_size* tokens inside one paragraph, those that ``selects_prose`` leaves, and
    the words by themselves. With *mask_digits* all numbers are one. The order of the dictionary is that of the text
    and means nothing. O(tokens).
    """
    runs = _runs(document, mask_digits)
    known = stopwords(document.language)
    has_offer = any(zone == "offer" for zone, _ in runs)
    counts = _count(runs, lambda tokens: with_stopword(tokens, shingle_size, known)) if known else {}
    if not selects_prose(bool(known), has_offer, shingle_size, _distinct(counts)):
        counts = _count(runs, lambda tokens: shingle(tokens, shingle_size))
    if _distinct(counts) < min_shingles:
        return {}
    weights: dict[str, int] = {}
    words = _count(runs, lambda tokens: tokens) if shingle_size > 1 else {}
    for counters, is_word in ((counts, False), (words, True)):
        for zone, counter in counters.items():
            _add(weights, _weigh(counter, zone, is_word))
    return weights


def shingle_counts(document: Document, shingle_size: int = 2, mask_digits: bool = False) -> Counter[str]:
    """Return how often every shingle of the main text occurs, with a stopword or without: for the sketch."""
    runs = _runs(document, mask_digits)
    return Counter(chain.from_iterable([shingle(tokens, shingle_size) for _, tokens in runs]))


def _runs(document: Document, mask_digits: bool) -> list[tuple[str, Sequence[str]]]:
    """Return zone and tokens of every paragraph of the main text."""
    if not mask_digits:
        return [(paragraph.zone, paragraph.tokens) for paragraph in document.main]
    return [
        (paragraph.zone, ["0" if token.isdecimal() else token for token in paragraph.tokens])
        for paragraph in document.main
    ]


def _count(
    runs: Sequence[tuple[str, Sequence[str]]], features_of: Callable[[Sequence[str]], Iterable[str]]
) -> dict[str, Counter[str]]:
    """Return how often each feature occurs in each zone."""
    found: dict[str, list[Iterable[str]]] = {}
    for zone, tokens in runs:
        found.setdefault(zone, []).append(features_of(tokens))
    return {zone: Counter(chain.from_iterable(parts)) for zone, parts in found.items()}


def _weigh(counts: Counter[str], zone: str, is_word: bool) -> dict[str, int]:
    """Return the weight of every feature of one zone: most occur once."""
    weights = dict.fromkeys(counts, weight(zone, 1, is_word))
    for feature, count in counts.items():
        if count > 1:
            weights[feature] = weight(zone, count, is_word)
    return weights


def _add(weights: dict[str, int], more: dict[str, int]) -> None:
    """Add the weights of *more* to *weights*."""
    for feature in weights.keys() & more.keys():
        more[feature] += weights[feature]
    weights.update(more)


def _distinct(counts: dict[str, Counter[str]]) -> int:
    return len(set().union(*counts.values()))


_CHROME, _LINKS, _EDGE, _DIALOG, _HIDDEN = (
    REASONS[reason] for reason in (CHROME, LINKS, EDGE, DIALOG, HIDDEN)
)
# When a page was made; what people write for people has no seconds.
_TIME = lazy_pattern("[0-9]:[0-9][0-9]:[0-9][0-9]")
#: Tags whose text states something, whatever the name of an element around it.
STATING = ENTRIES - {"li"} | {"figcaption"}
#: A date has at most so many words beside its numbers: the month, the day of the week, a room.
MOST_WORDS_OF_DATE = 3
# Tags around a plea for JavaScript, and around what a click opens.
_PLEA, _OPENED = "noscript", "details"


def compared(document: Document) -> list[int]:
    """Return the places of the paragraphs of *document* whose change is a change of the page, in their order.

    The main text, and in the article (:attr:`~scrapy_simhash.page.text.Paragraph.in_article`):

    - what is hidden, such as a tab; cells, terms and captions;
    - up to the end of the main text every line that is neither boilerplate nor mostly links, nor a byline: that has a
      date and more;
    - between the title and the first sentences also such lines that are boilerplate by their name, without a link;
    - behind the text entries of a list that are no bylines, and what a click opens.

    Besides each ``h1`` at the edge of the main text, and what may well be its last paragraph: in the same element as
    the first or the last one of it. Outside of the main text nothing counts that has a time to the second, and no
    heading behind it. O(characters).

    What else stands behind the text, or outside of the article, rotates more often than it changes:
    ``benchmarks/unchanged.py`` has figures.
    """
    paragraphs = document.paragraphs
    main = [place for place, paragraph in enumerate(paragraphs) if paragraph.boilerplate is None]
    ends = {paragraphs[place].path.rpartition("/")[0] for place in (*main[:1], *main[-1:])}
    last = max(main, default=-1)
    title = next(
        (place for place, paragraph in enumerate(paragraphs) if is_title(paragraph)), len(paragraphs)
    )
    first = next((place for place in main if place > title and is_long(paragraphs[place])), -1)
    return [
        place
        for place, paragraph in enumerate(paragraphs)
        if paragraph.boilerplate is None
        or (paragraph.boilerplate == _HIDDEN and paragraph.in_article)
        or (paragraph.boilerplate == _EDGE and paragraph.path.endswith("/h1"))
        or (place < last and _may_state(paragraph, title < place < first))
        or (place > last and _may_be_last(paragraph, ends))
    ]


def is_title(paragraph: Paragraph) -> bool:
    """Tell whether a paragraph is a heading of the first level that is shown."""
    return paragraph.path.endswith("/h1") and paragraph.boilerplate != _HIDDEN


def is_long(paragraph: Paragraph) -> bool:
    """Tell whether a paragraph is long enough for a sentence."""
    return paragraph.zone != "heading" and len(paragraph.tokens) >= PROSE_TOKENS


def _may_state(paragraph: Paragraph, is_below_title: bool) -> bool:
    """Tell whether a paragraph before the end of the main text, and outside of it, is one of the article's lines."""
    *around, tag = paragraph.path.split("/")
    if paragraph.boilerplate in (_LINKS, _DIALOG, _HIDDEN) or not paragraph.in_article:
        return False
    if tag in STATING:
        return _is_steady(paragraph)
    if paragraph.boilerplate == _CHROME:
        # A plea for JavaScript is there or not.
        is_plea = tag == _PLEA or _PLEA in around
        if not is_below_title or paragraph.link_density > 0 or is_plea:
            return False
    return not is_byline(paragraph) and _is_steady(paragraph)


def _may_be_last(paragraph: Paragraph, ends: set[str]) -> bool:
    """Tell whether a paragraph behind the main text belongs to it, or states something of the article."""
    if paragraph.zone == "heading" or paragraph.boilerplate in (_LINKS, _DIALOG, _HIDDEN):
        return False
    *around, tag = paragraph.path.split("/")
    if paragraph.in_article and (tag in STATING or tag == _OPENED or _OPENED in around):
        return _is_steady(paragraph)
    if paragraph.boilerplate == _EDGE:
        return (tag in ENTRIES or "/".join(around) in ends) and _is_steady(paragraph)
    is_item = paragraph.in_article and tag in ENTRIES and paragraph.boilerplate != _CHROME
    return is_item and not is_byline(paragraph) and _is_steady(paragraph)


def is_byline(paragraph: Paragraph) -> bool:
    """Tell whether a line has a date and more, such as how often a page was read since it was posted."""
    words = sum(not token.isdecimal() for token in paragraph.tokens)
    return words > MOST_WORDS_OF_DATE and DATE.search(paragraph.text) is not None


def _is_steady(paragraph: Paragraph) -> bool:
    return paragraph.link_density < LINKED and _TIME.search(paragraph.text) is None


#: Tokens of main text below which a page says nothing, unless it has a fingerprint all the same.
LEAST_TOKENS = 3
#: The same where more is left out than kept: by "Scroll to top" or a line of copyright no page is told from others.
LEAST_BESIDE = 12


def whole_text(document: Document) -> str:
    """Return the title and what `compared` chooses, a line each.

    Two pages have the same whole text exactly when they say the same, sign for sign: only white space, and where a
    paragraph ends, make no difference. O(characters).
    """
    text = " ".join(document.paragraphs[place].text for place in compared(document))
    return f"{document.title}\n{text}"


def titled_text(document: Document) -> str:
    """Return the title and the paragraphs of the main text, a line each: no line beside it, and no fact.

    O(characters).
    """
    return f"{document.title}\n{' '.join([paragraph.text for paragraph in document.main])}"


def with_offer(page_hash: int | None, offer: str) -> int | None:
    """Return the hash of a text and of what structured data say about the price; None if there is no text.

    >>> with_offer(number("A kettle"), "price 19") == with_offer(number("A kettle"), "price 21")
    False
    """
    return page_hash ^ number(offer) if page_hash is not None and offer else page_hash


def says_something(document: Document) -> bool:
    """Tell whether there are ``LEAST_TOKENS`` tokens of main text: pages that say nothing do not say the same."""
    return sum(len(paragraph.tokens) for paragraph in document.main) >= LEAST_TOKENS


def says_little(document: Document) -> bool:
    """Tell whether there are fewer than ``LEAST_BESIDE`` tokens of main text, and more are left out."""
    kept = sum(len(paragraph.tokens) for paragraph in document.main)
    return kept < LEAST_BESIDE and 2 * kept < sum(len(paragraph.tokens) for paragraph in document.paragraphs)
