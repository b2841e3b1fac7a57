# cython: language_level=3, wraparound=False, binding=False
"""The door to the index in C: Python's values in, Python's values out, and nothing decided here.

A wrong call raises an exception. Objects take their arguments in ``__cinit__``, so that there is none without them, and
a second ``__init__`` does nothing.
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
    """Return how many numbers of *size* bytes are in a row. Raises ValueError if a part of one is left."""
    cdef Py_ssize_t length = len(row)
    if length % size:
        raise ValueError(f"a row of numbers of {size} bytes cannot have {length} bytes")
    return length // size


cdef unsigned checked_distance(unsigned max_distance) except? 65:
    if max_distance > 64:
        raise ValueError(f"max_distance must be from 0 to 64, got {max_distance}")
    return max_distance


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
        # A copy: to read a number may run Python, which may change the list.
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
        """Take the next values, native uint64, in any order, equal ones as often as they come."""
        cdef size_t more = numbers_in(values, 8)
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
    if not 0 <= level <= 3:
        raise ValueError(f"level must be from 0 to 3, got {level}")
    return scan_use(level)


def scan_in_use():
    """Return the level and the name of the scan in use."""
    scan_init()
    return scan_level(), (<bytes>scan_name()).decode()


def scan_values(bytes values not None, uint64_t query, unsigned max_distance):
    """Return the places of the *values*, native uint64, that are within *max_distance* of *query*."""
    cdef size_t n = numbers_in(values, 8)
    checked_distance(max_distance)
    hits = PyBytes_FromStringAndSize(NULL, n * 4)
    return hits[: 4 * scan.values(<const uint64_t *><const char *>values, n, query, max_distance,
                                  <uint32_t *>PyBytes_AsString(hits))]


def scan_tags(bytes tags not None, bytes rests not None, uint32_t tag, uint16_t rest, unsigned max_distance):
    """Do the same over native uint32 and uint16 that belong together, 48 bits in two rows."""
    cdef size_t n = numbers_in(tags, 4)
    checked_distance(max_distance)
    if <size_t>numbers_in(rests, 2) != n:
        raise ValueError(f"there must be one rest for every tag, got {len(rests) // 2} for {n}")
    hits = PyBytes_FromStringAndSize(NULL, n * 4)
    return hits[: 4 * scan.tags(<const uint32_t *><const char *>tags, <const uint16_t *><const char *>rests, n, tag,
                                rest, max_distance, <uint32_t *>PyBytes_AsString(hits))]


# The second look at all candidates of a page in one call.

ctypedef void (*decision)(measured *pair) noexcept nogil
ctypedef double (*measure)(measured *pair) noexcept nogil


cdef enum:
    # No page is compared with more originals.
    MOST = 64
    # Of so many of them, which it is not near, copies are compared: ``store/candidates.py``.
    MOST_CLUSTERS = 8
    # Where the title key is in a fingerprint.
    TITLE_AT = 8 + 112
    TITLE_BYTES = 16


# What an original is to a page: its own row; that of its cluster, which it does not contradict; another one that it does
# not contradict; one that it contradicts; no near-duplicate. The least is chosen.
cdef enum:
    OWN, OF_CLUSTER, OTHER, CONTRADICTED, NOT_NEAR

cdef struct choice:
    # A page, and of the originals that it was compared with the one that it is a near-duplicate of, or the most alike.
    Print page
    int64_t number, cluster
    # The originals that have its title, and how many of them make it generic.
    uint64_t titled[MOST]
    int n_titled, generic_from
    # The originals that it is near.
    uint64_t near[MOST]
    size_t n_near
    measured pair
    bint agrees_by_text
    int kinship
    double alike
    int distance
    uint64_t original


cdef struct candidate:
    # The row of an original, as far as it is compared.
    uint64_t number
    const uint8_t *data
    size_t length


cdef object read_candidate(row, candidate *to):
    """Read an ``Original``; return what must be kept as long as *to* is used."""
    cdef object data
    if not PyTuple_Check(row) or PyTuple_Size(row) < 4:
        raise TypeError(f"an original must be a tuple, got {row!r}")
    to.number = <object>PyTuple_GetItem(row, 0)
    data = <object>PyTuple_GetItem(row, 3)
    to.data, to.length = <const uint8_t *>PyBytes_AsString(data), PyBytes_Size(data)
    return data


cdef class SecondLook:
    """The similarity rule over fingerprints as bytes: the native twin of ``SimilarityRule.compare_all``.

    *decide* and *threshold* are those of ``second_look`` as the compiled module exports them, *part* the kind of a
    ``PART``. Raises ValueError for functions of another type.
    """

    cdef measured pair
    cdef decision decide
    cdef measure threshold
    cdef int part

    def __cinit__(self, decide, threshold, double min_similarity, int reach, int part):
        # As Cython names a function that it exports.
        self.decide = <decision>PyCapsule_GetPointer(decide, "void (measured *)")
        self.threshold = <measure>PyCapsule_GetPointer(threshold, "double (measured *)")
        self.pair.min_similarity, self.pair.reach, self.part = min_similarity, reach, part

    def compare(self, bytes one not None, list others not None, bint is_generic):
        """Return (place, similarity, similarity by all text, contradicts) of those of *others* that are near by either."""
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
        """Return (place, similarity, threshold, basis, least) of the most alike one, of equals the first; None if there is none."""
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
        """Begin to choose an original for a page. Its number is -1 if it is new."""
        of.pair, of.agrees_by_text, of.kinship, of.alike = self.pair, False, NOT_NEAR, -1
        of.number, of.cluster = number, cluster
        of.n_near, of.n_titled, of.generic_from = 0, 0, generic_from
        self._read_at(&of.page, page, length)
        of.pair.is_generic = generic_from <= 0 and print_subject(&of.page) != NULL
        return 0

    cdef int _meet(self, choice *of, uint64_t original, const uint8_t *data, size_t length) except -1:
        """Compare the page with one more original, and choose one as ``near`` in ``store/candidates.py`` does."""
        cdef Print its
        cdef measured *pair = &of.pair
        cdef double alike
        cdef int distance, kinship = NOT_NEAR
        self._read_at(&its, data, length)
        pair_measure(pair, &of.page, &its)
        self.decide(pair)
        of.agrees_by_text |= pair.by_text >= 0
        alike = alike_of(pair)
        if pair.similarity >= 0:
            alike = pair.similarity
            of.near[of.n_near] = original
            of.n_near += 1
            kinship = OTHER
            if <int64_t>original == of.number:
                kinship = OWN
            elif pair.contradiction > 0:
                kinship = CONTRADICTED
            elif <int64_t>original == of.cluster:
                kinship = OF_CLUSTER
        if kinship > of.kinship or (kinship == of.kinship and alike < of.alike):
            return 0
        distance = print_distance(&of.page, &its)
        if kinship == of.kinship and alike == of.alike:
            if kinship == NOT_NEAR or distance > of.distance or (distance == of.distance and original > of.original):
                return 0
        of.kinship, of.alike, of.distance, of.original = kinship, alike, distance, original
        return 0


cdef void count_title(choice *of, uint64_t original, const uint8_t *data, size_t length) noexcept nogil:
    """Count an original that has the title of the page: ``is_generic`` in ``store/candidates.py``."""
    cdef const uint8_t *title = print_subject(&of.page)
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
    if pair.has_own_parts and (pair.estimate >= 0 or pair.own_distance <= pair.reach):
        return max(pair.estimate, pair.own_estimate)
    return pair.estimate


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


cdef struct findings:
    # What a search for a page has found: ``Search`` in ``store/candidates.py``.
    uint64_t contents[MOST]
    size_t n, within_reach
    uint64_t values[3]
    unsigned n_values, found_by


cdef bint is_among(uint64_t number, const uint64_t *numbers, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if numbers[i] == number:
            return True
    return False


cdef uint64_t MOST_KEY = 0x7fffffffffffffff
cdef size_t NO_LIMIT = <size_t>-1


cdef Py_ssize_t postings_in(bytes values, bytes keys, uint64_t first) except -1:
    """Return how many postings two rows have. Raises ValueError unless each value has a key from 0 to 2**63 - 1."""
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
    if n and all_bits > MOST_KEY:
        raise ValueError("key must be from 0 to 2**63 - 1")
    return n


cdef tuple checked_steps(list steps):
    """Return the steps as tuples, which nobody changes."""
    cdef list taken = []
    cdef uint64_t mask
    cdef uint32_t radius
    for limit, keys in steps:
        as_numbers = []
        for mask, radius in keys:
            if not table_is_possible(mask, radius):
                raise ValueError(f"no table has the key {mask:#x} with radius {radius}: only one block may have a radius")
            as_numbers.append((mask, radius))
        if taken and not as_numbers:
            raise ValueError("only the first step can be a plain scan")
        if not isinstance(limit, int) or limit < 0:
            raise ValueError(f"a limit must be an integer from 0 on, got {limit!r}")
        taken.append((int(limit), tuple(as_numbers)))
    if not taken:
        raise ValueError("there must be one step or more")
    return tuple(taken)


cdef class Postings:
    """Postings (value, key) under the tables of plans: the native twin of ``index/pure/postings.py`` and its searches.

    ``Door`` has what Python knows better: the checks of arguments, which raise the errors, and what a match is.
    ``steps`` has a limit and keys for each plan on the way up: the keys (mask, radius) serve while there are fewer
    fingerprints than the limit; no keys at all mean a plain scan, which may only come first. Raises TypeError or
    ValueError for steps that are none.
    """

    cdef postings c
    cdef object checked_value, checked_key, match, nearest_first
    cdef tuple steps
    cdef size_t limit
    cdef dict further
    cdef size_t length
    cdef int step
    cdef public uint64_t next_key

    def __cinit__(self, door, unsigned max_distance, list steps not None):
        postings_init(&self.c, checked_distance(max_distance))
        self.checked_value, self.checked_key = door.checked_value, door.checked_key
        self.match, self.nearest_first = door.match, door.nearest_first
        self.steps = checked_steps(steps)
        self.further = {}
        self._take_step(0)

    def __dealloc__(self):
        postings_free(&self.c)

    cdef int _take_step(self, int number) except -1:
        limit, keys = self.steps[number]
        cdef plan_key *plan = NULL
        cdef uint32_t i, n = len(keys)
        if n:
            plan = <plan_key *>malloc(n * sizeof(plan_key))
            if plan == NULL:
                raise MemoryError()
            try:
                for i in range(n):
                    plan[i].mask, plan[i].radius = keys[i]
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
            number = self.checked_key(key)
        if number > MOST_KEY:
            self.checked_key(key)
            raise OverflowError(f"key must be below 2**63, got {number}")
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
        cdef hit *hits = self.c.hits
        cdef hit found
        cdef size_t i, n = self.c.n_hits, room = self.c.hits_room
        matches = []
        # To make a match runs Python, which may search again: meanwhile the hits belong to this call.
        self.c.hits, self.c.n_hits, self.c.hits_room = NULL, 0, 0
        try:
            for i in range(n):
                found = hits[i]
                matches.append(self.match(found.key & MOST_KEY, found.value, found.distance))
                if found.key & FURTHER:
                    for key in self.further.get(found.value, ()):
                        matches.append(self.match(key, found.value, found.distance))
        finally:
            if self.c.hits == NULL:
                self.c.hits, self.c.hits_room = hits, room
            else:
                free(hits)
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

    cdef size_t _gather(self, uint64_t value, hit **found, size_t *n, size_t *room) except? 0:
        """Add all postings within reach of a value to a row of hits, and return how many they are."""
        cdef size_t before = n[0], i, end
        cdef hit like
        if not postings_find(&self.c, value):
            raise MemoryError()
        for i in range(self.c.n_hits):
            add_hit(found, n, room, self.c.hits[i].key, &self.c.hits[i])
        end = n[0]
        for i in range(before, end):
            if found[0][i].key & FURTHER:
                found[0][i].key &= MOST_KEY
                like = found[0][i]
                for key in self.further.get(like.value, ()):
                    add_hit(found, n, room, key, &like)
        return n[0] - before

    def nearest(self, list values, size_t most):
        """See HammingIndex.nearest."""
        cdef hit *found = NULL
        cdef size_t n = 0, room = 0, i
        try:
            counts = [self._gather(self._value(value), &found, &n, &room) for value in values]
            n = hits_cut(found, n, most)
            by_key = {}
            for i in range(n):
                if found[i].key not in by_key:
                    by_key[found[i].key] = self.match(found[i].key, found[i].value, found[i].distance)
        finally:
            free(found)
        return list(by_key.values()), counts

    cdef int _search(self, const Print *page, uint64_t subject, size_t most, size_t nearby, findings *to) except -1:
        """Search for a page with a sketch: the native twin of ``search`` in ``store/candidates.py``."""
        cdef uint64_t first, value
        cdef uint64_t values[3]
        cdef hit *hits = NULL
        cdef size_t n = 0, room = 0, count, i, half = most // 2, same = 0
        cdef uint64_t near[MOST]
        cdef size_t n_near = 0
        if most > MOST:
            raise ValueError(f"a page is compared with {MOST} contents at most, got {most}")
        values[0], values[1], values[2] = page.value, print_own(page), subject
        to.n = to.n_values = to.found_by = 0
        further = ()
        try:
            for i in range(3):
                value = values[i]
                if i > 0 and value == 0:
                    continue
                if i < 2:
                    count = self._gather(value, &hits, &n, &room)
                else:
                    if postings_key(&self.c, value, &first):
                        further = sorted(self.further[value]) if first & FURTHER else ()
                        same = 1 + len(further)
                    count = same
                to.within_reach = count + (to.within_reach if i > 0 else 0)
                if count < nearby:
                    to.found_by |= 1 << i
                    to.values[to.n_values] = value
                    to.n_values += 1
            n = hits_cut(hits, n, most)
            for i in range(n):
                if not is_among(hits[i].key, near, n_near):
                    near[n_near] = hits[i].key
                    n_near += 1
        finally:
            free(hits)
        if same:
            # Of both as many as are compared, half of them at least.
            for i in range(min(same, max(half, most - n_near))):
                to.contents[i] = further[i - 1] if i > 0 else first & MOST_KEY
                to.n += 1
            n_near = min(n_near, max(half, most - same if same < most else 0))
        for i in range(n_near):
            if not is_among(near[i], to.contents, to.n):
                to.contents[to.n] = near[i]
                to.n += 1
        return 0

    def near(self, SecondLook look not None, bytes page not None, subject, size_t most, size_t nearby, recent,
             read, int generic_from, int64_t number, int64_t cluster):
        """Do what ``near`` in ``store/candidates.py`` does, for a page with a sketch.

        *page* is a fingerprint as ``compared_bytes()`` gives it. *recent*, else *read*, has an ``Original``, or
        None for one that is passed over. Without a *number* or a *cluster* these are -1.
        Return by what the page can be found, these values, whether unique text made the difference, and what was
        chosen: (number, is_near, distance, alike, contradicts), or None if there is none. Then the originals that it
        is near, the first ones that it is not, and whether its title is generic.
        """
        cdef findings found
        cdef choice of
        cdef candidate rows[MOST]
        cdef size_t i, n = 0
        look._begin(&of, <const uint8_t *>PyBytes_AsString(page), len(page), generic_from, number, cluster)
        self._search(&of.page, self._value(subject), most, nearby, &found)
        # The bytes of candidates stay where they are as long as they are in here.
        kept = []
        if most and found.within_reach > most and cluster >= 0 and not is_among(cluster, found.contents, found.n):
            row = read(cluster)
            # One that no value finds is not compared.
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
            look._meet(&of, rows[i].number, rows[i].data, rows[i].length)
        chosen = None
        if of.kinship < NOT_NEAR or of.alike >= 0:
            chosen = (of.original, of.kinship < NOT_NEAR, of.distance, of.alike, of.kinship == CONTRADICTED)
        others = []
        for i in range(n):
            if len(others) < MOST_CLUSTERS and not is_among(rows[i].number, of.near, of.n_near):
                others.append(rows[i].number)
        values = tuple([found.values[i] for i in range(found.n_values)])
        near = tuple([of.near[i] for i in range(of.n_near)])
        return (found.found_by, values, of.agrees_by_text != (of.kinship < NOT_NEAR), chosen, near, tuple(others),
                of.pair.is_generic != 0)

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
        """Add a row of values, native uint64, each with its key, or numbered on from *first* where *keys* is None.

        Raises ValueError, and adds nothing, if a key is missing or is none.
        """
        cdef const uint64_t *v = <const uint64_t *>PyBytes_AsString(values)
        cdef const uint64_t *k = <const uint64_t *>PyBytes_AsString(keys) if keys is not None else NULL
        cdef size_t i, n = postings_in(values, keys, first)
        for i in range(n):
            if i + 8 < n:
                postings_ask(&self.c, v[i + 8], v[i + 4])
            self._add(v[i], k[i] if k != NULL else first + i)

    def find_or_add_many(self, bytes values not None, bytes keys, uint64_t first):
        """Return for each value, as native int64, the key of its nearest match, or -1 where it was new and added."""
        cdef const uint64_t *v = <const uint64_t *>PyBytes_AsString(values)
        cdef const uint64_t *k = <const uint64_t *>PyBytes_AsString(keys) if keys is not None else NULL
        cdef size_t i, done = 0, step, n = postings_in(values, keys, first), before
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
        cdef size_t i, n = numbers_in(values, 8)
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
        if number >= postings_parts(&self.c):
            raise IndexError(number)
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
