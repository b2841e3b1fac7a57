# cython: language_level=3, wraparound=False, binding=False
"""Cython bindings of the index in C; they only convert values.

Wrong arguments raise an exception. Objects take their arguments in ``__cinit__``, so an object cannot exist without
them, and a second ``__init__`` does nothing.
"""

from cpython.object cimport PyObject
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize, PyBytes_Size
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy

cdef extern from "Python.h":
    unsigned long long PyLong_AsUnsignedLongLong(object number) except? 0xffffffffffffffff
    bint PyLong_CheckExact(object number)
    bint PyTuple_Check(object value)
    Py_ssize_t PyTuple_Size(object value) except -1
    PyObject *PyTuple_GetItem(object value, Py_ssize_t place) except NULL


cdef Py_ssize_t numbers_in(bytes row, Py_ssize_t size) except -1:
    """Return the number of elements of *size* bytes in an array. Raises ValueError if the last one is incomplete."""
    cdef Py_ssize_t length = len(row)
    if length % size:
        raise ValueError(f"an array of numbers of {size} bytes cannot have {length} bytes")
    return length // size


cdef unsigned checked_distance(unsigned max_distance) except? 65:
    if max_distance > 64:
        raise ValueError(f"max_distance must be from 0 to 64, got {max_distance}")
    return max_distance


# All pairs within a distance; pairs.c describes the method.

# Max pairs per step; converting them to Python objects takes about 100 microseconds.
cdef enum:
    PAIRS_ROOM = 1024


cdef class PairSearch:
    """A search for all pairs of *n* values within *max_distance*: the core of ``index/pairs.py``.

    *masks* are the keys of an exact plan. Pass all *n* values to ``take``, then call ``step`` until ``done`` is 1.0.
    Takes 16 bytes per value; raises MemoryError if they cannot be allocated. Use it from one thread at a time.
    """

    cdef pair_search *c
    cdef size_t n, taken
    cdef bint is_stepping
    cdef value_pair pairs[PAIRS_ROOM]

    def __cinit__(self, size_t n, list masks not None, unsigned max_distance):
        # Use a copy, because reading a number may run Python code, which may change the list.
        cdef tuple as_tuple = tuple(masks)
        cdef size_t table, tables = len(as_tuple)
        checked_distance(max_distance)
        if not tables:
            raise ValueError("a search for pairs needs one mask or more")
        if n > 0xffffffff:
            raise MemoryError("a search for pairs takes fewer than 2**32 values")
        cdef uint64_t *as_array = <uint64_t *>malloc((tables + 1) * sizeof(uint64_t))
        if as_array == NULL:
            raise MemoryError()
        try:
            for table in range(tables):
                as_array[table] = as_tuple[table]
            self.c = pairs_new(n, as_array, tables, max_distance)
        finally:
            free(as_array)
        if self.c == NULL:
            raise MemoryError()
        self.n = n

    def __dealloc__(self):
        pairs_free(self.c)

    def take(self, bytes values not None):
        """Add the next values, native uint64, in any order; equal values may be repeated."""
        cdef size_t more = numbers_in(values, 8)
        if more > self.n - self.taken:
            raise ValueError(f"expected {self.n} values, got more")
        memcpy(pairs_values(self.c) + self.taken, <const char *>values, more * 8)
        self.taken += more

    def step(self):
        """Continue for a few milliseconds without the GIL; return the pairs found: (smaller, larger, distance)."""
        cdef size_t i, found
        if self.taken < self.n:
            raise ValueError(f"expected {self.n} values, got {self.taken}")
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


# Verification of all candidates of a page in one call.

ctypedef void (*decision)(measured *pair) noexcept nogil
ctypedef double (*measure)(measured *pair) noexcept nogil


cdef enum:
    # Max originals per page that are compared.
    MAX_FOUND = 64
    # Max originals per page that are not near it, but whose copies are compared; see ``store/candidates.py``.
    MAX_CLUSTERS = 8
    # Position of the title key in a fingerprint.
    TITLE_AT = 8 + 112
    TITLE_BYTES = 16


# Relation of an original to a page: the row of the page itself; the original of its cluster, without a contradiction;
# another original without a contradiction; an original with a contradiction; no near-duplicate. The lowest is chosen.
cdef enum:
    ITSELF, OF_CLUSTER, OTHER, CONTRADICTED, NOT_NEAR

cdef struct choice:
    # A page, and the original chosen for it: that of which it is a near-duplicate, else the most similar original.
    Print page
    int64_t number, cluster
    # Originals with the same title, and the minimum number of them for which the title is generic.
    uint64_t titled[MAX_FOUND]
    int n_titled, generic_from
    # Originals near the page.
    uint64_t near[MAX_FOUND]
    size_t n_near
    measured pair
    bint agrees_by_text
    int relation
    double alike
    int distance
    uint64_t original


cdef struct candidate:
    # The fields of the row of an original that are compared.
    uint64_t number
    const uint8_t *data
    size_t length


cdef object read_candidate(row, candidate *to):
    """Read an ``Original``; return the object that must be kept alive while *to* is used."""
    cdef object data
    if not PyTuple_Check(row) or PyTuple_Size(row) < 4:
        raise TypeError(f"an original must be a tuple, got {row!r}")
    to.number = <object>PyTuple_GetItem(row, 0)
    data = <object>PyTuple_GetItem(row, 3)
    to.data, to.length = <const uint8_t *>PyBytes_AsString(data), PyBytes_Size(data)
    return data


cdef class SecondLook:
    """The similarity rule over fingerprints as bytes: ``SimilarityRule.compare_all`` in C.

    *decide* and *threshold* are the functions that the compiled ``second_look`` exports, and *part* is the kind of a
    ``PART``. Raises ValueError for functions of a different type.
    """

    cdef measured pair
    cdef decision decide
    cdef measure threshold
    cdef int part

    def __cinit__(self, decide, threshold, double min_similarity, int reach, int part):
        # The names under which Cython exports the functions.
        self.decide = <decision>PyCapsule_GetPointer(decide, "void (measured *)")
        self.threshold = <measure>PyCapsule_GetPointer(threshold, "double (measured *)")
        self.pair.min_similarity, self.pair.reach, self.part = min_similarity, reach, part

    def compare(self, bytes one not None, list others not None, bint is_generic):
        """Return (place, similarity, similarity by all text, contradicts) of those of *others* that are near."""
        cdef Print of_one, of_other
        cdef measured pair = self.pair
        cdef Py_ssize_t place
        pair.is_generic = is_generic
        self._read(&of_one, one)
        near = []
        for place in range(len(others)):
            self._read(&of_other, others[place])
            pair_measure(&pair, &of_one, &of_other)
            self.decide(&pair)
            if pair.similarity >= 0 or pair.by_text >= 0:
                near.append((place, pair.similarity if pair.similarity >= 0 else None,
                             pair.by_text if pair.by_text >= 0 else None, pair.contradiction > 0))
        return near

    def nearest(self, bytes one not None, list others not None, bint is_generic):
        """Return (place, similarity, threshold, basis, least) of the first of the most similar fingerprints, or None.
        """
        cdef Print of_one, of_other
        cdef measured pair = self.pair, found
        cdef Py_ssize_t place, best = -1
        cdef double similarity, greatest = -1
        pair.is_generic = is_generic
        self._read(&of_one, one)
        for place in range(len(others)):
            self._read(&of_other, others[place])
            pair_measure(&pair, &of_one, &of_other)
            similarity = alike_of(&pair)
            if similarity > greatest:
                greatest, best, found = similarity, place, pair
        if best < 0:
            return None
        self.decide(&found)
        basis, least = found.basis, found.least
        return best, greatest, self.threshold(&found), basis, least

    cdef int _read(self, Print *of, bytes data) except -1:
        return self._read_at(of, <const uint8_t *>PyBytes_AsString(data), len(data))

    cdef int _read_at(self, Print *of, const uint8_t *data, size_t length) except -1:
        if not print_read(of, data, length, self.part):
            raise ValueError(f"no fingerprint has {length} bytes")
        return 0

    cdef int _begin(self, choice *of, const uint8_t *page, size_t length, int generic_from, int64_t number,
                    int64_t cluster) except -1:
        """Start choosing an original for a page. *number* is -1 for a new page."""
        of.pair, of.agrees_by_text, of.relation, of.alike = self.pair, False, NOT_NEAR, -1
        of.number, of.cluster = number, cluster
        of.n_near, of.n_titled, of.generic_from = 0, 0, generic_from
        self._read_at(&of.page, page, length)
        of.pair.is_generic = generic_from <= 0 and print_title_key(&of.page) != NULL
        return 0

    cdef int _compare(self, choice *of, uint64_t original, const uint8_t *data, size_t length) except -1:
        """Compare the page with another original, and keep the better original, as ``near`` in
        ``store/candidates.py``.
        """
        cdef Print its
        cdef measured *pair = &of.pair
        cdef double alike
        cdef int distance, relation = NOT_NEAR
        self._read_at(&its, data, length)
        pair_measure(pair, &of.page, &its)
        self.decide(pair)
        of.agrees_by_text |= pair.by_text >= 0
        alike = alike_of(pair)
        if pair.similarity >= 0:
            alike = pair.similarity
            of.near[of.n_near] = original
            of.n_near += 1
            relation = OTHER
            if <int64_t>original == of.number:
                relation = ITSELF
            elif pair.contradiction > 0:
                relation = CONTRADICTED
            elif <int64_t>original == of.cluster:
                relation = OF_CLUSTER
        if relation > of.relation or (relation == of.relation and alike < of.alike):
            return 0
        distance = print_distance(&of.page, &its)
        if relation == of.relation and alike == of.alike:
            if relation == NOT_NEAR or distance > of.distance or (distance == of.distance and original > of.original):
                return 0
        of.relation, of.alike, of.distance, of.original = relation, alike, distance, original
        return 0


cdef void count_title(choice *of, uint64_t original, const uint8_t *data, size_t length) noexcept nogil:
    """Count an original with the title of the page, as ``is_generic`` in ``store/candidates.py``."""
    cdef const uint8_t *title = print_title_key(&of.page)
    if title == NULL or of.pair.is_generic or length < TITLE_AT + TITLE_BYTES:
        return
    if memcmp(title, data + TITLE_AT, TITLE_BYTES) == 0 and print_is_of_host(&of.page, data, length) and not is_among(original, of.titled, of.n_titled):
        of.titled[of.n_titled] = original
        of.n_titled += 1
        of.pair.is_generic = of.n_titled >= of.generic_from


cdef double alike_of(const measured *pair) noexcept nogil:
    """Return ``Measured.alike``."""
    if not pair.has_sketches:
        return -1
    if pair.has_unique_texts and (pair.estimate >= 0 or pair.unique_distance <= pair.reach):
        return max(pair.estimate, pair.unique_estimate)
    return pair.estimate


cdef struct findings:
    # The results of a search for a page, as of ``search`` in ``store/candidates.py``.
    uint64_t contents[MAX_FOUND]
    size_t n, within_reach
    uint64_t values[3]
    unsigned n_values, found_by


cdef bint is_among(uint64_t number, const uint64_t *numbers, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if numbers[i] == number:
            return True
    return False


cdef uint64_t MAX_KEY = 0x7fffffffffffffff


cdef Py_ssize_t postings_in(bytes values, bytes keys, uint64_t first) except -1:
    """Return the number of postings in two arrays. Raises ValueError unless each value has a key from 0 to 2**63 - 1.
    """
    cdef Py_ssize_t i, n = numbers_in(values, 8)
    cdef uint64_t all_bits = first
    cdef const uint64_t *k
    if keys is None:
        if n:
            all_bits |= first + <uint64_t>(n - 1)
    else:
        if numbers_in(keys, 8) != n:
            raise ValueError(f"there must be one key for every value, got {len(keys) // 8} for {n}")
        k = <const uint64_t *>PyBytes_AsString(keys)
        all_bits = 0
        for i in range(n):
            all_bits |= k[i]
    if n and all_bits > MAX_KEY:
        raise ValueError("key must be from 0 to 2**63 - 1")
    return n


cdef class Postings:
    """Postings (value, key) in a row or in the tables of a plan, and searches in them.

    *checks* has the functions that check arguments, and the type of a match. *plan* has a mask and a radius for each
    table, see ``index/plans.py``. Without tables, or below *row_limit* postings, a search compares all postings.
    Raises TypeError or ValueError for an invalid plan.
    """

    cdef postings c
    # The memory of the last search, which the next search reuses.
    cdef hits spare
    cdef object checked_value, checked_key, match
    # The greatest key that was ever added, plus 1.
    cdef readonly uint64_t next_key

    def __cinit__(self, checks, unsigned max_distance, list plan not None, size_t row_limit):
        # Use a copy, because reading a number may run Python code, which may change the list.
        cdef tuple as_tuple = tuple(plan)
        cdef uint32_t i, n = len(as_tuple)
        cdef bint is_made
        checked_distance(max_distance)
        self.checked_value, self.checked_key, self.match = checks.checked_value, checks.checked_key, checks.match
        cdef plan_key *keys = <plan_key *>malloc((n + 1) * sizeof(plan_key))
        if keys == NULL:
            raise MemoryError()
        try:
            for i in range(n):
                keys[i].mask, keys[i].radius = as_tuple[i]
                if not table_is_possible(keys[i].mask, keys[i].radius):
                    raise ValueError(f"no table has the key {keys[i].mask:#x} with radius {keys[i].radius}: only one block may have a radius")
            is_made = postings_init(&self.c, max_distance, keys, n, row_limit)
        finally:
            free(keys)
        if not is_made:
            raise MemoryError()

    def __dealloc__(self):
        postings_free(&self.c)
        free(self.spare.at)

    cdef uint64_t _value(self, value) except? 0xffffffffffffffff:
        if not PyLong_CheckExact(value):
            value = self.checked_value(value)
        try:
            return PyLong_AsUnsignedLongLong(value)
        except OverflowError:
            return self.checked_value(value)

    cdef uint64_t _key(self, key) except? 0xffffffffffffffff:
        cdef uint64_t number
        if not PyLong_CheckExact(key):
            key = self.checked_key(key)
        try:
            number = PyLong_AsUnsignedLongLong(key)
        except OverflowError:
            number = self.checked_key(key)
        if number > MAX_KEY:
            self.checked_key(key)
            raise OverflowError(f"key must be below 2**63, got {number}")
        return number

    cdef hits _begin(self) noexcept:
        """Return the memory of the last search. Creating a match runs Python code, which may search again."""
        cdef hits found = self.spare
        self.spare.at, self.spare.n, self.spare.room = NULL, 0, 0
        return found

    cdef int _end(self, hits *found) noexcept:
        free(self.spare.at)
        self.spare = found[0]
        hits_clear(&self.spare)
        return 0

    cdef int _find(self, uint64_t value, hits *found) except -1:
        if not postings_find(&self.c, value, found):
            raise MemoryError()
        return 0

    cdef list _matches(self, hits *found, size_t most):
        """Return the *most* nearest hits as matches, with each key once."""
        cdef size_t i
        hits_cut(found, most)
        if found.n == 1:
            return [self.match(found.at[0].key, found.at[0].value, found.at[0].distance)]
        by_key = {}
        for i in range(found.n):
            if found.at[i].key not in by_key:
                by_key[found.at[i].key] = self.match(found.at[i].key, found.at[i].value, found.at[i].distance)
        return list(by_key.values())

    def __len__(self):
        return self.c.n

    @property
    def nbytes(self):
        """The memory in bytes, including room for growth."""
        return postings_bytes(&self.c) + self.spare.room * sizeof(hit)

    def find(self, value):
        """See SimhashIndex.find."""
        cdef uint64_t as_value = self._value(value)
        cdef hits found = self._begin()
        try:
            self._find(as_value, &found)
            return self._matches(&found, found.n) if found.n else []
        finally:
            self._end(&found)

    def find_many(self, bytes values not None):
        """Return the matches of each value, native uint64."""
        cdef const uint64_t *v = <const uint64_t *>PyBytes_AsString(values)
        cdef size_t i, n = numbers_in(values, 8)
        cdef hits found = self._begin()
        matches = []
        try:
            for i in range(n):
                if i + 8 < n:
                    postings_prefetch(&self.c, v[i + 8], v[i + 4])
                found.n = 0
                self._find(v[i], &found)
                matches.append(self._matches(&found, found.n) if found.n else [])
        finally:
            self._end(&found)
        return matches

    def nearest(self, list values, size_t most):
        """See SimhashIndex.nearest."""
        cdef hits found = self._begin()
        cdef size_t before
        counts = []
        try:
            for value in values:
                before = found.n
                self._find(self._value(value), &found)
                counts.append(found.n - before)
            return self._matches(&found, most), counts
        finally:
            self._end(&found)

    def keys_of(self, value):
        """See SimhashIndex.keys_of."""
        cdef uint64_t as_value = self._value(value)
        cdef hits found = self._begin()
        cdef size_t i
        try:
            if not postings_of(&self.c, as_value, &found):
                raise MemoryError()
            hits_cut(&found, found.n)
            return [found.at[i].key for i in range(found.n)]
        finally:
            self._end(&found)

    cdef int _search(self, const Print *page, uint64_t title_key, size_t most, size_t nearby, findings *to) except -1:
        """Search for a page with a sketch, as ``search`` of ``store/candidates.py``."""
        cdef uint64_t values[3]
        cdef hits same, near
        cdef size_t count, i, half = most // 2, n_near = 0
        cdef uint64_t by_text[MAX_FOUND]
        if most > MAX_FOUND:
            raise ValueError(f"most must be at most {MAX_FOUND}, got {most}")
        values[0], values[1], values[2] = page.value, print_unique_value(page), title_key
        to.n = to.n_values = to.found_by = to.within_reach = 0
        same.at, same.n, same.room = NULL, 0, 0
        near = self._begin()
        try:
            for i in range(3):
                if i > 0 and values[i] == 0:
                    continue
                if i < 2:
                    count = near.n
                    self._find(values[i], &near)
                    count = near.n - count
                else:
                    if not postings_of(&self.c, title_key, &same):
                        raise MemoryError()
                    count = same.n
                to.within_reach += count
                if count < nearby:
                    to.found_by |= 1 << i
                    to.values[to.n_values] = values[i]
                    to.n_values += 1
            hits_cut(&near, most)
            for i in range(near.n):
                if not is_among(near.at[i].key, by_text, n_near):
                    by_text[n_near] = near.at[i].key
                    n_near += 1
            if same.n:
                # Each of the two kinds gets half of the places, and those that the other kind does not use.
                count = same.n
                hits_cut(&same, max(half, most - n_near))
                for i in range(same.n):
                    to.contents[i] = same.at[i].key
                to.n = same.n
                n_near = min(n_near, max(half, most - count if count < most else 0))
        finally:
            free(same.at)
            self._end(&near)
        for i in range(n_near):
            if not is_among(by_text[i], to.contents, to.n):
                to.contents[to.n] = by_text[i]
                to.n += 1
        return 0

    def near(self, SecondLook look not None, bytes page not None, title_key, size_t most, size_t nearby, recent,
             read, int generic_from, int64_t number, int64_t cluster):
        """Return the result of ``near`` of ``store/candidates.py``, for a page with a sketch.

        *page* is a fingerprint as ``compared_bytes()`` returns it. An ``Original`` is taken from *recent*, else from
        *read*, which returns None for an original to skip. A missing *number* or *cluster* is -1. Return flags of the
        values by which the page is indexed, these values, whether unique text decided, and the chosen original:
        (number, is_near, distance, alike, contradicts), or None if there is none. Then the originals near the page,
        the first ones that are not, and whether its title is generic.
        """
        cdef findings found
        cdef choice of
        cdef candidate rows[MAX_FOUND]
        cdef size_t i, n = 0
        look._begin(&of, <const uint8_t *>PyBytes_AsString(page), len(page), generic_from, number, cluster)
        self._search(&of.page, self._value(title_key), most, nearby, &found)
        # Keeps the bytes of the candidates alive.
        kept = []
        if most and found.within_reach > most and cluster >= 0 and not is_among(cluster, found.contents, found.n):
            row = read(cluster)
            # An original that is not indexed by any value is not compared.
            if row is not None and row[6]:
                kept.append(read_candidate(row, &rows[n]))
                n += 1
                found.n = min(found.n, most - 1)
        for i in range(found.n):
            row = recent.get(found.contents[i])
            if row is None:
                row = read(found.contents[i])
            if row is not None:
                kept.append(read_candidate(row, &rows[n]))
                n += 1
        for i in range(n):
            count_title(&of, rows[i].number, rows[i].data, rows[i].length)
        for i in range(n):
            look._compare(&of, rows[i].number, rows[i].data, rows[i].length)
        chosen = None
        if of.relation < NOT_NEAR or of.alike >= 0:
            chosen = (of.original, of.relation < NOT_NEAR, of.distance, of.alike, of.relation == CONTRADICTED)
        others = []
        for i in range(n):
            if len(others) < MAX_CLUSTERS and not is_among(rows[i].number, of.near, of.n_near):
                others.append(rows[i].number)
        values = tuple([found.values[i] for i in range(found.n_values)])
        near = tuple([of.near[i] for i in range(of.n_near)])
        return (found.found_by, values, of.agrees_by_text != (of.relation < NOT_NEAR), chosen, near, tuple(others),
                of.pair.is_generic != 0)

    def find_or_add(self, value, key):
        """See SimhashIndex.find_or_add."""
        cdef uint64_t as_value = self._value(value)
        cdef uint64_t as_key = self._key(key)
        cdef hits found = self._begin()
        try:
            self._find(as_value, &found)
            if found.n:
                return self._matches(&found, found.n)
        finally:
            self._end(&found)
        self._insert(as_value, as_key, True)
        return []

    def has(self, value, key):
        """Return whether the posting is stored."""
        cdef uint64_t as_value = self._value(value)
        return bool(postings_has(&self.c, as_value, self._key(key)))

    def add(self, value, key):
        """See SimhashIndex.add."""
        cdef uint64_t as_value = self._value(value)
        self._add(as_value, self._key(key))

    cdef int _add(self, uint64_t value, uint64_t key) except -1:
        # A key above all others is new, so numbered keys of one value are added without a search through them.
        if key >= self.next_key or not postings_has(&self.c, value, key):
            self._insert(value, key, False)
        return 0

    cdef int _insert(self, uint64_t value, uint64_t key, bint is_new) except -1:
        if not postings_insert(&self.c, value, key, is_new):
            raise MemoryError()
        if key >= self.next_key:
            self.next_key = key + 1
        return 0

    def add_many(self, bytes values not None, bytes keys, uint64_t first):
        """Add values, native uint64, each with its key; if *keys* is None, keys are numbered from *first*.

        Raises ValueError, and adds nothing, if a key is missing or invalid.
        """
        cdef const uint64_t *v = <const uint64_t *>PyBytes_AsString(values)
        cdef const uint64_t *k = <const uint64_t *>PyBytes_AsString(keys) if keys is not None else NULL
        cdef size_t i, n = postings_in(values, keys, first)
        for i in range(n):
            if i + 8 < n:
                postings_prefetch(&self.c, v[i + 8], v[i + 4])
            self._add(v[i], k[i] if k != NULL else first + i)

    def discard(self, value, key):
        """See SimhashIndex.discard."""
        cdef uint64_t as_value = self._value(value)
        return bool(postings_remove(&self.c, as_value, self._key(key)))

    def columns(self):
        """Return all values and their keys, each as an array of native uint64."""
        values = PyBytes_FromStringAndSize(NULL, self.c.n * 8)
        keys = PyBytes_FromStringAndSize(NULL, self.c.n * 8)
        postings_read(&self.c, <uint64_t *>PyBytes_AsString(values), <uint64_t *>PyBytes_AsString(keys))
        return values, keys

    def check(self):
        """Check the invariants. For tests; reads everything."""
        cdef const char *wrong = postings_check(&self.c)
        if wrong != NULL:
            raise AssertionError((<bytes>wrong).decode())
