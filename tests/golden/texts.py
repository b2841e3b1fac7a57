"""Plain texts whose fingerprints are committed: the same small scene in many languages, and some special
cases.
"""

from __future__ import annotations

import re
from pathlib import Path

_FILE = Path(__file__).with_name("texts.txt").read_text("utf-8")
#: By ISO 639-1 code. Every text has two paragraphs and enough words for a fingerprint.
TEXTS = {code: text.strip() for code, text in re.findall(r"^# (\w+)\n([^#]+)", _FILE, flags=re.MULTILINE)}
#: Special cases that are not prose.
ODDITIES = {
    "code, which has no stopwords": "def fold(digests): total = sum(weight for digest, weight in digests.items());"
    " return [bit for bit in range(64) if votes[bit] * 2 > total] or raise_error(value, digests, votes)",
    "a word again and again": "\n\n".join(f"the sea {number} the sea" for number in range(40)),
    "typography": "ＦＵＬＬ ｗｉｄｔｈ, ﬁne ligatures, hy\u00adphens, cafe\u0301, STRASSE and Straße, it’s and it's,"
    " zero\u200bwidth, x² and ½, l’été, Σίσυφος, İstanbul",
    "too short": "Not enough to tell one page from another.",
    "nothing": "",
}
#: A page.
STORY = """<html lang="en"><title>The last ferry - Harbour News</title><main><h1>The last ferry</h1>
<p>The last wooden ferry came out of the water on a grey morning, and half of the town was there to see it.</p>
<p>It had carried bread, brides and bicycles over the river for sixty years, and in all of these years it was late on
three days. The captain still knows the dates. She will stay on the slip until the summer, when the town has to say
what is to become of her: a museum, a workshop for the school, or the wood for a new boat.</p></main></html>"""
