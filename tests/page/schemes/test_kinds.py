"""Each kind of feature: its results, and pages without any."""

from __future__ import annotations

from base64 import b64encode

import pytest

from scrapy_simhash.page.schemes import (
    FNV1,
    FNV1A,
    FNV1A_LONG,
    FNV1A_SHORT,
    JAVA,
    XXH3,
    XXH3_LONG,
    FeatureHash,
    Images,
    Links,
    Page,
    TagPaths,
)
from scrapy_simhash.page.schemes.hashes import BASE, HANZI, character_code, lookup3
from scrapy_simhash.page.text import extract, parse

HOME = "https://example.com/news/"


def page_of(html: str, url: str = HOME) -> Page:
    root = parse(html)
    return Page(extract(root), root, url)


def test_links_are_absolute_and_without_fragments() -> None:
    broken = '<a>None</a><a href="">Here</a><a href="//[">Broken</a>'
    page = page_of(f'<a href="/fog#top">Fog</a><a href=" sea ">Sea</a>{broken}')
    assert list(Links()(page)) == ["link https://example.com/fog", "link https://example.com/news/sea"]
    assert [list(kind(Page(page.document))) for kind in (Links(), TagPaths(), Images())] == [[], [], []]


def test_tag_paths_depend_on_markup_and_not_on_text() -> None:
    kind = TagPaths()
    html = "<html><body><main><p>{}<b>{}</b></main></body></html>"
    fog, sea = (page_of(html.format(*words)) for words in (("Fog", "in May"), ("Sea", "and sky")))
    assert list(kind(fog)) == list(kind(sea))
    assert list(kind(fog))[-2:] == ["path html/body/main/p", "path html/body/main/p/b"]
    assert max(path.count("/") for path in TagPaths(3)(fog)) == 2
    deep = page_of("<div>" * 5_000)
    assert len(list(kind(deep))) == 32


def test_an_image_is_its_url_its_text_and_its_bytes() -> None:
    data = "data:image/png;base64," + b64encode(b"fog").decode()
    pages = [
        page_of(f'<img src="/a.png" alt="Fog in May"><img src="{source}" alt="">')
        for source in (data, data.replace("Zm9n", "c2Vh"), "data:,fog", "data:broken", "data:;base64,x")
    ]
    features = [list(Images()(page)) for page in pages]
    assert features[0][:2] == ["image https://example.com/a.png", "image text fog in may"]
    # Other bytes give another feature.
    assert features[0][2] != features[1][2]
    assert features[0] == features[2]
    assert features[3] == features[4] == features[0][:2]


SENTENCE = "Four score and seven years ago"


@pytest.mark.parametrize(
    ("feature_hash", "feature", "value"),
    [
        # The test vectors of the FNV distribution.
        (FNV1, "", 0xCBF29CE484222325),
        (FNV1, "a", 0xAF63BD4C8601B7BE),
        (FNV1A, "", 0xCBF29CE484222325),
        (FNV1A, "a", 0xAF63DC4C8601EC8C),
        (FNV1A_SHORT, "", 0x811C9DC5),
        (FNV1A_LONG, "", 0x6C62272E07BB014262B821756295C58D),
        # The specification of XXH3, seed 0.
        (XXH3, "", 0x2D06800538D394C2),
        (XXH3_LONG, "", 0x99AA06D3014798D86001C324468D497F),
        # The output of Java, as an unsigned number.
        (JAVA, "", 0),
        (JAVA, "hello", 99162322),
    ],
)
def test_a_hash_has_the_published_value(feature_hash: FeatureHash, feature: str, value: int) -> None:
    assert feature_hash.of(feature) == value


@pytest.mark.parametrize(
    ("data", "seeds", "halves"),
    [
        # Printed by driver5 of lookup3.c.
        (b"", (0, 0), (0xDEADBEEF, 0xDEADBEEF)),
        (SENTENCE.encode(), (0, 0), (0x17770551, 0xCE7226E6)),
    ],
)
def test_jenkins_equals_lookup3(data: bytes, seeds: tuple[int, int], halves: tuple[int, int]) -> None:
    assert lookup3(data, *seeds) == halves


@pytest.mark.parametrize(
    ("character", "code"),
    [
        ("啊", 0),  # the first hanzi
        ("齄", HANZI - 1),  # the last hanzi
        ("\t", HANZI),
        ("~", BASE),  # the last ASCII character, one more than the largest digit of the base
        ("　", (161 - 176) * 94),  # full-width symbols come before the hanzi
        ("€", HANZI + ord("?") - 9),  # not in GB2312
    ],
)
def test_the_code_of_a_character_is_its_position_in_gb2312(character: str, code: int) -> None:
    assert character_code(character) == code
