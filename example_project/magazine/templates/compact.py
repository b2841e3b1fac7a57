"""The compact view: only the story, as in pages for slow phones."""

from collections.abc import Sequence

from magazine.stories import Story
from magazine.templates.labels import HTML_LANG, LABELS
from magazine.templates.markup import Link, anchor, esc, prose


def render(story: Story, *, canonical: str, next_stories: Sequence[Link]) -> str:
    """Return the compact page of *story*; *canonical* is the path of its full page."""
    labels = LABELS[story.lang]
    body = prose(story.blocks, heading="h3")
    body.insert(len(body) // 2, f'<div class="slot">{{{{ad {story.lang}}}}}</div>')
    more = "".join(f'<div class="next">{anchor(link)}</div>' for link in next_stories)
    return f"""<!doctype html>
<html amp lang="{HTML_LANG[story.lang]}">
<head>
<meta charset="utf-8">
<title>{esc(story.title)}</title>
<link rel="canonical" href="{esc(canonical)}">
<meta name="viewport" content="width=device-width,minimum-scale=1">
<style>body{{margin:0;padding:1em;font-family:sans-serif}}.slot{{background:#eee;padding:.5em}}</style>
</head>
<body>
<div class="bar">{anchor(Link(labels.menu[0].href, labels.masthead))}</div>
<h1>{esc(story.title)}</h1>
<div class="meta">{esc(story.byline)}, {story.date}</div>
<section>
{chr(10).join(body)}
</section>
<div class="full">{anchor(Link(canonical, labels.full_site))}</div>
{more}
<div class="foot">{labels.built.format("{{built}}")}</div>
</body>
</html>
"""
