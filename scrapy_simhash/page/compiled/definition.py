"""The words, limits and weights of the pure Python modules, passed to the C extension."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from secrets import randbits
from types import SimpleNamespace
from typing import Any

from lxml import etree

from scrapy_simhash.page import interstitial
from scrapy_simhash.page.compiled.characters import character
from scrapy_simhash.page.features import facts, weight
from scrapy_simhash.page.features.extract import (
    AGO,
    LONGEST_LABEL,
    LONGEST_VALUE,
    MAX_ABOVE,
    MAX_BOX,
    MAX_FOLLOWING,
    MAX_SHORT_VALUE,
    MAX_WORDS_OF_DATE,
    MIN_BESIDE,
    MIN_TOKENS,
    ROTATING,
)
from scrapy_simhash.page.features.shingles import MIN_PROSE
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.page.fingerprint.facts import MAX_FACTS, MAX_ROWS, MAX_WORDS, WORD_BITS
from scrapy_simhash.page.fingerprint.fold import SCATTER as OCCURRENCE_SCATTER
from scrapy_simhash.page.fingerprint.fold import TIE_MASK
from scrapy_simhash.page.fingerprint.sketch import SCATTER as MARK_SCATTER
from scrapy_simhash.page.language import languages, normalize, stopwords
from scrapy_simhash.page.language.choose import SCRIPTS
from scrapy_simhash.page.language.detect import SAMPLE
from scrapy_simhash.page.language.tokens import MAX_MARKS
from scrapy_simhash.page.pieces import CUT, DOUBTFUL_SHARE, SHORT_TOKENS, WORDED
from scrapy_simhash.page.pieces import MIN_TOKENS as MIN_PIECE
from scrapy_simhash.page.reading import Reading
from scrapy_simhash.page.structured import (
    MAX_ELEMENTS,
    MAX_ITEMS,
    MAX_NAMES,
    MAX_SCRIPTS,
    MAX_VALUE,
    MAX_VALUE_NODES,
    PROPERTIES,
    described,
    is_part,
    structured,
)
from scrapy_simhash.page.text import columns, main_text, outline, tags, title_key
from scrapy_simhash.page.text.document import Zone

#: The compiled text/main_text.py and language/choose.py.
FILTERS = "scrapy_simhash.page.compiled._main_text"
LANGUAGE = "scrapy_simhash.page.compiled._language"
#: Languages with a stopword list, by their number in the C extension; on a tie the first one wins.
LANGUAGES = languages()
#: Zones, by their number in the C extension.
ZONES: tuple[Zone, ...] = ("heading", "body", "offer")

# Bits for tags, above the bits of the region, and bits for words of class attributes, as in page.h.
(
    _KNOWN,
    _UNSEEN,
    _INLINE,
    _HEADING,
    _CLASS_IGNORED,
    _NEVER_HIDDEN,
    _PARAGRAPH,
    _CELL,
    _LINK,
    _BREAK,
    _TITLE,
    _PREFORMATTED,
    _SECTION,
    _ENTRY,
    _SHOWN_BY_ATTRIBUTE,
) = (1 << bit for bit in range(3, 18))
_CHROME, _HEADER, _NEUTRAL, _HIDING, _PART, _NEGATING, _TOOL, _CONTENT, _TEST = (1 << bit for bit in range(9))
# The bits above these hold the number of a boilerplate word.
_WORD_SHIFT, _TAG_WORD_SHIFT = 9, 18


#: The bits of words that are not facts, above the bits of the languages.
_AGO, _ROTATING = 1 << 62, 1 << 63
#: Limits that page.h must have too, in the order in which the C extension checks them.
_LIMITS_OF_FACTS = (
    facts.LONGEST_LINE,
    facts.MAX_LINES,
    facts.LONGEST_HEADING,
    facts.MAX_SEGMENTS,
    facts.FIRST_BLOCKS,
    LONGEST_LABEL,
    LONGEST_VALUE,
    *(
        WORD_BITS,
        MAX_WORDS,
        MAX_FACTS,
        MAX_ROWS,
        facts.MAX_ORDERS,
        facts.MAX_SIGNED,
        facts.MIN_LABELS,
        facts.SENTENCE_SHARE,
        MAX_FOLLOWING,
    ),
)


def definition() -> SimpleNamespace:
    """Return all values that the C extension needs, by name.

    Raises ImportError if :mod:`scrapy_simhash.page.text.main_text` is not compiled, because only the compiled filters
    can read the arrays of the C extension.
    """
    return SimpleNamespace(
        fingerprint=Fingerprint,
        reading=Reading,
        with_structured=_with_structured,
        is_part=is_part,
        limits_of_things=(MAX_NAMES, MAX_SCRIPTS, MAX_ITEMS, MAX_ELEMENTS, MAX_VALUE_NODES, MAX_VALUE),
        with_url=Reading.with_url,
        marked=interstitial.marked,
        few_tokens=interstitial.FEW_TOKENS,
        long_text=facts.LONG_TEXT,
        longer_text=facts.LONGER_TEXT,
        min_number=facts.MIN_NUMBER,
        limits_of_facts=_LIMITS_OF_FACTS,
        dialog=main_text.DIALOG,
        character=character,
        normalize=normalize,
        # The C extension calls this only for text with a digit and the first two characters of a currency.
        currencies=columns.CURRENCIES,
        has_price=lambda text: columns.PRICE.search(text) is not None,
        classify=import_module(FILTERS).classify,
        choose_language=import_module(LANGUAGE).__pyx_capi__["choose"],
        min_prose=MIN_PROSE,
        weight=lambda zone, is_word, count: weight(ZONES[zone], count, is_word),
        tags=_bits(
            {
                _UNSEEN: tags.UNSEEN,
                _INLINE: tags.INLINE,
                _HEADING: tags.HEADINGS,
                _CLASS_IGNORED: tags.CLASS_IGNORED,
                _NEVER_HIDDEN: outline.NEVER_HIDDEN,
                _PARAGRAPH: tags.PARAGRAPHS,
                _CELL: tags.CELLS,
                _LINK: ["a"],
                _BREAK: ["br"],
                _TITLE: ["title"],
                _PREFORMATTED: [outline.PREFORMATTED],
                _SECTION: ["section"],
                _ENTRY: tags.ENTRIES,
                _SHOWN_BY_ATTRIBUTE: tags.SHOWN_BY_ATTRIBUTE,
                **{
                    int(region): [tag for tag, claim in tags.TAG_CLAIM.items() if claim.region == region]
                    for region in tags.Region
                },
                **{place << _TAG_WORD_SHIFT: [tag] for tag, place in tags.TAG_WORD.items()},
            }
        ),
        roles={role: _KNOWN | region for role, region in tags.ROLE_REGION.items()},
        names=_bits(
            {
                _CHROME: tags.CHROME_WORDS,
                _HEADER: tags.HEADER_WORDS,
                _NEUTRAL: tags.NEUTRAL_WORDS,
                _HIDING: tags.HIDDEN_WORDS,
                _PART: tags.PART_WORDS,
                _NEGATING: tags.NEGATING_WORDS,
                _TOOL: tags.CONSENT_TOOLS,
                _CONTENT: tags.CONTENT_WORDS,
                _TEST: interstitial.TESTS,
                **{
                    place << _WORD_SHIFT: [word]
                    for word, place in tags.WORD_PLACES.items()
                    if place != tags.CONSENT
                },
                tags.CONSENT << _WORD_SHIFT: tags.CONSENT_WORDS,
            }
        ),
        things=dict.fromkeys(PROPERTIES, _KNOWN),
        stopwords=_bits(
            {
                **{1 << number: stopwords(code) for number, code in enumerate(LANGUAGES)},
                _AGO: AGO,
                _ROTATING: ROTATING,
            }
        ),
        languages=len(LANGUAGES),
        scripts=[LANGUAGES.index(code) if code in LANGUAGES else -1 for code in SCRIPTS],
        sentence_marks=sorted(columns.SENTENCE_MARKS),
        chrome_names=len(tags.CHROME_NAMES),
        linked=main_text.LINKED,
        worded_reasons=sum(1 << main_text.REASONS.index(reason) for reason in WORDED),
        edge=main_text.EDGE,
        outside=main_text.OUTSIDE,
        links=main_text.LINKS,
        max_in_box=MAX_BOX,
        max_above=MAX_ABOVE,
        max_short_value=MAX_SHORT_VALUE,
        hidden=main_text.HIDDEN,
        chrome=main_text.CHROME,
        prose_tokens=main_text.PROSE_TOKENS,
        max_words_of_date=MAX_WORDS_OF_DATE,
        unread_reasons=sum(1 << reason for reason in (main_text.LINKS, main_text.DIALOG, main_text.HIDDEN)),
        consent=tags.CONSENT,
        unnamed_reasons=sum(1 << main_text.REASONS.index(reason) for reason in title_key.UNNAMED),
        max_marks=MAX_MARKS,
        max_path_depth=outline.MAX_PATH_DEPTH,
        sample=SAMPLE,
        cut=CUT,
        doubtful_share=DOUBTFUL_SHARE,
        min_piece=MIN_PIECE,
        short_piece=SHORT_TOKENS,
        min_tokens=MIN_TOKENS,
        min_beside=MIN_BESIDE,
        tie_mask=TIE_MASK,
        seeds=(randbits(64), randbits(64) | 1),
        occurrence_scatter=OCCURRENCE_SCATTER,
        mark_scatter=MARK_SCATTER,
    )


def _with_structured(
    reading: Reading, root: etree._Element, holds: int, found: tuple[list[Any], ...] | None
) -> Reading:
    """Return *reading* with the structured data that the C extension *found*; if None, find them in pure Python."""
    return reading.with_structured(structured(root, holds) if found is None else described(*found))


def _bits(sets: dict[int, Iterable[str]]) -> dict[str, int]:
    """Return a bit mask for each word; *sets* maps each bit to the words that have it."""
    known: dict[str, int] = {}
    for bit, words in sets.items():
        for word in words:
            known[word] = known.get(word, 0) | bit
    return known
