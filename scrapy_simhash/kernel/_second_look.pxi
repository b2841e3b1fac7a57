# The second look at all candidates of a page in one call. Included by _hamming.pyx.

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

ctypedef void (*decision)(measured *pair) noexcept nogil


cdef class SecondLook:
    """The similarity rule over fingerprints as bytes: the native twin of ``SimilarityRule.compare_all``.

    *decide* is ``second_look.decide`` as the compiled module of it exports it, *part* the kind of a ``PART``.
    """

    cdef measured pair
    cdef decision decide
    cdef int part

    def __init__(self, decide, double min_similarity, int reach, int part):
        self.decide = <decision>PyCapsule_GetPointer(decide, PyCapsule_GetName(decide))
        self.pair.min_similarity, self.pair.reach, self.part = min_similarity, reach, part

    def compare(self, bytes one not None, list others not None):
        """Return (place, similarity, similarity by all text) of those of *others* that are near by either of the two."""
        cdef Print of_one, of_other
        cdef measured pair = self.pair
        cdef Py_ssize_t place
        cdef bytes data
        if not print_read(&of_one, <const uint8_t *>PyBytes_AsString(one), len(one), self.part):
            raise ValueError(f"no fingerprint has {len(one)} bytes")
        near = []
        for place in range(len(others)):
            data = others[place]
            if not print_read(&of_other, <const uint8_t *>PyBytes_AsString(data), len(data), self.part):
                raise ValueError(f"no fingerprint has {len(data)} bytes")
            pair_measure(&pair, &of_one, &of_other)
            self.decide(&pair)
            if pair.similarity >= 0 or pair.by_text >= 0:
                near.append((place, pair.similarity if pair.similarity >= 0 else None,
                             pair.by_text if pair.by_text >= 0 else None))
        return near
