"""The title key of a page: the words that its title and its headings have in common.

Pages of one template may share nine out of ten words and still be different, such as the manuals of two functions, or
adverts in two towns. Their title keys differ. A title alone is not enough, because it also contains the name of the
site (``maximum - NumPy manual``). A heading alone is not enough, because each template uses headings differently. So
the title key is their common part.
"""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.text.document import Paragraph
from scrapy_simhash.page.text.main_text import LINKED
from scrapy_simhash.patterns import lazy_pattern

#: Separators between the name of a page and the name of its site.
_SEPARATOR = lazy_pattern(r"\s[|\-–—·•:»«/]+\s|[|–—·•»«：｜]|:\s")
_TAGS = ("h1", "h2", "h3")
#: The number of a chapter: ``4.2.``, ``D.5``. A year, a house number and the day of a month are part of the name.
_NUMBERING = lazy_pattern(r"(?:[0-9]+(?:\.[0-9]+)+[.)]|[A-Za-z](?:\.[0-9]+)+[.)]?) ")
_PART = lazy_pattern("[0-9A-Za-z]+")
#: Headings that these filters removed are not used for the title key, unless no other heading agrees with the title.
UNNAMED = ("chrome", "links")


def title_key(title: str, paragraphs: Sequence[Paragraph]) -> tuple[str, ...]:
    """Return the tokens of the title key; empty for a page with neither title nor heading.

    The title key is the part of *title* that is also a heading, or the longest heading of two words or more that the
    title contains; in both cases, headings outside the template are preferred. Otherwise the title key is the first
    of the highest headings before the end of the main text, or the title. A leading chapter number (``4.2.``,
    ``D.5``) is left out. O(characters of title and headings).
    """
    whole = unnumbered(title)
    headings = [
        (i, part, unnumbered(part.text, part.tokens))
        for i, part in enumerate(paragraphs)
        if _tag(part) in _TAGS
    ]
    in_title = frozenset(whole)
    # Headings in the template name the site, so use them only if no other heading agrees with the title.
    for unnamed in (UNNAMED, ()):
        names = {tokens for _, part, tokens in headings if tokens and part.boilerplate not in unnamed}
        for segment in (title, *segments(title)):
            tokens = unnumbered(segment)
            if tokens in names:
                return tokens
        contained = [tokens for tokens in names if len(tokens) > 1 and in_title.issuperset(tokens)]
        if contained:
            return max(contained, key=lambda tokens: (len(tokens), tokens))
    # Headings after the main text, such as "Related" or "See also", do not count.
    last = max((i for i, part in enumerate(paragraphs) if part.boilerplate is None), default=-1)
    others = [
        (_tag(part), tokens)
        for i, part, tokens in headings
        if i < last and tokens and part.boilerplate not in UNNAMED and part.link_density < LINKED
    ]
    if others:
        return min(others, key=lambda heading: heading[0])[1]
    return whole


def segments(title: str) -> list[str]:
    """Return the parts of a title, such as the name of the page and the name of the site."""
    return _SEPARATOR.split(title)


def _tag(paragraph: Paragraph) -> str:
    return paragraph.path.rpartition("/")[2]


def unnumbered(text: str, tokens: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the tokens of *text* without a leading chapter number, unless nothing else is left."""
    words = tuple(tokenize(normalize(text)) if tokens is None else tokens)
    numbering = _NUMBERING.match(text)
    parts = 0 if numbering is None else len(_PART.findall(numbering[0]))
    return words[parts:] or words
