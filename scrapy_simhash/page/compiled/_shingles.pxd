# cython: language_level=3
"""C types for the compiled features/shingles.py; the C extension calls this function without the GIL."""

from libc.stdint cimport int64_t

cdef int64_t MIN_PROSE

cdef bint selects_prose(bint has_list, bint has_offer, int64_t size, int64_t found) noexcept nogil
