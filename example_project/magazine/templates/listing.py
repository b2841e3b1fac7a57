"""Pages that list other pages: front pages, sections, tags, the shop window, the photographs."""

from collections.abc import Sequence
from typing import NamedTuple

from magazine.templates import chrome
from magazine.templates.labels import LABELS
from magazine.templates.markup import Link, anchor, esc


class Teaser(NamedTuple):
    """One entry of a listing."""

    link: Link
    words: str


def render(
    lang: str,
    title: str,
    teasers: Sequence[Teaser],
    *,
    intro: str = "",
    newer: str = "",
    older: str = "",
    crumbs: Sequence[Link] = (),
) -> str:
    """Return a listing; *newer* and *older* are the paths of the pages beside it, empty at the ends."""
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
    return chrome.page(lang, title, main, crumbs=crumbs)


def main_text(title: str, teasers: Sequence[Teaser], intro: str = "") -> str:
    """Return what a listing says: its title, its introduction, then each entry's title and words."""
    lines = [title, intro]
    for teaser in teasers:
        lines += [teaser.link.text, teaser.words]
    return "\n".join(line for line in lines if line)
