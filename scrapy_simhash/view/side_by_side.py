"""Two pages side by side, for a terminal and as a page of HTML in which nothing of the two runs or is loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape as escaped
from itertools import zip_longest
from textwrap import wrap
from typing import Any
from unicodedata import east_asian_width

from scrapy_simhash.display import printable
from scrapy_simhash.judge.measured import BASES, BY_NAMES
from scrapy_simhash.view.comparison import Side, site_rows
from scrapy_simhash.view.frame import ascii_lines, head, visible

#: Why a block is no main text, by the name of its filter.
LEFT_OUT = {
    "chrome": "navigation, footer, sidebar, cookie notice or advertisement",
    "outside": "outside of the main text",
    "links": "mostly links",
    "edge": "before or after the article",
    "dialog": "a dialog over the page",
    "hidden": "hidden until a click or a script shows it",
    "inset": "between the paragraphs of the article",
}
#: The features of two pages, by their key in a comparison.
_KINDS = {"common": "in common", "only_in_a": "only in the first", "only_in_b": "only in the second"}
#: Of each kind so many are shown, the heaviest.
SHOWN = 6
#: Paragraphs that differ are shown up to this number, and of those that only one page has so many lines.
MOST_DIFFERING, ONE_SIDED = 20, 3
#: What begins and ends a word that differs, in a terminal; elsewhere words that differ stand in brackets.
RED, PLAIN = "\x1b[1;31m", "\x1b[0m"


def verdict(facts: Mapping[str, Any]) -> str:
    """Return the verdict in a sentence.

    >>> verdict({"is_near_duplicate": True, "is_same_text": True})
    'near-duplicates: title and main text are identical'
    """
    if facts["is_same_text"] and facts["is_near_duplicate"]:
        return "near-duplicates: title and main text are identical"
    if facts["distance"] is None:
        short = [page["page"] for page in facts["pages"] if page["fingerprint"] is None]
        return f"not near-duplicates: too little text for a fingerprint ({', '.join(map(printable, short))})"
    measured = f"distance {facts['distance']}"
    if facts["similarity"] is not None:
        measured += f", similarity {facts['similarity']}"
        measured += f", titles: {facts['titles']}"
    if facts["own_similarity"] is not None:
        measured += f", similarity of the own parts {facts['own_similarity']}"
    if facts["contradiction"]:
        measured += f", {_told(facts['contradiction'])}"
    if facts["decided_by"] is not None:
        needed = "" if facts["decided_by"] == BASES[BY_NAMES] else f", which needs {facts['required']}"
        measured += f"; decided by {facts['decided_by']}{needed}"
    return f"{'near-duplicates' if facts['is_near_duplicate'] else 'not near-duplicates'}: {measured}"


def _told(contradiction: Mapping[str, Any]) -> str:
    """Return how facts contradict each other, with the first words of each."""
    words = [contradiction[side][:SHOWN] for side in ("only_in_a", "only_in_b")]
    told = (
        " / ".join(printable(" ".join(some)) for some in words) if any(words) else "structured data, or a row"
    )
    return f"their {contradiction['by']} contradict each other ({told})"


def changes(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield why the text alone does not decide, if so, and which settings would change the verdict: sentences."""
    if facts["is_near_by_text"] and not facts["is_near_duplicate"] and not facts["contradiction"]:
        is_known = all(page["own_tokens"] is not None for page in facts["pages"])
        unknown = "their titles differ, and nothing is known about their site yet"
        why = "not without the text of their site" if is_known else unknown
        yield f"by all their text they would be near-duplicates, but {why}"
    if facts["is_near_duplicate"] and not facts["is_near_by_text"]:
        yield "they are near-duplicates without the text of their site only"
    other = "not be" if facts["is_near_duplicate"] else "be"
    for change in facts["changed_by"]:
        yield f"they would {other} near-duplicates with {change['setting']} = {change['value']}"
    if not facts["changed_by"] and facts["distance"] is not None:
        yield "no value of one setting of the rule would change that"


def lines(facts: Mapping[str, Any], width: int, has_colours: bool) -> Iterator[str]:
    """Yield the lines of a comparison, at most *width* columns wide, some with blanks at the end."""
    yield from wrap(verdict(facts), width)
    yield from wrap(f"rule: {facts['rule']}", width)
    for sentence in changes(facts):
        yield from wrap(sentence, width)
    if facts["common_share"] is not None:
        yield f"share of shingles in common: {facts['common_share']}"
    yield ""
    half = (width - 3) // 2
    columns = [list(_about(page)) for page in facts["pages"]]
    for left, right in zip_longest(*columns, fillvalue=""):
        yield f"{_padded(cut(left, half), half)} | {cut(right, half)}"
    if any(page["is_stored"] for page in facts["pages"]):
        return
    yield "-" * half + "-+-" + "-" * half
    yield from _texts(facts["text"], half, has_colours)
    yield ""
    for key, name in _KINDS.items():
        found = facts["shingles"][key]
        heaviest = ", ".join(printable(feature) for feature, _ in found["heaviest"][:SHOWN])
        yield from wrap(f"features {name}: {found['count']:,}: {heaviest}".rstrip(": "), width)
    for subjects, text in site_rows(facts):
        yield from wrap(f"text of the site ({subjects}): {text}", width, subsequent_indent="    ")


def _about(page: Mapping[str, Any]) -> Iterator[str]:
    yield printable(page["page"])
    yield from ("stored, without its text",) if page["is_stored"] else about(page)
    if page["own_tokens"] is not None:
        yield f"{page['own_tokens']:,} words are not the site's text"


def about(page: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a page is about, and how much of it is left out, a line each; of any length."""
    yield printable(page["title"])
    yield f"{page['tokens']:,} words, language {page['language'] or 'unknown'}"
    yield f"subject: {printable(' '.join(page['subject'])) or 'none'}"
    for reason, count in Counter(block["reason"] for block in page["left_out"]).items():
        yield f"left out: {count} x {LEFT_OUT.get(reason, reason)}"


def _texts(pairs: Sequence[Mapping[str, Side]], half: int, has_colours: bool) -> Iterator[str]:
    equal = differing = 0
    for pair in [*pairs, None]:
        if pair is not None and all(is_common for side in pair.values() for _, is_common in side):
            equal += 1
            continue
        if equal:
            yield f"... {equal:,} equal paragraph{'s' * (equal > 1)} ..."
            equal = 0
        if pair is not None:
            differing += 1
            if differing > MOST_DIFFERING:
                continue
            sides = [_wrapped(pair[name], half, has_colours) for name in ("a", "b")]
            rows = list(zip_longest(*sides, fillvalue=("", 0)))
            # What only one page has is shown by its beginning.
            most = len(rows) if all(pair.values()) else ONE_SIDED
            for left, right in rows[:most]:
                yield f"{left[0]}{' ' * (half - left[1])} | {right[0]}"
            if len(rows) > most:
                mark = "..." if pair["a"] else ""
                yield f"{mark:<{half}} | {'' if mark else '...'}"
    if differing > MOST_DIFFERING:
        yield f"... {differing - MOST_DIFFERING:,} more paragraphs that differ: --html FILE shows all ..."


def _wrapped(side: Side, width: int, has_colours: bool) -> list[tuple[str, int]]:
    """Return lines of a paragraph, each with the columns that it takes; words that differ stand out."""
    found: list[tuple[str, int]] = []
    line, columns = "", 0
    for text, is_common in side:
        words = printable(text).split()
        if words and not is_common and not has_colours:
            words[0] = f"[{words[0]}"
            words[-1] += "]"
        for piece in (piece for word in words for piece in _pieces(word, width)):
            taken = _columns(piece)
            if columns and columns + 1 + taken > width:
                found.append((line, columns))
                line, columns = "", 0
            shown = piece if is_common or not has_colours else f"{RED}{piece}{PLAIN}"
            line, columns = (f"{line} {shown}", columns + 1 + taken) if columns else (shown, taken)
    return [*found, (line, columns)]


def _pieces(word: str, width: int) -> Iterator[str]:
    """Yield *word* in pieces that fit: a script without blanks has one word a paragraph."""
    while _columns(word) > width:
        piece = cut(word, width)
        yield piece
        word = word[len(piece) :]
    yield word


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def cut(text: str, width: int) -> str:
    """Return the beginning of *text* that fits *width* columns."""
    text = text[:width]
    while _columns(text) > width:
        text = text[:-1]
    return text


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


_STYLE = """\
table { table-layout: fixed; margin: 1rem 0 }
td, th { border: 1px solid var(--line) }
"""


def html_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the page, ASCII only; whatever a page says is escaped."""
    return ascii_lines(_html(facts))


def _html(facts: Mapping[str, Any]) -> Iterator[str]:
    yield head(_capital(verdict(facts)), _STYLE)
    yield f"<p>Rule: {escape(facts['rule'])}.</p>"
    for sentence in changes(facts):
        yield f"<p>{escape(_capital(sentence))}.</p>"
    pages = facts["pages"]
    yield from _table("Pages", [page["page"] for page in pages], zip(*map(_cells, pages), strict=True))
    if any(page["is_stored"] for page in facts["pages"]):
        yield "</body>\n</html>"
        return
    texts = ((_side(pair["a"]), _side(pair["b"])) for pair in facts["text"])
    yield from _table("Main texts", ("first", "second"), texts)
    yield "<h2>Shingles and words</h2>"
    for key, name in _KINDS.items():
        found = facts["shingles"][key]
        heaviest = ", ".join(f"{escape(text)} <small>{weight}</small>" for text, weight in found["heaviest"])
        yield f"<p>{_capital(name)}: {found['count']:,}. {heaviest}</p>"
    if site := list(site_rows(facts)):
        heads = ("on pages of so many subjects", "text")
        yield from _table("Text of the site", heads, ((subjects, escape(text)) for subjects, text in site))
    yield "</body>\n</html>"


def _cells(page: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is told of a page, a cell each."""
    for key in ("title", "language", "subject"):
        text = " ".join(page[key]) if key == "subject" else page[key]
        yield f"<small>{key}:</small> {escape(text or 'none')}"
    words = "stored, without its text" if page["is_stored"] else f"{page['tokens']:,} words"
    own = page["own_tokens"]
    yield words if own is None else f"{words}, {own:,} of them not the site's text"
    yield "".join(
        f"<p>{escape(block['text'])} <small>left out: {escape(LEFT_OUT.get(block['reason'], block['reason']))}"
        "</small></p>"
        for block in page["left_out"]
    )


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _side(side: Side) -> str:
    return " ".join(escape(text) if is_common else f"<mark>{escape(text)}</mark>" for text, is_common in side)


def _table(name: str, heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"<h2>{name}</h2>\n<table>"
    yield f"<tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
    yield "</table>"


def escape(text: str) -> str:
    """Return *text* as HTML, with controls as their numbers."""
    return escaped(visible(text))
