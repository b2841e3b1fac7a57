# cython: language_level=3, wraparound=False, binding=False
"""Cython bindings of the index in C; they only convert values.

A wrong call raises an exception. Objects take their arguments in ``__cinit__``, so that there is none without them, and
a second ``__init__`` does nothing.
"""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize, PyBytes_Size
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memset

cdef extern from "Python.h":
    bytes PyUnicode_AsEncodedString(object text, const char *encoding, const char *errors)
    str PyUnicode_Decode(const char *text, Py_ssize_t size, const char *encoding, const char *errors)
    unsigned long long PyLong_AsUnsignedLongLong(object number) except? 0xffffffffffffffff
    bint PyLong_CheckExact(object number)
    bint PyBytes_CheckExact(object value)


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
    """A search for all pairs of *n* values within *max_distance*: the core of ``index/pairs.py``.

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


# The second look at all candidates of a page in one call.

ctypedef void (*decision)(measured *pair) noexcept nogil
ctypedef double (*measure)(measured *pair) noexcept nogil


cdef enum:
    # No page is compared with more contents.
    MOST = 64
    # Of so many of their clusters, which it is not near, copies are compared: ``store/candidates.py``.
    MOST_CLUSTERS = 8
    # Where the title key is in a fingerprint.
    TITLE_AT = 8 + 112
    TITLE_BYTES = 16


cdef struct choice:
    # A new page, and of the contents that it was compared with the one that it repeats, or the most alike.
    Print page
    # The clusters that have its title, and how many of them make it generic.
    uint64_t titled[MOST]
    int n_titled, generic_from
    # The clusters that it is near.
    uint64_t near[MOST]
    size_t n_near
    measured pair, chosen
    bint is_near, agrees_by_text, contradicts
    double alike
    int distance
    uint64_t content


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

    cdef int _begin(self, choice *of, const uint8_t *page, size_t length, int generic_from) except -1:
        """Begin to choose the content that a new page repeats."""
        of.pair, of.is_near, of.agrees_by_text, of.alike = self.pair, False, False, -1
        of.contradicts = False
        of.n_near, of.n_titled, of.generic_from = 0, 0, generic_from
        self._read_at(&of.page, page, length)
        of.pair.is_generic = generic_from <= 0 and print_subject(&of.page) != NULL
        return 0

    cdef int _meet(self, choice *of, uint64_t content, uint64_t cluster, const uint8_t *data, size_t length) except -1:
        """Compare the page with one more content, and choose one as `LocalStore._find` does.

        Of near ones that which it does not contradict, then the most alike, the nearest, the oldest.
        """
        cdef Print its
        cdef measured *pair = &of.pair
        cdef bint is_near
        cdef bint contradicts = False
        cdef double alike
        cdef int distance
        self._read_at(&its, data, length)
        pair_measure(pair, &of.page, &its)
        self.decide(pair)
        of.agrees_by_text |= pair.by_text >= 0
        is_near = pair.similarity >= 0
        if is_near and not is_among(cluster, of.near, of.n_near):
            of.near[of.n_near] = cluster
            of.n_near += 1
        alike = pair.similarity if is_near else alike_of(pair)
        if is_near < of.is_near:
            return 0
        if is_near == of.is_near:
            contradicts = is_near and pair.contradiction > 0
            if contradicts > of.contradicts or (contradicts == of.contradicts and alike < of.alike):
                return 0
        distance = print_distance(&of.page, &its)
        if is_near == of.is_near and contradicts == of.contradicts and alike == of.alike:
            if not is_near or distance > of.distance or (distance == of.distance and content > of.content):
                return 0
        of.is_near, of.alike, of.distance, of.content, of.chosen = is_near, alike, distance, content, pair[0]
        of.contradicts = is_near and pair.contradiction > 0
        return 0

    cdef bint _is_near(self, choice *of, const uint8_t *data, size_t length) except -1:
        """Return whether the page is near another, and choose nothing."""
        cdef Print its
        cdef measured pair = of.pair
        self._read_at(&its, data, length)
        pair_measure(&pair, &of.page, &its)
        self.decide(&pair)
        return pair.similarity >= 0

    cdef tuple _explained(self, choice *of):
        """Return threshold, basis and least of what was chosen; None if nothing but bits was compared."""
        if of.alike < 0 or not of.chosen.has_sketches:
            return None
        basis, least = of.chosen.basis, of.chosen.least
        return self.threshold(&of.chosen), basis, least


cdef void add_other(uint64_t cluster, const choice *of, uint64_t *others, size_t *n) noexcept nogil:
    """Add the cluster of a candidate to *others*, those that the page is not near, if there is room."""
    if n[0] < MOST_CLUSTERS and not is_among(cluster, of.near, of.n_near) and not is_among(cluster, others, n[0]):
        others[n[0]] = cluster
        n[0] += 1


cdef void count_title(choice *of, uint64_t cluster, const uint8_t *data, size_t length) noexcept nogil:
    """Count the cluster of a content if that has the title of the page: ``is_generic`` in ``store/candidates.py``."""
    cdef const uint8_t *title = print_subject(&of.page)
    if title == NULL or of.pair.is_generic or length < TITLE_AT + TITLE_BYTES:
        return
    if memcmp(title, data + TITLE_AT, TITLE_BYTES) == 0 and print_is_of_host(&of.page, data, length) and not is_among(cluster, of.titled, of.n_titled):
        of.titled[of.n_titled] = cluster
        of.n_titled += 1
        of.pair.is_generic = of.n_titled >= of.generic_from


cdef double alike_of(const measured *pair) noexcept nogil:
    """Return ``Measured.alike``."""
    if not pair.has_sketches:
        return -1
    if pair.has_own_parts and (pair.estimate >= 0 or pair.own_distance <= pair.reach):
        return max(pair.estimate, pair.own_estimate)
    return pair.estimate


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


cdef class Postings:
    """Postings (value, key) in a row, or in the tables of a plan, and the searches of them.

    *door* has the checks of arguments, which raise the errors, and the type of a match. *plan* has a mask and a radius
    for each table, see ``index/plans.py``; without tables, or below *row_limit* postings, all of them are compared.
    Raises TypeError or ValueError for a plan that is none.
    """

    cdef postings c
    # The memory of the last search, for the next one.
    cdef hits spare
    cdef object checked_value, checked_key, match
    # One more than the greatest key ever added.
    cdef readonly uint64_t next_key

    def __cinit__(self, door, unsigned max_distance, list plan not None, size_t row_limit):
        # A copy: to read a number may run Python, which may change the list.
        cdef tuple as_tuple = tuple(plan)
        cdef uint32_t i, n = len(as_tuple)
        cdef bint is_made
        checked_distance(max_distance)
        self.checked_value, self.checked_key, self.match = door.checked_value, door.checked_key, door.match
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
        if number > MOST_KEY:
            self.checked_key(key)
            raise OverflowError(f"key must be below 2**63, got {number}")
        return number

    cdef hits _begin(self) noexcept:
        """Return the memory of the last search. To make a match runs Python, which may search again meanwhile."""
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
        """Return the *most* nearest hits as matches, each key once."""
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
        """The memory in bytes, with the room kept for growth."""
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
                    postings_ask(&self.c, v[i + 8], v[i + 4])
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

    cdef int _search(self, const Print *page, uint64_t subject, size_t most, size_t nearby, findings *to) except -1:
        """Search for a page with a sketch: the native twin of ``search`` in ``store/candidates.py``."""
        cdef uint64_t values[3]
        cdef hits same, near
        cdef size_t count, i, half = most // 2, n_near = 0
        cdef uint64_t by_text[MOST]
        if most > MOST:
            raise ValueError(f"a page is compared with {MOST} contents at most, got {most}")
        values[0], values[1], values[2] = page.value, print_own(page), subject
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
                    if not postings_of(&self.c, subject, &same):
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
                # Of both as many as are compared, half of them at least.
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

    def near(self, SecondLook look not None, bytes page not None, subject, size_t most, size_t nearby, recent, read,
             int generic_from, bint explains):
        """Search for a page that is new, and choose: the native twin of ``LocalStore._find`` for such a one.

        *page* is a fingerprint as ``compared_bytes()`` gives it; *recent*, else *read*, has the ContentRow of a
        content, or None for one that is passed over.
        Return by what it can be found, these values, whether own parts made the difference, and the content chosen:
        (content, is_near, distance, alike, None or (threshold, basis, least), near clusters, contradicts), or None if
        there is none.
        Then the first clusters that it is not near, and whether its title is generic.
        """
        cdef findings found
        cdef choice of
        cdef uint64_t others[MOST_CLUSTERS]
        cdef size_t i, n_others = 0
        cdef bytes data
        look._begin(&of, <const uint8_t *>PyBytes_AsString(page), len(page), generic_from)
        self._search(&of.page, self._value(subject), most, nearby, &found)
        rows = []
        for i in range(found.n):
            row = recent.get(found.contents[i])
            if row is None:
                row = read(found.contents[i])
            if row is not None:
                data = row[3]
                rows.append((found.contents[i], row[0], data))
                count_title(&of, row[0], <const uint8_t *>PyBytes_AsString(data), len(data))
        for content, cluster, data in rows:
            look._meet(&of, content, cluster, <const uint8_t *>PyBytes_AsString(data), len(data))
        values = tuple([found.values[i] for i in range(found.n_values)])
        chosen = None
        if of.is_near or of.alike >= 0:
            near = [of.near[i] for i in range(of.n_near)]
            chosen = (of.content, of.is_near, of.distance, of.alike, look._explained(&of) if explains else None, near,
                      of.contradicts)
        for _, cluster, _ in rows:
            add_other(cluster, &of, others, &n_others)
        return (found.found_by, values, of.agrees_by_text != of.is_near, chosen,
                [others[i] for i in range(n_others)], of.pair.is_generic != 0)

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
        # A key above all others is new: so one value with ever more keys, as they are numbered, is not looked through.
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

    def discard(self, value, key):
        """See SimhashIndex.discard."""
        cdef uint64_t as_value = self._value(value)
        return bool(postings_remove(&self.c, as_value, self._key(key)))

    def columns(self):
        """Return all values, and the key of each, as two rows of native uint64."""
        values = PyBytes_FromStringAndSize(NULL, self.c.n * 8)
        keys = PyBytes_FromStringAndSize(NULL, self.c.n * 8)
        postings_read(&self.c, <uint64_t *>PyBytes_AsString(values), <uint64_t *>PyBytes_AsString(keys))
        return values, keys

    @property
    def is_row(self):
        """Whether all postings are compared with a query."""
        return bool(self.c.is_row)

    def check(self):
        """Assert what must hold between two calls. For tests: O(everything)."""
        cdef const char *wrong = postings_check(&self.c)
        if wrong != NULL:
            raise AssertionError((<bytes>wrong).decode())


# What a store in memory keeps.

cdef enum:
    # The longest fingerprint: value, sketch, own part.
    PRINT_BYTES = 8 + 256 + 131
    END = 0xff
# In place of the content of a page that was removed.
cdef uint32_t REMOVED = 0xffffffff
cdef uint64_t MOST_ROWS = REMOVED, MOST_TEXT = <uint64_t>1 << 40
# What is kept of a text: its content, and above that how many pages have it.
cdef uint64_t ONE_PAGE = <uint64_t>1 << 32, CONTENT_OF_TEXT = 0xffffffff


cdef uint64_t text_code(uint32_t scope, uint64_t text_hash) noexcept:
    """Return the number of a text in a scope, a hash as well: texts of two scopes may have the same."""
    return text_hash ^ scope * SCATTER


cdef struct text_number:
    # Of a Text, if it is one: its scope, as a number, and the rest.
    bint is_one
    uint32_t scope
    uint64_t text_hash, content


cdef bytes plain_key(key):
    """Return a key as plain bytes, whose hash runs no Python. Raises TypeError if it is none."""
    return key if PyBytes_CheckExact(key) else PyBytes_FromStringAndSize(PyBytes_AsString(key), PyBytes_Size(key))


cdef uint64_t with_page(uint64_t entry, uint64_t content) noexcept:
    """Return what is kept of a text, 0 for nothing, after one more page has it with a content."""
    return entry + ONE_PAGE if entry and entry & CONTENT_OF_TEXT == content else ONE_PAGE | content


cdef class Rows:
    """Pages and contents side by side: the native twin of ``Rows`` in ``store/memory.py``, which says what they are.

    ``claim`` is that of ``LocalStore.claim`` for a page that is new and has a sketch. *door* has what Python knows
    better: ``claim`` and ``near_miss`` are the types of an answer, ``page`` and ``content`` those of rows, ``bases``
    the names of what has decided, ``equal_text`` is that of ``store/local.py``, ``subject_number`` that of ``page/fingerprint``.
    """

    cdef key_set keys
    # By scope and hash of a text: the content of the pages that have it now, and above that how many these are. A
    # text whose number is that of a text of another scope is in `crossed`, by (scope, hash).
    cdef table held
    cdef dict crossed
    cdef column pages, contents, heads, copies
    # What follows the hosts of URLs, each with an end; and fingerprints.
    cdef column texts, prints
    cdef dict site_numbers, scope_numbers
    cdef list sites, scopes
    # Keys of another length, and these by number.
    cdef dict others, odd_keys
    cdef object claim_type, near_miss, page_type, content_type, bases, equal_text, subject_number
    # While a call changes rows no other one may: it may come from Python that the first calls, or from another thread.
    cdef bint is_changing

    def __cinit__(self, door):
        self.claim_type, self.near_miss, self.bases = door.claim, door.near_miss, door.bases
        self.equal_text = door.equal_text
        self.page_type, self.content_type, self.subject_number = door.page, door.content, door.subject_number
        self.site_numbers, self.sites, self.others, self.odd_keys = {}, [], {}, {}
        self.scope_numbers, self.scopes, self.crossed = {}, [], {}
        # There is no head 0, and there are no copies 0: nobody joined a page that says so.
        if not (table_init(&self.held, 0xffffffffffffffff, 0, True) and column_reserve(&self.heads, 1, sizeof(head_row))
                and column_reserve(&self.copies, 1, sizeof(copies_row))):
            raise MemoryError()
        memset(self.copies.at, 0, sizeof(copies_row))
        self.heads.n = self.copies.n = 1

    def __dealloc__(self):
        keys_free(&self.keys)
        table_free(&self.held)
        free(self.pages.at)
        free(self.contents.at)
        free(self.heads.at)
        free(self.copies.at)
        free(self.texts.at)
        free(self.prints.at)

    cdef int _begin_change(self) except -1:
        if self.is_changing:
            raise RuntimeError("rows are being changed by another call")
        self.is_changing = True
        return 0

    cdef page_row *_page(self, size_t number) except NULL:
        if number >= self.pages.n:
            raise IndexError(number)
        return <page_row *>self.pages.at + number

    cdef content_row *_content(self, size_t number) except NULL:
        if number >= self.contents.n:
            raise IndexError(number)
        return <content_row *>self.contents.at + number

    cdef copies_row *_copies(self, size_t cluster) except NULL:
        return <copies_row *>self.copies.at + self._page(cluster).copies

    cdef _key(self, size_t number):
        key = self.odd_keys.get(number) if self.odd_keys else None
        return PyBytes_FromStringAndSize(<char *>self._page(number).key, KEY_BYTES) if key is None else key

    cdef str _url(self, size_t number):
        cdef page_row *row = self._page(number)
        cdef const char *rest = self.texts.at + row.url
        cdef size_t length = <const char *>memchr(rest, END, self.texts.n - row.url) - rest
        if row.site == NO_SITE:
            return PyUnicode_Decode(rest, length, "utf-8", "surrogatepass")
        return self.sites[row.site] + PyUnicode_Decode(rest, length, "utf-8", "surrogatepass")

    cdef object _text_hash(self, const content_row *row):
        cdef head_row *head = <head_row *>self.heads.at + row.head
        cdef page_row *page
        if row.head:
            return head.text_hash if head.is_known else None
        page = self._page(row.page)
        return page.text_hash if page.is_known else None

    cdef bytes _print(self, const content_row *row):
        return PyBytes_FromStringAndSize(self.prints.at + row.print, row.length)

    cpdef find(self, key):
        """See the twin."""
        cdef uint32_t found
        cdef bytes its = plain_key(key)
        if len(its) != KEY_BYTES:
            return self.others.get(its)
        found = keys_find(&self.keys, <page_row *>self.pages.at, <const uint8_t *>PyBytes_AsString(its))
        return found - 1 if found else None

    def page(self, size_t number):
        """See the twin."""
        cdef page_row *row = self._page(number)
        if row.content == REMOVED:
            return None
        its = self._print(self._content(row.content))
        if row.length:
            its = PyBytes_FromStringAndSize(self.prints.at + row.print, row.length)
        text_hash = row.text_hash if row.is_known else None
        return new_tuple(self.page_type, (self._key(number), self._url(number), its, text_hash, row.seen, row.content,
                                          row.rank, self._copies(number).joined, False))

    def content(self, size_t number):
        """See the twin."""
        cdef content_row *row = self._content(number)
        seen = (<head_row *>self.heads.at + row.head).seen if row.head else self._page(row.page).seen
        return new_tuple(self.content_type, (row.page, self.scopes[row.scope], row.is_short, self._print(row),
                                             self._text_hash(row), seen))

    def contents_of(self, uint32_t page):
        """See the twin."""
        cdef size_t i
        return [i for i in range(self.contents.n) if (<content_row *>self.contents.at)[i].page == page]

    def first_copies(self, size_t cluster):
        """See the twin."""
        cdef copies_row *its = self._copies(cluster)
        return [its.first[i] - 1 for i in range(FIRST_COPIES) if its.first[i]]

    cdef bint _is_near_copies(self, SecondLook look, choice *of, size_t cluster) except -1:
        """Return whether a new page is near a first copy that has not left its cluster."""
        cdef copies_row *its = self._copies(cluster)
        cdef page_row *row
        cdef content_row *content
        cdef int i
        for i in range(FIRST_COPIES):
            if its.first[i] == 0:
                continue
            row = self._page(its.first[i] - 1)
            if row.content == REMOVED or row.rank == 0 or row.rank > FIRST_COPIES:
                continue
            content = self._content(row.content)
            if content.page != cluster:
                continue
            if look._is_near(of, <const uint8_t *>self.prints.at + (row.print if row.length else content.print),
                             row.length if row.length else content.length):
                return True
        return False

    cdef int _join(self, size_t cluster, uint32_t rank, size_t page) except -1:
        """Count a page that joins a cluster, for which `_write` has made room."""
        cdef page_row *row = self._page(cluster)
        cdef copies_row *its
        if row.copies == 0:
            row.copies = self.copies.n
            memset(<copies_row *>self.copies.at + self.copies.n, 0, sizeof(copies_row))
            self.copies.n += 1
        its = self._copies(cluster)
        its.joined = rank
        if 0 < rank <= FIRST_COPIES:
            its.first[rank - 1] = page + 1
        return 0

    cdef uint64_t *_held(self, uint32_t scope, uint64_t text_hash, bint *is_free) noexcept:
        """Return what the table has of a text; NULL if that is nothing, or a text of another scope has its number."""
        cdef place at = table_find(&self.held, text_code(scope, text_hash))
        is_free[0] = at.inside == NULL
        if at.inside == NULL:
            return NULL
        cdef uint64_t *entry = &at.inside.keys[at.at]
        return entry if (<content_row *>self.contents.at)[entry[0] & CONTENT_OF_TEXT].scope == scope else NULL

    cpdef with_text(self, scope, uint64_t text_hash):
        """See the twin."""
        cdef bint is_free
        cdef uint32_t number = self._scope(scope)
        cdef uint64_t *entry = self._held(number, text_hash, &is_free)
        if entry != NULL:
            return entry[0] & CONTENT_OF_TEXT
        crossed = self.crossed.get((number, text_hash)) if self.crossed else None
        return None if crossed is None else crossed & CONTENT_OF_TEXT

    cdef int _take(self, uint32_t scope, uint64_t text_hash, uint32_t content) except -1:
        """Count one more page that has a text."""
        cdef bint is_free
        cdef uint64_t *entry = self._held(scope, text_hash, &is_free)
        if entry != NULL:
            entry[0] = with_page(entry[0], content)
        elif is_free and not (self.crossed and (scope, text_hash) in self.crossed):
            if not table_insert(&self.held, text_code(scope, text_hash), ONE_PAGE | content):
                raise MemoryError()
        else:
            self.crossed[scope, text_hash] = with_page(self.crossed.get((scope, text_hash), 0), content)
        return 0

    cdef text_number _number_of(self, text) except *:
        """Return a Text in numbers; None is none."""
        cdef text_number its = text_number(text is not None, 0, 0, 0)
        if its.is_one:
            scope, its.text_hash, its.content = text
            its.scope = self._scope(scope)
        return its

    cdef int _leave(self, text_number text) except -1:
        """Count one page less that has a text, if there is one."""
        if not text.is_one:
            return 0
        cdef bint is_free
        cdef uint32_t scope = text.scope
        cdef uint64_t text_hash = text.text_hash, content = text.content, crossed
        cdef uint64_t *entry = self._held(scope, text_hash, &is_free)
        # Of an original that was removed pages may be left whose text is another content's by now.
        if entry != NULL:
            if entry[0] & CONTENT_OF_TEXT == content:
                entry[0] -= ONE_PAGE
                if entry[0] < ONE_PAGE:
                    table_remove(&self.held, text_code(scope, text_hash))
        elif self.crossed:
            crossed = self.crossed.get((scope, text_hash), 0)
            if crossed >= 2 * ONE_PAGE and crossed & CONTENT_OF_TEXT == content:
                self.crossed[scope, text_hash] = crossed - ONE_PAGE
            elif crossed and crossed & CONTENT_OF_TEXT == content:
                del self.crossed[scope, text_hash]
        return 0

    def remove(self, key, text):
        """See the twin."""
        cdef bytes its = plain_key(key)
        self._begin_change()
        try:
            leaves = self._number_of(text)
            number = self.find(its)
            if number is None:
                raise KeyError(its)
            self._page(number).content = REMOVED
            self._leave(leaves)
            if self.others.pop(its, None) is None:
                keys_remove(&self.keys, <page_row *>self.pages.at, <const uint8_t *>PyBytes_AsString(its))
        finally:
            self.is_changing = False

    def write(self, entry, bytes compared not None):
        """See the twin."""
        cdef text_number its
        cdef uint32_t its_rank
        cdef size_t page
        number, posting, former, content, is_new, has_own, _, rank, joins, _, leaves, takes = entry
        self._begin_change()
        try:
            if not is_new:
                self._content(content)
            if joins is not None:
                self._page(joins)
            its, its_rank, page = self._number_of(leaves), rank, number
            self._write(page, former is None, posting, content, is_new, is_new or has_own, its_rank,
                        <const uint8_t *>PyBytes_AsString(compared), len(compared), takes is not None)
            self._leave(its)
            if joins is not None:
                self._join(joins, its_rank, page)
        finally:
            self.is_changing = False

    cdef int _write(self, size_t number, bint is_new_page, posting, uint32_t content, bint is_new, bint has_print,
                    uint32_t rank, const uint8_t *print, size_t length, bint takes) except -1:
        """Write a page, and its content if that is new: all of it, or nothing if there is no memory or no such page."""
        cdef page_row *row
        cdef content_row *first
        cdef head_row *head
        cdef text_number its
        cdef bytes key = plain_key(posting[0])
        cdef bint is_known = posting[5] is not None, keeps_text
        cdef uint64_t text_hash = posting[5] if is_known else 0
        cdef int64_t seen = posting[6]
        cdef bytes text = PyUnicode_AsEncodedString(posting[1], "utf-8", "surrogatepass")
        cdef const char *url = PyBytes_AsString(text)
        cdef size_t host = end_of_host(url, len(text)), size = len(text) - host
        cdef uint32_t site = self._site(text[:host]), scope = self._scope(posting[2])
        if site == NO_SITE:
            url, size = PyBytes_AsString(text), len(text)
        else:
            url += host
        if is_new_page:
            if number != self.pages.n:
                raise IndexError(f"the next page is number {self.pages.n}, not {number}")
        elif self._page(number).content == REMOVED:
            raise IndexError(f"page {number} was removed")
        if is_new and content != self.contents.n:
            raise IndexError(f"the next content is number {self.contents.n}, not {content}")
        if self.pages.n >= MOST_ROWS or self.contents.n >= MOST_ROWS or self.texts.n + size >= MOST_TEXT \
                or length > PRINT_BYTES or not (column_reserve(&self.pages, 1, sizeof(page_row))
                and column_reserve(&self.contents, 1, sizeof(content_row))
                and column_reserve(&self.heads, 1, sizeof(head_row))
                and column_reserve(&self.copies, 1, sizeof(copies_row)) and column_reserve(&self.texts, size + 1, 1)
                and column_reserve(&self.prints, length, 1)):
            raise MemoryError()
        if is_new:
            # A text is asked for the scope of its content.
            (<content_row *>self.contents.at)[self.contents.n].scope = scope
        if takes:
            self._take(scope, text_hash, content)
        if is_new_page:
            try:
                self._number(key, number)
            except BaseException:
                its.is_one, its.scope, its.text_hash, its.content = takes, scope, text_hash, content
                self._leave(its)
                raise
            row = <page_row *>self.pages.at + self.pages.n
            memset(row, 0, sizeof(page_row))
            if len(key) == KEY_BYTES:
                memcpy(row.key, PyBytes_AsString(key), KEY_BYTES)
            self.pages.n += 1
            keeps_text = False
        else:
            row = self._page(number)
            first = self._content(row.content)
            if first.page == number and first.head == 0 and (
                    row.text_hash != text_hash or row.is_known != is_known or row.seen != seen or row.content != content):
                head = <head_row *>self.heads.at + self.heads.n
                head.text_hash, head.is_known, head.seen = row.text_hash, row.is_known, row.seen
                first.head = self.heads.n
                self.heads.n += 1
            keeps_text = row.site == site and size < self.texts.n - row.url and (
                memcmp(self.texts.at + row.url, url, size) == 0 and <uint8_t>self.texts.at[row.url + size] == END)
        if not keeps_text:
            row.url, row.site = self.texts.n, site
            memcpy(self.texts.at + self.texts.n, url, size)
            self.texts.at[self.texts.n + size] = <char>END
            self.texts.n += size + 1
        row.text_hash, row.is_known, row.seen, row.content, row.rank = text_hash, is_known, seen, content, rank
        if is_new:
            first = <content_row *>self.contents.at + self.contents.n
            first.page, first.scope, first.head, first.is_short = number, scope, 0, posting[4]
            first.print, first.length = self._keep(print, length), length
            self.contents.n += 1
        if not has_print or is_new:
            row.length = 0
        elif row.length == length:
            # A page that changes again and again takes no more room each time.
            memcpy(self.prints.at + row.print, print, length)
        else:
            row.print, row.length = self._keep(print, length), length
        return 0

    cdef uint64_t _keep(self, const uint8_t *print, size_t length) noexcept:
        """Put a fingerprint behind the others, where there is room for it."""
        memcpy(self.prints.at + self.prints.n, print, length)
        self.prints.n += length
        return self.prints.n - length

    cdef uint32_t _site(self, bytes host) except? 0:
        """Return the number of a URL's scheme and host."""
        number = self.site_numbers.get(host)
        if number is None:
            number = len(self.sites)
            if number == NO_SITE:
                return NO_SITE
            self.sites.append(host.decode("utf-8", "surrogatepass"))
            self.site_numbers[host] = number
        return number

    cdef uint32_t _scope(self, scope) except? 0:
        """Return the number of a scope."""
        number = self.scope_numbers.get(scope)
        if number is None:
            number = len(self.scopes)
            self.scopes.append(scope)
            self.scope_numbers[scope] = number
        return number

    cdef int _number(self, bytes key, size_t number) except -1:
        """Let a key that is new be found."""
        if len(key) != KEY_BYTES:
            self.others[key] = number
            self.odd_keys[number] = key
        elif not keys_add(&self.keys, <page_row *>self.pages.at, <const uint8_t *>PyBytes_AsString(key), number):
            raise MemoryError()
        return 0

    def claim(self, posting, Postings index not None, SecondLook look not None, size_t most,
              size_t nearby, int generic_from, bint explains):
        """Return the answer to a page that is new and has a sketch, now written, and by what its content is found.

        That is None if it repeats another's. None alone of any other page, with nothing done.
        """
        self._begin_change()
        try:
            return self._claim(posting, index, look, most, nearby, generic_from, explains)
        finally:
            self.is_changing = False

    cdef object _claim(self, posting, Postings index, SecondLook look, size_t most, size_t nearby, int generic_from,
                       bint explains):
        cdef findings found
        cdef choice of
        cdef content_row *its
        cdef uint8_t print[PRINT_BYTES]
        cdef uint64_t others[MOST_CLUSTERS]
        cdef size_t i, length, n_others = 0, number = self.pages.n, content = self.contents.n
        cdef uint32_t cluster
        cdef uint64_t rest
        fingerprint, text_hash = posting[3], posting[5]
        sketch, own = fingerprint.sketch, fingerprint.own
        cdef size_t sketch_bytes = PyBytes_Size(sketch), own_bytes = PyBytes_Size(own)
        if posting[4] or sketch_bytes == 0 or self.find(posting[0]) is not None:
            return None
        length = 8 + sketch_bytes + own_bytes
        if length > PRINT_BYTES:
            raise ValueError(f"no fingerprint has {length} bytes")
        rest = index._value(fingerprint.value)
        for i in range(8):
            print[7 - i] = rest & 255
            rest >>= 8
        memcpy(print + 8, PyBytes_AsString(sketch), sketch_bytes)
        memcpy(print + 8 + sketch_bytes, PyBytes_AsString(own), own_bytes)
        look._begin(&of, print, length, generic_from)
        threshold = basis = least = miss = None
        same = None if text_hash is None else self.with_text(posting[2], text_hash)
        if same is not None and self._page(self._content(same).page).content != REMOVED:
            its = self._content(same)
            look._meet(&of, same, its.page, <const uint8_t *>self.prints.at + its.print, its.length)
            if not of.is_near:
                of.is_near, of.content, of.distance, of.alike = True, same, 0, 1
                if explains:
                    threshold, basis, least = self.equal_text
            elif explains and (told := look._explained(&of)) is not None:
                threshold, basis, least = told
                basis = self.bases[basis]
            of.agrees_by_text, of.contradicts = True, False
        else:
            index._search(&of.page, self.subject_number(sketch), most, nearby, &found)
            for i in range(found.n):
                its = self._content(found.contents[i])
                count_title(&of, its.page, <const uint8_t *>self.prints.at + its.print, its.length)
            for i in range(found.n):
                its = self._content(found.contents[i])
                look._meet(&of, found.contents[i], its.page, <const uint8_t *>self.prints.at + its.print, its.length)
            for i in range(found.n):
                add_other(self._content(found.contents[i]).page, &of, others, &n_others)
            for i in range(n_others):
                if self._is_near_copies(look, &of, others[i]):
                    of.near[of.n_near] = others[i]
                    of.n_near += 1
            if explains and (told := look._explained(&of)) is not None:
                threshold, basis, least = told
                basis = self.bases[basis]
        learned = bool(of.agrees_by_text != of.is_near)
        if of.is_near and not of.contradicts:
            its = self._content(of.content)
            cluster = its.page
            rank = self._copies(cluster).joined + 1
            its_hash = self._text_hash(its)
            is_same = its_hash is not None and its_hash == text_hash
            also_near = self._also_near(&of, cluster) if of.n_near > 1 else ()
            made = new_tuple(self.claim_type, (
                None, of.content, cluster, self._url(cluster), of.distance, of.alike, is_same, rank, self._key(cluster),
                learned, threshold, None, basis, least, None, also_near,
                False))
            self._write(number, True, posting, of.content, False, its.length != length or
                        not print_says(<const uint8_t *>self.prints.at + its.print, print, length), rank, print, length,
                        text_hash is not None)
            self._join(cluster, rank, number)
            return made, None
        also_near = self._also_near(&of, number) if of.n_near else ()
        if of.is_near:
            # It contradicts what it repeats: a content of its own, so that its copies are found.
            cluster = self._content(of.content).page
            made = new_tuple(self.claim_type, (
                None, content, number, self._url(cluster), of.distance, of.alike, False, 0, self._key(cluster), learned,
                threshold, None, basis, least, None, also_near, True))
        else:
            if threshold is not None:
                miss = new_tuple(self.near_miss, (
                    self._url(self._content(of.content).page), of.distance, of.alike, threshold, basis, least))
            made = new_tuple(self.claim_type, (
                None, content, number, None, None, None, False, 0, None, learned, None, miss, None, None, None, also_near,
                False))
        try:
            for i in range(found.n_values):
                index._add(found.values[i], content)
            self._write(number, True, posting, content, True, True, 0, print, length, text_hash is not None)
        except BaseException:
            for i in range(found.n_values):
                index.discard(found.values[i], content)
            raise
        return made, found.found_by

    cdef tuple _also_near(self, const choice *of, size_t cluster):
        """Return the clusters that a page is near, beside its own."""
        return tuple(sorted([of.near[i] for i in range(of.n_near) if of.near[i] != cluster]))


new_tuple = tuple.__new__


cdef size_t end_of_host(const char *url, size_t length) noexcept nogil:
    """Return where the host of a URL ends, before the third slash; 0 if it has none."""
    cdef size_t i, start = 1
    for i in range(1, length):
        if url[i - 1] == c"/" and url[i] == c"/":
            start = i + 1
            break
    for i in range(start, length):
        if url[i] == c"/":
            return i
    return 0
