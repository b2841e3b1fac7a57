# cython: language_level=3
"""C types for the compiled second_look.py, which uses no Python objects, so a call takes a few nanoseconds."""

import cython

from libc.stdint cimport uint8_t

from scrapy_simhash.kernel._hamming cimport measured

cdef double BITS, NOT_NEAR, OTHER_TITLE, UNKNOWN_SITE, VERSION, CONFIRMING, FEW
cdef int DOUBTFUL, PART, UNKNOWN, WHOLE, EQUAL_KEY, NO_KEY, OTHER_KEY
cdef int BY_BITS, BY_TEXT, BY_UNIQUE_TEXT, BY_TITLE, BY_WORDS, BY_NAMES, BY_EQUAL_TEXT
cdef int AGREED, OTHER_FACTS, OTHER_NAMES, NAMES, NAMES_ELSEWHERE, NAMES_IN_URL, OTHERS, LINES, ABOVE_TITLE, SIGNS, MIN_CONTAINED
cdef int BARE_DISTANCE, LONG_TEXT, MIN_VERSION, SHORT_UNIQUE_TEXT, FEW_TOKENS

@cython.locals(
    leeway=double, alike=double, one=int, other=int, fewer=int, is_near=cython.bint, is_doubtful=cython.bint, is_equal=cython.bint,
    has_version=cython.bint
)
cdef void _decide_by_text(measured *pair) noexcept nogil
cdef void decide(measured *pair) noexcept nogil
@cython.locals(host=int, other_host=int)
cdef bint _are_on_one_host(const uint8_t *one, const uint8_t *other) noexcept nogil
@cython.locals(is_one_host=cython.bint, only_one=int, only_other=int, names=int, rows=int)
cdef int contradiction(const uint8_t *one, const uint8_t *other) noexcept nogil
@cython.locals(found=int, at=int, end=int, place=int, other_end=int, kind=int, word=int, other_word=int)
cdef int _lacking(const uint8_t *one, const uint8_t *other) noexcept nogil
@cython.locals(found=int, at=int)
cdef int _contained(const uint8_t *one, const uint8_t *other) noexcept nogil
@cython.locals(found=int, at=int, place=int, is_same_label=cython.bint)
cdef int _compare_rows(const uint8_t *one, const uint8_t *other) noexcept nogil
@cython.locals(near=int, most=int, middle=int)
cdef double threshold(measured *pair) noexcept nogil
@cython.locals(is_partly_known=cython.bint, differing=double)
cdef bint _few_words_differ(const measured *pair, double leeway, int fewer) noexcept nogil
@cython.locals(estimate=double, least=double, contained=double, both=int, is_near=cython.bint, is_found=cython.bint)
cdef void _decide_by_unique_texts(measured *pair, bint is_equal, int fewer) noexcept nogil
