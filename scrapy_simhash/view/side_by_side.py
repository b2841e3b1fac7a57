"""The comparison of two pages for a terminal and as HTML: verdict, differences, then the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scrapy_simhash.display import printable
from scrapy_simhash.judge.measured import BASES, BY_NAMES
from scrapy_simhash.view.comparison import Side
from scrapy_simhash.view.page import html
from scrapy_simhash.view.terminal import word_diff, wrapped

#: Reasons why a block is no main text, by filter.
LEFT_OUT = {
    "chrome": "navigation, footer, sidebar, cookie notice or advertisement",
    "outside": "outside of the main text",
    "links": "mostly links",
    "edge": "before or after the article",
    "dialog": "a dialog over the page",
    "hidden": "hidden until a click or a script shows it",
    "inset": "between the paragraphs of the article",
}
#: Descriptions of differences besides the text.
KINDS = {"title": "title", "language": "language", "names": "names in headings and URL", "facts": "facts"}
#: Max differing facts, words of a contradiction, and paragraphs that a terminal shows.
FACTS, WORDS, PARAGRAPHS = 10, 6, 20


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
        measured += f", similarity of the unique text {facts['own_similarity']}"
    if facts["contradiction"]:
        measured += f", {_contradiction(facts['contradiction'])}"
    if facts["decided_by"] is not None:
        needed = "" if facts["decided_by"] == BASES[BY_NAMES] else f", which needs {facts['required']}"
        measured += f"; decided by {facts['decided_by']}{needed}"
    return f"{'near-duplicates' if facts['is_near_duplicate'] else 'not near-duplicates'}: {measured}"


def _contradiction(contradiction: Mapping[str, Any]) -> str:
    words = [contradiction[side][:WORDS] for side in ("only_in_a", "only_in_b")]
    shown = (
        " / ".join(printable(" ".join(some)) for some in words) if any(words) else "structured data, or a row"
    )
    return f"their {contradiction['by']} contradict each other ({shown})"


def changes(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences: why the text alone does not decide, and settings that alone would change the verdict."""
    if facts["is_near_by_text"] and not facts["is_near_duplicate"] and not facts["contradiction"]:
        is_known = all(page["own_tokens"] is not None for page in facts["pages"])
        unknown = "their titles differ, and nothing is known about their site yet"
        why = "not without the text that their site repeats" if is_known else unknown
        yield f"by all their text they would be near-duplicates, but {why}"
    if facts["is_near_duplicate"] and not facts["is_near_by_text"]:
        yield "they are near-duplicates only without the text that their site repeats"
    other = "not be" if facts["is_near_duplicate"] else "be"
    for change in facts["changed_by"]:
        yield f"they would {other} near-duplicates with {change['setting']} = {change['value']}"
    if not facts["changed_by"] and facts["distance"] is not None:
        yield "no value of one setting of the rule would change that"


def lines(facts: Mapping[str, Any], width: int, has_colours: bool) -> Iterator[str]:
    """Yield the lines of a comparison, at most *width* columns wide."""
    for sentence in (verdict(facts), *changes(facts)):
        yield from wrapped([(sentence, "")], width)
    for difference in facts["differences"]:
        yield ""
        yield f"different {KINDS[difference['what']]}:"
        for number, key in enumerate(("only_in_a", "only_in_b"), 1):
            yield from _listed(difference[key], str(number), width)
    yield ""
    yield from _texts(facts["text"], width, has_colours)
    for number, page in enumerate(facts["pages"], 1):
        yield ""
        yield from wrapped([(page["page"], "")], width, f"{number}  ", "   ")
        for line in (*about(page), *left_out(page)):
            yield from wrapped([(line, "")], width, "   ", "   ")
    yield ""
    yield from wrapped([(f"rule: {facts['rule']}", "")], width)
    if facts["common_share"] is not None:
        yield f"share of shingles in common: {facts['common_share']}"
    for subjects, text in site_rows(facts):
        yield from wrapped([(f"text of the site ({subjects}): {text}", "")], width, "", "    ")


def _listed(texts: Sequence[str], name: str, width: int) -> Iterator[str]:
    for text in texts[:FACTS]:
        yield from wrapped([(text, "")], width, f"  {name}  ", "     ")
    if len(texts) > FACTS:
        yield f"  {name}  ... {len(texts) - FACTS:,} more"


def _texts(pairs: Iterable[Mapping[str, Side]], width: int, has_colours: bool) -> Iterator[str]:
    """Yield the differing paragraphs, and the number of equal ones between them."""
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
            if differing <= PARAGRAPHS:
                yield from wrapped(word_diff(pair["a"], pair["b"], has_colours), width)
    if differing > PARAGRAPHS:
        yield f"... {differing - PARAGRAPHS:,} more paragraphs that differ: --html FILE shows all ..."


def about(page: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line each for the title of a page, the length of its text, and its title key."""
    yield printable(page["title"]) or "without a title"
    own = page.get("own_tokens")
    unique = "" if own is None else f", {own:,} of them not repeated by its site"
    yield f"{page['tokens']:,} words{unique}, language {page['language'] or 'unknown'}"
    yield f"subject: {printable(' '.join(page['subject'])) or 'none'}"


def left_out(page: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line with the number of omitted blocks by reason; nothing if there are none."""
    reasons = Counter(block["reason"] for block in page["left_out"])
    if reasons:
        counts = "; ".join(f"{count:,} {LEFT_OUT.get(reason, reason)}" for reason, count in reasons.items())
        yield f"left out: {counts}"


def site_rows(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the repeated text of the site, each block once, with its number of title keys or a question mark."""
    found = {piece["text"]: piece for page in facts["pages"] for piece in page["site_text"]}
    for text, piece in found.items():
        yield str(piece["subjects"]) if piece["is_site"] else "?", printable(text)


def html_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return the page of HTML, ASCII only."""
    name, _, measured = verdict(facts).partition(": ")
    shown = {
        **facts,
        "sentences": [measured, *changes(facts)],
        "about": [list(about(page)) for page in facts["pages"]],
        "words": {"left_out": LEFT_OUT, "kinds": KINDS},
        "site_rows": list(site_rows(facts)),
    }
    return [html("comparison", name.capitalize(), shown)]
