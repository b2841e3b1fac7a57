"""The magazine's old site: tables, font elements, and a charset that only the page itself declares."""

from magazine.stories import Story
from magazine.templates.labels import HTML_LANG, LABELS
from magazine.templates.markup import anchor, esc


def render(story: Story, *, encoding: str) -> str:
    """Return the page of *story* on the old site; *encoding* is the charset that the page declares."""
    labels = LABELS[story.lang]
    rows = "<br>\n".join(anchor(link) for link in labels.menu)
    body = "\n".join(
        f'<p><font size="4"><b>{esc(block.text)}</b></font>' if block.is_heading else f"<p>{esc(block.text)}"
        for block in story.blocks
    )
    return f"""<HTML lang="{HTML_LANG[story.lang]}">
<HEAD>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={encoding}">
<TITLE>{esc(story.title)} - {esc(labels.masthead)}</TITLE>
</HEAD>
<BODY BGCOLOR="#FFFFF0">
<TABLE WIDTH="100%" BORDER="0" CELLPADDING="6">
<TR><TD COLSPAN="2" BGCOLOR="#003355"><FONT COLOR="white" SIZE="5">{esc(labels.masthead)}</FONT></TD></TR>
<TR VALIGN="top">
<TD WIDTH="160" BGCOLOR="#E0E8F0"><FONT SIZE="2">
{rows}
<P>{labels.reads.format("{{reads}}")}
</FONT></TD>
<TD>
<CENTER><TABLE BORDER="1" WIDTH="468"><TR><TD ALIGN="center">{{{{ad {story.lang}}}}}</TD></TR></TABLE></CENTER>
<FONT SIZE="6">{esc(story.title)}</FONT><BR>
<I>{esc(story.byline)}</I>
{body}
</TD>
</TR>
<TR><TD COLSPAN="2" ALIGN="center"><FONT SIZE="1">{labels.built.format("{{built}}")}</FONT></TD></TR>
</TABLE>
</BODY>
</HTML>
"""
