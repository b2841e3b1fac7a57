"""The Lua scripts, which make every step at the server one step."""

from __future__ import annotations

from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import NamedTuple

#: What all of them begin with.
_COMMON = "begin"


class Script(NamedTuple):
    """A script as the server takes it."""

    source: str
    sha: str
    """By which the server knows it once it has run."""


@cache
def script(name: str) -> Script:
    """Return the script in ``<name>.lua``."""
    folder = files("scrapy_simhash.store.redis")
    source = "".join((folder / f"{part}.lua").read_text("utf-8") for part in (_COMMON, name))
    return Script(source, sha1(source.encode(), usedforsecurity=False).hexdigest())
