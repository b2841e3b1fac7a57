# All pairs within a distance; pairs.h says how they are found. Included by _hamming.pyx.

from libc.string cimport memcpy

cdef extern from "pairs.h" nogil:
    ctypedef struct pair_search:
        pass
    ctypedef struct value_pair:
        uint64_t small, large

    pair_search *pairs_new(size_t n, const uint64_t *masks, size_t tables, unsigned k)
    void pairs_free(pair_search *search)
    uint64_t *pairs_values(pair_search *search)
    size_t pairs_step(pair_search *search, value_pair *pairs, size_t room)
    double pairs_done(const pair_search *search)

cdef extern from "scan.h" nogil:
    unsigned ones(uint64_t x)

# The pairs of a step: some 100 microseconds to make them Python's.
cdef enum:
    PAIRS_ROOM = 1024


cdef class PairSearch:
    """A search for all pairs of *n* values within *max_distance*: the native twin of ``index/pairs.py``.

    *masks* are the keys of an exact plan. All n values are handed over by ``take``, then ``step`` is called until
    ``done`` is 1.0. Takes 16 bytes a value; raises MemoryError where there is none. One thread at a time.
    """

    cdef pair_search *c
    cdef size_t n, taken
    cdef bint is_stepping
    cdef value_pair pairs[PAIRS_ROOM]

    def __cinit__(self, size_t n, list masks not None, unsigned max_distance):
        cdef size_t table, tables = len(masks)
        if n > 0xffffffff:
            raise MemoryError("a search for pairs takes fewer than 2**32 values")
        cdef uint64_t *as_array = <uint64_t *>malloc((tables + 1) * sizeof(uint64_t))
        if as_array == NULL:
            raise MemoryError()
        try:
            for table in range(tables):
                as_array[table] = masks[table]
            self.c = pairs_new(n, as_array, tables, max_distance)
        finally:
            free(as_array)
        if self.c == NULL:
            raise MemoryError()
        self.n = n

    def __dealloc__(self):
        pairs_free(self.c)

    def take(self, bytes values not None):
        """Take the next values, native uint64, in any order, equal ones as often as they come."""
        cdef size_t more = len(values) // 8
        if more > self.n - self.taken:
            raise ValueError(f"there were to be {self.n} values, and there are more")
        memcpy(pairs_values(self.c) + self.taken, <const char *>values, more * 8)
        self.taken += more

    def step(self):
        """Go on for some milliseconds, while other threads run; return the pairs, (smaller, larger, distance)."""
        cdef size_t i, found
        if self.taken < self.n:
            raise ValueError(f"there were to be {self.n} values, and there are {self.taken}")
        if self.is_stepping:
            raise ValueError("another thread is searching")
        self.is_stepping = True
        with nogil:
            found = pairs_step(self.c, self.pairs, PAIRS_ROOM)
        self.is_stepping = False
        return [
            (self.pairs[i].small, self.pairs[i].large, ones(self.pairs[i].small ^ self.pairs[i].large))
            for i in range(found)
        ]

    @property
    def done(self):
        """The share of the work that is done, 0.0 to 1.0."""
        return pairs_done(self.c)
