# cython: language_level=3
"""The types of the compiled features/shingles.py: the kernel calls this function without the GIL."""

from libc.stdint cimport int64_t

cdef int64_t MIN_PROSE

cdef bint selects_prose(bint has_list, bint has_offer, int64_t size, int64_t found) noexcept nogil
