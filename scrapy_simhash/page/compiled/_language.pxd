# cython: language_level=3
"""C types for the compiled language/choose.py, which uses no Python objects and so runs without the GIL."""

from scrapy_simhash.kernel._native cimport counts

cdef int DECLARED, SCRIPT_COUNT, JA, ZH
cdef double AGREEING_SHARE, MIN_VOTE_SHARE, SCRIPT_SHARE

cdef int choose(const counts *counts) noexcept nogil
cdef int _script(const counts *counts) noexcept nogil
