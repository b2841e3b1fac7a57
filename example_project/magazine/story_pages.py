"""The pages with a story: the article, and the copies that `editions` lists."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from urllib.parse import quote

from magazine import editions
from magazine.edits import corrected, reworded
from magazine.page import MAIN_HOST, PARTNER_HOST, Address, Page, stable
from magazine.records import read_pairs
from magazine.stories import Story, in_language, load_stories, translations
from magazine.templates import chrome, classic, partner, print_view
from magazine.templates.labels import HTML_LANG, LABELS, LANGUAGE_NAMES
from magazine.templates.markup import Link, Origins, anchor, bullets, esc, prose

_VERSION_WORDS = {
    "corrected": {"en": "Corrected version", "es": "Versión corregida", "zh": "更正版"},
    "earlier-version": {"en": "Earlier version", "es": "Versión anterior", "zh": "旧版"},
    "first-draft": {"en": "First draft", "es": "Primer borrador", "zh": "初稿"},
    "second-section": {"en": "This story in another section", "es": "En otra sección", "zh": "在另一个栏目"},
}


def story_pages(origins: Origins) -> Iterator[Page]:
    """Yield the pages of all stories, the partner's copies included."""
    for story in load_stories().values():
        path = editions.article_path(story)
        yield _article(story, path, "article", canonical=path, is_main=True)
        yield from _plain_copies(story, origins)
        yield from _same_page_again(story)
        yield from _edited_copies(story)
        yield from _partner_copy(story, origins)


def print_path(story: Story) -> str:
    """Return the path of the story's print view."""
    return editions.under("print", story)


def classic_path(story: Story) -> str:
    """Return the path of the story on the old site."""
    return f"/old/{story.lang}/{story.slug}.htm"


def tag_path(lang: str, tag: str) -> str:
    """Return the path of a tag page, percent-encoded."""
    return f"/tag/{quote(tag)}" if lang == "en" else f"/{lang}/tag/{quote(tag)}"


@cache
def shared_tags(lang: str) -> dict[str, list[Story]]:
    """Return the tags that at least two stories of a language have; only these have a page."""
    tags: dict[str, list[Story]] = {}
    for story in in_language(lang):
        for tag in story.tags:
            tags.setdefault(tag, []).append(story)
    return {tag: stories for tag, stories in sorted(tags.items()) if len(stories) > 1}


def again_paths(story: Story) -> list[tuple[str, str]]:
    """Return (kind, path) of the article page with other queries: session ids and tracking parameters."""
    path = editions.article_path(story)
    again = [("session-id", f"{path}?sid={sid}") for sid in editions.SESSION_IDS.get(story.key, ())]
    if story.key in editions.TRACKING:
        again.append(("tracking", f"{path}?{editions.TRACKING[story.key]}"))
    return again


def syndicated_target(story: Story) -> str:
    """Return the path of the partner's copy. Only for syndicated stories."""
    return f"/story/{editions.SYNDICATED[story.key]}/{story.slug}"


def _plain_copies(story: Story, origins: Origins) -> Iterator[Page]:
    canonical = editions.article_path(story)
    printed = print_view.render(story, source=origins.main + canonical, canonical=canonical)
    yield _page(story, print_path(story), "print-view", printed)
    if story.key in editions.OTHER_ENCODING:
        encoding = editions.OTHER_ENCODING[story.key]
        old = classic.render(story, encoding=encoding)
        # The header does not declare the charset, on purpose.
        page = _page(story, classic_path(story), "other-encoding", old)
        yield replace(page, encoding=encoding, content_type="text/html")


def _same_page_again(story: Story) -> Iterator[Page]:
    for kind, path in again_paths(story):
        canonical = editions.article_path(story) if kind == "tracking" else ""
        yield _article(story, path, kind, canonical=canonical)
    if story.also_in:
        yield _article(story, editions.second_section_path(story), "second-section", section=story.also_in)
    if story.key in editions.NEW_HEADLINE:
        retitled = replace(story, title=story.headline)
        yield _article(retitled, editions.under("weekend", story), "new-headline")


def _edited_copies(story: Story) -> Iterator[Page]:
    path = editions.article_path(story)
    if story.correction:
        yield _article(corrected(story), f"{path}/corrected", "corrected")
    if story.key in editions.EARLIER_VERSION:
        earlier = reworded(story, editions.EARLIER_VERSION[story.key])
        yield _article(earlier, f"{path}/earlier-version", "earlier-version")
    if story.key in editions.FIRST_DRAFT:
        draft = reworded(story, editions.FIRST_DRAFT[story.key])
        yield _article(draft, f"{path}/first-draft", "first-draft")


def _partner_copy(story: Story, origins: Origins) -> Iterator[Page]:
    if story.key not in editions.SYNDICATED:
        return
    others = [load_stories()[key] for key in editions.SYNDICATED if key != story.key]
    headlines = [Link(syndicated_target(other), other.title) for other in others]
    original = origins.main + editions.article_path(story)
    shown = partner.article(story, original=original, headlines=headlines)
    yield _page(story, syndicated_target(story), "syndicated", shown, host=PARTNER_HOST)


def _article(
    story: Story, path: str, kind: str, *, canonical: str = "", section: str = "", is_main: bool = False
) -> Page:
    """Return the article page of *story*; *canonical* is the path of the canonical link, empty for none."""
    section, labels = section or story.section, LABELS[story.lang]
    label = _VERSION_WORDS.get(kind, {}).get(story.lang, "")
    body = prose(story.blocks)
    body.insert(min(3, len(body)), chrome.ad(story.lang))
    body.append(chrome.ad(story.lang))
    main = f"""<main>
<article>
<h1>{esc(story.title)}</h1>
{f'<p class="label">{esc(label)}</p>' if label else ""}
<p class="byline">{labels.by} {esc(story.byline)} · <time datetime="{story.date}">{story.date}</time>
 · <span class="reads">{labels.reads.format("{{reads}}")}</span></p>
{_languages(story)}
{chrome.share(story.lang, path)}
<div class="body">
{chr(10).join(body)}
</div>
<p class="tags">{esc(labels.tags)}: {", ".join(_tag(story.lang, tag) for tag in story.tags)}</p>
</article>
{_versions(story) if is_main else ""}
{chrome.comments(story.lang, _remarks(story) if is_main else [])}
{chrome.related(story.lang, _related(story, path, 3))}
</main>"""
    crumbs = [labels.menu[0], Link(editions.section_path(story.lang, section), section.capitalize())]
    markup = chrome.page(story.lang, story.title, main, head=_head(story, canonical), crumbs=crumbs)
    return _page(story, path, kind, markup)


def _head(story: Story, canonical: str) -> str:
    lines = [f'<meta name="description" content="{esc(story.teaser)}">']
    if canonical:
        lines.append(f'<link rel="canonical" href="{esc(canonical)}">')
    lines += [
        f'<link rel="alternate" hreflang="{HTML_LANG[other.lang]}" href="{esc(editions.article_path(other))}">'
        for other in translations(story)
    ]
    facts = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": story.title,
        "datePublished": story.date,
        "author": {"@type": "Person", "name": story.byline},
        "inLanguage": HTML_LANG[story.lang],
    }
    lines.append(f'<script type="application/ld+json">{json.dumps(facts, ensure_ascii=True)}</script>')
    return "\n".join(lines)


def _languages(story: Story) -> str:
    links = " / ".join(
        anchor(
            Link(editions.article_path(one), LANGUAGE_NAMES[one.lang]), f' hreflang="{HTML_LANG[one.lang]}"'
        )
        for one in translations(story)
    )
    return f'<p class="languages">{esc(LABELS[story.lang].also_in_language)}: {links}</p>' if links else ""


def _tag(lang: str, tag: str) -> str:
    return anchor(Link(tag_path(lang, tag), tag), ' rel="tag"') if tag in shared_tags(lang) else esc(tag)


def _page(story: Story, path: str, kind: str, markup: str, host: str = MAIN_HOST) -> Page:
    return Page(Address(host, path), kind, markup, main_text=story.text, lang=story.lang, story=story.key)


def _versions(story: Story) -> str:
    path, labels = editions.article_path(story), LABELS[story.lang]
    versions = [Link(print_path(story), labels.print_it)]
    if story.also_in:
        versions.append(
            Link(editions.second_section_path(story), _VERSION_WORDS["second-section"][story.lang])
        )
    edited = {
        "corrected": bool(story.correction),
        "earlier-version": story.key in editions.EARLIER_VERSION,
        "first-draft": story.key in editions.FIRST_DRAFT,
    }
    versions += [
        Link(f"{path}/{kind}", _VERSION_WORDS[kind][story.lang]) for kind, there in edited.items() if there
    ]
    return f'<nav class="versions"><h3>{esc(labels.versions)}</h3>{bullets(versions)}</nav>'


def _related(story: Story, seed: str, count: int) -> list[tuple[Story, str]]:
    """Return other stories of the same language for a box; each page of a story has a different choice."""
    others = [other for other in in_language(story.lang) if other.slug != story.slug]
    others.sort(key=lambda other: stable(f"{seed} {other.key}"))
    return [(other, editions.article_path(other)) for other in others[:count]]


def _remarks(story: Story) -> Sequence[tuple[str, str]]:
    remarks = []
    for key, remark in read_pairs("comments.txt"):
        name, _, words = remark.partition("|")
        if key == story.key:
            remarks.append((name.strip(), words.strip()))
    return remarks
