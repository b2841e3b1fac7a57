"""The boilerplate of every page of the main site: head, masthead, menu, banner, boxes, footer."""

from collections.abc import Sequence

from magazine.stories import Story
from magazine.templates.labels import HTML_LANG, LABELS
from magazine.templates.markup import Link, anchor, bullets, esc

_FOOTER = (
    Link("/about", "About us"),
    Link("/notices", "Notices"),
    Link("/tags", "All tags"),
    Link("/photographs", "Photographs"),
    Link("/members", "Members' room"),
    Link("/old", "The old site"),
    Link("/desk/rota", "Editors' desk"),
    Link("/feed.xml", "Feed"),
    Link("/files/tide-tables-2024.pdf", "Tide tables (PDF)"),
)

_STYLE = """<style>
body{font:1.05rem/1.6 Georgia,serif;margin:0 auto;max-width:64rem;color:#222}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:1rem;padding:0}
.ad{border:1px dashed #999;padding:.5rem;font-size:.85rem}
.cookie-banner{background:#f3ead7;padding:.75rem}
</style>"""

_SCRIPT = """<script>
window.lamp = {token: "{{token}}", opened: "{{built}}"};
(function (page) {
  var banner = page.querySelector(".cookie-banner");
  if (banner) banner.querySelector("button").onclick = function () { banner.remove(); };
})(document);
</script>"""


def page(
    lang: str, title: str, main: str, *, head: str = "", crumbs: Sequence[Link] = (), declare: bool = True
) -> str:
    """Return a whole page of the main site with the markup *main*.

    *head* is markup for the head; without *declare* the html element has no lang attribute.
    """
    labels = LABELS[lang]
    lang_attribute = f' lang="{HTML_LANG[lang]}"' if declare else ""
    return f"""<!DOCTYPE html>
<html{lang_attribute}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{esc(title)} | {labels.masthead}</title>
<link rel="stylesheet" href="/static/lamp.css">
<link rel="icon" href="/static/lamp.svg" type="image/svg+xml">
{head}
{_STYLE}
</head>
<body>
<div class="cookie-banner" role="dialog"><p>{esc(labels.cookies)}</p><button>{esc(labels.accept)}</button></div>
<header>
<p class="masthead">{anchor(Link(labels.menu[0].href, labels.masthead))}</p>
<p class="motto">{esc(labels.motto)}</p>
<nav class="menu">{bullets(labels.menu)}</nav>
</header>
{_breadcrumbs(crumbs)}
{main}
{newsletter(lang)}
<footer>
{bullets(_FOOTER, "footer-links")}
<p>{esc(labels.legal)}</p>
<p class="built">{labels.built.format("{{built}}")}</p>
</footer>
{_SCRIPT}
</body>
</html>
"""


def ad(lang: str) -> str:
    """Return an advertisement block, whose text is filled in at each request."""
    return f'<div class="ad"><small>{LABELS[lang].sponsored}</small> <p>{{{{ad {lang}}}}}</p></div>'


def share(lang: str, path: str) -> str:
    """Return the share buttons."""
    buttons = "".join(
        f'<button type="button" data-to="{place.lower()}" data-page="{esc(path)}">{place}</button>'
        for place in ("Mastodon", "WhatsApp", "E-mail", "Pigeon")
    )
    return f'<div class="share"><span>{esc(LABELS[lang].share)}</span>{buttons}</div>'


def related(lang: str, stories: Sequence[tuple[Story, str]]) -> str:
    """Return the box of other stories, each with its path, a placeholder for a picture and its first words."""
    cards = "\n".join(
        f'<div class="card"><h4>{anchor(Link(path, story.title))}</h4><p>{esc(story.teaser)}</p></div>'
        for story, path in stories
    )
    return f'<aside class="related"><h3>{esc(LABELS[lang].related)}</h3>\n{cards}\n</aside>'


def comments(lang: str, remarks: Sequence[tuple[str, str]]) -> str:
    """Return the readers' comments, given as (name, words); nothing if there are none."""
    if not remarks:
        return ""
    items = "\n".join(f"<li><b>{esc(name)}</b><p>{esc(words)}</p></li>" for name, words in remarks)
    return f'<section class="comments"><h3>{esc(LABELS[lang].comments)}</h3><ol>\n{items}\n</ol></section>'


def newsletter(lang: str) -> str:
    """Return the newsletter form, with a form token that differs for each request."""
    labels = LABELS[lang]
    return f"""<form class="newsletter" method="post" action="/letter">
<p>{esc(labels.newsletter)}</p>
<input type="hidden" name="csrf" value="{{{{token}}}}">
<label>{esc(labels.address)} <input type="email" name="email"></label> <button>{esc(labels.subscribe)}</button>
</form>"""


def _breadcrumbs(crumbs: Sequence[Link]) -> str:
    if not crumbs:
        return ""
    return f'<nav class="breadcrumbs">{" &rsaquo; ".join(anchor(crumb) for crumb in crumbs)}</nav>'
