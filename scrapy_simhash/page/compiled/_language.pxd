# cython: language_level=3
"""The types of the compiled language/choose.py, without Python objects, so that it runs without the GIL."""

from scrapy_simhash.kernel._native cimport counts

cdef int DECLARED, SCRIPT_COUNT, JA, ZH
cdef double BORNE_OUT, VOTE_FLOOR, SCRIPT_SHARE

cdef int choose(const counts *counts) noexcept nogil
cdef int _script(const counts *counts) noexcept nogil
