"""The common steps of schemes: weights, the vote in any width, ties, and invalid schemes."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from magazine.site import build_site

from scrapy_simhash import PageFingerprinter, SettingError
from scrapy_simhash.fingerprinter import SCHEME
from scrapy_simhash.page.fingerprint import TIE_MASK
from scrapy_simhash.page.schemes import (
    FNV1A_LONG,
    FNV1A_SHORT,
    GB2312,
    JAVA,
    JENKINS,
    SCHEMES,
    XXH3,
    XXH3_LONG,
    Capped,
    FeatureHash,
    Page,
    Scheme,
    Words,
    damped_frequency,
    log_frequency,
    scheme_named,
    segments,
    term_frequency,
    uniform,
    vote,
)
from scrapy_simhash.page.schemes.scheme import Weighing
from scrapy_simhash.page.text import plain_text
from tests.golden.texts import ODDITIES, TEXTS

WIDTHS = (32, 64, 128)
HASHES = {32: (FNV1A_SHORT, JAVA), 64: (XXH3, JENKINS), 128: (FNV1A_LONG, XXH3_LONG)}
FEATURES = st.lists(st.tuples(st.integers(0, 2**128 - 1), st.integers(1, 1000)), min_size=1, max_size=30)


def page_of(text: str) -> Page:
    return Page(plain_text(text, "en"))


@pytest.mark.parametrize("width", WIDTHS)
@given(features=FEATURES)
def test_the_vote_equals_that_of_the_documents_at_any_width(
    width: int, features: Sequence[tuple[int, int]]
) -> None:
    cut = [(value & (1 << width) - 1, weight) for value, weight in features]
    zero, one, mask = (vote(cut, width, ties) for ties in ("zero", "one", "mask"))
    for bit in range(width):
        lead = sum(weight if value >> bit & 1 else -weight for value, weight in cut)
        assert (zero >> bit & 1, one >> bit & 1) == (lead > 0, lead >= 0)
    assert zero & mask == zero
    assert one | mask == one
    tied = one & ~zero
    assert mask & tied == tied & (TIE_MASK << 64 | TIE_MASK)


@pytest.mark.parametrize(
    "feature_hash", [one for width in WIDTHS for one in HASHES[width]], ids=lambda one: one.name
)
def test_a_scheme_takes_the_lowest_bits_of_its_hash(feature_hash: FeatureHash) -> None:
    page = page_of("fog")
    for width in WIDTHS:
        if width > feature_hash.bits:
            with pytest.raises(
                ValueError, match=f"{feature_hash.name} has {feature_hash.bits} bits, too few for"
            ):
                Scheme({Words(): 1}, feature_hash=feature_hash, width=width)
        else:
            scheme = Scheme({Words(): 1}, feature_hash=feature_hash, width=width)
            assert scheme.value(page) == feature_hash.of("fog") & (1 << width) - 1


@pytest.mark.parametrize(
    ("weigh", "weights"),
    [
        (uniform, {"fog": 64, "sea": 64}),
        (term_frequency, {"fog": 64, "sea": 640}),
        (log_frequency, {"fog": 64, "sea": round(64 * (1 + log(10)))}),
        (damped_frequency, {"fog": 64, "sea": 508}),
        (Capped(term_frequency, 3), {"fog": 64, "sea": 192}),
    ],
)
def test_a_weight_grows_with_the_count_by_the_weighting(weigh: Weighing, weights: dict[str, int]) -> None:
    assert Scheme({Words(): 1}, weigh=weigh).weights(page_of("fog" + " sea" * 10)) == weights


#: Lewis Carroll, 1871: the text in the test of simhash-cpp's generator, with its lines joined in the same
#: way.
JABBERWOCKY = (
    "Twas brillig, and the slithy toves  Did gyre and gimble in the wabe:All mimsy were the borogoves,  And the"
    " mome raths outgrabe.Beware the Jabberwock, my son!  The jaws that bite, the claws that catch!Beware the"
    " Jubjub bird, and shun  The frumious Bandersnatch!He took his vorpal sword in hand:  Long time the manxome"
    " foe he sought --So rested he by the Tumtum tree,  And stood awhile in thought.And, as in uffish thought he"
    " stood,  The Jabberwock, with eyes of flame,Came whiffling through the tulgey wood,  And burbled as it"
    " came!One, two! One, two! And through and through  The vorpal blade went snicker-snack!He left it dead, and"
    " with its head  He went galumphing back.And, has thou slain the Jabberwock?  Come to my arms, my beamish"
    " boy!O frabjous day! Callooh! Callay!'  He chortled in his joy."
)


def test_the_default_scheme_equals_the_fingerprinter() -> None:
    assert f"web-{SCHEMES['web'].version}" == SCHEME
    compared, web, fingerprinter = 0, SCHEMES["web"], PageFingerprinter()
    documents = [plain_text(text) for text in (TEXTS | ODDITIES).values()]
    documents += [
        fingerprinter.extract(page.body(0), content_type=page.content_type)
        for page in build_site(port=8000).values()
        if page.is_html
    ]
    for document in documents:
        made = fingerprinter.from_document(document)
        if made is not None:
            assert web.value(Page(document)) == made.value
            assert len(web.weights(Page(document))) == made.features
            compared += 1
    assert compared > 100


def test_moz_returns_the_published_value_of_its_generator() -> None:
    published = 0x041379A587C66880
    assert SCHEMES["moz"].value(Page(plain_text(JABBERWOCKY))) == published


@pytest.mark.slow("jieba reads its dictionary")
def test_segmented_words_are_tokens_for_chinese() -> None:
    jieba = pytest.importorskip("jieba")
    assert segments("我来到北京大学。") == jieba.lcut("我来到北京大学")
    page = Page(plain_text(TEXTS["zh"], "zh"))
    words = Scheme({Words(tokenizer=segments): 1}, feature_hash=GB2312, ties="one")
    assert words.weights(page).keys() == set(segments(page.document.text))


def test_segments_without_jieba_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from scrapy_simhash.page.schemes import kinds

    kinds._segmenter.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "jieba", None)
    with pytest.raises(ImportError, match=r"pip install jieba"):
        segments("北京")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no.such.module", "SIMHASH_SCHEME: cannot import 'no.such.module'"),
        ("scrapy_simhash.page.schemes.Words", "SIMHASH_SCHEME must be the import path of a Scheme"),
    ],
)
def test_invalid_schemes_are_reported(name: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        scheme_named(name)
