"""What truth.json answers."""

import doctest
import importlib
import pkgutil
from itertools import combinations
from pathlib import Path

import magazine
import pytest
from magazine.truth import TRUTH_FILE, Truth, dumps, make_document


def test_truth_json_is_what_the_site_says_now() -> None:
    assert TRUTH_FILE.read_text(encoding="utf-8") == dumps(make_document())


@pytest.mark.parametrize(
    ("a", "b", "expected", "kind", "grade"),
    [
        ("/boats/night-pilot", "/print/night-pilot", "duplicate", "print-view", ">=.99"),
        ("/boats/night-pilot", "/amp/night-pilot", "duplicate", "compact", ">=.99"),
        ("/boats/night-pilot", "/boats/night-pilot?sid=7f3a91c2", "duplicate", "session-id", ">=.99"),
        ("/boats/night-pilot", "/boats/night-pilot/corrected", "duplicate", "corrected", ">=.99"),
        ("/print/night-pilot", "/boats/night-pilot/corrected", "duplicate", "corrected+print-view", ">=.99"),
        ("/science/fog-diary", "partner:/story/40190/fog-diary", "duplicate", "syndicated", ">=.99"),
        ("/town/slow-clock", "/weekend/slow-clock", "duplicate", "new-headline", ">=.99"),
        ("/town/slow-clock", "/town/slow-clock/earlier-version", "duplicate", "earlier-version", ".95-.99"),
        ("/arts/brass-band", "/arts/brass-band/first-draft", "duplicate", "first-draft", ".90-.95"),
        ("/boats/last-wooden-ferry", "/es/barcos/last-wooden-ferry", "different", "translation", ""),
        ("/print/es/last-wooden-ferry", "/zh/boats/last-wooden-ferry", "different", "translation", ""),
        ("/members/oyster-court", "/members/salt-roads", "duplicate", "login-wall", ">=.99"),
        ("/archive/1998", "/archive/index-of-authors", "duplicate", "soft-404", ">=.99"),
        ("/shop/jersey-small", "/shop/jersey-large", "different", "product-variant", ""),
        ("/shop/jersey-small", "/shop/lantern-cutter", "different", "unrelated", ""),
        ("/latest", "/latest?page=2", "different", "listing-page", ""),
        ("/calendar?month=2024-02", "/calendar?month=2024-05", "duplicate", "calendar-month", ">=.99"),
        ("/calendar?month=2024-04", "/calendar?month=2024-05", "different", "calendar-month", ""),
        ("/garden", "/tag/plants", "unscored", "unrelated", ""),
        ("/photographs/sail-loft", "/photographs/net-store", "unscored", "short", ""),
        ("/boats/last-wooden-ferry", "/ferry", "unscored", "redirect", ""),
        ("/feed.xml", "/latest", "unscored", "not_html", ""),
        ("/boats/the-submarine", "/archive/1998", "unscored", "error", ""),
    ],
)
def test_the_relation_of_two_pages(
    truth: Truth, a: str, b: str, expected: str, kind: str, grade: str
) -> None:
    relation = truth.relation(a, b)
    assert (relation.expected, relation.kind, relation.grade) == (expected, kind, grade)
    assert truth.relation(b, a) == relation


def test_urls_of_a_running_site_name_the_same_pages(truth: Truth) -> None:
    by_url = truth.relation(
        "http://127.0.0.1:4711/science/fog-diary", "http://localhost:4711/story/40190/fog-diary"
    )
    assert by_url == truth.relation("/science/fog-diary", "partner:/story/40190/fog-diary")


def test_groups_agree_with_the_relation_of_their_pages(truth: Truth) -> None:
    for group in truth.groups:
        pairs = list(combinations(group.urls, 2))
        if group.shape == "star":
            pairs = pairs[: len(group.urls) - 1]
        relations = [truth.relation(*pair) for pair in pairs]
        assert {relation.expected for relation in relations} == {group.expected}
        assert {relation.kind for relation in relations} == {group.kind}
        assert min(relation.equal for relation in relations) == pytest.approx(group.main_text_equal, abs=5e-5)


def test_every_duplicate_has_a_grade_that_fits_and_nothing_else_has_one(truth: Truth) -> None:
    least = {">=.99": 0.99, ".95-.99": 0.95, ".90-.95": 0.90}
    for a, b, relation in truth.pairs():
        if relation.expected == "duplicate":
            assert relation.equal >= least[relation.grade], (a, b)
        else:
            assert relation.grade == "", (a, b)


def test_duplicates_of_a_story_are_all_its_copies(truth: Truth) -> None:
    copies = {key for key, page in truth.pages.items() if page.story == "en/brass-band"}
    assert set(truth.duplicates_of("/arts/brass-band")) == copies - {"/arts/brass-band"}


def test_pairs_leave_out_what_robots_txt_forbids(truth: Truth) -> None:
    named = {key for a, b, _ in truth.pairs() for key in (a, b)}
    assert "/desk/rota" not in named
    assert "/about" in named


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.walk_packages(magazine.__path__, "magazine.")]
)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_examples_in_the_readme_run() -> None:
    readme = Path(magazine.__path__[0]).with_name("README.md")
    failed, attempted = doctest.testfile(str(readme), module_relative=False, encoding="utf-8")
    assert attempted == 2
    assert failed == 0
