"""Flood and Kind: a group of URLs that brings nothing new, and what its page is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(str, Enum):
    """What the page of a flood is."""

    LOGIN_WALL = "login_wall"
    """It asks for a password, or says that one has to sign in."""
    CAPTCHA = "captcha"
    """It wants to know whether its reader is human."""
    CONSENT = "consent"
    """It asks to accept cookies or terms before there is anything to read."""
    SOFT_404 = "soft_404"
    """It says that there is no such page, with a status that says that all is well."""
    EMPTY_SHELL = "empty_shell"
    """It has hardly any text; scripts would put it in."""
    TRAP = "trap"
    """Its URLs grow by themselves: numbers, dates, query parameters, a path that winds around."""
    REPEATS = "repeats"
    """Anything else."""


#: What stands before other pages: there may be some behind it, so these URLs are never stopped.
WALLS = frozenset((Kind.LOGIN_WALL, Kind.CAPTCHA, Kind.CONSENT, Kind.EMPTY_SHELL))


@dataclass(frozen=True, slots=True)
class Flood:
    """A group of URLs of a host of which the latest brought nothing new, one after another."""

    kind: Kind
    host: str
    group: str
    """What the URLs have in common, such as ``/calendar/{number}/{number}``."""
    size: int
    """How many URLs in a row brought nothing new."""
    cluster: int | None
    """Number of the cluster of the latest page, as in :class:`~scrapy_simhash.Verdict`; None for pages without text.
    """
    original: str | None
    """URL of the first page of that cluster, which may be on another host; None for pages without text."""
    urls: tuple[str, ...]
    """The first of these URLs, a few of them."""
