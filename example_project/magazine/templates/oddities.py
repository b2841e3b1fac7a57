"""Pages with hardly any text."""

from collections.abc import Sequence

from magazine.templates import chrome
from magazine.templates.markup import Link, anchor, esc


def script_shell() -> str:
    """Return a page that is empty until its script runs."""
    return """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Harbour map</title>
<script>
window.__STATE__ = {"token": "{{token}}", "layers": ["moorings", "depths", "otters"], "loaded": "{{built}}"};
</script>
</head>
<body><div id="root"></div>
<script>
document.getElementById("root").appendChild(drawMap(window.__STATE__));
function drawMap(state) { var map = document.createElement("canvas"); map.dataset.layers = state.layers; return map; }
</script>
</body></html>
"""


def frameset(menu: str, content: str) -> str:
    """Return a frameset of two frames; the arguments are their paths."""
    return f"""<HTML lang="en">
<HEAD><TITLE>The Harbour Lamp, old site</TITLE></HEAD>
<FRAMESET COLS="180,*">
<FRAME NAME="menu" SRC="{esc(menu)}">
<FRAME NAME="content" SRC="{esc(content)}">
</FRAMESET>
</HTML>
"""


def frame_menu(links: Sequence[Link]) -> str:
    """Return the left frame of the old site."""
    rows = "<BR>\n".join(anchor(link, ' target="content"') for link in links)
    return f'<HTML lang="en"><BODY BGCOLOR="#E0E8F0"><FONT SIZE="2">\n{rows}\n</FONT></BODY></HTML>\n'


def refresh_stub(to: str) -> str:
    """Return a page with a meta refresh to another page."""
    return f"""<html lang="en">
<head><meta http-equiv="refresh" content="0; url={esc(to)}"><title>One moment</title></head>
<body><a href="{esc(to)}">One moment</a></body></html>
"""


def photograph(name: str, caption: str) -> str:
    """Return the page of one photograph: a picture and its caption."""
    main = f"""<main><figure><img src="/static/lamp.svg" alt="{esc(name)}">
<figcaption>{esc(caption)}</figcaption></figure></main>"""
    return chrome.page("en", name.replace("-", " "), main, crumbs=[Link("/photographs", "Photographs")])
