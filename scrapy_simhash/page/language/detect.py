"""Which language a page is written in: what it declares, unless its words say otherwise.

Templates lie: untranslated pages keep the ``lang`` of the site, Chinese pages are served as ``en``. The
declaration is therefore believed only as far as the text bears it out, and where nothing is declared the
stopwords vote. A language without a stopword list is told by its script alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

from scrapy_simhash.page.language.stopwords import languages, stopwords

#: Tokens looked at; a page does not change its language after the first screens.
SAMPLE = 1_000
#: A declaration is borne out when its list covers this share of what the winner's list covers. Related
#: languages share a third of their function words, so a fixed share of the text would not tell them apart.
BORNE_OUT = 0.9
#: Below this share of the tokens no language wins the vote: tables, code, names.
VOTE_FLOOR = 0.08

#: Share of the characters from which a script names the language: a Chinese manual may be four fifths code.
SCRIPT_SHARE = 0.2

# Which script names which language, in the order they are asked: Japanese mixes kana into Han.
SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("th", re.compile("[\u0e01-\u0e4e]")),
    ("lo", re.compile("[\u0e81-\u0edf]")),
    ("my", re.compile("[\u1000-\u109f]")),
    ("km", re.compile("[\u1780-\u17dd]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
)

#: Languages that may be written in Han alone: a page that declares one of them is believed.
WRITTEN_IN_HAN = frozenset(("ja", "yue", "zh"))

# Which texts hold one of them at all: most do not, and need not be counted.
_ANY_SCRIPT = re.compile("".join(pattern.pattern for _, pattern in SCRIPTS).replace("][", ""))

# The codes of ISO 639 that name no language: uncoded, several, undetermined, none.
_NO_LANGUAGE = frozenset(("mis", "mul", "und", "zxx"))
_SUBTAG = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z])")


def primary_subtag(tag: str | None) -> str | None:
    """Return the language of a BCP 47 *tag* in lower case, None when it names none.

    >>> primary_subtag(" zh-Hans-CN "), primary_subtag("en, fr"), primary_subtag("x-klingon")
    ('zh', 'en', None)
    """
    match = _SUBTAG.match(tag) if tag else None
    return match[1].lower() if match and match[1].lower() not in _NO_LANGUAGE else None


def detect(tokens: Sequence[str], declared: str | None = None) -> str | None:
    """Return the ISO 639-1 code of the language of *tokens*, or None when nothing tells.

    *declared* (a primary subtag) wins when the text bears it out, and also when the text tells nothing.
    O(min(len(tokens), SAMPLE)).

    >>> detect("the cat sat on the mat and it was not a dog".split())
    'en'
    >>> detect("el gato que se sienta en la alfombra no es un perro y los otros lo saben".split(), declared="en")
    'es'
    """
    sample = tokens[:SAMPLE]
    if not sample:
        return declared
    script = _script_language(sample)
    if script is not None:
        # Han alone does not tell Chinese from a Japanese page that declares itself.
        return declared if script == "zh" and declared in WRITTEN_IN_HAN else script
    votes: defaultdict[str, int] = defaultdict(int)
    voters = _voters()
    counts = Counter(sample)
    for word in counts.keys() & voters.keys():
        for language in voters[word]:
            votes[language] += counts[word]
    if not votes:
        return declared
    # The alphabet settles a tie: the answer never depends on the order of the words.
    winner = min(votes, key=lambda code: (-votes[code], code))
    if votes[winner] < VOTE_FLOOR * len(sample) or (
        declared and votes[declared] >= BORNE_OUT * votes[winner]
    ):
        return declared
    return winner


def _script_language(sample: Sequence[str]) -> str | None:
    """Return the language that the script of the characters names, None for a script that many share."""
    text = "".join(sample)
    if text.isascii() or _ANY_SCRIPT.search(text) is None:
        return None
    counts = {code: len(pattern.findall(text)) for code, pattern in SCRIPTS}
    if sum(counts.values()) < SCRIPT_SHARE * len(text):
        return None
    # Kana are a third or more of Japanese and absent from Chinese.
    if counts["ja"] * 10 > counts["zh"] and counts["ja"]:
        return "ja"
    return max(counts, key=lambda code: counts[code])


@cache
def _voters() -> dict[str, tuple[str, ...]]:
    """Return, for each stopword of any language, the languages it votes for."""
    voters: dict[str, tuple[str, ...]] = {}
    for language in languages():
        # Single letters are elisions (l', d') in one language and list markers or variables in all.
        for word in (word for word in stopwords(language) if len(word) > 1):
            voters[word] = (*voters.get(word, ()), language)
    return voters
