"""The parts of a page that change from one fetch to the next, though nothing in the story did.

A template writes a slot, `{{ad en}}`; the server fills it when the page is fetched. What goes in depends on the
address and the number of the visit only: no clock, no chance, so a crawl can be repeated to the byte.

    {{ad LANG}}   an advertisement          {{reads}}   a counter, "1,482"
    {{built}}     a timestamp               {{token}}   32 hexadecimal digits, as in a form or a script
"""

import hashlib
import re
from datetime import datetime, timedelta

from magazine.catalogue import load_ads

_SLOT = re.compile(r"\{\{(\w+)(?: (\w+))?\}\}")
_OPENING = datetime(2024, 6, 30, 6, 0, 0)


def stable(text: str) -> int:
    """Return a number that depends on *text* alone, the same on every machine and hash seed; 0 to 2**64 - 1."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def fill(markup: str, address: str, visit: int) -> str:
    """Fill the slots of *markup* for the given *visit* (0, 1, 2, ...) to *address*.

    Two visits in a row differ in every slot. Raises ValueError for an unknown slot.
    """
    start = stable(address)
    ads_shown = 0

    def put(match: re.Match[str]) -> str:
        nonlocal ads_shown
        name, lang = match.groups()
        if name == "ad":
            ads = load_ads()[lang]
            ads_shown += 1
            return ads[(start + visit + 2 * (ads_shown - 1)) % len(ads)]
        if name == "reads":
            return f"{200 + start % 4800 + visit:,}"
        if name == "built":
            return (_OPENING + timedelta(seconds=start % 40_000 + 37 * visit)).isoformat(sep=" ")
        if name == "token":
            return hashlib.sha256(f"{address} {visit}".encode()).hexdigest()[:32]
        raise ValueError(f"unknown slot {match.group()!r}")

    return _SLOT.sub(put, markup)
