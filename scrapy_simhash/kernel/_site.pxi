# What a site repeats, and what of a page is not of it: included by _native.pyx.

# The kinds of an own part, as page/fingerprint/own_part.py has them.
cdef enum:
    OWN_UNKNOWN = 0
    OWN_WHOLE = 1
    OWN_PART = 2
    OWN_DOUBTFUL = 3


cdef bytes packed(int kind, const own_part *own):
    """Return an own part of a *kind*, without an identity, as page/fingerprint/own_part.py writes it."""
    cdef unsigned char data[7 + 8 + 112]
    cdef uint32_t tokens = min(own.tokens, <uint32_t>0xFFFF), exponent = 0
    cdef int i
    data[0], data[1], data[2] = kind, tokens >> 8, tokens & 0xFF
    while own.whole >> exponent >= 32:
        exponent += 1
    data[3] = own.whole if own.whole < 16 else min(16 * (exponent + 1) + (own.whole >> exponent & 15), <uint32_t>255)
    data[4], data[5], data[6] = own.words >> 8, own.words & 0xFF, own.text
    if kind != OWN_PART:
        return PyBytes_FromStringAndSize(<const char *>data, 7)
    for i in range(8):
        data[7 + i] = own.value >> (56 - 8 * i) & 0xFF
    memcpy(data + 15, own.sketch, SKETCH_MINHASH)
    return PyBytes_FromStringAndSize(<const char *>data, sizeof(data))


cdef tuple own_part_of(page *p, Rules rules, settings, site, uint64_t text_hash):
    """Return the keys of the pieces of a page, and its own part without an identity; None: not covered."""
    cdef fold_settings by = settings_of(settings, False)
    cdef own_part own
    cdef bytes flags = None
    cdef const uint8_t *read_flags = NULL
    if not raise_for(page_cut(p), rules):
        return None
    pieces = PyBytes_FromStringAndSize(<const char *>page_piece_keys(p), 8 * page_pieces(p))
    is_known = site.is_known
    if is_known:
        flags = site.flags(pieces)
    raise_for(page_weigh_own(p, NULL, &own), rules)
    own.text = text_hash & 0xFF
    if flags is not None:
        if <size_t>len(flags) != page_pieces(p):
            raise ValueError("flags() must return a byte for each piece")
        read_flags = <const uint8_t *><const char *>flags
        raise_for(page_weigh_own(p, read_flags, &own), rules)
        own.text = text_hash & 0xFF
    if not is_known or rules._is_doubtful(own.tokens, own.doubtful):
        return pieces, packed(OWN_DOUBTFUL if is_known else OWN_UNKNOWN, &own)
    if own.tokens == own.whole:
        return pieces, packed(OWN_WHOLE, &own)
    if not raise_for(page_own_part(p, read_flags, &by, &own), rules):
        return None
    return pieces, packed(OWN_PART, &own)


cdef struct noted_piece:
    uint64_t key, subjects


cdef inline int count_bits(uint64_t bits) noexcept nogil:
    bits -= (bits >> 1) & <uint64_t>0x5555555555555555
    bits = (bits & <uint64_t>0x3333333333333333) + ((bits >> 2) & <uint64_t>0x3333333333333333)
    bits = (bits + (bits >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int>((bits * <uint64_t>0x0101010101010101) >> 56)


cdef inline uint64_t load_key(const unsigned char *at) noexcept nogil:
    cdef uint64_t key = 0
    cdef int i
    for i in range(7, -1, -1):
        key = key << 8 | at[i]
    return key


cdef enum:
    SITE = 1
    DOUBTFUL = 2
    BUCKET = 8
    FIRST_BUCKETS = 16
    MOST_BUCKETS = 512
    FILLED = 6


cdef class PieceTable:
    """Pieces by key, each with 64 bits for the subjects of the pages that it stood on; the twin of site/table.py.

    A bucket is filled from its front; a free place has no subjects.
    """

    cdef noted_piece *pieces
    cdef size_t buckets, size
    cdef int least[2]

    def __cinit__(self, int least, int least_short):
        self.least[0], self.least[1] = least, least_short
        self.buckets = FIRST_BUCKETS
        self.pieces = <noted_piece *>calloc(BUCKET * self.buckets, sizeof(noted_piece))
        if self.pieces == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.pieces)

    def __len__(self):
        return self.size

    def flags(self, bytes keys not None):
        cdef const unsigned char *at = <const unsigned char *><const char *>keys
        cdef Py_ssize_t i, n = len(keys) // 8
        cdef bytes flags = PyBytes_FromStringAndSize(NULL, n)
        cdef char *to = <char *>flags
        cdef bint any_is = False
        cdef noted_piece *found
        for i in range(n):
            found = self._find(load_key(at + 8 * i))
            to[i] = 0 if found == NULL else self._flag(found)
            any_is = any_is or to[i]
        return flags if any_is else None

    def learn(self, bytes keys not None, int subject):
        cdef const unsigned char *at = <const unsigned char *><const char *>keys
        cdef Py_ssize_t i
        for i in range(len(keys) // 8):
            self._note(load_key(at + 8 * i), <uint64_t>1 << subject)

    def load(self, bytes data not None):
        cdef const unsigned char *at = <const unsigned char *><const char *>data
        cdef Py_ssize_t i, n = len(data) // 16
        cdef uint64_t subjects
        while <size_t>n > FILLED * self.buckets and self.buckets < MOST_BUCKETS:
            self._grow()
        for i in range(n - 1, -1, -1):
            subjects = load_key(at + 16 * i + 8)
            if subjects:
                self._note(load_key(at + 16 * i), subjects)

    def to_bytes(self):
        return b"".join([key.to_bytes(8, "little") + subjects.to_bytes(8, "little") for key, subjects in self._all()])

    def known(self):
        return [
            (key, subjects.bit_count()) for key, subjects in self._all() if subjects.bit_count() >= self.least[key & 1]
        ]

    cdef list _all(self):
        cdef size_t i
        return [
            (self.pieces[i].key, self.pieces[i].subjects)
            for i in range(BUCKET * self.buckets)
            if self.pieces[i].subjects
        ]

    cdef noted_piece *_bucket(self, uint64_t key) noexcept:
        return self.pieces + BUCKET * ((key >> 1) & (self.buckets - 1))

    cdef char _flag(self, const noted_piece *piece) noexcept:
        cdef int least = self.least[piece.key & 1], count = count_bits(piece.subjects)
        return SITE if count >= least else DOUBTFUL if 2 * count >= least else 0

    cdef noted_piece *_find(self, uint64_t key) noexcept:
        cdef noted_piece *bucket = self._bucket(key)
        cdef int i
        for i in range(BUCKET):
            if bucket[i].subjects == 0:
                break
            if bucket[i].key == key:
                return &bucket[i]
        return NULL

    cdef int _note(self, uint64_t key, uint64_t subjects) except -1:
        cdef noted_piece *bucket = self._bucket(key)
        cdef noted_piece *found = self._find(key)
        cdef int i, bits, place = BUCKET - 1, fewest = 65
        if found != NULL:
            found.subjects |= subjects
            return 0
        if bucket[BUCKET - 1].subjects != 0:
            # The oldest stands last.
            for i in range(BUCKET - 1, -1, -1):
                bits = count_bits(bucket[i].subjects)
                if bits < fewest:
                    fewest, place = bits, i
            if fewest >= self.least[0]:
                return 0
        else:
            self.size += 1
        for i in range(place, 0, -1):
            bucket[i] = bucket[i - 1]
        bucket[0].key, bucket[0].subjects = key, subjects
        if self.size > FILLED * self.buckets and self.buckets < MOST_BUCKETS:
            self._grow()
        return 0

    cdef int _grow(self) except -1:
        cdef noted_piece *former = self.pieces
        cdef noted_piece *bucket
        cdef size_t i, n = BUCKET * self.buckets
        cdef int k
        cdef noted_piece *wider = <noted_piece *>calloc(2 * n, sizeof(noted_piece))
        if wider == NULL:
            raise MemoryError
        self.pieces, self.buckets = wider, 2 * self.buckets
        for i in range(n):
            if former[i].subjects == 0:
                continue
            bucket = self._bucket(former[i].key)
            k = 0
            while bucket[k].subjects != 0:
                k += 1
            bucket[k] = former[i]
        free(former)
        return 0
