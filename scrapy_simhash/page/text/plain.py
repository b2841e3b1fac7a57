"""Plain text as a Document, for callers that have no HTML."""

from __future__ import annotations

import re

from scrapy_simhash.page.language import detect, normalize, tokenize
from scrapy_simhash.page.text.document import Document, Paragraph

_EMPTY_LINE = re.compile(r"\n\s*\n")


def plain_text(text: str, language: str | None = None) -> Document:
    r"""Return *text* as a document that is all main text; empty lines part its paragraphs.

    *language* is an ISO 639-1 code; None lets the words tell.

    >>> [paragraph.text for paragraph in plain_text("One\nline.\n\nTwo.").paragraphs]
    ['One line.', 'Two.']
    """
    lines = [folded for part in _EMPTY_LINE.split(text) if (folded := " ".join(part.split()))]
    tokens = [tuple(tokenize(normalize(line))) for line in lines]
    if language is None:
        language = detect([token for line in tokens for token in line])
    paragraphs = (
        Paragraph(line, words, "body", "", 0.0, 0.0, None) for line, words in zip(lines, tokens, strict=True)
    )
    return Document("", language, (), tuple(paragraphs))
