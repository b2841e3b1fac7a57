"""Inventories of other projects for ``sphinx.ext.intersphinx``, so that the build needs no network.

Each file of ``docs/inventories`` has the URL of a documentation in its first line, and one name in each other line,
as in a Sphinx inventory: name, domain and type, priority, location, displayed name. A file contains only the names
that these pages use, so renames in other projects do not break the build.
"""

from __future__ import annotations

import atexit
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).parents[1] / "inventories"


def mapping() -> dict[str, tuple[str, str]]:
    """Return the ``intersphinx_mapping``: for each project, its URL and its inventory in a temporary folder."""
    made = TemporaryDirectory()
    atexit.register(made.cleanup)
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        address, _, names = path.read_text("utf-8").partition("\n")
        header = (
            f"# Sphinx inventory version 2\n# Project: {path.stem}\n# Version: \n# compressed using zlib\n"
        )
        compressed = Path(made.name) / f"{path.stem}.inv"
        compressed.write_bytes(header.encode() + zlib.compress(names.encode()))
        found[path.stem] = (address, str(compressed))
    return found


def settings() -> dict[str, str]:
    """Return the URL of each setting of Scrapy in the inventory, by name."""
    address, *lines = (FOLDER / "scrapy.txt").read_text("utf-8").splitlines()
    rows = (line.split() for line in lines)
    return {row[0]: address + row[3].replace("$", row[0]) for row in rows if row[1] == "std:setting"}
