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
