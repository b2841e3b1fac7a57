"""The published algorithms, implemented without code of the package."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

MASK = (1 << 64) - 1


# --- The Java class: numbers of any length, cut to 64 bits at the end; bits from the highest to the lowest.


def java_class(word_counts: Mapping[str, int]) -> tuple[str, int]:
    """Return the hash as a string of 64 characters, and the signature."""
    vector = [0] * 64
    for word, count in word_counts.items():
        word_hash = fnv1_of_the_java_class(word)
        for i in range(64):
            bitmask = 1 << (64 - i - 1)
            vector[i] += count if word_hash & bitmask else -count
    signature, text = 0, ""
    for i in range(64):
        if vector[i] >= 0:
            signature += 1 << (64 - i - 1)
            text += "1"
        else:
            text += "0"
    return text, signature


def fnv1_of_the_java_class(word: str) -> int:
    value = 14695981039346656037
    encoded = word.encode("utf-16-be")
    for place in range(0, len(encoded), 2):
        value *= 1099511628211
        value ^= encoded[place] << 8 | encoded[place + 1]
    return value & MASK


# --- The slides: Java's long, which overflows and counts shifts modulo 64.


def as_long(value: int) -> int:
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def shifted(value: int, count: int) -> int:
    return as_long(value << (count & 63))


def slides(features: Sequence[tuple[int, int]]) -> int:
    """Return the fingerprint of hashes with weights; the mask is ``1L << c``, which the slide meant."""
    histogram = [0] * 64
    for feature_hash, weight in features:
        for c in range(64):
            histogram[c] += -weight if feature_hash & (1 << c) == 0 else weight
    value = 0
    for c in range(64):
        value |= (1 if histogram[c] >= 0 else 0) << c
    return value


def slides_code(character: str) -> int:
    found = character.encode("gb2312", "replace")
    if len(found) == 2:
        return (found[0] - 176) * 94 + (found[1] - 161)
    return found[0] - 9 + 6768


def slides_string(word: str) -> int:
    b = 13
    value = slides_code(word[0])
    max_bit = b
    for character in word[1:]:
        value = as_long(value * (6768 + 117))
        value = as_long(value + slides_code(character))
        max_bit += b
    original = value
    i = 0
    while i <= 64 // max_bit:
        value = shifted(value, max_bit)
        value = as_long(value + original)
        i += 1
    return value & MASK


def slides_enum(ordinal: int, count: int) -> int:
    b, x = 1, 2
    while x < count:
        b += 1
        x <<= 1
    value = ordinal
    for _ in range(64 // b):
        value = shifted(value, b)
        value = as_long(value + ordinal)
    return value & MASK


# --- simhash-cpp: each bit of a window's hash is counted at the other end.


def moz(text: str, token_hash: Callable[[str], int], window: int = 3) -> int:
    counts, number = [0] * 64, 0
    ring, place, current = [0] * window, 0, 0
    for token in re.split("[^a-zA-Z]", text):
        if not token:
            continue
        pushed = token_hash(token)
        leaving = ring[place]
        for _ in range(window):
            leaving = (leaving << 1 | leaving >> 63) & MASK
        current = (current << 1 | current >> 63) & MASK ^ leaving ^ pushed
        ring[place] = pushed
        place = (place + 1) % window
        number += 1
        bits = current
        for j in range(63, -1, -1):
            counts[j] += bits & 1
            bits >>= 1
    return sum(1 << j for j in range(64) if counts[j] > number // 2)


# --- The English article: a tally, which the digest of the paper has too, and a rounded average.


def tally(features: Sequence[tuple[int, int]], bits: int = 64) -> int:
    value = 0
    for bit in range(bits):
        total = 0
        for feature_hash, weight in features:
            total += weight if feature_hash >> bit & 1 else -weight
        if total > 0:
            value |= 1 << bit
    return value


def rounded_average(features: Sequence[tuple[int, int]], bits: int = 64) -> int:
    whole = sum(weight for _, weight in features)
    value = 0
    for bit in range(bits):
        average = Fraction(sum(weight for feature_hash, weight in features if feature_hash >> bit & 1), whole)
        if average >= Fraction(1, 2):
            value |= 1 << bit
    return value
