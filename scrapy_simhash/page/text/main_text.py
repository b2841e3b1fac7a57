# cython: language_level=3, infer_types=True, boundscheck=False, wraparound=False, initializedcheck=False
"""Find the blocks of the main text, first by structure, then by density, with a reason for every removed block.

The text should stay the same when the template around it changes. The filters, in order:

1. ``dialog``: a box over the page, such as a consent box. ``chrome``: elements whose names mean navigation, footer,
   sidebar, advertisement and so on.
2. ``outside``: text outside the marked main text; without a mark, outside the smallest element with nearly all prose
   and the main heading (without a heading, with all prose), unless the links outside it have more text.
3. ``inset``: line numbers of code. ``links``: blocks that are mostly links, in a row or at either end.
4. ``edge``: text before the title, if the page has a single heading of the first level.
5. ``outside``: text after the element that directly contains most of the prose, and short texts before it, such as
   teasers, biographies and comments; also a list of entries after an article, at most half as long as it: two or more
   entries with the same path that begin with a linked heading, a linked picture or a short line with a date.
6. ``edge`` and ``inset``: text around and between the paragraphs of an article, recognised by its place. Steps 5 and
   6 do not apply to short texts and to pages with a price outside sentences.
7. If only a handful of words is left, and the removed links have far more, blocks removed as ``links`` and
   ``outside`` are restored. If no words are left, or only a handful beside a hidden article, blocks removed as
   ``hidden`` are restored, and finally those removed as ``chrome``.

The smallest element that contains the main text and the title is the *article*: a change in the article is a change
of the page.
"""

# Cython also compiles this file, with the types in compiled/_main_text.pxd. In the compiled version, a column is a C
# array, which has no length and can only be accessed by index.
from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_simhash.page.text.tags import CHROME_NAMES, CONSENT, Region

if TYPE_CHECKING:
    # The stub of this module has the Columns of text/columns.py; the compiled file uses the Columns of the kernel.
    from scrapy_simhash.kernel._native import Columns

#: Reasons to remove a block. ``Columns.reasons`` has their numbers.
REASONS = (None, "chrome", "outside", "links", "edge", "inset", "dialog", "hidden")
KEPT, CHROME, OUTSIDE, LINKS, EDGE, INSET, DIALOG, HIDDEN = range(len(REASONS))

MAIN_REGION = int(Region.MAIN)
HEADER_REGION = int(Region.HEADER)
LIKELY_CHROME_REGION = int(Region.LIKELY_CHROME)
CHROME_REGION = int(Region.CHROME)
DIALOG_REGION = int(Region.DIALOG)
#: Number of words for boilerplate, plus one for no such word.
WORDS = len(CHROME_NAMES) + 1
#: The word for boxes over the page.
BOX = CONSENT
#: Max characters of a box over the page; a longer text is the page itself.
LONGEST_BOX = 5_000
#: Max boxes over a page; more boxes are part of the content, such as cards about cookies.
MAX_BOXES = 4

#: Min share of characters in links for a block to be a link.
LINKED = 0.7
#: Min tokens of prose, and min share of stopwords.
PROSE_TOKENS = 12
PROSE_DENSITY = 0.15
#: Min tokens of prose without a stopword list and without punctuation that ends a sentence.
LONG_TOKENS = 40

#: Min consecutive numbers in a block for it to be the line numbers of code.
MIN_COUNTING = 3
#: An element with more than this share of the text outside links is not boilerplate, whatever its name; for tags such
#: as ``nav``, the share is of all text.
CHROME_LIMIT = 0.5
#: A class name or id is ignored if all elements with it together have this share of the prose, and little other text
#: is left: some sites call everything a ``widget``, and in a forum each post is a ``comment``.
WORD_SHARE = 0.8
MIN_ARTICLE = 600
#: The class name or id of an element in marked main text is also ignored if the element has this share of the main
#: text (a theme may call its article ``share``). If the main text is short, the share is WORD_SHARE.
MARKED_SHARE = 0.6
#: The class name or id of an element is also ignored if the element has the title and this share of the prose, even
#: if the comments of the page have more. Less text follows the title of a cookie dialog.
HEADED_SHARE = 0.3
#: Min share of the remaining prose in marked main text; otherwise the mark is ignored.
MAIN_SHARE = 0.4
#: If several marked texts have enough prose, the first with this share of the longest is used, because an article may
#: be followed by other stories.
FIRST_SHARE = 0.5
#: Min share of the prose in the element that is used if no main text is marked.
DOMINANT_SHARE = 0.85
#: Min share of the prose directly in one element, the body of an article, and min share of prose in all text.
BODY_SHARE = 0.6
MIN_PROSE = 0.5
#: Max share of the prose in elements with the same path outside the body; with a larger share, these are posts of a
#: thread.
MAX_BESIDE = 0.05
#: Min entries with the same path in a list.
MIN_ENTRIES = 2
#: Min share of the prose before the entries that must be directly in one element; otherwise there is no article.
ARTICLE_SHARE = 0.5
#: Max length of the entries as a share of the article; otherwise the article is an introduction to the list.
MAX_AFTER = 0.5
#: Min share of the text that must follow a title, for the text before the title to be removed.
TITLED_SHARE = 0.7
#: Min links in a row that are removed between text; fewer links are a "see also" in an article.
LINK_ROW = 3

#: Max characters of a block with a price in a product block, and of a block with a date that begins an entry; longer
#: blocks are sentences.
OFFER_LENGTH = 60
#: Max characters of prose on a page with a product block; a longer page is an article with advertised products.
LONGEST_DESCRIPTION = 2_000
#: Min share of prose of an article, for the text around its sentences to be removed.
PROSE_SHARE = 0.6
#: Min tokens of prose on a page whose blocks are removed by their place, because a single paragraph may be a
#: biography.
MIN_ARTICLE_PROSE = 80
#: With fewer tokens of main text than this, removed blocks may be restored.
MIN_MAIN_TOKENS = 12
#: Links are restored if they have more than this multiple of the tokens of main text.
MAX_LINKS_RATIO = 3
#: Max characters of a block that is removed as ``inset``.
INSET_LENGTH = 250


def classify(page: Columns) -> None:
    """Mark links, prose and product block of *page*, and set the reason for each removed block. O(blocks + spans)."""
    _find_links_and_prose(page)
    _remove_dialogs(page)
    _remove_chrome(page)
    if not _keep_marked_main(page):
        _keep_dominant(page)
    _remove_link_rows(page)
    _remove_before_title(page)
    if not _find_offer(page):
        _keep_body(page)
        _remove_entries(page)
        _remove_boilerplate(page)
    _restore_removed(page)
    _find_article(page)


def _kept_length(page: Columns) -> int:
    """Return the number of characters in blocks that are kept."""
    length = 0
    for i in range(page.blocks):
        if page.reasons[i] == KEPT:
            length += page.lengths[i]
    return length


def _list_kept(page: Columns) -> int:
    """Fill ``page.places`` with the blocks that are kept, and return their number."""
    kept = 0
    for i in range(page.blocks):
        if page.reasons[i] == KEPT:
            page.places[kept] = i
            kept += 1
    return kept


def _restore_removed(page: Columns) -> None:
    """Restore removed blocks if almost nothing is left, such as "Scroll to top"."""
    tokens = linked = 0
    for i in range(page.blocks):
        if page.reasons[i] == KEPT:
            tokens += page.tokens[i]
        elif page.is_link[i] and (page.reasons[i] == LINKS or page.reasons[i] == OUTSIDE):
            linked += page.tokens[i]
    if tokens >= MIN_MAIN_TOKENS:
        return
    if linked > MAX_LINKS_RATIO * tokens:
        for i in range(page.blocks):
            if page.reasons[i] == LINKS or page.reasons[i] == OUTSIDE:
                page.reasons[i] = KEPT
        tokens += linked
    # A script may show the page only after loading; until then only a few words are visible.
    if tokens < MIN_MAIN_TOKENS and _hidden_length(page) >= MIN_ARTICLE:
        _restore_hidden(page)
    # Restore everything only if nothing is left; otherwise all short pages of a site would have the same text, their
    # navigation. Restore nothing if there is a dialog, because the page itself may be loaded after the dialog.
    dialogs = 0
    for i in range(page.blocks):
        dialogs += page.reasons[i] == DIALOG
    if _kept_length(page) == 0 and dialogs == 0:
        for i in range(page.blocks):
            if page.reasons[i] != HIDDEN:
                page.reasons[i] = KEPT
    if _kept_length(page) == 0:
        _restore_hidden(page)


def _restore_hidden(page: Columns) -> None:
    """Restore hidden blocks except menus."""
    for i in range(page.blocks):
        if page.reasons[i] == HIDDEN and not page.is_link[i]:
            page.reasons[i] = KEPT


def _hidden_length(page: Columns) -> int:
    """Return the number of hidden characters outside links."""
    length = 0
    for i in range(page.blocks):
        if page.reasons[i] == HIDDEN:
            length += page.lengths[i] - page.link_lengths[i]
    return length


def _find_article(page: Columns) -> None:
    """Mark the blocks of the article: the smallest element that contains the main text and its title."""
    first = last = -1
    for i in range(page.blocks):
        if page.reasons[i] == KEPT or (
            page.is_h1[i] and (page.reasons[i] == EDGE or page.reasons[i] == OUTSIDE)
        ):
            last = i
            if first < 0:
                first = i
    # The span that starts last is the smallest.
    start = stop = 0
    for span in page.spans[: page.span_count]:
        if span.start <= first and last < span.stop:
            start = span.start
            stop = span.stop
    for i in range(start, stop):
        page.is_inside[i] = True


def _find_links_and_prose(page: Columns) -> None:
    """Mark blocks that are mostly links, and blocks of sentences.

    A heading of the first level does not count as a link, because it may link to the page itself. If the language has
    no stopword list, punctuation that ends sentences is used instead of stopwords.
    """
    for i in range(page.blocks):
        page.is_link[i] = page.link_lengths[i] >= LINKED * page.lengths[i] and not page.is_h1[i]
        if page.tokens[i] >= MIN_COUNTING and (page.is_paragraph[i] or page.is_cell[i]) and page.counts_up(i):
            page.reasons[i] = INSET
        if page.tokens[i] < PROSE_TOKENS or page.is_heading[i] or page.is_link[i]:
            continue
        if page.has_stopwords:
            page.is_prose[i] = page.stopwords[i] / page.tokens[i] >= PROSE_DENSITY
        else:
            page.is_prose[i] = page.tokens[i] >= LONG_TOKENS or page.has_sentence_mark(i)


def _sum_up(page: Columns) -> int:
    """Fill ``page.sums`` with running sums of the kept characters outside links, and return the last sum.

    So a span has ``sums[span.stop] - sums[span.start]`` characters.
    """
    total = 0
    for i in range(page.blocks):
        page.sums[i] = total
        if page.reasons[i] == KEPT:
            total += page.lengths[i] - page.link_lengths[i]
    page.sums[page.blocks] = total
    return total


def _remove_dialogs(page: Columns) -> None:
    """Remove boxes over the page, which then do not count as prose."""
    boxes = 0
    stop = 0
    for span in page.spans[: page.span_count]:
        if span.region == DIALOG_REGION:
            for i in range(span.start, span.stop):
                page.reasons[i] = DIALOG
                page.is_prose[i] = False
        # Count only the outermost of nested boxes.
        elif span.region == LIKELY_CHROME_REGION and span.word == BOX and span.start >= stop:
            boxes += 1
            stop = span.stop
    if boxes == 0 or boxes > MAX_BOXES:
        return
    stop = 0
    for span in page.spans[: page.span_count]:
        if span.region == LIKELY_CHROME_REGION and span.word == BOX and span.start >= stop:
            stop = span.stop
            if _is_box(page, span.start, span.stop):
                for i in range(span.start, span.stop):
                    page.reasons[i] = DIALOG
                    page.is_prose[i] = False


def _is_box(page: Columns, start: int, stop: int) -> bool:
    """Return whether an element that looks like a consent box is short and does not contain the only title."""
    length = inside = outside = 0
    for i in range(page.blocks):
        if page.reasons[i] == HIDDEN or page.reasons[i] == DIALOG:
            continue
        if start <= i < stop:
            length += page.lengths[i] - page.link_lengths[i]
            inside += page.is_h1[i]
        else:
            outside += page.is_h1[i]
    return length <= LONGEST_BOX and (outside > 0 or inside == 0)


def _remove_chrome(page: Columns) -> None:
    whole = 0
    for i in range(page.blocks):
        if page.reasons[i] != DIALOG and page.reasons[i] != HIDDEN:
            whole += page.lengths[i]
    # For tags, the share is of all text, because on a page of links a footer may contain the only sentence.
    limit_by_tag: float = CHROME_LIMIT * whole
    prose = _sum_up_words(page)
    most_by_word: float = max(WORD_SHARE * prose, prose - MIN_ARTICLE)
    titled: float = HEADED_SHARE * prose
    limit: float = CHROME_LIMIT * _sum_up(page)
    heading = -1
    for i in range(page.blocks):
        if page.is_h1[i] and page.reasons[i] != HIDDEN:
            heading = i
            break
    main_stop = -1
    chrome_stop = -1
    # The end of the innermost marked main text.
    marked_stop = -1
    marked = 0
    for span in page.spans[: page.span_count]:
        if span.region == MAIN_REGION:
            main_stop = max(main_stop, span.stop)
            marked_stop = span.stop
            marked = page.sums[span.stop] - page.sums[span.start]
            continue
        if span.start < chrome_stop:
            continue
        if span.region == HEADER_REGION:
            if span.start < main_stop:
                continue
        elif span.region != CHROME_REGION and span.region != LIKELY_CHROME_REGION:
            continue
        if span.word > 0 and page.held[span.word] >= most_by_word > 0:
            continue
        held = page.sums[span.stop] - page.sums[span.start]
        if held > (limit_by_tag if span.region == CHROME_REGION else limit):
            continue
        share: float = MARKED_SHARE if marked >= MIN_ARTICLE else WORD_SHARE
        if span.region == LIKELY_CHROME_REGION and span.stop <= marked_stop and held >= share * marked > 0:
            continue
        if (
            span.region == LIKELY_CHROME_REGION
            and span.start <= heading < span.stop
            and held >= max(titled, MIN_ARTICLE)
        ):
            continue
        for i in range(span.start, span.stop):
            if page.reasons[i] != DIALOG:
                page.reasons[i] = CHROME
        chrome_stop = span.stop


def _sum_up_words(page: Columns) -> int:
    """Count the characters of prose in elements with each word in ``page.held``; return those of the whole page.

    Links do not count.
    """
    total = 0
    for i in range(page.blocks):
        page.sums[i] = total
        if page.is_prose[i]:
            total += page.lengths[i] - page.link_lengths[i]
    page.sums[page.blocks] = total
    # On a page with little prose, all text counts.
    if total < MIN_ARTICLE:
        total = _sum_up(page)
    for word in range(WORDS):
        page.held[word] = page.stops[word] = 0
    for span in page.spans[: page.span_count]:
        # Count only the outermost of nested elements.
        if span.region == LIKELY_CHROME_REGION and span.start >= page.stops[span.word]:
            page.held[span.word] += page.sums[span.stop] - page.sums[span.start]
            page.stops[span.word] = span.stop
    return total


def _keep_marked_main(page: Columns) -> bool:
    """Remove blocks outside the marked main text; return whether a marked main text has enough prose."""
    least: float = MAIN_SHARE * _sum_up(page)
    most = 0
    for span in page.spans[: page.span_count]:
        if span.region == MAIN_REGION:
            most = max(most, page.sums[span.stop] - page.sums[span.start])
    if most == 0:
        return False
    for i in range(page.blocks):
        page.marks[i] = 0
    # If the largest marked text is large enough, keep the first of about its size; otherwise keep all.
    least_first: float = min(most, max(least, FIRST_SHARE * most))
    for span in page.spans[: page.span_count]:
        held = page.sums[span.stop] - page.sums[span.start]
        if span.region != MAIN_REGION or held == 0 or (most >= least and held < least_first):
            continue
        for i in range(span.start, span.stop):
            page.marks[i] = 1
        if most >= least:
            break
    inside = 0
    for i in range(page.blocks):
        if page.marks[i]:
            inside += page.sums[i + 1] - page.sums[i]
    if inside < least:
        return False
    for i in range(page.blocks):
        if not page.marks[i] and page.reasons[i] == KEPT:
            page.reasons[i] = OUTSIDE
    return True


def _keep_dominant(page: Columns) -> None:
    """Remove blocks outside the smallest element that contains nearly all prose and the main heading.

    Without a heading, this element contains all prose, because in a table or list the sentences of the page may be in
    a different cell than a long notice.
    """
    least: float = DOMINANT_SHARE * _sum_up(page)
    if least <= 0:
        return
    first = last = _main_heading(page)
    if first < 0:
        for i in range(page.blocks):
            if page.reasons[i] == KEPT and page.is_prose[i]:
                last = i
                if first < 0:
                    first = i
    start = stop = -1
    has_all = False
    # Two spans that each have more than half are nested, so the span that starts last is the smallest.
    for span in page.spans[: page.span_count]:
        if page.sums[span.stop] - page.sums[span.start] < least:
            continue
        if span.start <= first and last < span.stop:
            has_all = True
        elif has_all:
            continue
        start = span.start
        stop = span.stop
    if stop < 0:
        return
    # On a page of links, this element may be only a line above the links, or an imprint below them.
    inside = outside = 0
    for i in range(page.blocks):
        if page.reasons[i] == KEPT:
            if start <= i < stop:
                inside += page.lengths[i]
            elif page.is_link[i]:
                outside += page.lengths[i]
    if outside > inside:
        return
    for i in range(page.blocks):
        if page.reasons[i] == KEPT and not start <= i < stop:
            page.reasons[i] = OUTSIDE


def _main_heading(page: Columns) -> int:
    """Return the first of the highest headings that are kept and are not links; -1 for none."""
    best = -1
    for i in range(page.blocks):
        if page.reasons[i] != KEPT or not page.is_heading[i] or page.is_link[i]:
            continue
        if best < 0 or page.ranks[i] < page.ranks[best]:
            best = i
    return best


def _remove_link_rows(page: Columns) -> None:
    kept = _list_kept(page)
    length = _kept_length(page)
    for i in range(page.blocks):
        page.marks[i] = 0
    in_rows = 0
    start = 0
    while start < kept:
        is_link = page.is_link[page.places[start]]
        stop = start + 1
        while stop < kept and page.is_link[page.places[stop]] == is_link:
            stop += 1
        if is_link and (start == 0 or stop == kept or stop - start >= LINK_ROW):
            for k in range(start, stop):
                page.marks[page.places[k]] = 1
                in_rows += page.lengths[page.places[k]]
        start = stop
    # If the links have more text than the rest, the links are the content: a table of contents, or a list of stories.
    if in_rows > length - in_rows:
        return
    for i in range(page.blocks):
        if page.marks[i]:
            page.reasons[i] = LINKS


def _remove_before_title(page: Columns) -> None:
    """Remove blocks before the only heading of the first level if at least TITLED_SHARE of the text follows it."""
    total = _sum_up(page)
    title = -1
    for i in range(page.blocks):
        if page.is_h1[i] and page.reasons[i] == KEPT:
            if title >= 0:
                return
            title = i
    if title < 0 or total - page.sums[title] < TITLED_SHARE * total:
        return
    for i in range(title):
        if page.reasons[i] == KEPT:
            page.reasons[i] = EDGE


def _find_offer(page: Columns) -> bool:
    """Mark the kept blocks that are the product block of the page: the first heading and every price.

    A page has a product block if a price is outside its sentences, and its prose is not too long for a description.
    """
    prose = 0
    heading = -1
    for i in range(page.blocks):
        if page.reasons[i] != KEPT:
            continue
        if page.is_prose[i]:
            prose += page.lengths[i]
        if heading < 0 and page.is_heading[i]:
            heading = i
    if prose > LONGEST_DESCRIPTION:
        return False
    has_price = False
    for i in range(page.blocks):
        if page.reasons[i] != KEPT or page.is_prose[i] or page.lengths[i] > OFFER_LENGTH:
            continue
        if page.has_price(i):
            page.is_offer[i] = has_price = True
    if has_price and heading >= 0:
        page.is_offer[heading] = True
    return has_price


def _find_body(page: Columns, stop: float) -> int:
    """Return the element that directly contains more than half of the prose before block *stop*, if any.

    If no element contains more than half, return any element, or -1 without prose; the caller checks the share.
    *stop* is an integer, passed as a float because Cython compiles only floats to C numbers here. O(blocks).
    """
    votes = 0
    body = -1
    for i in range(page.blocks):
        if i >= stop or page.reasons[i] != KEPT or not page.is_prose[i]:
            continue
        # A majority vote (Boyer and Moore) leaves the element with more than half.
        length = page.lengths[i] - page.link_lengths[i]
        if page.containers[i] == body:
            votes += length
        elif votes >= length:
            votes -= length
        else:
            body = page.containers[i]
            votes = length - votes
    return body


def _remove_entries(page: Columns) -> None:
    """Remove the list of entries after an article, such as comments or teasers of other stories."""
    first = _find_entries(page)
    if first < 0:
        return
    body = _find_body(page, first)
    before = held = after = 0
    for i in range(page.blocks):
        if page.reasons[i] != KEPT:
            continue
        length = page.lengths[i] - page.link_lengths[i]
        if i >= first:
            # The article continues after these blocks.
            if page.containers[i] == body and page.is_prose[i]:
                return
            after += length
        elif page.is_prose[i]:
            before += length
    for i in range(first):
        if page.containers[i] == body and page.is_prose[i] and page.reasons[i] == KEPT:
            held += page.lengths[i] - page.link_lengths[i]
    if held < ARTICLE_SHARE * before or after > MAX_AFTER * held:
        return
    if page.is_heading[first - 1] and not page.is_h1[first - 1]:
        first -= 1
    for i in range(first, page.blocks):
        if page.reasons[i] == KEPT:
            page.reasons[i] = OUTSIDE


def _find_entries(page: Columns) -> int:
    """Return the first of several entries with the same path after the sentences of an article; -1 for none.

    An entry begins with a linked heading, with a short line that has a date, or with a linked picture, and has text
    below it.
    """
    # Mark the first of several blocks in an element.
    for i in range(page.blocks):
        page.marks[i] = 0
    for span in page.spans[: page.span_count]:
        if span.stop > span.start + 1:
            page.marks[span.start] = 1
    tokens = before = entries = 0
    first = -1
    for i in range(page.blocks - 1):
        if page.reasons[i] == KEPT and page.is_prose[i]:
            tokens += page.tokens[i]
        if page.is_pictured[i]:
            page.marks[i] = 1
        elif page.is_heading[i]:
            page.marks[i] = page.link_lengths[i] >= LINKED * page.lengths[i]
        elif page.marks[i]:
            page.marks[i] = page.lengths[i] <= OFFER_LENGTH and not page.is_entry(i) and page.has_date(i)
        if not page.marks[i]:
            continue
        if first < 0 or not page.are_beside(i, first):
            first = i
            entries = 0
            before = tokens
        # The text of an entry is the caption of its picture, or the text below its first line.
        if page.is_pictured[i] and not page.is_link[i]:
            entries += page.reasons[i] == KEPT
        elif not (page.is_heading[i + 1] or page.is_link[i + 1] or page.is_entry(i + 1)):
            entries += page.reasons[i + 1] == KEPT
        if entries >= MIN_ENTRIES and before >= MIN_ARTICLE_PROSE:
            # If there is an earlier entry, the entries are posts of a thread, or sections of a manual.
            for k in range(first):
                if page.marks[k] and page.are_beside(k, first):
                    return -1
            return first
    return -1


def _keep_body(page: Columns) -> None:
    """Remove blocks after the element that directly contains most of the prose, and short texts before it."""
    body = _find_body(page, page.blocks)
    whole = prose = tokens = 0
    heading = -1
    for i in range(page.blocks):
        if page.reasons[i] != KEPT:
            continue
        length = page.lengths[i] - page.link_lengths[i]
        whole += length
        if page.is_h1[i]:
            heading = i
        if page.is_prose[i]:
            prose += length
            tokens += page.tokens[i]
    # The body is a notice, and the article begins after it.
    if body < 0 or heading >= page.spans[body].stop:
        return
    if tokens < MIN_ARTICLE_PROSE or prose < MIN_PROSE * whole:
        return
    held = 0
    first = -1
    for i in range(page.blocks):
        if page.containers[i] == body and page.is_prose[i] and page.reasons[i] == KEPT:
            held += page.lengths[i] - page.link_lengths[i]
            if first < 0:
                first = i
    if held < BODY_SHARE * prose:
        return
    start = page.spans[body].start
    stop = page.spans[body].stop
    beside = 0
    for i in range(page.blocks):
        if (
            page.reasons[i] == KEPT
            and page.is_prose[i]
            and not start <= i < stop
            and page.are_beside(i, first)
        ):
            beside += page.lengths[i] - page.link_lengths[i]
    if beside > MAX_BESIDE * prose:
        return
    for i in range(page.blocks):
        if page.reasons[i] == KEPT and (
            i >= stop or (i < start and not page.is_prose[i] and not page.is_heading[i])
        ):
            page.reasons[i] = OUTSIDE


def _remove_boilerplate(page: Columns) -> None:
    """Remove blocks around and between the sentences of an article that is mostly prose and not short.

    If the sentences are in paragraph tags, a short block among them in a different tag is an ``inset``, except for
    headings and cells of tables.
    """
    kept = _list_kept(page)
    whole = in_sentences = in_paragraphs = tokens = 0
    first = last = first_paragraph = last_paragraph = -1
    for k in range(kept):
        i = page.places[k]
        whole += page.lengths[i]
        if not page.is_prose[i]:
            continue
        in_sentences += page.lengths[i]
        tokens += page.tokens[i]
        last = i
        if first < 0:
            first = i
        if page.is_paragraph[i]:
            in_paragraphs += page.lengths[i]
            last_paragraph = i
            if first_paragraph < 0:
                first_paragraph = i
    if tokens < MIN_ARTICLE_PROSE:
        return
    least: float = PROSE_SHARE * whole
    has_paragraphs = first_paragraph >= 0 and in_paragraphs >= least
    if has_paragraphs:
        first = first_paragraph
        last = last_paragraph
    elif first < 0 or in_sentences < least:
        return
    for k in range(kept):
        i = page.places[k]
        if not first <= i <= last:
            page.reasons[i] = EDGE
            continue
        if not has_paragraphs or page.is_paragraph[i] or page.is_heading[i] or page.is_cell[i]:
            continue
        if page.lengths[i] > INSET_LENGTH:
            continue
        # A heading without a heading tag has prose below it and ends without a full stop.
        after = page.places[min(k + 1, kept - 1)]
        if not page.is_prose[after] or not page.ends_in_letter(i):
            page.reasons[i] = INSET
