"""Pages with hardly any text."""

from collections.abc import Sequence

from magazine.templates import chrome
from magazine.templates.markup import Link, anchor, esc


def old_menu(links: Sequence[Link]) -> str:
    """Return the left frame of the old site."""
    rows = "<BR>\n".join(anchor(link, ' target="content"') for link in links)
    return f'<HTML lang="en"><BODY BGCOLOR="#E0E8F0"><FONT SIZE="2">\n{rows}\n</FONT></BODY></HTML>\n'


def photograph(name: str, caption: str) -> str:
    """Return the page of one photograph: a picture and its caption."""
    main = f"""<main><figure><img src="/static/lamp.svg" alt="{esc(name)}">
<figcaption>{esc(caption)}</figcaption></figure></main>"""
    return chrome.page("en", name.replace("-", " "), main, crumbs=[Link("/photographs", "Photographs")])
