"""The output of ``scrapy-simhash compare`` for each pair, and of ``text`` for one: for a terminal, and as JSON."""

from __future__ import annotations

import json
import os
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy_simhash.cli.main import main
from tests.fixtures.pages import Page

FOLDER = Path(__file__).with_name("explanations")
#: Recorded pages, with the name of their files: pairs of each kind that users ask about.
PAIRS = {
    "print-view": ("harbour-lamp/night-pilot", "harbour-lamp/night-pilot-print"),
    "reprint": ("harbour-lamp/seed-swap", "estuary-post/seed-swap"),
    "rewritten": ("harbour-lamp/brass-band-first-draft", "harbour-lamp/brass-band"),
    "new-headline": ("harbour-lamp/slow-clock", "harbour-lamp/slow-clock-new-headline"),
    "revision": ("mediawiki/article", "mediawiki/old-revision"),
    "mirror": ("legal/licence-may", "legal/licence-mirror"),
    "other-licence": ("legal/licence-may", "legal/licence-may-not"),
    "product-variant": ("shopify/cap-blue", "shopify/cap-moss"),
    "two-adverts": ("jobs/nurse-evora", "jobs/nurse-zwolle"),
    "list": ("harbour-lamp/latest", "harbour-lamp/latest-2"),
    "tables": ("tides/skerry-point", "tides/gannet-ness"),
    "soft-404": ("harbour-lamp/soft-404", "harbour-lamp/not-found"),
    "too-short": ("wordpress/classic", "harbour-lamp/map-script"),
}


def made() -> dict[str, str]:
    """Return the texts of the files by name. A JSON file has a line for each key."""
    found, here = {}, Path.cwd()
    with TemporaryDirectory() as folder:
        # The output names the files.
        os.chdir(folder)
        try:
            for name, pair in PAIRS.items():
                for file, page in zip(("a.html", "b.html"), pair, strict=True):
                    Path(file).write_bytes(Page(page).body)
                found[f"{name}.txt"] = _said("compare", "a.html", "b.html")
                found[f"{name}.json"] = _lines(json.loads(_said("compare", "a.html", "b.html", "--json")))
            found["text.txt"] = _said("text", "a.html", "b.html")
            found["text.json"] = "".join(map(_lines, json.loads(_said("text", "a.html", "b.html", "--json"))))
        finally:
            os.chdir(here)
    return found


def committed() -> dict[str, str]:
    """Return the committed texts by name."""
    return {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.*"))}


def write(made: dict[str, str]) -> None:
    """Replace the files."""
    FOLDER.mkdir(exist_ok=True)
    for name in committed().keys() - made.keys():
        (FOLDER / name).unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, "utf-8", newline="\n")


def changes() -> list[str]:
    """Return the names of the files that differ."""
    held, found = committed(), made()
    return sorted(name for name in held.keys() | found.keys() if held.get(name) != found.get(name))


def _lines(facts: dict[str, object]) -> str:
    lines = (f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _said(*arguments: str) -> str:
    said = StringIO()
    with redirect_stdout(said):
        status = main(arguments)
    if status:
        raise RuntimeError(f"{arguments[0]} ended with {status}")
    return said.getvalue()
