from __future__ import annotations

import pytest
from magazine.page import Page
from xxhash import xxh3_64_intdigest

from scrapy_simhash import Config, PageFingerprinter
from scrapy_simhash.page.features import titled_text, whole_text
from scrapy_simhash.page.fingerprint import similarity
from scrapy_simhash.page.structured import structured
from scrapy_simhash.page.text import extract, parse
from tests.golden.texts import TEXTS

PARAGRAPHS = "".join(f"<p>{part}</p>" for part in TEXTS["en"].split("\n\n"))
HTML = f"<html lang=en><head><title>T</title></head><body><main>{PARAGRAPHS}</main>"
fingerprinter = PageFingerprinter()


def test_a_page_and_its_plain_text_have_the_same_fingerprint() -> None:
    assert fingerprinter.from_html(HTML) == fingerprinter.from_text(TEXTS["en"]) is not None


def test_a_sketch_counts_how_often_a_shingle_occurs() -> None:
    # A table of a thousand rows and one of a hundred have the same shingles.
    short, long = (fingerprinter.from_text("\n\n".join([TEXTS["en"]] * times)) for times in (1, 3))
    assert short is not None
    assert long is not None
    assert similarity(short.sketch, long.sketch) == pytest.approx(1 / 3, abs=0.1)


# --- The hash of the text.

LOFT = "<title>The loft</title><p>In the rain"


def hash_of(html: str) -> int | None:
    return fingerprinter.read(html).page_hash


def test_pages_with_different_captions_have_the_same_text_hash() -> None:
    text = TEXTS["en"].replace("\n\n", "<p>")
    page = (
        f"<title>Fog</title><main><h1>Fog</h1><p>{text}<figure><figcaption>{{}}</figcaption></figure></main>"
    )
    fog, bay = (fingerprinter.read(page.format(caption)) for caption in ("The bay in fog", "The old quay"))
    document = extract(parse(page.format("The bay in fog")))
    assert fog.text_hash == bay.text_hash == xxh3_64_intdigest(titled_text(document).encode())
    assert fog.page_hash != bay.page_hash


def test_the_page_hash_covers_the_whole_text_and_the_price_in_structured_data(pages: list[Page]) -> None:
    wrong = []
    for page in pages:
        root = parse(page.body(), page.content_type)
        document, offer = extract(root), structured(root).offer
        expected = None
        if sum(len(part.tokens) for part in document.main) > 2:
            expected = xxh3_64_intdigest(whole_text(document).encode())
            expected ^= xxh3_64_intdigest(offer.encode()) if offer else 0
        if fingerprinter.read(page.body(), content_type=page.content_type).page_hash != expected:
            wrong.append(page.address.key)
    assert wrong == []


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (LOFT, 0xA82384ABFB9A5C8E),
        (HTML, 0xA688C38F002835D5),
        (f"<title>\u5317\u4eac</title><p>{TEXTS['zh']}", 0x2C792BB79F8CC712),
    ],
    ids=["short", "long", "without spaces"],
)
def test_stored_page_hashes_never_change(page: str, expected: int) -> None:
    assert hash_of(page) == expected


def test_the_hash_of_a_short_text_covers_only_title_and_main_text() -> None:
    loft = hash_of(LOFT)
    assert loft == hash_of("<title>The\nloft</title><nav><a href=/>Home</a></nav><main><b>In</b> the rain")
    assert loft is not None
    assert 0 <= loft < 2**64
    others = ["<title>The loft</title><p>In the snow", "<title>Loft</title><p>In the rain", "<p>In the rain"]
    # The title of one page is in the text of the other.
    others += ["<title>The</title><p>loft In the rain", "<title>The loft in</title><p>the rain again"]
    assert len({loft, *map(hash_of, others)}) == 1 + len(others)


@pytest.mark.parametrize(
    ("text", "min_shingles", "has"),
    [
        ("", 12, (False, False)),
        ("Two words", 12, (False, False)),
        ("Now three words", 12, (False, True)),
        ("", 1, (False, False)),
        # A page with a fingerprint always has a hash.
        ("Word", 1, (True, True)),
    ],
)
def test_fewer_than_three_words_have_neither_hash_nor_fingerprint(
    text: str, min_shingles: int, has: tuple[bool, bool]
) -> None:
    own = PageFingerprinter(Config(min_shingles=min_shingles))
    page = f"<title>A title of many words</title><p>{text}"
    reading = own.read(page)
    assert (reading.fingerprint is not None, reading.page_hash is not None) == has
    assert own.read_document(own.extract(page))[:3] == reading[:3]
