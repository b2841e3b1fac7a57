# cython: language_level=3
"""What the C files of the index offer to its door: see postings.h for what each of it means."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "postings.h" nogil:
    ctypedef struct plan_key:
        uint64_t mask
        uint32_t radius

    ctypedef struct hit:
        uint64_t value, key
        uint32_t distance

    ctypedef struct hits:
        hit *at
        size_t n, room

    ctypedef struct postings:
        size_t n
        bint is_row

    bint postings_init(postings *self, unsigned max_distance, const plan_key *plan, uint32_t n, size_t row_limit)
    void postings_free(postings *self)
    bint postings_find(const postings *self, uint64_t value, hits *found)
    bint postings_of(const postings *self, uint64_t value, hits *found)
    bint postings_has(const postings *self, uint64_t value, uint64_t key)
    bint postings_insert(postings *self, uint64_t value, uint64_t key, bint is_new)
    bint postings_remove(postings *self, uint64_t value, uint64_t key)
    void postings_ask(const postings *self, uint64_t soon, uint64_t next)
    void postings_read(const postings *self, uint64_t *values, uint64_t *keys)
    size_t postings_bytes(const postings *self)
    const char *postings_check(const postings *self)
    void hits_cut(hits *self, size_t most)
    void hits_clear(hits *self)

cdef extern from "scan.h" nogil:
    ctypedef struct pair_search:
        pass
    ctypedef struct value_pair:
        uint64_t small, large

    unsigned ones(uint64_t x)
    pair_search *pairs_new(size_t n, const uint64_t *masks, size_t tables, unsigned k)
    void pairs_free(pair_search *search)
    uint64_t *pairs_values(pair_search *search)
    size_t pairs_step(pair_search *search, value_pair *pairs, size_t room)
    double pairs_done(const pair_search *search)

cdef extern from "second_look.h" nogil:
    ctypedef struct measured:
        double min_similarity
        int reach
        bint is_generic, has_sketches, has_own_parts, has_same_words, has_same_text
        int keys
        int distance, own_distance
        double estimate, own_estimate
        int kind, its_kind, tokens, its_tokens, whole, its_whole
        double similarity, by_text, least
        int basis, contradiction
        const uint8_t *facts
        const uint8_t *its_facts

    ctypedef struct Print:
        uint64_t value

    bint print_read(Print *self, const uint8_t *data, size_t length, int part)
    uint64_t print_own(const Print *self)
    const uint8_t *print_subject(const Print *self)
    bint print_is_of_host(const Print *self, const uint8_t *data, size_t length)
    bint print_says(const uint8_t *one, const uint8_t *other, size_t length)
    int print_distance(const Print *one, const Print *other)
    void pair_measure(measured *self, const Print *one, const Print *other)

cdef extern from "table.h" nogil:
    ctypedef struct segment:
        uint64_t *keys
    ctypedef struct table:
        pass
    ctypedef struct place:
        segment *inside "in"
        uint32_t at

    uint64_t SCATTER

    bint table_is_possible(uint64_t mask, unsigned radius)
    bint table_init(table *self, uint64_t mask, unsigned radius, bint has_keys)
    void table_free(table *self)
    bint table_insert(table *self, uint64_t value, uint64_t key)
    place table_find(const table *self, uint64_t value)
    void table_remove(table *self, uint64_t value)

cdef extern from "rows.h" nogil:
    enum:
        KEY_BYTES
        NO_SITE
    ctypedef struct page_row:
        uint64_t text_hash
        int64_t seen
        uint64_t url, site, print, length, is_known
        uint32_t content, rank, copies
        uint8_t key[KEY_BYTES]
    enum:
        FIRST_COPIES
    ctypedef struct copies_row:
        uint32_t joined
        uint32_t first[FIRST_COPIES]
    ctypedef struct content_row:
        uint64_t print
        uint32_t page, scope, head
        uint16_t length
        bint is_short
    ctypedef struct head_row:
        uint64_t text_hash
        int64_t seen
        bint is_known
    ctypedef struct column:
        char *at
        size_t n, room

    bint column_reserve(column *self, size_t more, size_t size)
    ctypedef struct key_set:
        pass

    uint32_t keys_find(const key_set *self, const page_row *rows, const uint8_t *key)
    bint keys_add(key_set *self, const page_row *rows, const uint8_t *key, uint32_t number)
    void keys_remove(key_set *self, const page_row *rows, const uint8_t *key)
    void keys_free(key_set *self)
