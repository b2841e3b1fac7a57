"""The own part of a page: the kernel's is that of pure Python, and it changes nothing of the first fingerprint."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lxml import etree
from magazine.page import Page

from benchmarks.lib.shared_text import PLANS, make_site
from fuzz.compare import FINGERPRINTERS, SETTINGS
from scrapy_simhash import PageFingerprinter
from scrapy_simhash.fingerprinter import KnownSite, Reading
from scrapy_simhash.judge.second_look import SHORT_OWN_PART
from scrapy_simhash.page.fingerprint import DOUBTFUL, PART, UNKNOWN, WHOLE, OwnPart
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.page.structured import structured
from scrapy_simhash.page.text import extract, parse
from tests.examples import examples
from tests.page.compiled.strategies import HEADERS, PAGES_OF_PROSE, markup, trees

#: Those that read an own part: of the classic rule there is none.
WAYS = [way for way in FINGERPRINTERS if way.rule.compares_sketches]


class DrawnSite:
    """Takes pieces for its own, or for doubtful ones, by their keys."""

    def __init__(self, of_site: int, doubtful: int, is_known: bool = True) -> None:
        """So many of a hundred pieces are the site's, and so many doubtful."""
        self._is_known = is_known
        self._shares = of_site, of_site + doubtful

    def flags(self, keys: bytes) -> bytes | None:
        if not self._is_known:
            return None
        drawn = [int.from_bytes(keys[at : at + 8], "little") // 2 % 100 for at in range(0, len(keys), 8)]
        flags = bytes(1 if n < self._shares[0] else 2 if n < self._shares[1] else 0 for n in drawn)
        return flags if any(flags) else b""


SITES = st.builds(
    DrawnSite, st.sampled_from([0, 20, 60, 95, 100]), st.sampled_from([0, 0, 5, 40])
) | st.builds(DrawnSite, st.just(50), st.just(0), st.just(False))


def whole(reading: Reading) -> tuple[object, ...]:
    """Return all of a reading: fingerprints are equal when their values are."""
    found = reading.fingerprint
    if found is None:
        return (None, reading.page_hash, reading.pieces)
    return (found.value, found.features, found.sketch, found.own, reading.page_hash, reading.pieces)


def both(
    way: PageFingerprinter, root: etree._Element, site: KnownSite | None, header: str | None = None
) -> tuple[Reading, Reading]:
    """Return what is read, with the kernel and in pure Python."""
    about = structured(root)
    compiled = way.read(root, content_language=header, site=site)
    return compiled, way.read_document(extract(root, header), site, about)


def own_of(reading: Reading) -> OwnPart:
    assert reading.fingerprint is not None
    return OwnPart.from_bytes(reading.fingerprint.own)


def assert_alike(root: etree._Element, site: KnownSite, header: str | None = None) -> set[int]:
    kinds = set()
    for way in WAYS:
        compiled, pure = both(way, root, site, header)
        assert whole(compiled) == whole(pure)
        without = way.read(root, content_language=header)
        # All but the own part and the pieces.
        assert whole(compiled)[:-3] == whole(without)[:-3]
        assert compiled.page_hash == without.page_hash
        assert without.pieces == b""
        if compiled.fingerprint is not None:
            assert without.fingerprint is not None
            assert without.fingerprint.own == b""
            kinds.add(own_of(compiled).kind)
    return kinds


@settings(max_examples=examples(100))
@given(trees() | markup().map(parse) | PAGES_OF_PROSE, HEADERS, SITES)
def test_the_own_part_of_any_page_is_read_alike(
    root: etree._Element, header: str | None, site: DrawnSite
) -> None:
    # Which no reader takes.
    assume(not any(isinstance(node, etree._Entity) for node in root.iter()))
    assert_alike(root, site, header)


def test_own_parts_of_the_example_site_are_read_alike(pages: list[Page]) -> None:
    kinds = set()
    for number, page in enumerate(pages[::3]):
        site = DrawnSite((20, 60, 95)[number % 3], (0, 0, 40)[number // 3 % 3])
        kinds |= assert_alike(parse(page.body(), page.content_type), site)
    assert kinds == {DOUBTFUL, WHOLE, PART}


@pytest.mark.parametrize("plan", [PLANS[2], PLANS[5], PLANS[20], PLANS[24]], ids=lambda plan: str(plan.name))
@pytest.mark.parametrize("way", WAYS, ids=[str(index) for index, _ in enumerate(WAYS)])
def test_a_site_is_learned_alike(plan: object, way: PageFingerprinter) -> None:
    site = make_site(plan)  # type: ignore[arg-type]
    compiled_profile, pure_profile = SiteProfile(), SiteProfile()
    kinds: list[int] = []
    tokens: list[int] = []
    for page in random.Random(7).sample(site.pages, 40):
        root = parse(page.html)
        compiled = way.read(root, site=compiled_profile)
        pure = way.read_document(extract(root), pure_profile, structured(root))
        assert whole(compiled) == whole(pure)
        assert compiled.fingerprint is not None
        own = own_of(compiled)
        kinds.append(own.kind)
        tokens.append(own.tokens)
        compiled_profile.learn(compiled.pieces, compiled.fingerprint.sketch)
        pure_profile.learn(pure.pieces, compiled.fingerprint.sketch)
    assert compiled_profile.to_bytes() == pure_profile.to_bytes()
    # Nothing is left out before six subjects were there, and most of the text afterwards.
    assert set(kinds[:6]) == {UNKNOWN}
    of_parts = [count for count, kind in zip(tokens[20:], kinds[20:], strict=True) if kind == PART]
    assert len(of_parts) >= 10
    assert max(of_parts) < min(tokens[:6])


def own_parts(text: str, site: KnownSite, ways: Sequence[PageFingerprinter] = WAYS) -> list[OwnPart]:
    root = parse(f"<main><p>{text}</p></main>")
    found = []
    for way in ways:
        compiled, pure = both(way, root, site)
        assert whole(compiled) == whole(pure)
        found.append(own_of(compiled))
    return found


TEXT = " ".join(f"the ship {a}{b} and the boat went to {b}{a} in the rain" for a in "abcdefg" for b in "xyz")


def test_a_page_of_which_all_is_the_site_s_has_an_empty_own_part() -> None:
    for own in own_parts(TEXT, DrawnSite(100, 0)):
        assert (own.kind, own.tokens, own.value) == (PART, 0, 0)
        assert own.minhash == bytes(112)


def test_an_own_part_that_is_too_short_for_a_fingerprint_is_compared_but_not_searched_for() -> None:
    root = parse(f"<main><p>{TEXT}</p><h2>Nurse in Kiel</h2><p>{TEXT}</p></main>")
    way = PageFingerprinter()
    shared = set(_keys(way.read(parse(f"<main><p>{TEXT}</p></main>"), site=DrawnSite(0, 0))))

    class Known(DrawnSite):
        def flags(self, keys: bytes) -> bytes | None:
            return bytes(keys[at : at + 8] in shared for at in range(0, len(keys), 8))

    for reading in both(way, root, Known(0, 0)):
        own = own_of(reading)
        assert (own.kind, own.tokens, own.value) == (PART, 3, 0)
        assert own.minhash != bytes(112)
    assert own.tokens < SHORT_OWN_PART


def _keys(reading: Reading) -> list[bytes]:
    return [reading.pieces[at : at + 8] for at in range(0, len(reading.pieces), 8)]


def test_while_a_site_is_unknown_or_doubtful_nothing_is_left_out() -> None:
    (tokens,) = {own.tokens for own in own_parts(TEXT, DrawnSite(0, 0))}
    for site, kind in (
        (DrawnSite(0, 0), WHOLE),
        (DrawnSite(50, 0, is_known=False), UNKNOWN),
        (DrawnSite(20, 80), DOUBTFUL),
    ):
        for own in own_parts(TEXT, site):
            assert (own.kind, own.value, own.minhash) == (kind, 0, b"")
            # What is surely the site's does not count.
            assert own.tokens < tokens if kind == DOUBTFUL else own.tokens == tokens
            assert tokens * 15 / 16 < own.whole <= tokens


def test_by_the_classic_rule_a_page_has_no_own_part() -> None:
    (classic,) = [way for way in FINGERPRINTERS if way.config.rule == "classic"]
    assert classic.config in SETTINGS
    reading = classic.read(parse(f"<p>{TEXT}"), site=DrawnSite(50, 0))
    assert reading.fingerprint is not None
    assert (reading.fingerprint.own, reading.pieces) == (b"", b"")


def test_masked_numbers_are_one_in_the_own_part_too() -> None:
    (masking,) = [way for way in WAYS if way.config.mask_digits and way.config.shingle_size == 2]
    parts = [own_parts(f"{TEXT} on {day} May", DrawnSite(30, 0), [masking]) for day in (12, 13)]
    # The hash of the text has all numbers.
    assert [own._replace(text=0) for own in parts[0]] == [own._replace(text=0) for own in parts[1]]


def test_flags_of_another_length_are_refused() -> None:
    class Wrong(DrawnSite):
        def flags(self, keys: bytes) -> bytes | None:
            return b"\1"

    root = parse(f"<p>{TEXT}")
    way = PageFingerprinter()
    with pytest.raises(ValueError, match=r"flags\(\) must return a byte for each piece"):
        way.read(root, site=Wrong(0, 0))
    with pytest.raises(ValueError, match="shorter"):
        way.read_document(extract(root), Wrong(0, 0))
