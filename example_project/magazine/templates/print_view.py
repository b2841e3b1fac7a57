"""The print view: headline, text and source."""

from magazine.stories import Story
from magazine.templates.labels import HTML_LANG, LABELS
from magazine.templates.markup import esc, prose


def render(story: Story, *, source: str, canonical: str) -> str:
    """Return the print view; *source* is the full address printed at the foot, *canonical* the path of the story."""
    labels = LABELS[story.lang]
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN"
 "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" lang="{HTML_LANG[story.lang]}">
<head>
<meta charset="utf-8" />
<meta name="robots" content="noindex" />
<title>{esc(story.title)}</title>
<link rel="canonical" href="{esc(canonical)}" />
<style media="print">body {{ font: 11pt serif }}</style>
</head>
<body onload="window.print &amp;&amp; window.print()">
<p><b>{esc(labels.masthead)}</b></p>
<h2>{esc(story.title)}</h2>
<p><i>{labels.by} {esc(story.byline)}, {story.date}</i></p>
<hr />
{chr(10).join(prose(story.blocks, heading="h3"))}
<hr />
<p><a href="{esc(canonical)}">{esc(source)}</a></p>
<p>{labels.built.format("{{built}}")}</p>
</body>
</html>
"""
