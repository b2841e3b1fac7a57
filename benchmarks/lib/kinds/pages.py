"""The pages of a site of one kind: the different pages, and copies of some of them in five forms.

The first template has semantic elements, the second has ``div``, ``span`` and ``table`` with class names. A copy is
the same page in one of these forms:

* session: with a session id in its URL and in all its links;
* print: in a simpler template without menu and sidebar, with "Print view" in the title;
* amp: in different markup, with a different head, and the original as its canonical URL;
* mirror: on a different host, with the menus, sidebar, footer and name of another site;
* repost: posted again, with a different id in the URL, date, author and number of views.

Every copy has the fact that distinguishes its page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from random import Random
from typing import NamedTuple

from benchmarks.lib.kinds.entries import KINDS, PAGES, Kind, entries
from benchmarks.lib.kinds.words import MENU, NAMES, SUBHEADINGS, VALUES, sentence

TEMPLATES = (1, 2)
SESSION, PRINT, AMP, MIRROR, REPOST = FORMS = ("session", "print", "amp", "mirror", "repost")
#: Number of pages of a site that are copied, each in all forms.
COPIED = 8


class Markup(NamedTuple):
    """The markup of the parts of an article."""

    article: str = "<main><article>{}</article></main>"
    heading: str = "<h1>{}</h1>"
    byline: str = '<p class="byline">Posted on <time>{}</time> by {}</p>'
    views: str = '<p class="views">Views: {}</p>'
    is_byline_last: bool = False
    line: str = '<p class="lead">{}</p>'
    day: str = "<p><time>{}</time></p>"
    subheading: str = "<h2>{}</h2>"
    paragraph: str = "<p>{}</p>"
    rows: str = "<dl>{}</dl>"
    row: str = "<dt>{}</dt><dd>{}</dd>"
    box: str = '<aside class="facts">{}</aside>'
    picture: str = '<figure><img src="/img/{}.jpg" alt="{}">{}</figure>'
    caption: str = "<figcaption>{}</figcaption>"
    list: str = "<ul>{}</ul>"
    item: str = "<li>{}</li>"
    table: str = "<table>{}</table>"


_SEMANTIC = Markup()
_PLAIN = Markup(
    article='<div id="content" class="content">{}</div>',
    byline='<div class="posted">Posted on {} by {}</div>',
    views='<div class="counter">Views: {}</div>',
    is_byline_last=True,
    line='<div class="subline">{}</div>',
    day='<div class="subline">{}</div>',
    subheading='<div class="subtitle">{}</div>',
    paragraph='<div class="text">{}</div>',
    rows='<table class="facts">{}</table>',
    row='<tr><td class="label">{}</td><td>{}</td></tr>',
    box='<div class="box right">{}</div>',
    picture='<div class="picture"><img src="/img/{}.jpg" alt="{}">{}</div>',
    caption='<span class="caption">{}</span>',
    list='<div class="list">{}</div>',
    item='<div class="entry">{}</div>',
)
_MARKUPS = {1: _SEMANTIC, 2: _PLAIN}
_PRINTED = {
    1: _SEMANTIC._replace(article='<div class="print">{}</div>', views="", box="{}"),
    2: _PLAIN._replace(article='<div class="print">{}</div>', views="", subheading="<b>{}</b><br>"),
}
_AMP = _SEMANTIC._replace(
    article='<article class="amp-article">{}</article>',
    byline='<div class="amp-byline">Posted on {} by {}</div>',
    views="",
    line='<div class="amp-lead">{}</div>',
    rows='<ul class="amp-facts">{}</ul>',
    row="<li><b>{}</b> <span>{}</span></li>",
    box="{}",
    picture='<amp-img src="/img/{}.jpg" alt="{}" width="640" height="400"></amp-img>{}',
    caption='<p class="amp-caption">{}</p>',
)
_HEADS = {
    1: '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><meta name="description"'
    ' content="{description}"><meta name="viewport" content="width=device-width"><meta property="og:title"'
    ' content="{title}"><link rel="stylesheet" href="/site.css"></head><body>',
    2: '<!DOCTYPE html><html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"><title>{title}'
    '</title><meta name="description" content="{description}"><script src="/menu.js"></script></head><body>',
    PRINT: '<!doctype html><html><head><meta charset="utf-8"><title>{title}</title><meta name="robots"'
    ' content="noindex"><link rel="stylesheet" href="/print.css"></head><body>',
    AMP: '<!doctype html><html amp lang="en"><head><meta charset="utf-8"><title>{title}</title><link rel="canonical"'
    ' href="{canonical}"><script async src="https://cdn.example/amp.js"></script></head><body>',
}
_SHELLS = {
    1: "<header><a href='/'>{name}</a><nav><ul>{menu}</ul></nav></header><p class='breadcrumb'><a href='/'>Home</a>"
    " / <a href='/{section}/'>{section}</a> / {heading}</p>{article}<aside class='sidebar'><h3>Most read</h3>"
    "<ul>{aside}</ul></aside><section class='related'><h3>See also</h3><ul>{related}</ul></section><footer><p>© 2026"
    " {name}. All rights reserved.</p><ul>{footer}</ul></footer></body></html>",
    2: "<div id='top'><a href='/'>{name}</a></div><div id='menu'><ul>{menu}</ul></div><table><tr><td valign='top'>"
    "<div class='crumbs'><a href='/'>Home</a> &gt; <a href='/{section}/'>{section}</a> &gt; {heading}</div>{article}"
    "<div class='related'><span>See also</span><ul>{related}</ul></div></td><td class='side'><span>Most read</span>"
    "<ul>{aside}</ul></td></tr></table><div id='foot'>Copyright 2026 {name} - <ul>{footer}</ul></div></body></html>",
    PRINT: "{article}<p>{name}</p></body></html>",
    AMP: "<header class='amp-top'><a href='/'>{name}</a></header>{article}<div class='amp-related'><ul>{related}</ul>"
    "</div><footer>© 2026 {name}</footer></body></html>",
}


class Page(NamedTuple):
    """A page as a server returns it."""

    url: str
    html: str
    entry: int
    """Number of the entry that the page describes; pages with the same number are copies of each other."""
    form: str
    """Empty for an original."""
    words: int
    """Number of words of the article."""


class Site(NamedTuple):
    """A site of one kind in one template."""

    kind: Kind
    template: int
    seed: str
    name: str
    host: str
    entries: Sequence[Kind]
    shared: Sequence[str]
    """The paragraphs that all pages share."""
    description: str

    @property
    def links(self) -> dict[str, list[str]]:
        """The links of menus, sidebar and footer."""
        random = Random(f"{self.seed} {self.name}")
        topic = self.kind.topic.split()
        aside = [sentence(topic, random).partition(",")[0].rstrip(".") for _ in range(6)]
        return {"menu": random.sample(MENU, 7), "aside": aside, "footer": random.sample(MENU, 4)}

    def originals(self, first: int = 0, end: int = PAGES) -> list[Page]:
        """Return the different pages."""
        return [self._page(entry) for entry in self.entries[first:end]]

    def copies(self) -> list[Page]:
        """Return copies of some of these pages in all forms."""
        copied = Random(f"{self.seed} copied").sample(self.entries, COPIED)
        return [self._page(entry, form) for entry in copied for form in FORMS]

    def _page(self, entry: Kind, form: str = "") -> Page:
        site = _mirror(self) if form == MIRROR else self
        path = self._path(entry, form == REPOST)
        markup = {PRINT: _PRINTED[self.template], AMP: _AMP}.get(form, _MARKUPS[self.template])
        article = self._article(entry, markup, form == REPOST)
        generic = entry._replace(title=self.kind.section.capitalize())
        titled = generic if self.kind.has_generic_title and self.template == 2 else entry
        title = f"{titled.title} {'-|'[self.template - 1]} {site.name}"
        if form == PRINT:
            title = f"Print view: {title}" if self.template == 1 else f"{title} | Print view"
        random = Random(f"{self.seed} page {entry.number} {form if form in (AMP, REPOST) else ''}")
        others = random.sample([one for one in self.entries if one is not entry], 4)
        places = {name: [(f"/{text.lower().replace(' ', '-')}", text) for text in texts]
                  for name, texts in site.links.items()}  # fmt: skip
        places["related"] = [(self._path(one), one.label) for one in others]
        bare = form if form in (PRINT, AMP) else self.template
        html = _HEADS[bare].format(
            title=escape(title), description=escape(self.description), canonical=f"http://{self.host}{path}"
        ) + _SHELLS[bare].format(
            name=site.name, article=article, section=self.kind.section, heading=entry.heading,
            **{name: "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in links)
               for name, links in places.items()},
        )  # fmt: skip
        if form == SESSION:
            session = f"?sid={random.getrandbits(64):016x}"
            html = re.sub(r"""(href=(["'])/[^"'.]*)(?=\2)""", rf"\1{session}", html)
            path += session
        elif form == PRINT:
            path = f"{path}?view=print" if self.template == 1 else f"/print{path}"
        elif form == AMP:
            path += "/amp"
        words = len(re.sub(r"<[^>]+>", " ", article).split())
        return Page(f"http://{site.host}{path}", html, entry.number, form, words)

    def _path(self, entry: Kind, is_reposted: bool = False) -> str:
        ids = Random(f"{self.seed} ids").sample(range(10_000, 99_999), 2 * PAGES)
        id = ids[entry.number + PAGES * is_reposted]
        slug = re.sub(r"[^a-z0-9]+", "-", entry.heading.lower())
        is_named = self.kind.has_slug or (self.kind.has_name_in_url and self.template == 1)
        return f"/{self.kind.section}/{slug}-{id}" if is_named else f"/{self.kind.section}/{id}"

    def _article(self, entry: Kind, markup: Markup, is_reposted: bool) -> str:
        random, days = Random(f"{self.seed} byline {entry.number} {is_reposted}"), VALUES["date"]
        day, author = random.choice(days[is_reposted::2]), random.choice(VALUES["person"]).split()[0]
        byline = markup.byline.format(day, author) + markup.views.format(random.randrange(40, 4_000))
        facts = (
            markup.rows.format("".join(markup.row.format(*row.split(": ", 1)) for row in entry.rows))
            if entry.rows
            else ""
        )
        figure = ""
        if entry.picture:
            caption = markup.caption.format(entry.caption) if entry.caption else ""
            figure = markup.picture.format(entry.number, entry.picture, caption)
        if entry.table:
            cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in entry.table)
            figure += markup.table.format("".join(f"<tr>{row}</tr>" for row in cells))
        if entry.listed:
            figure += markup.list.format("".join(map(markup.item.format, entry.listed)))
        shared = [markup.paragraph.format(text) for text in self.shared]
        titles = Random(f"{self.seed} subheadings").sample(SUBHEADINGS, len(SUBHEADINGS))
        for place, title in zip(range(1, len(shared), 2), titles, strict=False):
            shared[place] = markup.subheading.format(title) + shared[place]
        if self.kind.is_inside:
            shared.insert(1, figure)
        person = {"@context": "https://schema.org", "@type": "Person", "name": entry.person}
        parts = [
            markup.heading.format(entry.heading),
            "" if markup.is_byline_last else byline,
            *((markup.day if line in days else markup.line).format(line) for line in entry.lines),
            f'<script type="application/ld+json">{json.dumps(person)}</script>' if entry.person else "",
            markup.subheading.format(entry.subheading) if entry.subheading else "",
            markup.box.format(facts) if self.kind.is_boxed else facts,
            "" if self.kind.is_inside else figure,
            markup.paragraph.format(" ".join(entry.own)) if entry.own else "",
            *shared,
            byline if markup.is_byline_last else "",
        ]
        return markup.article.format("\n".join(part for part in parts if part))


def _mirror(site: Site) -> Site:
    """Return *site* on a different host, with a different name and different links around its pages."""
    name = Random(f"{site.seed} mirror").choice([name for name in NAMES if name != site.name])
    return site._replace(name=name, host=site.host.replace(site.name.lower(), f"m-{name.lower()}"))


def make_site(kind: Kind, template: int, seed: int, of: Site | None = None) -> Site:
    """Return a site; with *of*, pages of this kind on the host of another site, with its name."""
    key = f"{seed} {kind.name} {template} {of.seed if of else ''}"
    random = Random(key)
    name = of.name if of else random.choice(NAMES)
    host = of.host if of else f"{name.lower()}{KINDS.index(kind) + 1}-{template}.example"
    is_little = kind.has_little_text and template == 2
    wanted = random.randint(*((25, 40) if is_little else kind.words))
    topic, written = kind.topic.split(), list[str]()
    while len(" ".join(written).split()) < wanted:
        written.append(sentence(topic, random))
    shared = [" ".join(written[place : place + 3]) for place in range(0, len(written), 3)]
    description = sentence(topic, random)
    return Site(kind, template, key, name, host, entries(kind, key), shared, description)


def sites(seed: int) -> Iterator[Site]:
    """Yield the site of each kind in each template."""
    for kind in KINDS:
        for template in TEMPLATES:
            yield make_site(kind, template, seed)


def other_pages(site: Site) -> list[Page]:
    """Return forty pages of other kinds on the host of *site*, with its name and template."""
    others = [kind for kind in KINDS if kind is not site.kind]
    random = Random(f"{site.seed} others")
    made = [make_site(kind, site.template, 0, of=site) for kind in random.sample(others, 20)]
    return [page for one in made for page in one.originals(end=2)]
