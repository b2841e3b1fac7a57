"""The frame of a page: its head, the colours that all pages share, and text and URLs of strangers made safe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from pathlib import Path

#: What a page may load and run: nothing but its own style.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
#: Characters of a URL that are shown.
LONGEST_SHOWN = 300
#: What moves or turns what stands beside it, or cannot be seen: controls, marks of direction, surrogates.
_HIDDEN = re.compile(
    r"[^ -~\u00a1-\uffff\U00010000-\U0010ffff]|[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e]|"
    r"[\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]|[\U000e0000-\U000e0fff]"
)
_WEB = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


@cache
def asset(name: str) -> str:
    """Return the text of a file beside this one."""
    return (Path(__file__).parent / name).read_text("utf-8")


def head(title: str, style: str, policy: str = POLICY, more: str = "") -> str:
    """Return a page up to its heading, which is *title*; *more* is for its head."""
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(visible(title))}</title>
{more}<style>
{asset("frame.css")}{style}</style>
</head>
<body>
<h1>{escape(visible(title))}</h1>
"""


def ascii_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield *lines* of HTML in ASCII, each with its end."""
    for line in lines:
        yield line.encode("ascii", "xmlcharrefreplace").decode("ascii") + "\n"


def visible(text: str) -> str:
    r"""Return *text* with every character that has no shape of its own as its number.

    >>> visible("a\u202eb\x00c")
    'a\\u202eb\\x00c'
    """
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def shown(text: str) -> str:
    """Return *text* as HTML, short enough to be read, whatever is in it.

    >>> shown("<b>" + "a" * 1000)[:12], len(shown("a" * 1000)) < 310
    ('&lt;b&gt;aaa', True)
    """
    if len(text) > LONGEST_SHOWN:
        text = f"{text[: LONGEST_SHOWN - 60]}...{text[-57:]}"
    return escape(visible(text))


def link(url: str, inner: str | None = None) -> str:
    """Return *url* as HTML, one that a browser can open if it is one of the web; *inner* is shown instead of it."""
    inner = shown(url) if inner is None else inner
    if not _WEB.fullmatch(url) or visible(url) != url:
        return f"<bdi>{inner}</bdi>"
    return f'<bdi><a href="{escape(url)}" rel="noreferrer nofollow">{inner}</a></bdi>'
