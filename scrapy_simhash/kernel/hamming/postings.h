/* The postings (fingerprint, key) of an index: first a row that is scanned, later the tables of a plan.
 *
 *     few           row       every fingerprint is compared
 *     more          both      the row is searched; every insert moves some of it to the tables
 *     all moved     tables    the row is freed
 *
 * The first table has every posting, with its key; the other tables have each distinct fingerprint once. The longest
 * insert moves a few postings and rebuilds one segment of each table.
 */
#ifndef SIMHASH_POSTINGS_H
#define SIMHASH_POSTINGS_H

#include "table.h"

/* A table of a plan: the bits of its key, and the max distance between a probed key and the key of the query. */
typedef struct {
    uint64_t mask;
    uint32_t radius;
} plan_key;

typedef struct {
    uint64_t value, key;
    uint32_t distance;
} hit;

/* The postings that a search found. A structure with all bits 0 is empty. */
typedef struct {
    hit *at;
    size_t n, room;
} hits;

typedef struct {
    unsigned max_distance;
    size_t n;           /* postings */
    plan_key *plan;
    uint32_t n_tables;  /* of the plan; without tables, the row is always searched */
    table *tables;      /* NULL until postings of the row are moved */
    bool is_row;        /* the row is searched */
    uint64_t *row, *row_keys;
    size_t row_room;
    size_t row_limit;   /* min number of postings for the row to be moved */
    size_t moved;       /* number of postings from the row's start that are in the tables */
} postings;

/* Initialises an empty index with n tables, which is a row below row_limit postings. Returns false if out of
 * memory. */
bool postings_init(postings *self, unsigned max_distance, const plan_key *plan, uint32_t n, size_t row_limit);
void postings_free(postings *self);

/* Adds all postings within the distance to `found`, each once, in arbitrary order. Returns false if out of memory. */
bool postings_find(const postings *self, uint64_t value, hits *found);
/* Adds all postings with exactly this fingerprint to `found`. Returns false if out of memory. */
bool postings_of(const postings *self, uint64_t value, hits *found);
bool postings_has(const postings *self, uint64_t value, uint64_t key);
/* Stores a posting that is not stored yet; `is_new` means that no other posting has its fingerprint. Returns false if
 * out of memory; then nothing is stored. */
bool postings_insert(postings *self, uint64_t value, uint64_t key, bool is_new);
/* Removes a posting; returns false if it is not stored. */
bool postings_remove(postings *self, uint64_t value, uint64_t key);

/* Prefetches the memory that a search for `next`, and later for `soon`, will read, or an insert will write. */
void postings_prefetch(const postings *self, uint64_t soon, uint64_t next);
/* Writes all n postings, in arbitrary order. */
void postings_read(const postings *self, uint64_t *values, uint64_t *keys);
size_t postings_bytes(const postings *self);
/* Returns a message if an invariant is broken, else NULL. For tests; reads everything. */
const char *postings_check(const postings *self);

/* Keeps the `most` nearest hits, sorted by distance, key and value. */
void hits_cut(hits *self, size_t most);
/* Removes all hits, and frees their memory if it is large. */
void hits_clear(hits *self);

#endif
