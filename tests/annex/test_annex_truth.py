"""What the annex's truth.json answers."""

import doctest
import json
from itertools import combinations
from pathlib import Path
from urllib.parse import urljoin

import pytest
from lxml import html
from magazine.page import Address

from tests.annex.site import build_annex
from tests.annex.truth import TRUTH_FILE, AnnexTruth, dumps, make_document

README = Path(__file__).with_name("README.md")


@pytest.fixture(scope="module")
def annex() -> AnnexTruth:
    return AnnexTruth.load()


def test_truth_json_is_what_the_annex_says_now() -> None:
    assert TRUTH_FILE.read_text(encoding="utf-8") == dumps(make_document())


@pytest.mark.parametrize(
    ("a", "b", "expected", "kind"),
    [
        ("/annex/", "/annex/welcome", "duplicate", "front"),
        ("/annex/gazette/en-gb/grey-mare", "/annex/gazette/en-us/grey-mare", "duplicate", "edition"),
        ("/annex/gazette/en-gb/grey-mare", "/annex/gazette/en-gb/paper-boats", "different", "unrelated"),
        ("/annex/stores/mug/300-ml", "/annex/stores/mug/600-ml", "unscored", "product"),
        ("/annex/stores/mug/600-ml", "/annex/stores/mug/600-ml?ref=friend-of-agnes", "duplicate", "product"),
        ("/annex/stores/mug/300-ml", "/annex/stores/mug/600-ml?ref=friend-of-agnes", "unscored", "product"),
        ("/annex/slip", "/annex/slip?page=4", "duplicate", "board"),
        ("/annex/slip/kinds", "/annex/slip/kinds/animals", "duplicate", "drawer"),
        ("/annex/slip", "/annex/slip/kinds", "different", "unrelated"),
        ("/annex/slip/digest", "/annex/slip/digest?page=2", "different", "unrelated"),
        ("/annex/slip/card/dinghy", "/annex/slip/card/dinghy-again", "duplicate", "card"),
        ("/annex/slip/card/dinghy", "/annex/slip/digest", "different", "unrelated"),
        ("/annex/tales/lamp-oil/", "partner:/annex/tales/lamp-oil", "duplicate", "tale"),
        ("/annex/tales/spoon-war", "/annex/", "different", "unrelated"),  # which it calls its canonical
        ("/annex/posters/winter-clock/bridge", "/annex/posters/winter-clock/lido", "duplicate", "poster"),
        ("/annex/walk/2", "/annex/walk/2/again", "duplicate", "walk"),
        ("/annex/walk/2", "/annex/walk/3", "different", "unrelated"),
        ("/annex/registers/pew-rents-and-quarrels", "/annex/registers/the-poor-box", "duplicate", "captcha"),
        ("/annex/cellar/1811", "/annex/cellar/1888", "duplicate", "soft-404"),
        ("/annex/cellar/1811", "/annex/reading-room/fog-a-reader", "different", "unrelated"),
        ("/annex/charts/the-elbow", "/annex/charts/lamp-roads", "unscored", "short"),
        ("/annex/old/1", "/annex/tales/moved-bell", "unscored", "redirect"),
    ],
)
def test_the_relation_of_two_pages(annex: AnnexTruth, a: str, b: str, expected: str, kind: str) -> None:
    relation = annex.relation(a, b)
    assert (relation.expected, relation.kind) == (expected, kind)
    assert annex.relation(b, a) == relation


def test_urls_of_a_running_site_name_the_same_pages(annex: AnnexTruth) -> None:
    assert annex.page("http://127.0.0.1:4711/annex/slip?page=2").kind == "board"
    assert annex.page("http://localhost:4711/annex/tales/lamp-oil").kind == "other-host"
    with pytest.raises(KeyError, match="/annex/almanac"):
        annex.page("/annex/almanac")


def test_groups_agree_with_the_relation_of_their_pages(annex: AnnexTruth) -> None:
    for group in annex.groups:
        relations = [annex.relation(a, b) for a, b in combinations(group.urls, 2)]
        assert {relation.kind for relation in relations} == {group.kind}
        if group.expected == "duplicate":
            assert {relation.expected for relation in relations} == {"duplicate"}
            assert min(relation.equal for relation in relations) >= 0.95
        assert "different" not in {relation.expected for relation in relations}


def test_different_families_never_share_nine_words_in_ten(annex: AnnexTruth) -> None:
    close = [
        (a, b)
        for a, b, relation in annex.pairs()
        if relation.equal >= 0.9 and annex.pages[a].family != annex.pages[b].family
    ]
    assert close == []


@pytest.mark.parametrize(("kind", "number"), [("poster", [2, 3, 5, 8, 12]), ("edition", [3, 3, 3, 3])])
def test_clusters_are_of_these_sizes(annex: AnnexTruth, kind: str, number: list[int]) -> None:
    assert sorted(len(group.urls) for group in annex.groups if group.kind == kind) == number


@pytest.mark.parametrize("kind", ["login-wall", "consent", "captcha", "soft-404", "shell"])
def test_each_wall_stands_before_at_least_fifteen_addresses(annex: AnnexTruth, kind: str) -> None:
    walls = annex.of(kind=kind)
    assert len(walls) >= 15
    assert len({wall.rpartition("/")[0] for wall in walls}) == 1


@pytest.mark.parametrize(
    ("role", "kinds"),
    [
        ("start", {"front"}),
        ("listing", {"listing", "drawer", "digest"}),
        ("pagination", {"board"}),
        ("language", {"edition"}),
        ("product", {"product"}),
    ],
)
def test_pages_that_are_more_than_their_text_have_a_role(
    annex: AnnexTruth, role: str, kinds: set[str]
) -> None:
    assert {annex.pages[key].kind for key in annex.of(role=role)} == kinds


def test_no_page_but_the_start_of_a_crawl_is_without_a_way_to_it(annex: AnnexTruth) -> None:
    assert [key for key, page in annex.pages.items() if page.depth is None] == []
    assert [key for key, page in annex.pages.items() if page.depth == 0] == ["/annex/"]


def test_a_redirect_costs_no_depth(annex: AnnexTruth) -> None:
    depths = [annex.page(f"/annex/{path}").depth for path in ("tales", "old/1", "old/3", "tales/moved-bell")]
    assert depths == [1, 2, 2, 2]


def test_the_walk_and_its_echoes_go_a_link_deeper_at_each_part(annex: AnnexTruth) -> None:
    stages = [annex.page(f"/annex/walk/{number}").depth for number in range(1, 7)]
    echoes = [annex.page(f"/annex/walk/{number}/again").depth for number in range(1, 7)]
    assert (stages, echoes) == ([1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7])


CUTS = [
    (),
    ("/annex/walk/3",),
    ("/annex/slip?page=2", "/annex/slip/kinds/music"),
    ("/annex/old/1", "/annex/tales"),
    ("/annex/",),
]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("start", ["/annex/", "/annex/welcome"])
def test_what_is_reachable_is_what_a_walk_over_the_markup_finds(
    annex: AnnexTruth, cut: tuple[str, ...], start: str
) -> None:
    site = build_annex()
    seen, waiting = {start}, [start]
    while waiting:
        page = site[Address.of(waiting.pop())]
        base = f"http://{page.address.host}:8000{page.address.target}"
        found = [page.location] if page.location else html.document_fromstring(page.body()).xpath("//a/@href")
        if page.address.key in cut and not page.location:
            found = found[:1]  # to the start page
        new = {Address.of(urljoin(base, to)).key for to in found} - seen
        seen |= new
        waiting += new
    reached = annex.reachable(start, without_links_of=cut)
    assert set(reached) == {key for key in seen if not annex.pages[key].leads_to}
    assert (len(reached) < sum(not page.leads_to for page in annex.pages.values())) == bool(cut)


def test_only_here_is_what_is_lost_with_a_pages_links(annex: AnnexTruth) -> None:
    whole = annex.reachable()
    with_some = [key for key, page in annex.pages.items() if page.only_here and key in whole]
    assert len(with_some) > 60
    for key in with_some:
        lost = whole.keys() - annex.reachable(without_links_of=[key])
        kept = {to for to in annex.pages[key].only_here if not annex.pages[to].leads_to}
        assert kept <= lost, key


@pytest.mark.parametrize("role", ["pagination", "language", "listing", "start"])
def test_each_role_but_that_of_products_has_pages_that_nobody_else_leads_to(
    annex: AnnexTruth, role: str
) -> None:
    repeats = {key for group in annex.groups for key in group.urls[1:]}
    repeated = [key for key in annex.of(role=role) if key in repeats]
    whole = annex.reachable()
    assert whole.keys() - annex.reachable(without_links_of=repeated)


def test_every_card_stands_on_a_page_of_its_own_and_the_first_ones_are_read_aloud_too(
    annex: AnnexTruth,
) -> None:
    own = [name for key in annex.of(kind="card") + annex.of(kind="repost") for name in annex.pages[key].items]
    aloud = [name for key in annex.of(kind="digest") for name in annex.pages[key].items]
    assert sorted(own) == sorted(annex.items)
    assert sorted(aloud) == sorted(name for name, item in annex.items.items() if not item.repeats)
    assert annex.items_on(annex.reachable()) == set(annex.items)


def test_cards_are_repeated_with_the_same_body_another_price_or_another_word(annex: AnnexTruth) -> None:
    repeats = {name: item for name, item in annex.items.items() if item.repeats}
    changed = {name for name, item in repeats.items() if item.equal < 1}
    cheaper = {name for name, item in repeats.items() if item.price != annex.items[item.repeats].price}
    assert (len(repeats), changed, cheaper) == (4, {"tuba-again"}, {"stove-cheaper"})


def test_endless_parts_are_stated_by_their_rule(annex: AnnexTruth) -> None:
    assert [(part.kind, part.start, part.links) for part in annex.endless] == [
        ("month", "/annex/almanac", 2),
        ("finder", "/annex/finder", 4),
    ]
    for part in annex.endless:
        assert not [key for key in annex.pages if key.startswith(part.prefix)]


def test_the_examples_in_the_readme_run() -> None:
    failed, attempted = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert attempted >= 4
    assert failed == 0


@pytest.mark.parametrize(("part", "name"), [("pages", "/annex/walk/2/again"), ("items", "tuba-again")])
def test_the_readme_quotes_the_file(part: str, name: str) -> None:
    entry = json.dumps({name: make_document()[part][name]}, ensure_ascii=False)[1:-1]
    assert entry in " ".join(README.read_text("utf-8").split())
