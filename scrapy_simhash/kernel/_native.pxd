# cython: language_level=3
"""Declarations of the C functions that read pages; page.h describes them."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "base.h" nogil:
    int DONE, NOT_COVERED, NO_MEMORY, CALLBACK_FAILED
    int64_t MAX_ELEMENTS


cdef extern from "page.h" nogil:
    ctypedef struct lexicon:
        pass
    ctypedef struct char_block:
        uint32_t normal[256]
    ctypedef struct char_table:
        size_t n_more
        uint32_t more[8192]
        int (*load)(void *of, uint32_t character) noexcept nogil
        void *of

    ctypedef struct counts:
        int64_t tokens, characters
        int64_t scripts[7]
        int64_t votes[64]
        int lists, declared
        bint is_declared, is_han
    ctypedef struct rules:
        lexicon tags, roles, names, things, stopwords
        char_table chars
        int languages
        int scripts[7]
        double linked
        uint64_t worded_reasons, unnamed_reasons, unread_reasons
        uint32_t prose_tokens, max_words_of_date, long_text, longer_text, min_number
        uint8_t chrome, outside, links, edge, hidden, dialog, consent
        uint32_t max_in_box, max_above, max_short_value
        int64_t sample, min_tokens, min_prose, min_beside, few_tokens, max_path_depth, max_marks
        int64_t cut, min_piece, short_piece, doubtful_share
        uint32_t sentence_marks[32]
        size_t n_sentence_marks
        uint32_t currencies[64][2]
        size_t n_currencies
        uint64_t currency_starts[2]
        int64_t weights[3][2][1024]
        uint64_t tie_mask, occurrence_scatter
        uint64_t seeds[2]
        uint32_t mark_scatter
        int (*choose_language)(const counts *of) noexcept nogil
        void *python
        char *(*normalize)(void *python, const char *text, size_t n, size_t *result_n) noexcept nogil
        int64_t (*weight)(void *python, int zone, bint is_word, int64_t count) noexcept nogil
        int (*has_price)(void *python, const char *text, size_t n) noexcept nogil

    ctypedef struct block:
        uint32_t text, n, length, link_length, path, run, tokens
        uint8_t zone, reason
        bint in_article
    ctypedef struct span:
        int32_t start, stop
        uint8_t region, word
    ctypedef struct columns:
        int32_t *lengths
        int32_t *link_lengths
        int32_t *tokens
        int32_t *stopwords
        int32_t *is_heading
        int32_t *is_h1
        int32_t *is_paragraph
        int32_t *is_cell
        int32_t *is_pictured
        int32_t *ranks
        int32_t *containers
        int32_t *is_link
        int32_t *is_prose
        int32_t *is_offer
        int32_t *is_inside
        int32_t *reasons
        int32_t *marks
        int32_t *places
        int32_t *sums
        int32_t held[256]
        int32_t stops[256]
    ctypedef struct path_node:
        uint32_t parent, depth
        const char *name
        uint32_t n
    ctypedef struct token:
        uint32_t offset, n
    ctypedef struct heading:
        uint32_t run, n
    ctypedef struct declaration:
        bint is_one, is_han
        int list
    ctypedef struct page:
        uint32_t title, title_n
        heading title_key
        int structured
        bint may_name_canonical, has_little_text, names_test
        int64_t main_tokens, dialog_tokens, all_tokens
        int language, chosen_language
        columns columns
    ctypedef struct thing:
        const void *element
        int kind
    ctypedef struct head_link:
        bint is_base, is_wanted
        const char *rel
        const char *href
        const char *language
        const char *type
    ctypedef struct fold_settings:
        int64_t min_shingles
        bint with_sketch, with_paragraphs, with_hashes
    ctypedef struct reading:
        bint has_fingerprint, has_hashes
        uint64_t value, page_hash, text_hash
        uint32_t features
        size_t sketch_bytes
        uint8_t sketch[256]
    ctypedef struct unique_text:
        uint32_t tokens, whole, doubtful
        uint16_t words
        uint64_t text
        uint64_t value
        uint8_t sketch[128]
    int LONGEST_LINE, MAX_LINES, LONGEST_HEADING, MAX_SEGMENTS, FIRST_BLOCKS, LONGEST_LABEL, LONGEST_VALUE
    int WORD_BITS, MAX_WORDS_KEPT, MAX_FACTS, MAX_ROWS, MAX_ORDERS, MAX_SIGNED, MIN_LABELS, SENTENCE_SHARE, MAX_FOLLOWING, AGO_BIT
    int SKETCH_MINHASH, WEIGHTS_KNOWN, ZONES, SCRIPTS, MAX_SENTENCE_MARKS, MAX_CURRENCIES, MAX_WORDS

    page *page_new(rules *of)
    void rules_free(rules *rules)
    void page_free(page *p)
    void page_release(page *p)
    int page_take_tree(page *p, const void *root)
    bint may_ask(const page *p, const void *root)
    bint declared_language(const void *root, char *code)
    const void *next_head_link(const void *root, const void *former)
    bint may_name_steps_in "may_name_steps"(const void *root)
    bint read_head_link(const void *element, const char *word, head_link *link)
    int THING_NAME, THING_SCRIPT, STRUCTURED_ITEMS
    int page_find_things(page *p, const void *root, size_t names, size_t scripts)
    size_t page_things(const page *p)
    thing page_thing(const page *p, size_t i)
    int page_take_text(page *p, const char *text, size_t n)
    int page_measure(page *p, declaration declared)
    int page_conclude(page *p)
    int page_ends_in_letter(page *p, size_t i, int *answer)
    int page_may_have_price(page *p, size_t i, int *answer)
    bint is_entry(const page *p, const block *b)
    bint has_date(const page *p, const block *b)
    bint has_sentence_mark(const page *p, const block *b)
    bint counts_up(const page *p, const block *b)
    bint are_beside(const page *p, const block *a, const block *b)
    int page_prepare_text(page *p, declaration declared, bint detects)
    int page_read(page *p, const fold_settings *settings, const char *url, size_t n, reading *result)
    int32_t page_container(const page *p, size_t i)
    int page_pack_paragraphs(page *p)
    const char *page_packed(const page *p)
    size_t page_packed_length(const page *p)
    int page_cut(page *p)
    int page_count_unique(page *p, const uint8_t *flags, unique_text *result)
    int page_unique_text(page *p, const uint8_t *flags, const fold_settings *settings, unique_text *result)
    size_t page_pieces(const page *p)
    const uint8_t *page_piece_keys(const page *p)
    size_t page_length(const page *p)
    size_t page_blocks(const page *p)
    const span *page_spans(const page *p)
    size_t page_span_count(const page *p)
    const block *page_block(const page *p, size_t i)
    const char *page_text(const page *p)
    size_t page_paths(const page *p)
    const path_node *page_path(const page *p, size_t i)
    size_t page_tokens(const page *p)
    const token *page_token(const page *p, size_t number)
    const uint32_t *page_run(const page *p)
    const char *token_text(const page *p, const token *t)


cdef extern from "tree.h" nogil:
    int XML_ELEMENT_NODE, XML_TEXT_NODE, XML_CDATA_SECTION_NODE, XML_COMMENT_NODE, XML_PI_NODE
    ctypedef struct xmlNode:
        int type
        const unsigned char *name
        xmlNode *children
        xmlNode *parent
        xmlNode *next
        const unsigned char *content
    ctypedef struct xmlAttr:
        pass
    const xmlAttr *find_attribute(const xmlNode *element, const char *name, const char *space)
    const char *attribute_text(const xmlAttr *attribute)


cdef extern from "hashing.h" nogil:
    int lexicon_add(lexicon *words, const char *word, size_t n, uint64_t value)
    uint64_t xxh3(const void *data, size_t n)


cdef extern from "characters.h" nogil:
    int CHARS_IN_BLOCK, CHAR_WORD, CLASSES_SHIFT, KIND_SHIFT, NORMAL_MANY, NORMAL_COMPLEX, MAX_MORE
    uint32_t CHAR_UNASKED
    char_block *char_block_for(char_table *table, uint32_t character)
    void char_put(char_block *block, uint32_t character, uint32_t normal, uint8_t classes, uint8_t order)


cdef class Rules:
    cdef rules c
    cdef object _load, _normalize, _has_price, _weight, _classify, _fingerprint, _reading, _with_structured, _with_url, _marked
    cdef object _is_part
    cdef tuple _limits_of_things
    cdef object failure
    cdef _take_words(self, lexicon *words, dict known)
    cdef _take_numbers(self, definition)


# page/text/columns.py describes the fields, which have the same names.
cdef class Columns:
    cdef Rules _rules
    cdef page *_page
    cdef Py_ssize_t blocks, span_count
    cdef bint has_stopwords
    cdef const span *spans
    cdef const int32_t *lengths
    cdef const int32_t *link_lengths
    cdef const int32_t *tokens
    cdef const int32_t *stopwords
    cdef const int32_t *is_heading
    cdef const int32_t *is_h1
    cdef const int32_t *is_paragraph
    cdef const int32_t *is_cell
    cdef const int32_t *is_pictured
    cdef const int32_t *ranks
    cdef const int32_t *containers
    cdef int32_t *is_link
    cdef int32_t *is_prose
    cdef int32_t *is_offer
    cdef int32_t *is_inside
    cdef int32_t *reasons
    cdef int32_t *sums
    cdef int32_t *marks
    cdef int32_t *places
    cdef int32_t *held
    cdef int32_t *stops
    cdef bint has_price(self, Py_ssize_t i) except -1
    cdef bint is_entry(self, Py_ssize_t i)
    cdef bint has_date(self, Py_ssize_t i) except -1
    cdef bint has_sentence_mark(self, Py_ssize_t i) except -1
    cdef bint counts_up(self, Py_ssize_t i) except -1
    cdef bint are_beside(self, Py_ssize_t i, Py_ssize_t k)
    cdef bint ends_in_letter(self, Py_ssize_t i) except -1
