"""The kernel is not trusted before it has read a page and a text like the pure path, in this very process.

What could differ is not the code, which tests compare, but what it was built against: the layout of lxml's trees, the
calls of the interpreter. A page of a few lines shows that.
"""

from __future__ import annotations

import logging
from functools import cache

from lxml import etree

from scrapy_simhash import kernel
from scrapy_simhash.page.compiled.reader import CompiledReader, FoldSettings, Read
from scrapy_simhash.page.features import features, shingle_counts, whole_text
from scrapy_simhash.page.fingerprint import digest, fold, number, occurrences, sketch
from scrapy_simhash.page.text import Document, extract, parse, plain_text

logger = logging.getLogger(__name__)

# Every kind of node, of character and of filter that takes a way of its own through the kernel.
_PAGE = """<!DOCTYPE html><html lang="en-GB"><head>
<title>The tide &amp; the wa\u0301ve | Harbour News</title></head><body>
<nav class="navBar"><a href="/">Home</a> <a href="/b">Boats</a></nav><!-- tides -->tail
<main id="story"><h1>The tide</h1>
<p>The ship that went out to the sea came home with the tide, and nobody had seen the fog, the b\u00fcoy or
the \ufb01sh in the bay, not even the man on the quay.</p><p hidden>Not seen at all by those who read.</p>
<p style="color: red">\u8fd1\u4f3c\u7f51\u9875\u3002 It is<br>12 \u20ac.<b>x</b><i>y</i></main>
<footer class="footer widget">Imprint</footer></body></html>"""
_SETTINGS = FoldSettings(shingle_size=2, min_shingles=1, mask_digits=False, with_sketch=True)


@cache
def compiled_reader() -> CompiledReader | None:
    """Return the kernel's reader, None when pure Python runs.

    A kernel that differs is given up with a warning. Raises ImportError when the environment insists on it.
    """
    if kernel.native is None:
        return None
    try:
        reader = CompiledReader(kernel.native)
        reason = "" if _agrees(reader) else f"it reads a page differently (lxml {etree.__version__})"
    except Exception as failure:
        reason = f"it fails ({failure!r})"
    if not reason:
        return reader
    logger.warning("The compiled kernel is not used: %s", reason)
    kernel.give_up(reason)
    return None


def _agrees(reader: CompiledReader) -> bool:
    root = parse(_PAGE)
    page, body = extract(root), root[1]
    return (
        reader.document(root, None) == page
        and reader.document(body, "fr") == extract(body, "fr")
        and reader.read(root, None, _SETTINGS) == _pure(page)._replace(text_hash=number(whole_text(page)))
        and reader.read_texts([page.text], None, _SETTINGS) == [_pure(plain_text(page.text))]
    )


def _pure(document: Document) -> Read:
    weights = features(document, _SETTINGS.shingle_size, _SETTINGS.min_shingles)
    value = fold(zip(map(digest, weights), weights.values(), strict=True))
    shingles = occurrences(shingle_counts(document, _SETTINGS.shingle_size))
    return Read(value, len(weights), sketch(shingles, document.subject), None)
