# cython: language_level=3, boundscheck=False, wraparound=False, binding=False
"""The door to the index in C: Python's values in, Python's values out, and nothing decided here."""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

cdef extern from "Python.h":
    unsigned long long PyLong_AsUnsignedLongLong(object number) except? 0xffffffffffffffff
    bint PyLong_CheckExact(object number)


# All pairs within a distance; pairs.c says how they are found.

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


# The scans of candidates as they are, for their tests.

def use_scan(int level):
    """Take the scan of a *level*, 0 to 3, or the best below it that this processor has; return its level."""
    return scan_use(level)


def scan_in_use():
    """Return the level and the name of the scan in use."""
    scan_init()
    return scan_level(), (<bytes>scan_name()).decode()


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


# The second look at all candidates of a page in one call.

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

cdef int add_hit(hit **hits, size_t *n, size_t *room, uint64_t key, const hit *like) except -1:
    """Add a hit as another is, but for its key, to a row of *n* with *room*."""
    cdef hit *more
    if n[0] == room[0]:
        room[0] = 2 * room[0] + 64
        more = <hit *>realloc(hits[0], room[0] * sizeof(hit))
        if more == NULL:
            raise MemoryError()
        hits[0] = more
    hits[0][n[0]] = like[0]
    hits[0][n[0]].key = key
    n[0] += 1
    return 0


cdef uint64_t MOST_KEY = 0x7fffffffffffffff
cdef size_t NO_LIMIT = <size_t>-1


cdef class Postings:
    """Postings (value, key) under the tables of plans: the native twin of ``index/pure/postings.py`` and its searches.

    ``Door`` has what Python knows better: the checks of arguments, which raise the errors, and what a match is.
    ``steps`` has a limit and keys for each plan on the way up: the keys (mask, radius) serve while there are fewer
    fingerprints than the limit; no keys at all mean a plain scan, which may only come first.
    """

    cdef postings c
    cdef object checked_value, checked_key, match, nearest_first
    cdef list steps
    cdef size_t limit
    cdef dict further
    cdef size_t length
    cdef int step
    cdef public object next_key

    def __cinit__(self):
        postings_init(&self.c, 0)

    def __dealloc__(self):
        postings_free(&self.c)

    def __init__(self, door, unsigned max_distance, list steps):
        postings_free(&self.c)
        postings_init(&self.c, max_distance)
        self.checked_value, self.checked_key = door.checked_value, door.checked_key
        self.match, self.nearest_first = door.match, door.nearest_first
        self.steps = steps
        self.further = {}
        self.length = 0
        self.next_key = 0
        self._take_step(0)

    cdef int _take_step(self, int number) except -1:
        limit, keys = self.steps[number]
        cdef plan_key *plan = NULL
        cdef uint32_t n = len(keys)
        if n:
            plan = <plan_key *>malloc(n * sizeof(plan_key))
            if plan == NULL:
                raise MemoryError()
            try:
                for i, (mask, radius) in enumerate(keys):
                    plan[i].mask = mask
                    plan[i].radius = radius
                if not postings_replan(&self.c, plan, n):
                    raise MemoryError()
            finally:
                free(plan)
        self.step = number
        # Beyond what can be addressed there is none.
        self.limit = limit if limit < NO_LIMIT else NO_LIMIT
        return 0

    cdef int _grow(self) except -1:
        # Without memory for other tables those that are there go on; what is stored is stored.
        while self.c.n >= self.limit and self.step + 1 < len(self.steps):
            try:
                self._take_step(self.step + 1)
            except MemoryError:
                self.limit = self.c.n + self.c.n // 8 + 64
                break
        if self.step + 1 == len(self.steps):
            self.limit = NO_LIMIT
        return 0

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
            return self.checked_key(key)
        if number > MOST_KEY:
            self.checked_key(key)
        return number

    cdef int _insert(self, uint64_t value, uint64_t key) except -1:
        if not postings_insert(&self.c, value, key):
            raise MemoryError()
        self.length += 1
        if key >= self.next_key:
            self.next_key = key + 1
        if self.c.n >= self.limit:
            self._grow()
        return 0

    cdef list _matches(self):
        cdef hit found
        cdef size_t i
        matches = []
        for i in range(self.c.n_hits):
            # A copy: to make a match runs Python, which may search again, and move the hits.
            found = self.c.hits[i]
            matches.append(self.match(found.key & MOST_KEY, found.value, found.distance))
            if found.key & FURTHER:
                for key in self.further[found.value]:
                    matches.append(self.match(key, found.value, found.distance))
        return self.nearest_first(matches) if len(matches) > 1 else matches

    def __len__(self):
        return self.length

    @property
    def values(self):
        """The number of distinct fingerprints."""
        return self.c.n

    @property
    def nbytes(self):
        """The memory in bytes, with the room kept for growth."""
        further = sum(keys.__sizeof__() + 32 * len(keys) for keys in self.further.values())
        return postings_bytes(&self.c) + self.further.__sizeof__() + 32 * len(self.further) + further

    def find(self, value):
        """See SimhashIndex.find."""
        if not postings_find(&self.c, self._value(value)):
            raise MemoryError()
        return self._matches() if self.c.n_hits else []

    def nearest(self, list values, size_t most):
        """See HammingIndex.nearest."""
        cdef hit *found = NULL
        cdef size_t n = 0, room = 0, before, i
        counts = []
        try:
            for value in values:
                before = n
                if not postings_find(&self.c, self._value(value)):
                    raise MemoryError()
                for i in range(self.c.n_hits):
                    add_hit(&found, &n, &room, self.c.hits[i].key & MOST_KEY, &self.c.hits[i])
                    if self.c.hits[i].key & FURTHER:
                        for key in self.further[self.c.hits[i].value]:
                            add_hit(&found, &n, &room, key, &self.c.hits[i])
                counts.append(n - before)
            n = hits_cut(found, n, most)
            by_key = {}
            for i in range(n):
                if found[i].key not in by_key:
                    by_key[found[i].key] = self.match(found[i].key, found[i].value, found[i].distance)
        finally:
            free(found)
        return list(by_key.values()), counts

    def keys_of(self, value):
        """See HammingIndex.keys_of."""
        cdef uint64_t as_value = self._value(value)
        cdef uint64_t first
        if not postings_key(&self.c, as_value, &first):
            return []
        # The smallest stands beside the fingerprint.
        keys = [first & MOST_KEY]
        if first & FURTHER:
            keys += sorted(self.further[as_value])
        return keys

    def find_or_add(self, value, key):
        """See SimhashIndex.find_or_add."""
        cdef uint64_t as_value = self._value(value)
        cdef uint64_t as_key = self._key(key)
        if not postings_find(&self.c, as_value):
            raise MemoryError()
        if self.c.n_hits:
            return self._matches()
        self._insert(as_value, as_key)
        return []

    def has(self, value, key):
        """Return whether the posting is stored."""
        cdef uint64_t as_value = self._value(value)
        cdef uint64_t as_key = self._key(key)
        cdef uint64_t first
        if not postings_key(&self.c, as_value, &first):
            return False
        return first & MOST_KEY == as_key or (first & FURTHER != 0 and as_key in self.further[as_value])

    def add(self, value, key):
        """See SimhashIndex.add."""
        cdef uint64_t as_value = self._value(value)
        self._add(as_value, self._key(key))

    cdef int _add(self, uint64_t value, uint64_t key) except -1:
        cdef uint64_t first
        if not postings_key(&self.c, value, &first):
            self._insert(value, key)
            return 0
        if first & MOST_KEY == key:
            return 0
        keys = self.further[value] if first & FURTHER else set()
        if key in keys:
            return 0
        # The smallest stands beside the fingerprint.
        keys.add(max(key, first & MOST_KEY))
        self.further[value] = keys
        postings_set_key(&self.c, value, min(key, first & MOST_KEY) | FURTHER)
        self.length += 1
        if key >= self.next_key:
            self.next_key = key + 1
        return 0

    def add_many(self, bytes values not None, bytes keys, uint64_t first):
        """Add a row of values, native uint64, each with its key, or numbered on from *first* where *keys* is None."""
        cdef const uint64_t *v = <const uint64_t *>PyBytes_AsString(values)
        cdef const uint64_t *k = <const uint64_t *>PyBytes_AsString(keys) if keys is not None else NULL
        cdef size_t i, n = len(values) // 8
        for i in range(n):
            if i + 8 < n:
                postings_ask(&self.c, v[i + 8], v[i + 4])
            self._add(v[i], k[i] if k != NULL else first + i)

    def find_or_add_many(self, bytes values not None, bytes keys, uint64_t first):
        """Return for each value, as native int64, the key of its nearest match, or -1 where it was new and added."""
        cdef const uint64_t *v = <const uint64_t *>PyBytes_AsString(values)
        cdef const uint64_t *k = <const uint64_t *>PyBytes_AsString(keys) if keys is not None else NULL
        cdef size_t i, done = 0, step, n = len(values) // 8, before
        cdef uint64_t most = 0
        made = PyBytes_FromStringAndSize(NULL, n * 8)
        cdef int64_t *nearest = <int64_t *>PyBytes_AsString(made)
        while done < n:
            before = self.c.n
            step = postings_claim(&self.c, v + done, k + done if k != NULL else NULL, first + done, n - done,
                                  self.limit, nearest + done)
            self.length += self.c.n - before
            for i in range(done, done + step):
                if nearest[i] < 0:
                    most = max(most, k[i] if k != NULL else first + i)
            if self.c.n > before and most >= self.next_key:
                self.next_key = most + 1
            done += step
            if self.c.n >= self.limit:
                self._grow()
            elif done < n:
                raise MemoryError()
        return made

    def find_many(self, bytes values not None):
        """Return the matches of each value, native uint64."""
        cdef const uint64_t *v = <const uint64_t *>PyBytes_AsString(values)
        cdef size_t i, n = len(values) // 8
        matches = []
        for i in range(n):
            if i + 8 < n:
                postings_ask(&self.c, v[i + 8], v[i + 4])
            if not postings_find(&self.c, v[i]):
                raise MemoryError()
            matches.append(self._matches() if self.c.n_hits else [])
        return matches

    def discard(self, value, key):
        """See SimhashIndex.discard."""
        cdef uint64_t as_value = self._value(value)
        cdef uint64_t as_key = self._key(key)
        cdef uint64_t first
        if not postings_key(&self.c, as_value, &first):
            return False
        if not first & FURTHER:
            if first != as_key:
                return False
            postings_remove(&self.c, as_value)
            self.length -= 1
            return True
        keys = self.further[as_value]
        if first & MOST_KEY == as_key:
            first = min(keys)
            keys.remove(first)
        elif as_key in keys:
            keys.remove(as_key)
            first &= MOST_KEY
        else:
            return False
        if not keys:
            del self.further[as_value]
        postings_set_key(&self.c, as_value, first | FURTHER if keys else first)
        self.length -= 1
        return True

    def parts(self):
        """Return in how many parts the postings are read."""
        return postings_parts(&self.c)

    def part(self, uint32_t number):
        """Return the values and keys of a part as two rows of native uint64; a value with several keys comes often."""
        cdef size_t i, n = postings_part_size(&self.c, number)
        values = PyBytes_FromStringAndSize(NULL, n * 8)
        keys = PyBytes_FromStringAndSize(NULL, n * 8)
        cdef uint64_t *v = <uint64_t *>PyBytes_AsString(values)
        cdef uint64_t *k = <uint64_t *>PyBytes_AsString(keys)
        cdef uint64_t one
        postings_read_part(&self.c, number, v, k)
        more_values, more_keys = [], []
        for i in range(n):
            if k[i] & FURTHER:
                k[i] &= MOST_KEY
                for key in self.further[v[i]]:
                    one = v[i]
                    more_values.append(PyBytes_FromStringAndSize(<const char *>&one, 8))
                    one = key
                    more_keys.append(PyBytes_FromStringAndSize(<const char *>&one, 8))
        if more_values:
            return values + b"".join(more_values), keys + b"".join(more_keys)
        return values, keys

    @property
    def is_moving(self):
        """Whether postings are on the way from one plan to another."""
        return postings_is_moving(&self.c)

    def check(self):
        """Assert what must hold between two calls. For tests: O(everything)."""
        cdef const char *wrong = postings_check(&self.c)
        if wrong != NULL:
            raise AssertionError((<bytes>wrong).decode())
        held = self.c.n + sum(map(len, self.further.values()))
        if held != self.length or not all(self.further.values()):
            raise AssertionError("the number of postings is wrong")
