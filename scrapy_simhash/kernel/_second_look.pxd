# cython: language_level=3
"""The types of second_look.py where it is compiled: without Python objects, so that a call takes some nanoseconds."""

import cython

from scrapy_simhash.kernel._hamming cimport measured

cdef double BITS, NOT_NEAR, OTHER_TITLE, UNKNOWN_SITE, VERSION, CONFIRMING, FEW
cdef int DOUBTFUL, PART, UNKNOWN, WHOLE, EQUAL_KEY, NO_KEY, OTHER_KEY
cdef int BY_BITS, BY_TEXT, BY_OWN_TEXT, BY_TITLE, BY_WORDS, BY_THING, BY_EQUAL_TEXT
cdef int BARE_DISTANCE, LONG_TEXT, LEAST_VERSION, SHORT_OWN_PART, FEW_TOKENS

@cython.locals(
    leeway=double, alike=double, one=int, other=int, fewer=int, is_near=cython.bint, is_doubtful=cython.bint, is_equal=cython.bint,
    has_version=cython.bint
)
cdef void decide(measured *pair) noexcept nogil
@cython.locals(near=int, most=int, middle=int)
cdef double threshold(measured *pair) noexcept nogil
@cython.locals(is_partly_known=cython.bint, differing=double)
cdef bint _few_words_differ(const measured *pair, double leeway, int fewer) noexcept nogil
@cython.locals(estimate=double, least=double, contained=double, both=int, is_near=cython.bint, is_found=cython.bint)
cdef void _decide_by_own_parts(measured *pair, bint is_equal, int fewer) noexcept nogil
