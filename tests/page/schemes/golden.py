"""The committed fingerprints of the named schemes: their inputs and their format."""

from __future__ import annotations

import json
from pathlib import Path

from scrapy_simhash.page.schemes import SCHEMES, Page
from scrapy_simhash.page.text import extract, parse, plain_text
from tests.golden.texts import TEXTS

FILE = Path(__file__).with_name("golden.json")
STORY = """<html lang="en"><title>The last ferry - Harbour News</title><main><h1>The last ferry</h1>
<p>The last wooden ferry came out of the water on a grey morning, and half of the town was there to see it.</p>
<p>It had carried bread, brides and bicycles over the river for sixty years, and in all of these years it was late on
three days. The captain still knows the dates. She will stay on the slip until the summer, when the town has to say
what is to become of her: a museum, a workshop for the school, or the wood for a new boat.</p></main></html>"""


def made() -> dict[str, dict[str, str]]:
    """Return the fingerprint of each text and of a page by each named scheme."""
    pages = {code: Page(plain_text(text, code)) for code, text in TEXTS.items()}
    pages["page"] = Page(extract(parse(STORY)), parse(STORY))
    return {
        f"{name}-{scheme.version}": {
            key: "" if (value := scheme.value(page)) is None else f"{value:016x}"
            for key, page in pages.items()
        }
        for name, scheme in SCHEMES.items()
    }


def committed() -> dict[str, dict[str, str]]:
    """Return the committed fingerprints."""
    held: dict[str, dict[str, str]] = json.loads(FILE.read_text("utf-8"))
    return held


if __name__ == "__main__":
    FILE.write_text(json.dumps(made(), indent=1, ensure_ascii=False) + "\n", "utf-8")
