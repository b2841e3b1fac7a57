# The scans of candidates as they are, for their tests. Included by _hamming.pyx.

from libc.stdint cimport uint16_t

cdef extern from "scan.h" nogil:
    ctypedef struct scans:
        size_t (*values)(const uint64_t *at, size_t n, uint64_t query, unsigned k, uint32_t *hits) noexcept nogil
        size_t (*tags)(const uint32_t *tags, const uint16_t *rests, size_t n, uint32_t tag, uint16_t rest, unsigned k,
                       uint32_t *hits) noexcept nogil

    scans scan


def scan_values(bytes values not None, uint64_t query, unsigned max_distance):
    """Return the places of the *values*, native uint64, that are within *max_distance* of *query*."""
    cdef size_t n = len(values) // 8
    hits = PyBytes_FromStringAndSize(NULL, n * 4)
    return hits[: 4 * scan.values(<const uint64_t *><const char *>values, n, query, max_distance,
                                  <uint32_t *>PyBytes_AsString(hits))]


def scan_tags(bytes tags not None, bytes rests not None, uint32_t tag, uint16_t rest, unsigned max_distance):
    """Do the same over native uint32 and uint16 that belong together, 48 bits in two rows."""
    cdef size_t n = len(tags) // 4
    hits = PyBytes_FromStringAndSize(NULL, n * 4)
    return hits[: 4 * scan.tags(<const uint32_t *><const char *>tags, <const uint16_t *><const char *>rests, n, tag,
                                rest, max_distance, <uint32_t *>PyBytes_AsString(hits))]
