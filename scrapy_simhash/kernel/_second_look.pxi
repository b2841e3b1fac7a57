# The second look at all candidates of a page in one call. Included by _hamming.pyx.

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

ctypedef void (*decision)(measured *pair) noexcept nogil
ctypedef double (*measure)(measured *pair) noexcept nogil


cdef class SecondLook:
    """The similarity rule over fingerprints as bytes: the native twin of ``SimilarityRule.compare_all``.

    *decide* and *threshold* are those of ``second_look`` as the compiled module exports them, *part* the kind of a
    ``PART``.
    """

    cdef measured pair
    cdef decision decide
    cdef measure threshold
    cdef int part

    def __init__(self, decide, threshold, double min_similarity, int reach, int part):
        self.decide = <decision>PyCapsule_GetPointer(decide, PyCapsule_GetName(decide))
        self.threshold = <measure>PyCapsule_GetPointer(threshold, PyCapsule_GetName(threshold))
        self.pair.min_similarity, self.pair.reach, self.part = min_similarity, reach, part

    def compare(self, bytes one not None, list others not None):
        """Return (place, similarity, similarity by all text) of those of *others* that are near by either of the two."""
        cdef Print of_one, of_other
        cdef measured pair = self.pair
        cdef Py_ssize_t place
        self._read(&of_one, one)
        near = []
        for place in range(len(others)):
            self._read(&of_other, others[place])
            pair_measure(&pair, &of_one, &of_other)
            self.decide(&pair)
            if pair.similarity >= 0 or pair.by_text >= 0:
                near.append((place, pair.similarity if pair.similarity >= 0 else None,
                             pair.by_text if pair.by_text >= 0 else None))
        return near

    def nearest(self, bytes one not None, list others not None):
        """Return (place, similarity, threshold, basis, least) of the most alike one, of equals the first; None if there is none."""
        cdef Print of_one, of_other
        cdef measured pair = self.pair, found
        cdef Py_ssize_t place, best = -1
        cdef double similarity, greatest = -1
        self._read(&of_one, one)
        for place in range(len(others)):
            self._read(&of_other, others[place])
            pair_measure(&pair, &of_one, &of_other)
            if pair.has_sketches:
                similarity = pair.estimate
                if pair.has_own_parts and (similarity >= 0 or pair.own_distance <= pair.reach):
                    similarity = max(similarity, pair.own_estimate)
                if similarity > greatest:
                    greatest, best, found = similarity, place, pair
        if best < 0:
            return None
        self.decide(&found)
        basis, least = found.basis, found.least
        return best, greatest, self.threshold(&found), basis, least

    cdef int _read(self, Print *of, bytes data) except -1:
        if not print_read(of, <const uint8_t *>PyBytes_AsString(data), len(data), self.part):
            raise ValueError(f"no fingerprint has {len(data)} bytes")
        return 0
