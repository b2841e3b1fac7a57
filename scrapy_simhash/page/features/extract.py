"""Make the weighted features of a document, and the text for its page hash.

A weight does not depend on the position in the page: a new paragraph at the top must not change other weights.
Weights are integers, so the fold gives the same result on every platform.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, takewhile

from scrapy_simhash.page.features.shingles import selects_prose, shingle, with_stopword
from scrapy_simhash.page.fingerprint.fold import number
from scrapy_simhash.page.language import normalize, stopwords, tokenize
from scrapy_simhash.page.text.columns import DATE
from scrapy_simhash.page.text.document import Document, Paragraph
from scrapy_simhash.page.text.main_text import (
    CHROME,
    DIALOG,
    EDGE,
    HIDDEN,
    LINKED,
    LINKS,
    OUTSIDE,
    PROSE_TOKENS,
    REASONS,
)
from scrapy_simhash.page.text.tags import ENTRIES
from scrapy_simhash.page.text.title_key import unnumbered
from scrapy_simhash.patterns import lazy_pattern

#: Tokens per shingle.
SHINGLE_SIZE = 2

#: Weight of a shingle that occurs once in the body, large enough that rounding errors are below 1 %.
UNIT = 64

#: Constant factors of the zones of a page. Headings have the same weight as text, because otherwise headings that one
#: site adds would make a story and its reprint different. A product block outweighs the description that variants of
#: a product share. The title is not a zone: it often contains the name of the site.
ZONES = {"heading": 1.0, "body": 1.0, "offer": 4.0}

#: Factor of single words. An edit changes fewer words than shingles, but words are less specific: with full weight,
#: different pages of one template would become near-duplicates.
WORD = 0.7

#: Exponent of the count. Repeated features make a fingerprint robust against edits; with an exponent of 1, a few
#: words of a long and repetitive page would decide the fingerprint.
DAMPING = 0.9


@cache
def weight(zone: str, count: int, is_word: bool = False) -> int:
    """Return the weight of a feature that occurs *count* >= 1 times in *zone*.

    >>> weight("body", 1), weight("body", 10), weight("heading", 1), weight("body", 1, is_word=True)
    (64, 508, 64, 45)
    """
    damped: float = count**DAMPING
    return round(UNIT * ZONES[zone] * (WORD if is_word else 1.0) * damped)


def features(document: Document, min_shingles: int = 12) -> dict[str, int]:
    """Return the weight of every feature of *document*; empty for fewer than *min_shingles* shingles.

    Features are single words, and the shingles of `SHINGLE_SIZE` tokens within a paragraph, filtered by
    ``selects_prose``. The order of the dictionary has no meaning. O(tokens).
    """
    runs = [(paragraph.zone, paragraph.tokens) for paragraph in document.main]
    known = stopwords(document.language)
    has_offer = any(zone == "offer" for zone, _ in runs)
    counts = _count(runs, lambda tokens: with_stopword(tokens, SHINGLE_SIZE, known)) if known else {}
    if not selects_prose(bool(known), has_offer, SHINGLE_SIZE, _distinct(counts)):
        counts = _count(runs, lambda tokens: shingle(tokens, SHINGLE_SIZE))
    if _distinct(counts) < min_shingles:
        return {}
    weights: dict[str, int] = {}
    words = _count(runs, lambda tokens: tokens)
    for counters, is_word in ((counts, False), (words, True)):
        for zone, counter in counters.items():
            _add(weights, _weigh(counter, zone, is_word))
    return weights


def shingle_counts(document: Document) -> Counter[str]:
    """Return the occurrences of each shingle of the main text, with or without stopwords, for the sketch."""
    return Counter(chain.from_iterable([shingle(part.tokens, SHINGLE_SIZE) for part in document.main]))


def _count(
    runs: Sequence[tuple[str, Sequence[str]]], features_of: Callable[[Sequence[str]], Iterable[str]]
) -> dict[str, Counter[str]]:
    """Return the counts of features by zone."""
    found: dict[str, list[Iterable[str]]] = {}
    for zone, tokens in runs:
        found.setdefault(zone, []).append(features_of(tokens))
    return {zone: Counter(chain.from_iterable(parts)) for zone, parts in found.items()}


def _weigh(counts: Counter[str], zone: str, is_word: bool) -> dict[str, int]:
    """Return the weight of every feature of one zone."""
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


_CHROME, _OUTSIDE, _LINKS, _EDGE, _DIALOG, _HIDDEN = (
    REASONS[reason] for reason in (CHROME, OUTSIDE, LINKS, EDGE, DIALOG, HIDDEN)
)
_COPYRIGHT = "\N{COPYRIGHT SIGN}"
#: Max paragraphs of a box beside the article, for its lines to count for the page hash.
MAX_BOX = 16
#: Max tokens of a value without a number, after a colon in a sidebar.
MAX_SHORT_VALUE = 2
# Times with seconds, which programs generate.
_TIME = lazy_pattern("[0-9]:[0-9][0-9]:[0-9][0-9]")
#: Tags whose text counts even within elements with boilerplate class names.
STATING = ENTRIES - {"li"} | {"address", "figcaption"}
#: Max words beside the numbers of a date: the month, the day of the week, a room.
MAX_WORDS_OF_DATE = 3
#: First words of lines, and words of labels, that show the date, the author, an id or the views of a page. Such lines
#: change when the page is posted again.
ROTATING = frozenset(
    "copyright written posted published updated modified modification edited created added submitted listed changed"
    " reviewed retrieved accessed printed last by"
    " author views view visits hits reads comments likes share shares votes downloads replies id ref reference ad"
    " advert posting listing"
    " veröffentlicht aktualisiert geändert abgerufen gedruckt stand erstellt eingestellt von autor aufrufe kommentare"
    " ansichten teilen anzeige publié modifié mis par auteur vues mise commentaires partager partages référence"
    " annonce publicado actualizado modificado actualización por autor vistas visitas comentarios compartir anuncio"
    " referencia atualizado atualização visualizações comentários pubblicato aggiornato aggiornamento da"
    " autore visite commenti geplaatst bijgewerkt door auteur reacties publicerad uppdaterad av visningar kommentarer"
    " opublikowano zaktualizowano aktualizacja autor wyświetleń komentarze udostępnij"
    " опубликовано обновлено автор просмотров комментариев"
    " نشر نشرت تحديث بواسطة الكاتب مشاهدة مشاهدات المشاهدات تعليقات مشاركة"
    # Bigrams, as the tokenizer returns them.
    " 投稿 更新 公開 掲載 閲覧 著者 シェ 发布 發布 阅读 閱讀 浏览 瀏覽 作者 评论 評論 分享".split()
)
#: Last words of lines that say how long ago something happened.
AGO = frozenset("ago geleden sedan siden temu fa назад önce".split())
#: Max lines and headings directly after the main text that belong to it, such as the date and the place of an event.
MAX_FOLLOWING = 6
#: Max tokens of a label, and of the value of a row.
LONGEST_LABEL, LONGEST_VALUE = 4, 8
#: A label and a colon.
_LABELLED = lazy_pattern(r"([^:,0-9]{2,40}): ")
# The tags around a request to enable JavaScript, and around content that a click opens.
_NOSCRIPT, _DETAILS = "noscript", "details"


def compared(document: Document) -> list[int]:
    """Return the indices of the paragraphs of *document* that count for the page hash, in order.

    These are the main text, and in the article (:attr:`~scrapy_simhash.page.text.Paragraph.in_article`):

    - hidden text, such as a tab; cells, terms and captions;
    - before the end of the main text, every line except boilerplate, lines of mostly links, and bylines (a date and
      other words);
    - between the title and the first sentences, also lines without links that are boilerplate by their class names;
    - after the main text, values of rows, entries of a list that are not bylines, content that a click opens, and
      lines without links or counts directly after it.

    Also included are each ``h1`` at the edge of the main text, paragraphs that may be the last of the main text (in
    the same element as its first or last paragraph), a date directly above the title, links at the title, the lines
    of `boxes`, and values of rows in sidebars. Outside the main text, lines with a time in seconds do not count, nor
    do headings after it, except in boxes. O(characters).

    Other text after the main text or outside the article usually changes by itself; ``benchmarks/unchanged.py``
    measures this.
    """
    paragraphs = document.paragraphs
    main = [place for place, paragraph in enumerate(paragraphs) if paragraph.boilerplate is None]
    known = stopwords(document.language)
    ends = {paragraphs[place].path.rpartition("/")[0] for place in (*main[:1], *main[-1:])}
    last = max(main, default=-1)
    title = next(
        (place for place, paragraph in enumerate(paragraphs) if is_title(paragraph)), len(paragraphs)
    )
    first = next((place for place in main if place > title and is_long(paragraphs[place])), -1)
    beside = {place for box in boxes(paragraphs) for place in box}
    below = range(last + 1, min(last + 1 + MAX_FOLLOWING, len(paragraphs)))
    following = takewhile(lambda place: _may_follow(paragraphs[place]), below)
    stated = beside | {place for place in following if paragraphs[place].zone != "heading"}
    return [
        place
        for place, paragraph in enumerate(paragraphs)
        if paragraph.boilerplate is None
        or (place in stated and _is_stated(paragraphs, place, known))
        or _is_row_beside(paragraphs, place)
        or (is_date_above(paragraphs, place, title) and _is_steady(paragraph))
        or is_link_at_title(paragraphs, place, title, first)
        or (paragraph.boilerplate == _HIDDEN and paragraph.in_article)
        or (paragraph.boilerplate == _EDGE and paragraph.path.endswith("/h1"))
        or (place < last and _may_state(paragraph, title < place < first, known))
        or (place > last and _may_be_last(paragraphs, place, ends, known))
    ]


def boxes(paragraphs: Sequence[Paragraph]) -> Iterator[range]:
    """Yield the boxes beside the article: runs of at most `MAX_BOX` paragraphs without sentences and with few links.

    A box shows, for example, the date and place of an event. A list of other pages has more links. O(paragraphs).
    """
    start = 0
    for place in range(len(paragraphs) + 1):
        if place < len(paragraphs) and _is_beside_article(paragraphs[place]):
            continue
        if 0 < place - start <= MAX_BOX:
            box = paragraphs[start:place]
            links = sum(paragraph.link_density > 0 for paragraph in box)
            if 3 * links <= len(box) and not any(map(is_long, box)):
                yield range(start, place)
        start = place + 1


def _is_beside_article(paragraph: Paragraph) -> bool:
    return paragraph.boilerplate in (_OUTSIDE, _EDGE, _LINKS) and not paragraph.in_article


def _may_follow(paragraph: Paragraph) -> bool:
    """Return whether a paragraph after the main text is a line of the article, or its heading, such as *Where*.

    A line has no link and no count: counts, such as the number of comments, differ at each visit. A number is allowed
    only in a line with a date.
    """
    if paragraph.boilerplate not in (_OUTSIDE, _EDGE) or not paragraph.in_article:
        return False
    tokens = paragraph.tokens
    if paragraph.link_density or is_long(paragraph):
        return False
    if paragraph.zone == "heading" and len(tokens) > LONGEST_LABEL:
        return False
    has_number = any(token.isdecimal() for token in tokens)
    return ROTATING.isdisjoint(tokens) and (not has_number or DATE.search(paragraph.text) is not None)


def _is_row_beside(paragraphs: Sequence[Paragraph], place: int) -> bool:
    """Return whether a paragraph beside the article is a value in a table, in a list of terms, or after a colon.

    *Beside* means in a sidebar, known by its name, or in another element outside the article. A value after a colon
    must be short or have a number, because headlines also have colons.
    """
    paragraph = paragraphs[place]
    if paragraph.boilerplate != _CHROME and not _is_beside_article(paragraph):
        return False
    if paragraph.link_density > 0 or paragraph.zone == "heading":
        return False
    label, value = row(paragraphs, place)
    is_after_colon = len(value) < len(paragraph.tokens)
    is_short = len(value) <= MAX_SHORT_VALUE or any(word.isdecimal() for word in value)
    is_value = paragraph.path.rpartition("/")[2] in ("dd", "td") or (is_after_colon and is_short)
    return len(label) > 0 and is_value and ROTATING.isdisjoint(label) and _is_steady(paragraph)


def _is_stated(paragraphs: Sequence[Paragraph], place: int, known: frozenset[str]) -> bool:
    """Return whether a paragraph of a box can contain facts.

    A cell without a label may be there only for the layout, and may contain the title of the next page.
    """
    paragraph = paragraphs[place]
    if paragraph.link_density > 0 or _COPYRIGHT in paragraph.text:
        return False
    if paragraph.path.rpartition("/")[2] in ("td", "th") and not row(paragraphs, place)[0]:
        return False
    return not is_byline(paragraph, known) and _is_steady(paragraph)


# Tags around text that does not describe the page.
_OF_SITE = frozenset(("nav", "footer"))
#: Max distance, in paragraphs, from the title to a date or line above it, or to a link above or below it.
MAX_ABOVE = 2


def is_date_above(paragraphs: Sequence[Paragraph], place: int, title: int) -> bool:
    """Return whether a paragraph is a date directly above the *title*, with a year or a time, or such as *5 Mar*."""
    paragraph = paragraphs[place]
    if not title - MAX_ABOVE <= place < title < len(paragraphs) or paragraph.zone == "heading":
        return False
    if paragraph.boilerplate in (_LINKS, _DIALOG, _HIDDEN) or paragraph.link_density > 0:
        return False
    if _COPYRIGHT in paragraph.text or not _OF_SITE.isdisjoint(paragraph.path.split("/")):
        return False
    tokens = paragraph.tokens
    if len(tokens) > MAX_WORDS_OF_DATE + 4 or not ROTATING.isdisjoint(tokens):
        return False
    days = sum(token.isdecimal() and len(token) <= 2 for token in tokens)
    return DATE.search(paragraph.text) is not None or (len(tokens) == 2 and days == 1)


def is_line_above(paragraphs: Sequence[Paragraph], place: int, title: int) -> bool:
    """Return whether a paragraph is a line of the article directly above the *title*, such as an employer.

    Excludes lines with a number, which is often the version of a manual, and lines of more than `LONGEST_VALUE`
    tokens, such as a link to the latest version.
    """
    if not title - MAX_ABOVE <= place < title < len(paragraphs) or not paragraphs[place].in_article:
        return False
    tokens = paragraphs[place].tokens
    return len(tokens) <= LONGEST_VALUE and not any(token.isdecimal() for token in tokens)


def is_link_at_title(paragraphs: Sequence[Paragraph], place: int, title: int, first: int) -> bool:
    """Return whether a paragraph of the article is a short link directly above or below the *title*.

    A short link has at most `LONGEST_VALUE` tokens, and no number unless it has a comma and no date, as an address.
    *first* is the index of the first sentence after the title, -1 if there is none. A link below the title must be
    before that sentence.
    """
    paragraph = paragraphs[place]
    if paragraph.link_density < LINKED or not paragraph.in_article or title >= len(paragraphs):
        return False
    if paragraph.boilerplate in (_HIDDEN, _DIALOG, _CHROME):
        return False
    is_near = title - MAX_ABOVE <= place < title or title < place <= min(title + MAX_ABOVE, first - 1)
    tokens = paragraph.tokens
    has_number = any(token.isdecimal() for token in tokens)
    may_be_address = ", " in paragraph.text and DATE.search(paragraph.text) is None
    is_short = len(tokens) <= LONGEST_VALUE and (not has_number or may_be_address)
    return is_near and is_short and ROTATING.isdisjoint(tokens)


def is_title(paragraph: Paragraph) -> bool:
    """Return whether a paragraph is a visible heading of the first level."""
    return paragraph.path.endswith("/h1") and paragraph.boilerplate != _HIDDEN


def is_long(paragraph: Paragraph) -> bool:
    """Return whether a paragraph is long enough to be a sentence."""
    return paragraph.zone != "heading" and len(paragraph.tokens) >= PROSE_TOKENS


def _may_state(paragraph: Paragraph, is_below_title: bool, known: frozenset[str]) -> bool:
    """Return whether a paragraph before the end of the main text, but not part of it, is a line of the article."""
    *around, tag = paragraph.path.split("/")
    if paragraph.boilerplate in (_LINKS, _DIALOG, _HIDDEN) or not paragraph.in_article:
        return False
    if tag in STATING:
        return _is_steady(paragraph)
    if paragraph.boilerplate == _CHROME:
        # A request to enable JavaScript may appear only on some visits.
        is_noscript = tag == _NOSCRIPT or _NOSCRIPT in around
        if not is_below_title or paragraph.link_density > 0 or is_noscript:
            return False
    return not is_byline(paragraph, known) and _is_steady(paragraph)


def _may_be_last(paragraphs: Sequence[Paragraph], place: int, ends: set[str], known: frozenset[str]) -> bool:
    """Return whether a paragraph after the main text belongs to it or to the article."""
    paragraph = paragraphs[place]
    if paragraph.zone == "heading" or paragraph.boilerplate in (_LINKS, _DIALOG, _HIDDEN):
        return False
    *around, tag = paragraph.path.split("/")
    if paragraph.in_article and (tag in STATING or tag == _DETAILS or _DETAILS in around):
        return _is_steady(paragraph)
    if paragraph.boilerplate == _EDGE and (tag in ENTRIES or "/".join(around) in ends):
        return _is_steady(paragraph)
    if not paragraph.in_article or paragraph.boilerplate == _CHROME:
        return False
    label, _ = row(paragraphs, place)
    is_item = tag in ENTRIES or (len(label) > 0 and ROTATING.isdisjoint(label))
    return is_item and not is_byline(paragraph, known) and _is_steady(paragraph)


def is_byline(paragraph: Paragraph, known: frozenset[str]) -> bool:
    """Return whether a line has a date and other words, including a rotating word such as "views".

    A rotating word that is one of the *known* stopwords counts only at the beginning of the line, because the line of
    an event may contain *by* or *von*.
    """
    tokens = paragraph.tokens
    words = sum(not token.isdecimal() for token in tokens)
    return (
        words > MAX_WORDS_OF_DATE
        and any(token in ROTATING and (not place or token not in known) for place, token in enumerate(tokens))
        and DATE.search(paragraph.text) is not None
    )


def _is_steady(paragraph: Paragraph) -> bool:
    return paragraph.link_density < LINKED and _TIME.search(paragraph.text) is None


def row(parts: Sequence[Paragraph], place: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens of the label and of the value of a row; a line without a label has only a value."""
    part = parts[place]
    if found := _LABELLED.match(part.text):
        label = tuple(tokenize(normalize(found[1])))
        value = part.tokens[len(label) :]
        if _fits(label, value):
            return label, value
    if place and _is_beside(parts, place) and _fits(parts[place - 1].tokens, part.tokens):
        return parts[place - 1].tokens, part.tokens
    return (), unnumbered(part.text, part.tokens)


def _is_beside(parts: Sequence[Paragraph], place: int) -> bool:
    """Return whether the previous paragraph is the label of this one, in a row of two or in a list of terms."""
    before, part = parts[place - 1], parts[place]
    tag, label_tag = part.path.rpartition("/")[2], before.path.rpartition("/")[2]
    if before.zone == "heading" or tag == "li":
        return False
    if (label_tag, tag) == ("dt", "dd"):
        return True
    if part.container < 0 or part.container != before.container:
        return False
    around = [parts[k].container for k in (place - 2, place + 1) if 0 <= k < len(parts)]
    return part.container not in around


def _fits(label: Sequence[str], value: Sequence[str]) -> bool:
    is_label = 0 < len(label) <= LONGEST_LABEL and not all(word.isdecimal() for word in label)
    return is_label and 0 < len(value) <= LONGEST_VALUE


#: Min tokens of main text of a page that is compared without a fingerprint.
MIN_TOKENS = 3
#: Min tokens of main text if more text is outside it, because "Scroll to top" or a copyright line does not identify a
#: page.
MIN_BESIDE = 12


def whole_text(document: Document) -> str:
    """Return the title and the paragraphs that `compared` selects, as one text.

    White space and paragraph breaks make no difference; all other characters do. O(characters).
    """
    text = " ".join(document.paragraphs[place].text for place in compared(document))
    return f"{document.title}\n{text}"


def titled_text(document: Document) -> str:
    """Return the title and the main text, without the other lines that `compared` selects.

    O(characters).
    """
    return f"{document.title}\n{' '.join([paragraph.text for paragraph in document.main])}"


def with_offer(page_hash: int | None, offer: str) -> int | None:
    """Return *page_hash* combined with the price in structured data, the *offer*; None if *page_hash* is None.

    >>> with_offer(number("A kettle"), "price 19") == with_offer(number("A kettle"), "price 21")
    False
    """
    return page_hash ^ number(offer) if page_hash is not None and offer else page_hash


def has_some_text(document: Document) -> bool:
    """Return whether there are ``MIN_TOKENS`` tokens of main text. Pages without text are not compared."""
    return sum(len(paragraph.tokens) for paragraph in document.main) >= MIN_TOKENS


def has_little_text(document: Document) -> bool:
    """Return whether the main text has fewer than ``MIN_BESIDE`` tokens, and more tokens are outside it."""
    kept = sum(len(paragraph.tokens) for paragraph in document.main)
    return kept < MIN_BESIDE and 2 * kept < sum(len(paragraph.tokens) for paragraph in document.paragraphs)
