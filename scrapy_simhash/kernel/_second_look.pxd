# cython: language_level=3
"""The types of second_look.py where it is compiled: without Python objects, so that a call takes some nanoseconds."""

import cython

from scrapy_simhash.kernel._hamming cimport measured

cdef double BITS, NOT_NEAR, EQUAL_SIMILARITY, OTHER_DIVISOR, FEW_SHARE
cdef int DOUBTFUL, PART, UNKNOWN, WHOLE, BARE_DISTANCE, LONG_TEXT, SHORT_OWN_PART, LEAST_VERSION, FEW, EQUAL_KEY, NO_KEY, OTHER_KEY

@cython.locals(least=double, is_near=cython.bint, is_doubtful=cython.bint, is_equal=cython.bint, is_partly_known=cython.bint, differing=double)
cdef void decide(measured *pair) noexcept nogil
@cython.locals(near=int, most=int, middle=int)
cdef double threshold(measured *pair) noexcept nogil
@cython.locals(is_near=cython.bint, is_found=cython.bint, is_equal=cython.bint)
cdef double _of_own_parts(const measured *pair, double least) noexcept nogil
