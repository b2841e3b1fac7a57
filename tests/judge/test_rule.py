from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.judge.measured import NOT_NEAR, Measured
from scrapy_simhash.judge.rule import ClassicRule, Near, Nearest, Rule, SimilarityRule
from scrapy_simhash.judge.second_look import OTHER_FACTS, contradiction
from scrapy_simhash.page.fingerprint import (
    DOUBTFUL,
    FACTS_AT,
    MINHASH_BYTES,
    OTHER_KEY,
    PART,
    UNKNOWN,
    WHOLE,
    Fingerprint,
    UniqueText,
    compare_keys,
    sketch,
)
from scrapy_simhash.page.fingerprint.facts import (
    NAME,
    NONE,
    PLAIN,
    STRUCTURED,
    packed,
    with_rows,
)
from tests.examples import examples

SHINGLES = [hash_ * 0x9E3779B97F4A7C15 % 2**64 for hash_ in range(1, 1001)]


def fingerprint(
    value: int, shared: int = 1000, title_key: str = "night pilots", facts: bytes = NONE
) -> Fingerprint:
    """Return a fingerprint of 1,000 shingles; *shared* of them are the same in all fingerprints."""
    own = [shingle ^ 0x5555 for shingle in SHINGLES[shared:]]
    scattered = [(shingle * 0xD1B54A32D192ED03 + 1) % 2**64 for shingle in own]
    return Fingerprint(value, 1000, sketch(SHINGLES[:shared] + scattered, title_key.split(), facts))


def test_without_a_sketch_three_bits_decide() -> None:
    rule = SimilarityRule()
    assert rule.similarity(Fingerprint(0), Fingerprint(0b111)) == 1 - 3 / 64
    assert rule.similarity(Fingerprint(0), Fingerprint(0b1111)) is None
    assert rule.similarity(fingerprint(0), Fingerprint(0b1111)) is None
    assert SimilarityRule(max_distance=2).similarity(Fingerprint(0), Fingerprint(0b111)) is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            SimilarityRule(),
            "simhash distance <= 8 or equal titles, similarity >= 0.80"
            " (0.70: equal titles, known site; 0.95: different titles)",
        ),
        (SimilarityRule(2, 1.0), "simhash distance <= 2 or equal titles, equal text"),
        (ClassicRule(2), "simhash distance <= 2"),
    ],
)
def test_a_rule_is_shown_in_a_few_words(rule: Rule, words: str) -> None:
    assert str(rule) == words


# --- Unique text: comparisons on known sites.

SAME, OTHER, CLOSE = "night pilots", "day pilots", "night pilots of the port of lisbon harbour"


def unique_text(shared: int = 1000, value: int = 8, tokens: int = 200) -> bytes:
    """Return the unique text of a page: 1,000 shingles, *shared* of them the same in all."""
    return UniqueText(PART, tokens, value, fingerprint(0, shared).sketch[:MINHASH_BYTES]).to_bytes()


def page(
    own: bytes, value: int = 0, shared: int = 1000, title_key: str = SAME, facts: bytes = NONE
) -> Fingerprint:
    part = (
        UniqueText.from_bytes(own)._replace(words=1 + shared)
        if own and not UniqueText.from_bytes(own).words
        else None
    )
    return replace(fingerprint(value, shared, title_key, facts), own=part.to_bytes() if part else own)


def unknown(tokens: int = 200) -> bytes:
    return UniqueText(UNKNOWN, tokens).to_bytes()


def doubtful(tokens: int = 200) -> bytes:
    return UniqueText(DOUBTFUL, tokens).to_bytes()


def whole(tokens: int = 200) -> bytes:
    return UniqueText(WHOLE, tokens).to_bytes()


def with_words(own: bytes, words: int) -> bytes:
    """Return the unique text of a page of 400 words."""
    return UniqueText.from_bytes(own)._replace(words=words, whole=400).to_bytes()


def elsewhere(own: bytes, title_key: str = SAME) -> Fingerprint:
    """Return a page that differs in bits and shingles, as if its template were different; its unique text may be the
    same.
    """
    return page(own, 2**30 - 1, 300, title_key)


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [
        # Without unique text: distance, similarity and title keys.
        *(
            (fingerprint(0), fingerprint((1 << distance) - 1, shared, title_key), near)
            for distance, shared, title_key, near in [
                (0, 1000, "night pilots", True),
                (8, 1000, "", True),
                (9, 1000, "", False),  # too far to be a candidate
                (9, 1000, "night pilots day", False),
                (40, 1000, "night pilots", True),  # a candidate by its title key
                (3, 950, "night pilots", True),
                (3, 700, "night pilots", False),  # near by bits, but with a different text
                (3, 930, "day pilots", False),  # as similar as pages of one template, with a different title
                (3, 995, "day pilots", True),  # a different headline over the same text
            ]
        ),
        # Unknown sites: nearly the same text is a copy if the title keys are equal.
        (page(unknown()), page(unknown(), 7, 950), True),
        (page(unknown()), page(unknown(), 7, 995, OTHER), False),
        (page(unknown()), page(unknown(), 7, 950, CLOSE), False),
        (page(unknown()), page(unknown(), 7, 1000, CLOSE), True),  # the same text under a longer heading
        (page(unknown()), page(doubtful(), 7, 995, OTHER), False),
        (page(doubtful()), page(whole(), 7, 995, OTHER), False),
        # The site became known between the two pages: the second page has no boilerplate.
        (page(unknown()), page(whole(), 7, 995, OTHER), True),
        (page(unknown()), page(whole(), 7, 930, OTHER), False),
        (page(unknown()), page(unique_text(), 7, 995, OTHER), False),
        # Also if the text is long.
        (page(unknown(1000)), page(unknown(1000), 7, 995, OTHER), True),
        (page(unknown(1000)), page(unknown(999), 7, 995, OTHER), False),
        # One page has no boilerplate; the other has the same text in the template of a known site.
        (page(unknown(), 8), elsewhere(unique_text()), True),
        (page(unknown(), 8), elsewhere(unique_text(700)), False),
        # Known sites without boilerplate on these pages: all text is compared.
        (page(whole()), page(whole(), 7, 950), True),
        (page(whole()), page(whole(), 7, 700), False),
        # With equal title keys a lower similarity is enough, if both sites are known and the text is long.
        (page(whole()), page(whole(), 7, 850), True),
        (page(whole()), page(whole(), 7, 850, CLOSE), False),
        (page(whole()), page(doubtful(), 7, 850), False),
        (page(whole()), page(unknown(), 7, 850), False),
        (page(whole(50)), page(whole(), 7, 850), True),
        (page(with_words(whole(49), 1)), page(whole(), 7, 850), False),
        (page(unique_text()), elsewhere(unique_text(850)), True),
        (page(unique_text()), elsewhere(unique_text(750)), False),
        (page(whole()), page(whole(), 7, 930, OTHER), False),
        (page(whole()), page(whole(), 7, 995, OTHER), True),
        # Equal unique text under different templates.
        (page(unique_text()), elsewhere(unique_text(950, 15)), True),
        (page(unique_text()), elsewhere(unique_text(1000, 2**40 - 1)), True),  # found by the title key
        (page(unique_text()), elsewhere(unique_text(1000, 8 ^ 2**13 - 1), ""), False),  # not found
        (page(unique_text()), elsewhere(unique_text(1000, 8, 29)), False),  # too short to be a copy
        (page(unique_text(tokens=30)), elsewhere(unique_text(tokens=30)), True),
        (page(whole(), 8), elsewhere(unique_text()), True),
        # Equal boilerplate and different unique text.
        (page(unique_text()), page(unique_text(100, 2**30 - 1), 7, 990), False),
        (page(unique_text()), page(unique_text(100, 2**30 - 1), 0, 1000, OTHER), False),
        (page(unique_text()), page(unique_text(700), 0, 1000, OTHER), False),
        # Short unique texts need the same title key.
        (page(unique_text(950, 0, 12)), page(unique_text(1000, 0, 12), 7, 990), True),
        (page(unique_text(500, 0, 12)), page(unique_text(1000, 0, 12), 7, 990), False),
        (page(unique_text(1000, 0, 12)), page(unique_text(1000, 0, 12), 0, 1000, OTHER), False),
        (page(unique_text(1000, 0, 12)), page(unique_text(1000, 0, 12), 7, 700), False),
        # All text is boilerplate.
        (page(unique_text(0, 0, 0)), page(unique_text(1000, 0, 12), 7, 990), True),
        (page(unique_text(0, 0, 0)), page(unique_text(1000, 0, 12), 0, 1000, OTHER), False),
        # 20 of 400 words are unique, so half of the unique words are a fortieth of the text.
        (
            page(with_words(unique_text(1000, 0, 20), 1)),
            page(with_words(unique_text(1000, 0, 20), 2), 7, 975),
            False,
        ),
        (
            page(with_words(unique_text(1000, 0, 20), 1)),
            page(with_words(unique_text(1000, 0, 20), 1), 7, 975),
            True,
        ),
        # The site became known between the two pages.
        (page(with_words(unique_text(1000, 0, 20), 1)), page(with_words(unknown(400), 2), 7, 975), False),
        (page(with_words(unique_text(1000, 0, 20), 1)), page(with_words(unknown(400), 1), 7, 975), True),
        (page(with_words(doubtful(20), 1)), page(with_words(doubtful(20), 2), 7, 975), False),
        # An unknown site.
        (page(with_words(unknown(400), 1)), page(with_words(unknown(400), 2), 7, 975), True),
        # The same number of words in a longer text.
        (
            page(with_words(unique_text(1000, 8, 200), 1)),
            page(with_words(unique_text(1000, 8, 200), 2), 7, 975),
            True,
        ),
    ],
)
def test_two_pages_are_near_duplicates(a: Fingerprint, b: Fingerprint, near: bool) -> None:
    rule = SimilarityRule()
    assert (rule.similarity(a, b) is not None) is near
    assert rule.similarity(b, a) == rule.similarity(a, b)


#: Structured data: a job with two towns and with none, and a concert.
KIEL, ULM = (with_rows(NONE, [STRUCTURED | 3 << 16 | 7, STRUCTURED | 5 << 16 | town]) for town in (1, 2))
ANYWHERE = with_rows(NONE, [STRUCTURED | 3 << 16 | 7])
CONCERT = with_rows(NONE, [STRUCTURED | 6 << 16 | 8])
#: Facts of pages on different hosts.
STATED = st.builds(
    packed,
    st.integers(0, 2),
    st.dictionaries(st.integers(1, 6), st.integers(NAME, PLAIN), max_size=3),
    st.sampled_from([[], [(1 << 63, 1 << 48)], [(1 << 63, 2 << 48)]]),
)


OWN = st.one_of(
    st.just(b""),
    st.builds(unknown, st.integers(0, 2000)),
    st.builds(whole, st.integers(0, 2000)),
    st.builds(
        unique_text,
        st.sampled_from([0, 100, 500, 900, 950, 1000]),
        st.integers(0, 3),
        st.sampled_from([0, 5, 29, 30, 900]),
    ),
    st.sampled_from([unknown(), doubtful(), whole(), unique_text(), unique_text(950, 9)]),
)  # fmt: skip
PAGES = st.builds(
    page,
    OWN,
    st.integers(0, 7),
    st.sampled_from([0, 300, 700, 930, 1000]),
    st.sampled_from([SAME, OTHER, CLOSE, ""]),
    st.just(NONE) | st.sampled_from([KIEL, ULM, ANYWHERE, CONCERT]) | STATED,
)


@given(PAGES, PAGES, st.sampled_from([SimilarityRule(), SimilarityRule(2, 0.9), SimilarityRule(20, 0.5)]))
def test_the_order_of_two_pages_does_not_matter(a: Fingerprint, b: Fingerprint, rule: SimilarityRule) -> None:
    found = rule.similarity(a, b)
    assert rule.similarity(b, a) == found
    assert found is None or 0 <= found <= 1
    # If only one page has unique text, it does not count.
    bare = rule.similarity(replace(a, own=b""), replace(b, own=b""))
    assert rule.similarity(replace(a, own=b""), b) == rule.similarity(a, replace(b, own=b"")) == bare
    facts = [fingerprint.sketch[FACTS_AT:] for fingerprint in (a, b)]
    hosts = {each[each[0]] for each in facts if each[0]}
    has_other_title = compare_keys(a.sketch, b.sketch) == OTHER_KEY
    is_on_one_host = NONE not in facts and (len(hosts) == 1 or 0 in hosts)
    contradicts = contradiction(*facts) == OTHER_FACTS or (has_other_title and is_on_one_host)
    near = [Near(0, found, bare, contradicts)] if (found, bare) != (None, None) else []
    assert rule.compare_all(a, [b.compared_bytes()]) == near


@given(
    PAGES,
    st.lists(PAGES, max_size=20),
    st.sampled_from([SimilarityRule(), SimilarityRule(2, 0.9), ClassicRule()]),
)
def test_comparing_all_at_once_equals_comparing_each_alone(
    page: Fingerprint, others: list[Fingerprint], rule: Rule
) -> None:
    near = rule.compare_all(page, [other.compared_bytes() for other in others])
    assert [place for place, *_ in near] == sorted({place for place, *_ in near})
    found = dict.fromkeys(range(len(others)))
    found |= {place: similarity for place, similarity, *_ in near}
    assert found == {place: rule.similarity(page, other) for place, other in enumerate(others)}


@given(PAGES, st.lists(PAGES, max_size=20), st.sampled_from([SimilarityRule(), SimilarityRule(2, 0.9)]))
def test_a_generic_title_never_makes_a_pair_near_in_python_and_in_c(
    page: Fingerprint, others: list[Fingerprint], rule: Rule
) -> None:
    compared = [other.compared_bytes() for other in others]
    of_generic, of_others = (
        rule.compare_all(page, compared, is_generic=True),
        rule.compare_all(page, compared),
    )
    known = {near.place: near for near in of_others}
    for near in of_generic:
        its = known[near.place]
        # The similarity may be that of the unique text instead.
        assert near.similarity is None or its.similarity is not None
        assert near._replace(similarity=its.similarity) == its
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("scrapy_simhash.judge.rule._native_look", lambda *of: None)
        assert rule.compare_all(page, compared, is_generic=True) == of_generic


@settings(max_examples=examples(200))
@given(PAGES, st.lists(PAGES, max_size=8), st.sampled_from([SimilarityRule(), SimilarityRule(2, 0.9)]))
def test_the_nearest_page_has_the_setting_that_would_make_it_a_near_duplicate(
    page: Fingerprint, others: list[Fingerprint], rule: SimilarityRule
) -> None:
    compared = [other.compared_bytes() for other in others]
    found = rule.nearest(page, compared)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("scrapy_simhash.judge.rule._native_look", lambda *of: None)
        assert rule.nearest(page, compared) == found
    alike = [Measured(page, other, rule.min_similarity, rule.max_distance).alike for other in others]
    if found is None:
        assert max(alike, default=NOT_NEAR) == NOT_NEAR
        return
    assert (found.similarity, found.place) == (max(alike), alike.index(max(alike)))
    at = round(found.threshold * 1000)
    for thousandths in {1, 500, 800, 950, 1000, at, at + 1}.intersection(range(1, 1001)):
        strict = SimilarityRule(rule.max_distance, thousandths / 1000)
        assert (strict.similarity(page, others[found.place]) is not None) == (thousandths <= at)


@pytest.mark.parametrize("size", [0, 7, 9, 136, 138, 147, 149, 268])
def test_bytes_that_are_not_a_fingerprint_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="bytes"):
        SimilarityRule().compare_all(page(unknown(100)), [bytes(size)])


@given(PAGES)
def test_a_page_is_a_near_duplicate_of_itself_with_any_site_model(a: Fingerprint) -> None:
    assert SimilarityRule().similarity(a, a) == 1.0


@given(PAGES, PAGES)
def test_at_a_similarity_of_1_only_equal_texts_are_near_duplicates(a: Fingerprint, b: Fingerprint) -> None:
    near = SimilarityRule(8, 1.0).similarity(a, b)
    # Mirrors have another host, in the last byte.
    has_equal_text = (a.value, a.sketch[:-1]) == (b.value, b.sketch[:-1])
    if a.own and b.own:
        one, other = UniqueText.from_bytes(a.own), UniqueText.from_bytes(b.own)
        has_equal_text = has_equal_text and one.text == other.text
    assert near == (1.0 if has_equal_text else None)


@pytest.mark.parametrize(
    ("a", "b", "decided_by", "required"),
    [
        (page(whole()), page(whole(), 7, 950, CLOSE), "all text", 0.8),
        (page(whole()), page(whole(), 7, 950), "all text", 0.7),
        (page(whole()), page(whole(), 7, 930, OTHER), "title", 0.95),
        (page(unknown()), page(unknown(), 7, 950, OTHER), "title", 0.98),
        (page(unique_text()), elsewhere(unique_text(950, 15)), "unique text", 0.7),
        (page(unique_text(0)), page(unique_text(1000), 7, 990), "unique text", 0.8),
        (page(doubtful(20)), page(with_words(doubtful(20), 2), 7, 500), "few words", 0.8),
        (page(whole(), facts=KIEL), page(whole(), 7, 990, facts=ULM), "names", 0.7),
    ],
)
def test_a_pair_has_the_basis_of_its_decision(
    a: Fingerprint, b: Fingerprint, decided_by: str, required: float
) -> None:
    for nearest in (SimilarityRule().nearest(a, [b.compared_bytes()]), nearest_in_pure_python(a, b)):
        assert nearest is not None
        assert (nearest.decided_by, round(nearest.required, 6)) == (decided_by, required)


def nearest_in_pure_python(a: Fingerprint, b: Fingerprint) -> Nearest | None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("scrapy_simhash.judge.rule._native_look", lambda *of: None)
        return SimilarityRule().nearest(a, [b.compared_bytes()])
