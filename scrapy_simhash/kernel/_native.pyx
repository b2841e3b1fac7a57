# cython: language_level=3, wraparound=False, binding=False
"""Cython bindings of the C files that read pages; they only convert values.

Wrong arguments raise an exception, as in _hamming.pyx. The numbers of a definition are not checked, because only one
function makes definitions.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, strcmp, strlen


cdef extern from *:
    """
    /* The layout of lxml's elements, from its public etreepublic.pxd. A different size is refused at import. */
    typedef struct {
        PyObject_HEAD
        void *_doc, *_c_node;
        PyObject *_tag;
    } LxmlElement;
    """
    ctypedef class lxml.etree._Element [object LxmlElement, check_size error]:
        cdef void *_c_node


cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *n) except NULL
    int PyObject_GenericSetAttr(object of, object name, object value) except -1


# Min bytes of text for which the GIL is released; a shorter text takes too little time.
cdef enum:
    LARGE = 65536


def digest(bytes data not None):
    """Return the XXH3 hash of *data* as a number, for a test against the xxhash package."""
    return xxh3(<const char *>data, len(data))


# Links in the head of a page: links_in_head() of hints/markup.py.

def links_in_head(_Element root not None, bytes word, Py_ssize_t limit):
    """Return (rel, href, hreflang, type) of each link in the head of a page, and of each base, whose rel is None.

    With a *word* of lower-case ASCII letters, return only links whose rel contains the word. Reads at most *limit*
    elements. A missing attribute is None. Returns None instead of the list if the tree is not supported.
    """
    cdef head_link link
    cdef const char *wanted = NULL
    cdef const void *element = NULL
    cdef list found = []
    if root._c_node == NULL:
        return None
    if word is not None:
        if not (word.isalpha() and word.islower()):
            raise ValueError(f"word must be lower-case ASCII letters, got {word!r}")
        wanted = word
    for _ in range(limit):
        element = next_head_link(root._c_node, element)
        if element == NULL:
            break
        if not read_head_link(element, wanted, &link):
            return None
        if link.is_wanted and link.href != NULL and link.href[0]:
            rel = None if link.is_base else text_of(link.rel)
            found.append((rel, text_of(link.href), text_of(link.language), text_of(link.type)))
    return found


def may_name_steps(_Element root not None):
    """Return whether a link of the page may name the next or the previous page: see judge/hints/markup.py."""
    return root._c_node == NULL or may_name_steps_in(root._c_node)


cdef str text_of(const char *text):
    return None if text == NULL else string_of(text, strlen(text))


cdef class Rules:
    """The rules and words of the pure Python modules, in the form that the C code reads; constant once created."""

    def __cinit__(self, definition):
        self._load = definition.character
        self._normalize = definition.normalize
        self._has_price = definition.has_price
        self._weight = definition.weight
        self._classify = definition.classify
        self._fingerprint, self._reading = definition.fingerprint, definition.reading
        self._with_structured, self._with_url = definition.with_structured, definition.with_url
        self._is_part, self._limits_of_things = definition.is_part, definition.limits_of_things
        self._marked = definition.marked
        self._take_words(&self.c.tags, definition.tags)
        self._take_words(&self.c.roles, definition.roles)
        self._take_words(&self.c.names, definition.names)
        self._take_words(&self.c.things, definition.things)
        self._take_words(&self.c.stopwords, definition.stopwords)
        self._take_numbers(definition)
        self.c.chars.load = load_character
        self.c.chars.of = <void *>self
        self.c.python = <void *>self
        self.c.normalize = normalize_word
        self.c.weight = weight_of
        self.c.has_price = text_has_price
        # The name under which Cython exports the function. Raises ValueError for a different type.
        self.c.choose_language = <int (*)(const counts *) noexcept nogil>PyCapsule_GetPointer(
            definition.choose_language, "int (counts const *)")

    def __dealloc__(self):
        rules_free(&self.c)

    cdef _take_words(self, lexicon *words, dict known):
        for word, value in known.items():
            encoded = word.encode()
            raise_for(lexicon_add(words, <const char *>(<bytes>encoded), len(encoded), value), None)
        if not known:
            raise ValueError("a set of words is empty")

    cdef _take_numbers(self, definition):
        cdef rules *c = &self.c
        check_room("words that name chrome", definition.chrome_names + 1, MAX_WORDS)
        check_room("languages", definition.languages, AGO_BIT)
        check_room("sentence_marks", len(definition.sentence_marks), MAX_SENTENCE_MARKS)
        check_room("currencies", len(definition.currencies), MAX_CURRENCIES)
        if len(definition.scripts) != SCRIPTS:
            raise ValueError(f"the kernel knows {SCRIPTS} scripts, got {len(definition.scripts)}")
        c.languages = definition.languages
        for i in range(SCRIPTS):
            c.scripts[i] = definition.scripts[i]
        for i, mark in enumerate(definition.sentence_marks):
            c.sentence_marks[i] = ord(mark)
        c.n_sentence_marks = len(definition.sentence_marks)
        for i, currency in enumerate(definition.currencies):
            first = ord(currency[0])
            c.currencies[i][0], c.currencies[i][1] = first, ord(currency[1]) if len(currency) > 1 else 0
            if first < 128:
                c.currency_starts[first // 64] |= <uint64_t>1 << first % 64
        c.n_currencies = len(definition.currencies)
        for zone in range(ZONES):
            for is_word in range(2):
                for count in range(1, WEIGHTS_KNOWN):
                    c.weights[zone][is_word][count] = self._weight(zone, is_word, count)
        c.linked, c.edge, c.hidden = definition.linked, definition.edge, definition.hidden
        c.links, c.max_short_value = definition.links, definition.max_short_value
        c.outside, c.max_in_box, c.max_above = definition.outside, definition.max_in_box, definition.max_above
        c.unnamed_reasons, c.consent = definition.unnamed_reasons, definition.consent
        c.dialog, c.few_tokens, c.chrome = definition.dialog, definition.few_tokens, definition.chrome
        c.unread_reasons, c.prose_tokens = definition.unread_reasons, definition.prose_tokens
        c.max_words_of_date = definition.max_words_of_date
        c.worded_reasons = definition.worded_reasons
        c.sample, c.min_tokens, c.min_beside = definition.sample, definition.min_tokens, definition.min_beside
        c.min_prose = definition.min_prose
        c.cut, c.min_piece, c.short_piece = definition.cut, definition.min_piece, definition.short_piece
        c.long_text, c.longer_text, c.min_number = definition.long_text, definition.longer_text, definition.min_number
        if definition.limits_of_facts != (
            LONGEST_LINE, MAX_LINES, LONGEST_HEADING, MAX_SEGMENTS, FIRST_BLOCKS, LONGEST_LABEL, LONGEST_VALUE,
            WORD_BITS, MAX_WORDS_KEPT, MAX_FACTS, MAX_ROWS, MAX_ORDERS, MAX_SIGNED, MIN_LABELS, SENTENCE_SHARE,
            MAX_FOLLOWING
        ):
            raise ValueError(f"the kernel has other limits of facts than {definition.limits_of_facts}")
        c.max_path_depth, c.max_marks = definition.max_path_depth, definition.max_marks
        c.doubtful_share, c.tie_mask = definition.doubtful_share, definition.tie_mask
        c.seeds[0], c.seeds[1] = definition.seeds
        c.occurrence_scatter, c.mark_scatter = definition.occurrence_scatter, definition.mark_scatter


cdef check_room(str what, size_t n, size_t most):
    if n > most:
        raise ValueError(f"the kernel has room for {most} {what}, got {n}")


cdef int load_character(void *of, uint32_t code) noexcept with gil:
    """Load the properties of a character, unless another thread has already done so."""
    cdef Rules self = <Rules>of
    cdef char_table *table = &self.c.chars
    cdef char_block *block
    cdef uint32_t entry, each, first = code - code % CHARS_IN_BLOCK
    cdef size_t n
    try:
        block = char_block_for(table, code)
        if block == NULL:
            raise MemoryError
        if block.normal[code - first] != CHAR_UNASKED:
            return 0
        normal, classes, order, more = self._load(code)
        n = len(more) // 4
        if normal is None:
            for each in range(first, first + CHARS_IN_BLOCK):
                char_put(block, each, <uint32_t>classes << CLASSES_SHIFT | each, classes, 0)
            return 0
        entry = normal
        if entry >> KIND_SHIFT == NORMAL_MANY:
            if not 0 < n < 256 or len(more) % 4:
                raise ValueError("a character becomes 1 to 255 others")
            # If the table is full, Python normalises words with this character.
            if table.n_more + n > MAX_MORE:
                entry = <uint32_t>NORMAL_COMPLEX << KIND_SHIFT
            else:
                memcpy(table.more + table.n_more, <const char *>(<bytes>more), 4 * n)
                entry |= <uint32_t>(table.n_more << 8 | n)
                table.n_more += n
        char_put(block, code, entry, classes, order)
    except BaseException as failure:
        self.failure = failure
        return -1
    return 0


cdef char *normalize_word(void *of, const char *text, size_t n, size_t *result_n) noexcept with gil:
    cdef Rules self = <Rules>of
    cdef char *result = NULL
    try:
        normal = (<str>self._normalize(PyUnicode_DecodeUTF8(text, n, NULL))).encode()
        result_n[0] = len(normal)
        result = <char *>malloc(len(normal) + 1)
        if result == NULL:
            raise MemoryError
        memcpy(result, <const char *>(<bytes>normal), len(normal))
    except BaseException as failure:
        self.failure = failure
    return result


cdef int text_has_price(void *of, const char *text, size_t n) noexcept with gil:
    cdef Rules self = <Rules>of
    try:
        return bool(self._has_price(PyUnicode_DecodeUTF8(text, n, NULL)))
    except BaseException as failure:
        self.failure = failure
        return -1


cdef int64_t weight_of(void *of, int zone, bint is_word, int64_t count) noexcept with gil:
    cdef Rules self = <Rules>of
    try:
        return self._weight(zone, is_word, count)
    except BaseException as failure:
        self.failure = failure
        return -1


cdef bint raise_for(int why, Rules rules) except -1:
    """Return whether the page was read; if False, pure Python reads it."""
    if why == DONE:
        return True
    if why == NOT_COVERED:
        return False
    if why == NO_MEMORY:
        raise MemoryError
    failure, rules.failure = rules.failure, None
    raise failure


# Structured data: the C version of the searches in page/structured.py.

class _NotCovered(Exception):
    """Pure Python reads the structured data of the page."""


cdef tuple things_of(page *p, Rules rules, _Element root):
    """Return (texts of titles and headings, JSON-LD scripts, items) for described(); None if not supported."""
    cdef size_t i
    cdef thing found
    cdef list names = [], scripts = [], items = []
    max_names, max_scripts, max_items, max_elements, max_nodes, max_characters = rules._limits_of_things
    if not raise_for(page_find_things(p, root._c_node, max_names, max_scripts), rules):
        return None
    try:
        for i in range(page_things(p)):
            found = page_thing(p, i)
            element = <const xmlNode *>found.element
            if found.kind == THING_NAME:
                names.append(beginning(element, max_elements, max_characters))
            elif found.kind == THING_SCRIPT:
                scripts.append(first_text(element.children))
            elif p.structured & STRUCTURED_ITEMS and len(items) < max_items and not rules._is_part(Attributes.of(element)):
                items.append(item_of(element, max_elements, max_nodes, max_characters))
    except _NotCovered:
        return None
    return names, scripts, items


cdef class Attributes:
    """The attributes of an element, for functions that take an lxml element."""

    cdef const xmlNode *element

    @staticmethod
    cdef Attributes of(const xmlNode *element):
        made = Attributes()
        made.element = element
        return made

    def get(self, str name):
        """Return the value of an attribute; None if it is missing."""
        return value_of(self.element, name.encode())


cdef str value_of(const xmlNode *element, bytes name):
    cdef const xmlAttr *attribute = find_attribute(element, name, NULL)
    if attribute == NULL:
        return None
    value = attribute_text(attribute)
    if value == NULL:
        raise _NotCovered
    return string_of(value, strlen(value))


cdef bint is_text(const xmlNode *node):
    return node.type == XML_TEXT_NODE or node.type == XML_CDATA_SECTION_NODE


cdef str content_of(const xmlNode *text):
    return string_of(<const char *>text.content, strlen(<const char *>text.content))


cdef str first_text(const xmlNode *node):
    """Return the text before the first element or comment."""
    cdef list parts = []
    while node != NULL and is_text(node):
        if node.content != NULL:
            parts.append(content_of(node))
        node = node.next
    if node != NULL and node.type not in (XML_ELEMENT_NODE, XML_COMMENT_NODE, XML_PI_NODE):
        raise _NotCovered
    return "".join(parts)


cdef str start_of(const char *text, size_t max_characters):
    """Return the first characters of a text without reading the rest, which may be long."""
    # A character has at most four bytes.
    cdef size_t n = 0, most = 4 * max_characters
    while n < most and text[n]:
        n += 1
    while n > 0 and text[n] & 0xC0 == 0x80:
        n -= 1
    return string_of(text, n)[:max_characters]


cdef str beginning(const xmlNode *element, Py_ssize_t max_nodes, Py_ssize_t max_characters):
    """Return the text of the first nodes of an element, as beginning() of page/text/tree.py."""
    # An element counts at its start and at its end.
    cdef Py_ssize_t left = 2 * max_nodes - 1, length = 0
    cdef const xmlNode *node = element.children
    cdef list parts = []
    while node != NULL and left >= 0:
        if is_text(node):
            if node.content != NULL:
                part = start_of(<const char *>node.content, max_characters - length)
                length += len(part)
                parts.append(part)
                if length == max_characters:
                    break
        elif node.type == XML_ELEMENT_NODE:
            left -= 1
            if node.children != NULL:
                node = node.children
                continue
            left -= 1
        elif node.type == XML_COMMENT_NODE or node.type == XML_PI_NODE:
            left -= 1
        else:
            raise _NotCovered
        while node != element and node.next == NULL:
            node = node.parent
            left -= 1
        node = NULL if node == element else node.next
    return "".join(parts)


cdef dict item_of(const xmlNode *element, Py_ssize_t max_elements, Py_ssize_t max_nodes, Py_ssize_t max_characters):
    """Return an item in the form of JSON-LD, as _item() of page/structured.py."""
    cdef const xmlNode *node = element.children
    cdef dict item = {}, owner = item, inner
    cdef list owners = []
    while node != NULL:
        if not is_text(node):
            if max_elements == 0:
                break
            max_elements -= 1
        if node.type == XML_ELEMENT_NODE:
            inner = {} if find_attribute(node, "itemscope", NULL) != NULL else owner
            words = (value_of(node, b"itemprop") or "").split()
            if not owner.keys() >= set(words):
                value = inner if inner is not owner else property_of(node, max_nodes, max_characters)
                for word in words:
                    owner.setdefault(word, value)
            if node.children != NULL:
                owners.append(owner)
                owner, node = inner, node.children
                continue
        elif not is_text(node) and node.type != XML_COMMENT_NODE and node.type != XML_PI_NODE:
            raise _NotCovered
        while node != element and node.next == NULL:
            node = node.parent
            if node != element:
                owner = owners.pop()
        node = NULL if node == element else node.next
    return item


cdef str property_of(const xmlNode *element, Py_ssize_t max_nodes, Py_ssize_t max_characters):
    """Return the value of a property, as _value() of page/structured.py."""
    for name in (b"content", b"datetime", b"href"):
        if name != b"href" or strcmp(<const char *>element.name, "link") == 0:
            value = value_of(element, name)
            if value is not None:
                return value
    return beginning(element, max_nodes, max_characters)


# The blocks in the form that the filters read.

cdef class Columns:
    """The blocks of a page for the filters of page/text/main_text.py, as C arrays that live as long as the page."""

    def __cinit__(self, maker):
        # Without a page there are no arrays.
        if maker is not COLUMNS_MAKER:
            raise TypeError("only a Reader makes Columns")

    cdef bint has_price(self, Py_ssize_t i) except -1:
        cdef const block *b = page_block(self._page, i)
        cdef int answer = 0
        raise_for(page_may_have_price(self._page, i, &answer), self._rules)
        return answer and self._rules._has_price(string_of(page_text(self._page) + b.text, b.n))

    cdef bint is_entry(self, Py_ssize_t i):
        return is_entry(self._page, page_block(self._page, i))

    cdef bint has_date(self, Py_ssize_t i) except -1:
        return has_date(self._page, page_block(self._page, i))

    cdef bint has_sentence_mark(self, Py_ssize_t i) except -1:
        return has_sentence_mark(self._page, page_block(self._page, i))

    cdef bint counts_up(self, Py_ssize_t i) except -1:
        return counts_up(self._page, page_block(self._page, i))

    cdef bint are_beside(self, Py_ssize_t i, Py_ssize_t k):
        return are_beside(self._page, page_block(self._page, i), page_block(self._page, k))

    cdef bint ends_in_letter(self, Py_ssize_t i) except -1:
        cdef int answer = 0
        raise_for(page_ends_in_letter(self._page, i, &answer), self._rules)
        return answer


cdef object COLUMNS_MAKER = object()


cdef Columns columns_of(page *p, Rules rules):
    cdef Columns made = Columns.__new__(Columns, COLUMNS_MAKER)
    cdef columns c = p.columns
    made._page, made._rules = p, rules
    made.blocks, made.span_count, made.spans = page_blocks(p), page_span_count(p), page_spans(p)
    made.has_stopwords = p.language >= 0
    made.lengths, made.link_lengths, made.tokens, made.stopwords = c.lengths, c.link_lengths, c.tokens, c.stopwords
    made.is_heading, made.is_h1, made.is_paragraph, made.is_cell = c.is_heading, c.is_h1, c.is_paragraph, c.is_cell
    made.is_pictured = c.is_pictured
    made.ranks, made.containers = c.ranks, c.containers
    made.is_link, made.is_prose, made.is_offer, made.is_inside = c.is_link, c.is_prose, c.is_offer, c.is_inside
    made.reasons, made.sums, made.marks, made.places = c.reasons, c.sums, c.marks, c.places
    made.held, made.stops = p.columns.held, p.columns.stops
    return made


# The boilerplate of a site, and the unique text of a page.

# The kinds of unique texts, see page/fingerprint/unique_text.py.
cdef enum:
    UNKNOWN_TEXT = 0
    WHOLE_TEXT = 1
    UNIQUE_TEXT = 2
    DOUBTFUL_TEXT = 3


cdef bytes packed(int kind, const unique_text *own):
    """Return the bytes of a unique text of a *kind*, as page/fingerprint/unique_text.py does."""
    cdef unsigned char data[11 + 8 + 112]
    cdef uint32_t tokens = min(own.tokens, <uint32_t>0xFFFF), exponent = 0
    cdef int i
    data[0], data[1], data[2] = kind, tokens >> 8, tokens & 0xFF
    while own.whole >> exponent >= 32:
        exponent += 1
    data[3] = own.whole if own.whole < 16 else min(16 * (exponent + 1) + (own.whole >> exponent & 15), <uint32_t>255)
    data[4], data[5] = own.words >> 8, own.words & 0xFF
    for i in range(5):
        data[6 + i] = own.text >> (32 - 8 * i) & 0xFF
    if kind != UNIQUE_TEXT:
        return PyBytes_FromStringAndSize(<const char *>data, 11)
    for i in range(8):
        data[11 + i] = own.value >> (56 - 8 * i) & 0xFF
    memcpy(data + 19, own.sketch, SKETCH_MINHASH)
    return PyBytes_FromStringAndSize(<const char *>data, sizeof(data))


cdef tuple unique_text_of(page *p, Rules rules, settings, site, uint64_t page_hash):
    """Return the unique text of a page, and the keys of its text blocks; None if not supported."""
    cdef fold_settings by = settings_of(settings, False)
    cdef unique_text own
    cdef const uint8_t *read_flags = NULL
    if not raise_for(page_cut(p), rules):
        return None
    pieces = PyBytes_FromStringAndSize(<const char *>page_piece_keys(p), 8 * page_pieces(p))
    cdef bytes flags = site.flags(pieces)
    raise_for(page_count_unique(p, NULL, &own), rules)
    if flags:
        if <size_t>len(flags) != page_pieces(p):
            raise ValueError("flags() must return a byte for each piece")
        read_flags = <const uint8_t *><const char *>flags
        raise_for(page_count_unique(p, read_flags, &own), rules)
    own.text = page_hash
    if flags is None:
        return packed(UNKNOWN_TEXT, &own), pieces
    if own.doubtful * rules.c.doubtful_share > own.tokens:
        return packed(DOUBTFUL_TEXT, &own), pieces
    if own.tokens == own.whole:
        return packed(WHOLE_TEXT, &own), pieces
    if not raise_for(page_unique_text(p, read_flags, &by, &own), rules):
        return None
    return packed(UNIQUE_TEXT, &own), pieces


cdef struct stored_piece:
    uint64_t key, title_keys


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


cdef Py_ssize_t pieces_in(bytes data, Py_ssize_t size) except -1:
    if len(data) % size:
        raise ValueError(f"pieces of {size} bytes cannot have {len(data)} bytes")
    return len(data) // size


cdef enum:
    SITE = 1
    DOUBTFUL = 2
    BUCKET = 8
    FIRST_BUCKETS = 16
    MAX_BUCKETS = 512
    FILLED = 6


cdef class PieceTable:
    """Text blocks by key, each with 64 bits for the title keys of its pages, as PieceTable of page/site.py.

    A bucket is filled from the front; a free place has no title keys.
    """

    cdef public uint64_t title_keys
    cdef stored_piece *pieces
    cdef size_t buckets, size
    cdef int least[2]

    def __cinit__(self, int min_title_keys, int min_title_keys_short):
        self.least[0], self.least[1] = min_title_keys, min_title_keys_short
        self.buckets = FIRST_BUCKETS
        self.pieces = <stored_piece *>calloc(BUCKET * self.buckets, sizeof(stored_piece))
        if self.pieces == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.pieces)

    def __len__(self):
        return self.size

    @property
    def is_known(self):
        return count_bits(self.title_keys) >= self.least[0]

    def flags(self, bytes keys not None):
        cdef const unsigned char *at = <const unsigned char *><const char *>keys
        cdef Py_ssize_t i, n = pieces_in(keys, 8)
        if not self.is_known:
            return None
        cdef bytes flags = PyBytes_FromStringAndSize(NULL, n)
        cdef char *to = <char *>flags
        cdef bint any_is = False
        cdef stored_piece *found
        for i in range(n):
            found = self._find(load_key(at + 8 * i))
            to[i] = 0 if found == NULL else self._flag(found)
            any_is = any_is or to[i]
        return flags if any_is else b""

    def learn(self, bytes keys not None, int title_key):
        cdef const unsigned char *at = <const unsigned char *><const char *>keys
        cdef Py_ssize_t i, n = pieces_in(keys, 8)
        if not 0 <= title_key < 64:
            raise ValueError(f"title_key must be from 0 to 63, got {title_key}")
        self.title_keys |= <uint64_t>1 << title_key
        for i in range(n):
            self._note(load_key(at + 8 * i), <uint64_t>1 << title_key)

    def load(self, bytes data not None):
        cdef const unsigned char *at = <const unsigned char *><const char *>data
        cdef Py_ssize_t i, n = pieces_in(data, 16)
        cdef uint64_t title_keys
        while <size_t>n > FILLED * self.buckets and self.buckets < MAX_BUCKETS:
            self._grow()
        for i in range(n - 1, -1, -1):
            title_keys = load_key(at + 16 * i + 8)
            if title_keys:
                self._note(load_key(at + 16 * i), title_keys)

    def to_bytes(self):
        return b"".join([key.to_bytes(8, "little") + title_keys.to_bytes(8, "little") for key, title_keys in self._all()])

    def known(self):
        return [
            (key, title_keys.bit_count()) for key, title_keys in self._all() if title_keys.bit_count() >= self.least[key & 1]
        ]

    cdef list _all(self):
        cdef size_t i
        return [
            (self.pieces[i].key, self.pieces[i].title_keys)
            for i in range(BUCKET * self.buckets)
            if self.pieces[i].title_keys
        ]

    cdef stored_piece *_bucket(self, uint64_t key) noexcept:
        return self.pieces + BUCKET * ((key >> 1) & (self.buckets - 1))

    cdef char _flag(self, const stored_piece *piece) noexcept:
        cdef int least = self.least[piece.key & 1], count = count_bits(piece.title_keys)
        return SITE if count >= least else DOUBTFUL if 2 * count >= least else 0

    cdef stored_piece *_find(self, uint64_t key) noexcept:
        cdef stored_piece *bucket = self._bucket(key)
        cdef int i
        for i in range(BUCKET):
            if bucket[i].title_keys == 0:
                break
            if bucket[i].key == key:
                return &bucket[i]
        return NULL

    cdef int _note(self, uint64_t key, uint64_t title_keys) except -1:
        cdef stored_piece *bucket = self._bucket(key)
        cdef stored_piece *found = self._find(key)
        cdef int i, bits, place = BUCKET - 1, fewest = 65
        if found != NULL:
            found.title_keys |= title_keys
            return 0
        while bucket[BUCKET - 1].title_keys != 0 and self.buckets < MAX_BUCKETS:
            self._grow()
            bucket = self._bucket(key)
        if bucket[BUCKET - 1].title_keys != 0:
            # The oldest text block is last.
            for i in range(BUCKET - 1, -1, -1):
                bits = count_bits(bucket[i].title_keys)
                if bits < fewest:
                    fewest, place = bits, i
            if fewest >= self.least[0]:
                return 0
        else:
            self.size += 1
        for i in range(place, 0, -1):
            bucket[i] = bucket[i - 1]
        bucket[0].key, bucket[0].title_keys = key, title_keys
        if self.size > FILLED * self.buckets and self.buckets < MAX_BUCKETS:
            self._grow()
        return 0

    cdef int _grow(self) except -1:
        cdef stored_piece *former = self.pieces
        cdef stored_piece *bucket
        cdef size_t i, n = BUCKET * self.buckets
        cdef int k
        cdef stored_piece *wider = <stored_piece *>calloc(2 * n, sizeof(stored_piece))
        if wider == NULL:
            raise MemoryError
        self.pieces, self.buckets = wider, 2 * self.buckets
        for i in range(n):
            if former[i].title_keys == 0:
                continue
            bucket = self._bucket(former[i].key)
            k = 0
            while bucket[k].title_keys != 0:
                k += 1
            bucket[k] = former[i]
        free(former)
        return 0


cdef class Reader:
    """Reads pages and texts with a set of rules. Thread-safe, because each thread uses a separate workspace.

    A *language* is an ISO 639-1 code; the language declared in the markup overrides it. Settings are (min number of
    shingles, whether to make a sketch, whether to pack paragraphs). Every method returns None for input that the
    kernel does not support. *numbers* are the numbers of the stopword lists, *han* the languages written in Han,
    *paragraph* is the class, and *zones* and *reasons* are its values by number.
    """

    cdef Rules rules
    cdef dict numbers
    cdef frozenset han
    cdef object paragraph
    cdef tuple zones, reasons
    cdef page *spare

    def __cinit__(
        self,
        Rules rules not None,
        dict numbers not None,
        frozenset han not None,
        paragraph,
        tuple zones not None,
        tuple reasons not None,
    ):
        self.rules, self.numbers, self.han = rules, dict(numbers), han
        for number in self.numbers.values():
            if not 0 <= number < rules.c.languages:
                raise ValueError(f"there are {rules.c.languages} stopword lists, and no number {number}")
        self.paragraph, self.zones, self.reasons = paragraph, zones, reasons

    def __dealloc__(self):
        page_free(self.spare)

    def read_tree(self, _Element root not None, str language, settings not None, site=None, str url=""):
        """Return the Reading of a page; *site* is a KnownSite or None."""
        cdef page *p = self._take()
        try:
            if self._classify(p, root, language) is None:
                return None
            made = self._read(p, settings, site, url.encode("utf-8", "replace"))
            if made is None:
                return None
            if p.has_little_text:
                made = self.rules._with_url(made, url)
            # Most pages have no structured data.
            if p.structured:
                made = self.rules._with_structured(made, root, p.structured, things_of(p, self.rules, root))
            if p.main_tokens < self.rules.c.few_tokens:
                made = self.rules._marked(made, root, p.main_tokens, p.dialog_tokens, p.all_tokens, may_ask(p, root._c_node))
            return made
        finally:
            self._give_back(p)

    def read_text(self, text not None, language, settings not None):
        """Return the Reading of a plain text, without a text hash. If *language* is None, it is detected.

        Other threads run meanwhile, unless the text is short.
        """
        cdef fold_settings by = settings_of(settings, False)
        cdef declaration declared = self._declaration(language)
        cdef bint detects = language is None
        cdef const char *given
        cdef Py_ssize_t n
        cdef reading result
        cdef int why
        cdef page *p = self._take()
        try:
            try:
                given = PyUnicode_AsUTF8AndSize(text, &n)
            except UnicodeEncodeError:  # lone surrogates
                return None
            if n < LARGE:
                why = read_plain(p, given, n, declared, detects, &by, &result)
            else:
                with nogil:
                    why = read_plain(p, given, n, declared, detects, &by, &result)
            if not raise_for(why, self.rules):
                return None
            return reading_of(&result, self.rules, &by, (b"", b""), True, b"")
        finally:
            self._give_back(p)

    def extract(self, _Element root not None, str language):
        """Return (title, language, title key, paragraphs); the language is (declared code, result of choose())."""
        cdef page *p = self._take()
        try:
            declared = self._classify(p, root, language)
            return None if declared is None else document_of(p, declared, self.paragraph, self.zones, self.reasons)
        finally:
            self._give_back(p)

    cdef page *_take(self) except NULL:
        cdef page *p = self.spare
        self.spare = NULL
        if p == NULL:
            p = page_new(&self.rules.c)
            if p == NULL:
                raise MemoryError
        return p

    cdef _give_back(self, page *p):
        if self.spare == NULL:
            page_release(p)
            self.spare = p
        else:
            page_free(p)

    cdef declaration _declaration(self, code):
        return declaration(bool(code), code in self.han, self.numbers.get(code, -1))

    cdef str _classify(self, page *p, _Element root, str language):
        """Return the declared language, "" for none; None if not supported."""
        cdef char code[4]
        cdef declaration declared
        cdef int why
        if root._c_node == NULL or not declared_language(root._c_node, code):
            return None
        if code[0]:
            language = string_of(code, strlen(code))
        declared = self._declaration(language)
        why = page_take_tree(p, root._c_node)
        if why == DONE:
            if page_length(p) < LARGE:
                why = page_measure(p, declared)
            else:
                with nogil:
                    why = page_measure(p, declared)
        if why == DONE:
            self.rules._classify(columns_of(p, self.rules))
            if page_length(p) < LARGE:
                why = page_conclude(p)
            else:
                with nogil:
                    why = page_conclude(p)
        return language or "" if raise_for(why, self.rules) else None

    cdef object _read(self, page *p, settings, site, bytes url):
        cdef fold_settings by = settings_of(settings, True)
        cdef reading result
        cdef int why
        cdef tuple own = (b"", b"")
        cdef bytes paragraphs = b""
        cdef const char *address = <const char *>url
        cdef size_t n = len(url)
        if page_length(p) < LARGE:
            why = page_read(p, &by, address, n, &result)
        else:
            with nogil:
                why = page_read(p, &by, address, n, &result)
        if not raise_for(why, self.rules):
            return None
        if result.has_fingerprint and site is not None:
            own = unique_text_of(p, self.rules, settings, site, result.page_hash)
        if own is None:
            return None
        if by.with_paragraphs:
            if not raise_for(page_pack_paragraphs(p), self.rules):
                return None
            paragraphs = PyBytes_FromStringAndSize(page_packed(p), page_packed_length(p))
        return reading_of(&result, self.rules, &by, own, p.may_name_canonical, paragraphs)


cdef int read_plain(
    page *p, const char *text, Py_ssize_t n, declaration declared, bint detects, const fold_settings *by, reading *result
) noexcept nogil:
    cdef int why = page_take_text(p, text, n)
    if why == DONE:
        why = page_prepare_text(p, declared, detects)
    return page_read(p, by, NULL, 0, result) if why == DONE else why


cdef fold_settings settings_of(settings, bint with_hashes) except *:
    cdef fold_settings by
    by.with_hashes = with_hashes
    min_shingles, by.with_sketch, by.with_paragraphs = settings
    # Max tokens of a text of this length.
    by.min_shingles = min(min_shingles, MAX_ELEMENTS)
    return by


cdef object reading_of(
    const reading *result,
    Rules rules,
    const fold_settings *by,
    tuple text_and_pieces,
    bint may_name_canonical,
    bytes paragraphs,
):
    fingerprint = None
    own, pieces = text_and_pieces
    if result.has_fingerprint:
        # The checks of the constructor are skipped, because the values are valid.
        fingerprint = rules._fingerprint.__new__(rules._fingerprint)
        PyObject_GenericSetAttr(fingerprint, "value", result.value)
        PyObject_GenericSetAttr(fingerprint, "features", result.features)
        PyObject_GenericSetAttr(
            fingerprint,
            "sketch",
            PyBytes_FromStringAndSize(<const char *>result.sketch, result.sketch_bytes) if by.with_sketch else b"",
        )
        PyObject_GenericSetAttr(fingerprint, "own", own)
    page_hash = text_hash = None
    if result.has_hashes:
        page_hash, text_hash = result.page_hash, result.text_hash
    values = (fingerprint, page_hash, pieces, may_name_canonical, paragraphs, False, text_hash)
    return tuple.__new__(rules._reading, values)


cdef str string_of(const char *text, size_t n):
    return PyUnicode_DecodeUTF8(text, n, NULL)


cdef list paths_of(const page *p):
    cdef const path_node *node
    cdef list paths = [""]
    for i in range(1, page_paths(p)):
        node = page_path(p, i)
        name = string_of(node.name, node.n)
        before = paths[node.parent]
        paths.append(f"{before}/{name}" if before else name)
    return paths


cdef tuple document_of(page *p, str declared, paragraph, tuple zones, tuple reasons):
    cdef const block *b
    cdef const token *t
    cdef const uint32_t *run = page_run(p)
    cdef size_t i, k
    cdef list tokens = []
    for i in range(page_tokens(p)):
        t = page_token(p, i)
        tokens.append(string_of(token_text(p, t), t.n))
    paths = paths_of(p)
    cdef list paragraphs = []
    cdef tuple words
    for i in range(page_blocks(p)):
        b = page_block(p, i)
        words = tuple([tokens[run[k]] for k in range(b.run, b.run + b.tokens)])
        paragraphs.append(tuple.__new__(paragraph, (
            string_of(page_text(p) + b.text, b.n), words, zones[b.zone], paths[b.path],
            b.link_length / <double>b.length, reasons[b.reason], b.in_article, page_container(p, i),
        )))
    title = string_of(page_text(p) + p.title, p.title_n)
    title_key = tuple([tokens[run[k]] for k in range(p.title_key.run, p.title_key.run + p.title_key.n)])
    return title, (declared or None, p.chosen_language), title_key, tuple(paragraphs)
