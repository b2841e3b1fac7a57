"""The pages that list other pages: front pages, sections, tags, notices, shop, photographs, letters."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from magazine import editions, story_pages
from magazine.catalogue import load_captions, load_members, load_notices, load_products
from magazine.page import MAIN_HOST, Address, Page
from magazine.stories import LANGUAGES, Story, in_language, load_stories
from magazine.templates import chrome, shop
from magazine.templates.labels import LABELS
from magazine.templates.markup import Link, Origins, anchor, esc

_PER_PAGE = 4
_TAGGED = {"en": "Stories about {}", "es": "Artículos sobre {}", "zh": "关于“{}”的文章"}
_ALL_STORIES = {"en": "Everything, newest first", "es": "Todos los artículos", "zh": "全部文章"}
_ALL_PATHS = {"en": "/latest", "es": "/es/todos", "zh": "/zh/all"}
_WELCOME = {
    "en": "Boats, bread, weather and other matters of importance, from a town at the mouth of a slow river.",
    "es": "Barcos, pan, meteorología y otros asuntos importantes, desde un pueblo en la boca de un río lento.",
    "zh": "船、面包、天气，以及其他要紧的事，来自一条慢河入海口的小镇。",
}

# Tags without a story.
EMPTY_TAGS = ("airships", "whaling")


class Teaser(NamedTuple):
    """One entry of a listing."""

    link: Link
    words: str


def listing_pages(origins: Origins) -> Iterator[Page]:
    """Yield every listing of the main site."""
    for lang in LANGUAGES:
        yield _front(lang, origins)
        yield from _paged(lang, _ALL_PATHS[lang], _ALL_STORIES[lang], _all_teasers(lang))
        for section, stories in _sections(lang).items():
            path = editions.section_path(lang, section)
            teasers = [_teaser(story, f"{path}/{story.slug}") for story in stories]
            yield from _paged(lang, path, section.capitalize(), teasers)
        for tag, stories in story_pages.shared_tags(lang).items():
            teasers = [_teaser(story) for story in stories]
            path = story_pages.tag_path(lang, tag)
            yield _listing(lang, path, "tag", _TAGGED[lang].format(tag), teasers)
    yield from _other_listings()


def _front(lang: str, origins: Origins) -> Page:
    stories = in_language(lang)[:5]
    teasers = [_teaser(story) for story in stories]
    labels = LABELS[lang]
    teasers.append(Teaser(Link(_ALL_PATHS[lang], _ALL_STORIES[lang]), labels.motto))
    for key in editions.NEW_HEADLINE:
        story = load_stories()[key]
        if story.lang == lang:
            teasers.append(Teaser(Link(editions.under("weekend", story), story.headline), f"{story.byline}."))
    if lang == "en":
        teasers.append(Teaser(Link("/letter/2024-06", "Our June letter"), "Eight stories for a wet weekend."))
        teasers.append(Teaser(Link(f"{origins.partner}/", "The Estuary Post"), "Our neighbours upriver."))
    return _listing(lang, labels.menu[0].href, "front", labels.masthead, teasers, intro=_WELCOME[lang])


def _all_teasers(lang: str) -> list[Teaser]:
    teasers = [_teaser(story) for story in in_language(lang)]
    if lang == "en":
        teasers += [Teaser(Link(f"/members/{m.slug}", m.title), m.teaser) for m in load_members()]
    return teasers


def _sections(lang: str) -> dict[str, list[Story]]:
    sections: dict[str, list[Story]] = {}
    for story in in_language(lang):
        for section in filter(None, (story.section, story.also_in)):
            sections.setdefault(section, []).append(story)
    return sections


def _other_listings() -> Iterator[Page]:
    notices = [
        Teaser(Link(f"/notices/{n.slug}", n.title), " ".join(n.text.split()[:14]) + " …")
        for n in load_notices()
    ]
    yield from _paged("en", "/notices", "Notices", notices)
    products = [Teaser(Link(p.path, shop.heading(p)), f"{p.measure}, £{p.price}") for p in load_products()]
    yield _listing("en", "/shop", "listing", "The shop on the slip", products)
    photographs = [
        Teaser(Link(f"/photographs/{name}", name.replace("-", " ")), caption)
        for name, caption in load_captions()
    ]
    yield _listing("en", "/photographs", "listing", "Photographs", photographs)
    members = [Teaser(Link(f"/members/{m.slug}", m.title), m.teaser) for m in load_members()]
    yield _listing("en", "/members", "listing", "The members' room", members)
    yield _listing("en", "/letter/2024-06", "listing", "Our June letter", _letter())
    yield _listing("en", "/tags", "listing", "All tags", _tag_index())
    for tag in EMPTY_TAGS:
        empty = [Teaser(Link("/tags", "All tags"), "No stories yet.")]
        yield _listing("en", f"/tag/{tag}", "empty-tag", _TAGGED["en"].format(tag), empty)


def _letter() -> list[Teaser]:
    """Return the links of a newsletter, which have tracking parameters."""
    again = [
        (story, path)
        for story in load_stories().values()
        for kind, path in story_pages.again_paths(story)
        if kind == "tracking"
    ]
    return [Teaser(Link(path, story.title), f"{story.byline}, {story.date}.") for story, path in again]


def _tag_index() -> list[Teaser]:
    entries = [
        Teaser(Link(story_pages.tag_path(lang, tag), tag), LABELS[lang].masthead)
        for lang in LANGUAGES
        for tag in story_pages.shared_tags(lang)
    ]
    return entries + [Teaser(Link(f"/tag/{tag}", tag), LABELS["en"].masthead) for tag in EMPTY_TAGS]


def _teaser(story: Story, path: str = "") -> Teaser:
    return Teaser(Link(path or editions.article_path(story), story.title), story.teaser)


def _paged(lang: str, path: str, title: str, teasers: Sequence[Teaser]) -> Iterator[Page]:
    """Split a long list into pages: the first at *path*, the others at `?page=2` and so on."""
    pages = [teasers[start : start + _PER_PAGE] for start in range(0, len(teasers), _PER_PAGE)]
    paths = [path] + [f"{path}?page={number}" for number in range(2, len(pages) + 1)]
    for number, (own, entries) in enumerate(zip(paths, pages, strict=True)):
        newer = paths[number - 1] if number else ""
        older = paths[number + 1] if number + 1 < len(paths) else ""
        yield _listing(lang, own, "listing", title, entries, newer=newer, older=older, family=path)


def _listing(
    lang: str,
    path: str,
    kind: str,
    title: str,
    teasers: Sequence[Teaser],
    *,
    intro: str = "",
    newer: str = "",
    older: str = "",
    family: str = "",
) -> Page:
    """Return a listing; *newer* and *older* are the paths of the adjacent pages, empty at the ends."""
    labels = LABELS[lang]
    entries = "\n".join(
        f'<section class="teaser"><h2>{anchor(t.link)}</h2><p>{esc(t.words)}</p></section>' for t in teasers
    )
    pager = " ".join(
        anchor(Link(path, words), f' rel="{rel}"')
        for path, words, rel in ((newer, labels.newer, "prev"), (older, labels.older, "next"))
        if path
    )
    main = f"""<main>
<h1>{esc(title)}</h1>
{f"<p class='intro'>{esc(intro)}</p>" if intro else ""}
{entries}
<nav class="pager">{pager}</nav>
{chrome.ad(lang)}
</main>"""
    markup = chrome.page(lang, title, main, crumbs=() if kind == "front" else labels.menu[:1])
    lines = [title, intro, *(line for teaser in teasers for line in (teaser.link.text, teaser.words))]
    text = "\n".join(filter(None, lines))
    return Page(Address(MAIN_HOST, path), kind, markup, main_text=text, lang=lang, family=family)
