"""The inputs and the format of the golden fingerprints."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

from scrapy_simhash import Fingerprint, PageFingerprinter
from scrapy_simhash.config import SCHEMES
from scrapy_simhash.fingerprinter import SCHEME
from tests.golden.texts import ODDITIES, STORY, TEXTS

FILE = Path(__file__).with_name("fingerprints.json")


def made() -> dict[str, str]:
    """Return the fingerprint of every text, by name; "" for none. Fingerprints of pages are in
    tests/fixtures/.

    A fingerprint is written as its 64 bits and a digest of its sketch, both in hexadecimal. The named schemes have no
    sketch.
    """
    fingerprinter = PageFingerprinter()
    made = {"scheme": SCHEME}
    for name, text in (TEXTS | ODDITIES).items():
        made[f"text {name}"] = _written(fingerprinter.from_text(text))
    for scheme in SCHEMES[1:]:
        fingerprinter = PageFingerprinter(scheme=scheme)
        for name, text in TEXTS.items():
            made[f"{fingerprinter.scheme} {name}"] = _written(fingerprinter.from_text(text))
        made[f"{fingerprinter.scheme} page"] = _written(fingerprinter.from_html(STORY))
    return made


def committed() -> dict[str, str]:
    """Return the committed fingerprints; empty without a file."""
    if not FILE.exists():
        return {}
    held: dict[str, str] = json.loads(FILE.read_text("utf-8"))
    return held


def write(made: dict[str, str]) -> None:
    """Replace the file."""
    FILE.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")


def changes(made: dict[str, str], committed: dict[str, str]) -> list[str]:
    """Return a line for each name whose fingerprint differs."""
    return [
        f"{name}: {committed.get(name, 'missing') or 'none'} became {made.get(name, 'missing') or 'none'}"
        for name in {**committed, **made}
        if committed.get(name) != made.get(name)
    ]


def _written(fingerprint: Fingerprint | None) -> str:
    if fingerprint is None:
        return ""
    digest = f" {blake2b(fingerprint.sketch, digest_size=8).hexdigest()}" if fingerprint.sketch else ""
    return f"{fingerprint.hex}{digest}"
