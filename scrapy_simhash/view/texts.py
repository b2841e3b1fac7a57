"""Show two compared pages, or the main text of pages, in a terminal and as HTML.

Lines are not wrapped, because terminals wrap them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Any

from scrapy_simhash.display import printable
from scrapy_simhash.judge.measured import BASES, BY_NAMES
from scrapy_simhash.view.comparison import Side
from scrapy_simhash.view.page import html

#: Reasons why a block is not main text, by filter.
LEFT_OUT = {
    "chrome": "navigation, footer, sidebar, cookie notice or advertisement",
    "outside": "outside the main text",
    "links": "mostly links",
    "edge": "before or after the article",
    "dialog": "a dialog over the page",
    "hidden": "hidden until a click or a script shows it",
    "inset": "between the paragraphs of the article",
}
#: Descriptions of the differences outside the text.
KINDS = {"title": "title", "language": "language", "names": "names in headings and URL", "facts": "facts"}
#: Max differing facts, words of a contradiction, and paragraphs that a terminal shows.
FACTS, WORDS, PARAGRAPHS = 10, 6, 20
#: Words that are shown at each end of a longer text.
CONTEXT = 12
#: Terminal escape sequences for colours.
RED, GREEN, FAINT, PLAIN = "\x1b[1;31m", "\x1b[1;32m", "\x1b[2m", "\x1b[0m"


# --- Two pages.


def verdict(facts: Mapping[str, Any]) -> str:
    """Return the verdict on two pages in a sentence.

    >>> verdict({"is_near_duplicate": True, "is_same_text": True})
    'near-duplicates: title and main text are identical'
    """
    if facts["is_same_text"] and facts["is_near_duplicate"]:
        return "near-duplicates: title and main text are identical"
    if asking := [page["page"] for page in facts["pages"] if page["is_interstitial"]]:
        return f"not near-duplicates: a login, consent or captcha page is not compared ({', '.join(asking)})"
    if facts["distance"] is None:
        short = [page["page"] for page in facts["pages"] if page["fingerprint"] is None]
        return f"not near-duplicates: too little text for a fingerprint ({', '.join(short)})"
    measured = [f"distance {facts['distance']}"]
    if facts["similarity"] is not None:
        measured += [f"similarity {facts['similarity']}", f"titles: {facts['titles']}"]
    if facts["own_similarity"] is not None:
        measured.append(f"similarity of the unique text {facts['own_similarity']}")
    if (found := facts["contradiction"]) is not None:
        words = [" ".join(found[side][:WORDS]) or "-" for side in ("only_in_a", "only_in_b")]
        shown = " / ".join(words) if set(words) != {"-"} else "structured data, or a row"
        measured.append(f"their {found['by']} contradict each other ({shown})")
    decided = ""
    if facts["decided_by"] is not None:
        needed = "" if facts["decided_by"] == BASES[BY_NAMES] else f", which needs {facts['required']}"
        decided = f"; decided by {facts['decided_by']}{needed}"
    return f"{'' if facts['is_near_duplicate'] else 'not '}near-duplicates: {', '.join(measured)}{decided}"


def changes(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about why the text alone does not decide, and which setting alone would change the verdict."""
    if facts["is_skipped"]:
        yield "a crawl skips them as short_text, unless their URLs have the same path"
    if facts["is_near_by_text"] and not facts["is_near_duplicate"] and not facts["contradiction"]:
        is_known = all(page["own_tokens"] is not None for page in facts["pages"])
        unknown = "their titles differ, and their site is still unknown"
        why = "not without it" if is_known else unknown
        yield f"with boilerplate included, they would be near-duplicates, but {why}"
    if facts["is_near_duplicate"] and not facts["is_near_by_text"]:
        yield "they are near-duplicates only without the text that their site repeats"
    other = "not be" if facts["is_near_duplicate"] else "be"
    for change in facts["changed_by"]:
        yield f"they would {other} near-duplicates with {change['setting']} = {change['value']}"
    if not facts["changed_by"] and facts["distance"] is not None:
        yield "no single setting of the rule would change the result"


def comparison_lines(facts: Mapping[str, Any], has_colours: bool) -> Iterator[str]:
    """Yield the lines of a comparison."""
    yield from map(printable, (verdict(facts), *changes(facts)))
    for difference in facts["differences"]:
        yield f"\ndifferent {KINDS[difference['what']]}:"
        for number, key in enumerate(("only_in_a", "only_in_b"), 1):
            yield from (f"  {number}  {printable(text)}" for text in difference[key][:FACTS])
            if len(difference[key]) > FACTS:
                yield f"  {number}  ... {len(difference[key]) - FACTS:,} more"
    yield ""
    differing = 0
    for is_equal, pairs in groupby(facts["text"], _is_equal):
        if is_equal:
            count = len(list(pairs))
            yield f"... {count:,} equal paragraph{'s' * (count > 1)} ..."
            continue
        for pair in pairs:
            differing += 1
            if differing <= PARAGRAPHS:
                yield " ".join(word_diff(pair["a"], pair["b"], has_colours))
    if differing > PARAGRAPHS:
        yield f"... {differing - PARAGRAPHS:,} more paragraphs that differ: --html FILE shows all ..."
    for number, page in enumerate(facts["pages"], 1):
        yield f"\n{number}  {printable(page['page'])}"
        yield from (f"   {line}" for line in about(page))
    yield f"\nrule: {facts['rule']}"


def _is_equal(pair: Mapping[str, Side]) -> bool:
    return all(is_common for side in pair.values() for _, is_common in side)


def word_diff(ours: Side, theirs: Side, has_colours: bool) -> Iterator[str]:
    """Yield the differences of two paragraphs, in the format of ``git diff --word-diff``.

    Each paragraph is a list of pieces of text, with a flag that shows whether the other paragraph has the same piece.

    >>> list(word_diff([("A", True), ("ship.", False)], [("A", True), ("boat.", False)], has_colours=False))
    ['A', '[-ship.-]', '{+boat.+}']
    """
    marks = ((RED, PLAIN), (GREEN, PLAIN)) if has_colours else (("[-", "-]"), ("{+", "+}"))
    # Both paragraphs have the same number of common pieces, with at most one other piece before each.
    for ours_only, theirs_only, common in zip_longest(
        _before(ours), _before(theirs), _common(ours), fillvalue=""
    ):
        for text, (begin, end) in zip((ours_only, theirs_only), marks, strict=True):
            if text:
                yield f"{begin}{_shortened(text)}{end}"
        if common:
            yield _shortened(common)


def _common(side: Side) -> list[str]:
    return [text for text, is_common in side if is_common]


def _before(side: Side) -> list[str]:
    """Return the differing text before each common piece, and at the end."""
    found = [""]
    for text, is_common in side:
        if is_common:
            found.append("")
        else:
            found[-1] = f"{found[-1]} {text}".strip()
    return found


def _shortened(text: str) -> str:
    words = printable(text).split()
    if len(words) > 2 * CONTEXT + 4:
        words = [*words[:CONTEXT], "...", *words[-CONTEXT:]]
    return " ".join(words)


def about(page: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines about a page: title, length of the text, title key, and omitted text."""
    yield printable(page["title"]) or "without a title"
    own = page.get("own_tokens")
    unique = "" if own is None else f", {own:,} of them not repeated by its site"
    yield f"{page['tokens']:,} words{unique}, language {page['language'] or 'unknown'}"
    yield f"title key: {printable(' '.join(page['title_key'])) or 'none'}"
    reasons = Counter(block["left_out"] for block in page["text"] if block["left_out"] is not None)
    if reasons:
        counts = (f"{LEFT_OUT.get(reason, reason)} ({count:,})" for reason, count in reasons.most_common())
        yield f"left out: {'; '.join(counts)}"


def comparison_html(facts: Mapping[str, Any]) -> str:
    """Return the HTML page of a comparison, in ASCII."""
    name, _, measured = verdict(facts).partition(": ")
    shown = {
        **facts,
        "sentences": [measured, *changes(facts)],
        # Without the last line, because the page has the omitted text itself, collapsed.
        "about": [list(about(page))[:3] for page in facts["pages"]],
        "words": {"left_out": LEFT_OUT, "kinds": KINDS},
    }
    return html("comparison", name.capitalize(), shown)


# --- The main text of pages.


def text_lines(pages: Sequence[Mapping[str, Any]], has_colours: bool) -> Iterator[str]:
    """Yield the lines of *pages*: the main text, then the omitted text."""
    for number, page in enumerate(pages):
        yield f"{chr(10) * bool(number)}{printable(page['page'])}"
        yield from about(page)
        if page["fingerprint"] is None:
            yield "too little text for a fingerprint"
        for is_main, blocks in groupby(page["text"], lambda block: block["left_out"] is None):
            if is_main:
                yield from (f"\n{printable(block['text'])}" for block in blocks)
            else:
                yield f"\n[{len(list(blocks)):,} left out]"
        rest = {
            f"left out, {words}": [block["text"] for block in page["text"] if block["left_out"] == reason]
            for reason, words in LEFT_OUT.items()
        }
        rest["repeated by the site"] = [piece["text"] for piece in page["site_text"]]
        begin, end = (FAINT, PLAIN) if has_colours else ("", "")
        for title, texts in rest.items():
            if texts:
                yield f"\n{title}:"
                yield from (f"- {begin}{printable(text)}{end}" for text in texts)


def text_html(pages: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of HTML about the main text of *pages*, in ASCII."""
    facts = {
        "pages": pages,
        "about": [list(about(page)) for page in pages],
        "words": {"left_out": LEFT_OUT},
    }
    return html("text", "Main text as it is compared", facts)
