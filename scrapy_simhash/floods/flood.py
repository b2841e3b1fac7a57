"""Flood and Kind: one page that comes back under ever more URLs of a host, and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(str, Enum):
    """What the page of a flood is. A name for people: it decides nothing."""

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


@dataclass(frozen=True, slots=True)
class Flood:
    """One page under many URLs of a host, as far as this crawl has seen it."""

    kind: Kind
    host: str
    cluster: int | None
    """Number of the cluster, as in :class:`~scrapy_simhash.Verdict`; None for pages without text, which are in none.
    """
    size: int
    """How many URLs of the host it came under, in this crawl."""
    original: str | None
    """URL of the first page of the cluster, which may be on another host; None for pages without text."""
    urls: tuple[str, ...]
    """The first URLs that it came under, a few of them."""
    pattern: str | None
    """The narrowest pattern of URLs that it has nearly to itself, see :func:`~scrapy_simhash.floods.patterns`.

    None if there is none.
    """
