# cython: language_level=3, infer_types=True, boundscheck=False, wraparound=False, initializedcheck=False
"""Which language a page is in: what it declares, unless its words say otherwise.

Templates lie: untranslated pages keep the ``lang`` of the site, Chinese pages are served as ``en``. So the
declaration is believed only if the text agrees, and where nothing is declared the stopwords vote. A language without
a stopword list is told by its script alone.
"""

# Cython compiles this file too, with the types in compiled/_language.pxd.
from __future__ import annotations

from typing import NamedTuple

#: The answer: the declared language, or none if none is declared.
DECLARED = -1
#: The text agrees with a declaration whose list has this share of the votes of the winner's list. Related languages
#: share a third of their function words, so a fixed share of the text would not tell them apart.
BORNE_OUT = 0.9
#: Below this share of the tokens no language wins the vote: tables, code, names.
VOTE_FLOOR = 0.08
#: Share of the characters from which a script names the language: a Chinese manual may be four fifths code.
SCRIPT_SHARE = 0.2
#: The scripts that name a language, by that language, in the order of ``Counts.scripts``.
SCRIPTS = ("ja", "th", "lo", "my", "km", "zh", "ko")
SCRIPT_COUNT = len(SCRIPTS)
JA = SCRIPTS.index("ja")
ZH = SCRIPTS.index("zh")


class Counts(NamedTuple):
    """What is counted in a sample of the tokens of a text; where this file is compiled, that of kernel/c/page.h."""

    tokens: int
    characters: int
    scripts: list[int]
    """Characters of each script in `SCRIPTS`."""
    lists: int
    """How many stopword lists there are."""
    votes: list[int]
    """For each list the tokens that are in it."""
    is_declared: bool
    """Whether a language is declared."""
    is_han: bool
    """Whether that may be written in Han alone."""
    declared: int
    """The number of its list, -1 for none."""


def choose(counts: Counts) -> int:
    """Return the number of the language's list, or ``Counts.lists`` + that of its script, or ``DECLARED``."""
    script = _script(counts)
    if script >= 0:
        # Han alone does not tell Chinese from a Japanese page that declares itself.
        return DECLARED if script == ZH and counts.is_han else counts.lists + script
    # The first of equal ones: the answer does not depend on the order of the words.
    winner = 0
    for i in range(1, counts.lists):
        if counts.votes[i] > counts.votes[winner]:
            winner = i
    most = counts.votes[winner]
    if most == 0 or most < VOTE_FLOOR * counts.tokens:
        return DECLARED
    declared = counts.votes[counts.declared] if counts.declared >= 0 else 0
    return DECLARED if counts.is_declared and declared >= BORNE_OUT * most else winner


def _script(counts: Counts) -> int:
    """Return the number of the script that names the language, -1 for a script that many share."""
    whole = 0
    most = 0
    for i in range(SCRIPT_COUNT):
        whole += counts.scripts[i]
        if counts.scripts[i] > counts.scripts[most]:
            most = i
    if whole == 0 or whole < SCRIPT_SHARE * counts.characters:
        return -1
    # Kana are a third or more of Japanese and absent from Chinese.
    if counts.scripts[JA] * 10 > counts.scripts[ZH] and counts.scripts[JA] > 0:
        return JA
    return most
