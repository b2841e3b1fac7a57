# cython: language_level=3
"""Declarations of the C functions of the index; the header files describe them."""

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

    bint postings_init(postings *self, unsigned max_distance, const plan_key *plan, uint32_t n, size_t row_limit)
    void postings_free(postings *self)
    bint postings_find(const postings *self, uint64_t value, hits *found)
    bint postings_of(const postings *self, uint64_t value, hits *found)
    bint postings_has(const postings *self, uint64_t value, uint64_t key)
    bint postings_insert(postings *self, uint64_t value, uint64_t key, bint is_new)
    bint postings_remove(postings *self, uint64_t value, uint64_t key)
    void postings_prefetch(const postings *self, uint64_t soon, uint64_t next)
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
        bint is_generic, has_sketches, has_unique_texts, has_same_words, has_same_text
        int keys
        int distance, unique_distance
        double estimate, unique_estimate
        int kind, other_kind, tokens, other_tokens, whole, other_whole
        double similarity, by_text, least
        int basis, contradiction
        const uint8_t *facts
        const uint8_t *other_facts

    ctypedef struct Print:
        uint64_t value

    bint print_read(Print *self, const uint8_t *data, size_t length, int part)
    uint64_t print_unique_value(const Print *self)
    const uint8_t *print_title_key(const Print *self)
    bint print_is_of_host(const Print *self, const uint8_t *data, size_t length)
    int print_distance(const Print *one, const Print *other)
    void pair_measure(measured *self, const Print *one, const Print *other)

cdef extern from "table.h" nogil:
    bint table_is_possible(uint64_t mask, unsigned radius)
