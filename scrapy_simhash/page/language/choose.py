# cython: language_level=3, infer_types=True, boundscheck=False, wraparound=False, initializedcheck=False
"""Choose the language of a page: the declared language, unless the words contradict it.

Declarations are often wrong: untranslated pages keep the ``lang`` of the site, Chinese pages are served as ``en``. So
a declaration counts only if the text agrees; without a declaration, the stopwords vote. A language without a stopword
list is recognised only by its script.
"""

# Cython compiles this file too, with the types in compiled/_language.pxd.
from __future__ import annotations

from typing import NamedTuple

#: Result for the declared language, or for no language if none is declared.
DECLARED = -1
#: The declared language is used if it has at least this share of the winner's votes. Related languages share a third
#: of their function words, so a fixed share of the text would not distinguish them.
AGREEING_SHARE = 0.9
#: Min share of the tokens for the winner to be used. A smaller share means tables, code or names.
MIN_VOTE_SHARE = 0.08
#: Min share of the characters for a script to determine the language; a Chinese manual may be four fifths code.
SCRIPT_SHARE = 0.2
#: Languages of the scripts that have only one language, in the order of ``Counts.scripts``.
SCRIPTS = ("ja", "th", "lo", "my", "km", "zh", "ko")
SCRIPT_COUNT = len(SCRIPTS)
JA = SCRIPTS.index("ja")
ZH = SCRIPTS.index("zh")


class Counts(NamedTuple):
    """Counts for a sample of the tokens of a text; in the compiled version, the structure in kernel/c/page.h."""

    tokens: int
    characters: int
    scripts: list[int]
    """Characters of each script in `SCRIPTS`."""
    lists: int
    """Number of stopword lists."""
    votes: list[int]
    """For each list, the number of tokens that it contains."""
    is_declared: bool
    """Whether a language is declared."""
    is_han: bool
    """Whether the declared language may be written only in Han."""
    declared: int
    """Number of the stopword list of the declared language; -1 if it has none."""


def choose(counts: Counts) -> int:
    """Return the number of the language's list, or ``Counts.lists`` + the number of its script, or ``DECLARED``."""
    script = _script(counts)
    if script >= 0:
        # Text with only Han is Chinese, or Japanese if the page declares it.
        return DECLARED if script == ZH and counts.is_han else counts.lists + script
    # On a tie the first list wins, so the result does not depend on the order of the words.
    winner = 0
    for i in range(1, counts.lists):
        if counts.votes[i] > counts.votes[winner]:
            winner = i
    most = counts.votes[winner]
    if most == 0 or most < MIN_VOTE_SHARE * counts.tokens:
        return DECLARED
    declared = counts.votes[counts.declared] if counts.declared >= 0 else 0
    return DECLARED if counts.is_declared and declared >= AGREEING_SHARE * most else winner


def _script(counts: Counts) -> int:
    """Return the number of the script that determines the language; -1 for a script of many languages."""
    whole = 0
    most = 0
    for i in range(SCRIPT_COUNT):
        whole += counts.scripts[i]
        if counts.scripts[i] > counts.scripts[most]:
            most = i
    if whole == 0 or whole < SCRIPT_SHARE * counts.characters:
        return -1
    # Kana are a third or more of Japanese text, and do not occur in Chinese.
    if counts.scripts[JA] * 10 > counts.scripts[ZH] and counts.scripts[JA] > 0:
        return JA
    return most
