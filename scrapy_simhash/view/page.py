"""HTML pages: a template, a style sheet, and a script that shows a block of JSON, without external requests.

The script creates elements and text, never HTML, so scripts in URLs or in the text of a site cannot run. The Content
Security Policy of the page allows only this style sheet and this script, by their hashes.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from scrapy_simhash.display import printable


def policy(view: str, is_live: bool = False) -> str:
    """Return the Content-Security-Policy of the page for *view*; a live page may request data from its server."""
    style, script = _hash(_asset("page.css")), _hash(_script(view))
    connect = " connect-src 'self';" if is_live else ""
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}';{connect} base-uri 'none';"
        " form-action 'none'"
    )


def html(view: str, title: str, facts: Mapping[str, Any], is_live: bool = False) -> str:
    """Return a page in ASCII that shows *facts*, which are converted to JSON, with the script of *view*.

    A view is ``overview``, ``comparison``, ``text`` or ``judging``.
    """
    page = Template(_asset("page.html")).substitute(
        policy=policy(view, is_live),
        title=escape(printable(title)),
        style=_asset("page.css"),
        view=view,
        # Escaped, so that no tag can begin inside the JSON.
        facts=json.dumps(facts, separators=(",", ":")).replace("<", "\\u003c"),
        script=_script(view),
    )
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _script(view: str) -> str:
    return _asset("page.js") + _asset(f"{'comparison' if view == 'text' else view}.js")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode('ascii')).digest()).decode()}"


@cache
def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text("ascii")
