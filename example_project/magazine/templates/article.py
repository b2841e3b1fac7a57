"""The magazine's own article page: the story among everything a magazine hangs round it."""

import json
from collections.abc import Sequence

from magazine.stories import Story
from magazine.templates import chrome
from magazine.templates.labels import HTML_LANG, LABELS, LANGUAGE_NAMES
from magazine.templates.markup import Link, anchor, bullets, esc, prose


def render(
    story: Story,
    *,
    path: str,
    canonical: str,
    crumbs: Sequence[Link],
    translations: Sequence[tuple[str, str]] = (),
    tags: Sequence[Link | str] = (),
    related: Sequence[tuple[Story, str]] = (),
    versions: Sequence[Link] = (),
    remarks: Sequence[tuple[str, str]] = (),
    label: str = "",
) -> str:
    """Return the article page of *story* at *path*.

    *canonical* is the path for the canonical link, empty for none; *translations* are (language, path);
    a tag that has a page of its own is a Link; *label* is a line such as "Corrected version".
    """
    labels = LABELS[story.lang]
    body = prose(story.blocks)
    body.insert(min(3, len(body)), chrome.ad(story.lang))
    body.append(chrome.ad(story.lang))
    main = f"""<main>
<article>
<h1>{esc(story.title)}</h1>
{f'<p class="label">{esc(label)}</p>' if label else ""}
<p class="byline">{labels.by} {esc(story.byline)} · <time datetime="{story.date}">{story.date}</time>
 · <span class="reads">{labels.reads.format("{{reads}}")}</span></p>
{_languages(labels.also_in_language, translations)}
{chrome.share(story.lang, path)}
<div class="body">
{chr(10).join(body)}
</div>
<p class="tags">{esc(labels.tags)}: {", ".join(_tag(tag) for tag in tags)}</p>
</article>
{_versions(labels.versions, versions)}
{chrome.comments(story.lang, remarks)}
{chrome.related(story.lang, related)}
</main>"""
    head = _head(story, canonical, translations)
    return chrome.page(story.lang, story.title, main, head=head, crumbs=crumbs)


def _head(story: Story, canonical: str, translations: Sequence[tuple[str, str]]) -> str:
    lines = [f'<meta name="description" content="{esc(story.teaser)}">']
    if canonical:
        lines.append(f'<link rel="canonical" href="{esc(canonical)}">')
    lines += [
        f'<link rel="alternate" hreflang="{HTML_LANG[lang]}" href="{esc(to)}">' for lang, to in translations
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


def _languages(words: str, translations: Sequence[tuple[str, str]]) -> str:
    if not translations:
        return ""
    links = " / ".join(
        anchor(Link(path, LANGUAGE_NAMES[lang]), f' hreflang="{HTML_LANG[lang]}"')
        for lang, path in translations
    )
    return f'<p class="languages">{esc(words)}: {links}</p>'


def _versions(words: str, versions: Sequence[Link]) -> str:
    return f'<nav class="versions"><h3>{esc(words)}</h3>{bullets(versions)}</nav>' if versions else ""


def _tag(tag: Link | str) -> str:
    return anchor(tag, ' rel="tag"') if isinstance(tag, Link) else esc(tag)
