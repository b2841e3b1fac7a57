from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.language import detect, normalize, primary_subtag, stopwords, tokenize

ENGLISH = (
    "The keeper said that it was not the lamp but the wind, and all of us were glad to hear it from him."
)
CHINESE = "雾散以后，码头上的人都说，昨天夜里听见了钟声，可是谁也没有看见船。"
JAPANESE = "霧が晴れたあと、港の人々は昨夜鐘の音を聞いたと言ったが、船を見た者はいなかった。"
KOREAN = "안개가 걷힌 뒤 부두의 사람들은 어젯밤 종소리를 들었다고 말했지만 배를 본 사람은 없었다."
CODE = "for (i = 0; i < n; i++) { buf[i] = getc(fp); } return buf; printf(x, y, z); malloc(sizeof(buf));"


def words(text: str) -> list[str]:
    return tokenize(normalize(text))


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        (ENGLISH, None, "en"),
        (ENGLISH, "es", "en"),  # an untranslated page of a Spanish site
        (CHINESE, None, "zh"),
        (CHINESE, "ja", "ja"),  # kanji alone: the declaration counts
        (JAPANESE, None, "ja"),
        ("東京都知事選挙の投票所一覧と開票速報", None, "ja"),  # a headline with few kana
        (KOREAN, None, "ko"),
        (CODE, None, None),
        (CODE, "de", "de"),  # an unknown language does not contradict
    ],
)
def test_a_declared_language_counts_unless_the_text_contradicts_it(
    text: str, declared: str | None, language: str | None
) -> None:
    assert detect(words(text), declared) == language


def test_a_declaration_needs_nine_tenths_of_the_votes_of_the_winner() -> None:
    english = ["the", "been", "which", "they", "with", "would", "this", "from", "there", "of"]
    german = ["und", "der", "nicht", "ist", "auch", "sich", "auf", "mit", "eine"]
    assert detect(english + german) == "en"
    assert detect(english + german, "de") == "de"
    assert detect(english + german[:-1], "de") == "en"


@given(st.lists(st.sampled_from(sorted(stopwords("hr") | stopwords("sr") | stopwords("sl"))), max_size=12))
def test_a_tie_of_related_languages_has_the_same_winner_in_any_order(tokens: list[str]) -> None:
    again = list(tokens)
    random.Random(1).shuffle(again)
    assert detect(again) == detect(tokens)


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("en", "en"),
        ("en_US", "en"),  # not BCP 47, but common
        ("und", None),  # the codes that name no language
    ],
)
def test_primary_subtag_of_declared_languages(tag: str | None, language: str | None) -> None:
    assert primary_subtag(tag) == language


@pytest.mark.parametrize(("code", "language"), [(300, "zh"), (1_000, None)])
def test_a_text_that_is_mostly_code_has_the_language_of_its_sentences(
    code: int, language: str | None
) -> None:
    sentences = list("夜间引航员在雾中把船带进港口他们从来没有看见过岸上的灯光但是听得见钟声" * 4)
    identifiers = [f"x{number:03}y" for number in range(code // 5)]
    assert detect(sentences + identifiers) == language
