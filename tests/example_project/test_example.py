"""The example site: the served pages, and the labelled relations of pages."""

from __future__ import annotations

import doctest
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import magazine
import pytest
from magazine.page import Address, Page
from magazine.server import serving
from magazine.truth import Truth


@pytest.fixture(scope="module")
def truth() -> Truth:
    return Truth()


def test_every_page_is_served_as_built_and_is_labelled(site: dict[Address, Page], truth: Truth) -> None:
    with serving() as server, closing(HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        for address, page in site.items():
            connection.request("GET", address.target, headers={"Host": f"{address.host}:{server.port}"})
            response = connection.getresponse()
            assert response.read().replace(f":{server.port}".encode(), b":8000") == page.body(), address.key
            assert response.status == page.status
            assert response.headers.get("Content-Type") == page.headers.get("Content-Type")
    assert {address.key for address in site} == set(truth.pages)


@pytest.mark.parametrize(
    ("a", "b", "expected", "kind", "grade"),
    [
        ("/print/night-pilot", "/boats/night-pilot/corrected", "duplicate", "corrected+print-view", ">=.99"),
        ("/science/fog-diary", "partner:/story/40190/fog-diary", "duplicate", "syndicated", ">=.99"),
        ("/arts/brass-band", "/arts/brass-band/first-draft", "duplicate", "first-draft", ".90-.95"),
        ("/boats/last-wooden-ferry", "/es/barcos/last-wooden-ferry", "different", "translation", ""),
        ("/members/oyster-court", "/members/salt-roads", "duplicate", "login-wall", ">=.99"),
        ("/shop/jersey-small", "/shop/jersey-large", "different", "product-variant", ""),
        ("/latest", "/latest?page=2", "different", "listing-page", ""),
        ("/garden", "/tag/plants", "unscored", "unrelated", ""),
        ("/boats/last-wooden-ferry", "/ferry", "unscored", "redirect", ""),
    ],
)
def test_the_relation_of_two_pages_is_shown(
    truth: Truth, a: str, b: str, expected: str, kind: str, grade: str
) -> None:
    relation = truth.relation(a, b)
    assert (relation.expected, relation.kind, relation.grade) == (expected, kind, grade)
    assert truth.relation(b, a) == relation


def test_the_examples_in_the_readme_run() -> None:
    readme = Path(magazine.__path__[0]).with_name("README.md")
    assert doctest.testfile(str(readme), module_relative=False, encoding="utf-8") == (0, 2)
