"""The partner's site: another newspaper, which reprints some stories of the magazine in its own template."""

from collections.abc import Sequence

from magazine.catalogue import Notice
from magazine.records import Block
from magazine.stories import Story
from magazine.templates.labels import HTML_LANG
from magazine.templates.markup import Link, anchor, esc, paragraphs

_TOP = (
    Link("/", "Front page"),
    Link("/briefs/bridge-lamps", "County"),
    Link("/briefs/eel-pie-record", "Upriver"),
    Link("/about", "Who we are"),
)

_SIDEBAR = """<div class="widget weather"><div class="widget-title">Estuary today</div>
<div>Wind south-westerly, five, easing four. Bright spells. High water 11.42 and 23.58.</div></div>
<div class="widget poll"><div class="widget-title">Reader poll</div>
<div>Should the Long Bridge have a toll for bicycles?</div>
<label><input type="radio" name="toll"> Yes</label> <label><input type="radio" name="toll"> No</label>
<label><input type="radio" name="toll"> Only downhill</label></div>"""


def article(story: Story, *, original: str, headlines: Sequence[Link]) -> str:
    """Return the partner's page of a syndicated story; *original* is the full URL of the magazine's page."""
    main = f"""<div class="story-head">
<div class="kicker">From our neighbours downstream</div>
<h1 class="story-title">{esc(story.title)}</h1>
<div class="story-meta"><span>{esc(story.byline)}</span> <span>Shared {story.date}</span>
<span>{{{{reads}}}} views</span></div>
</div>
<div class="story-text">
{chr(10).join(_block(block, first=number == 0) for number, block in enumerate(story.blocks))}
</div>
<div class="story-source">This story first appeared in {anchor(Link(original, "The Harbour Lamp"))}.</div>"""
    return _page(HTML_LANG[story.lang], story.title, main, story.lang, headlines)


def front(headlines: Sequence[tuple[Link, str]], briefs: Sequence[tuple[Link, str]], magazine: str) -> str:
    """Return the partner's front page: links with teasers; *magazine* is the magazine's front page URL."""
    tiles = "\n".join(
        f'<div class="tile"><h2>{anchor(link)}</h2><div>{esc(teaser)}</div></div>'
        for link, teaser in (*briefs, *headlines)
    )
    main = f"""<h1>News from both banks of the river</h1>
{tiles}
<div class="story-source">Some stories come from {anchor(Link(magazine, "The Harbour Lamp"))}.</div>"""
    return _page("en-GB", "Front page", main, "en", [])


def brief(notice: Notice, headlines: Sequence[Link]) -> str:
    """Return a page with one of the partner's own short reports."""
    return message(notice.title, notice.text, headlines)


def message(title: str, text: str, headlines: Sequence[Link] = ()) -> str:
    """Return a page with a few paragraphs under a title."""
    main = f'<h1 class="story-title">{esc(title)}</h1>\n<div class="story-text">{paragraphs(text)}</div>'
    return _page("en-GB", title, main, "en", headlines)


def _page(lang: str, title: str, main: str, ad_lang: str, headlines: Sequence[Link]) -> str:
    top = "".join(f'<div class="top-item">{anchor(link)}</div>' for link in _TOP)
    side = "".join(f'<div class="headline">{anchor(link)}</div>' for link in headlines)
    return f"""<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<title>The Estuary Post: {esc(title)}</title>
<script>var visit = "{{{{token}}}}"; (window.queue = window.queue || []).push(["view", visit]);</script>
</head>
<body class="post">
<div id="wrap">
<div id="top"><span class="logo">The Estuary Post</span><div class="tagline">Both banks, every Friday</div>{top}</div>
<div id="leaderboard">{{{{ad {ad_lang}}}}}</div>
<div id="columns">
<div id="left">
{main}
</div>
<div id="right">
{_SIDEBAR}
<div class="widget"><div class="widget-title">Also on this side of the river</div>{side}</div>
<div class="widget sponsor">{{{{ad en}}}}</div>
</div>
</div>
<div id="bottom">The Estuary Post, 4 Weighbridge Row, Thornby. Registered as a newspaper and, by accident, as a ferry.
<span class="stamp">Served {{{{built}}}}</span></div>
</div>
</body>
</html>
"""


def _block(block: Block, *, first: bool) -> str:
    if block.is_heading:
        return f'<div class="crosshead">{esc(block.text)}</div>'
    words = block.text.split(" ")
    if not first or len(words) < 4:
        return f"<p>{esc(block.text)}</p>"
    # The first words are bold, as in newspapers.
    return f"<p><strong>{esc(' '.join(words[:3]))}</strong> {esc(' '.join(words[3:]))}</p>"
