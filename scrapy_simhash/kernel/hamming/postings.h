/* The postings (fingerprint, key) of an index: a row that is scanned, then the tables of a plan.
 *
 *     few           row       every fingerprint is compared
 *     more          both      the row still answers, while every insert moves some of it to the tables
 *     all moved     tables    the row is freed
 *
 * The first table has every posting, with its key; the other tables have every distinct fingerprint once. No insert
 * takes longer than moving a few postings, and laying out anew one segment of each table.
 */
#ifndef SIMHASH_POSTINGS_H
#define SIMHASH_POSTINGS_H

#include "table.h"

/* A table of a plan: the bits of its key, and how far from the key of a query it is probed. */
typedef struct {
    uint64_t mask;
    uint32_t radius;
} plan_key;

typedef struct {
    uint64_t value, key;
    uint32_t distance;
} hit;

/* The postings that searches have found; all bits 0 are an empty one. */
typedef struct {
    hit *at;
    size_t n, room;
} hits;

typedef struct {
    unsigned max_distance;
    size_t n;           /* postings */
    plan_key *plan;
    uint32_t n_tables;  /* of the plan; without tables the row answers for ever */
    table *tables;      /* NULL until the row is moved */
    bool is_row;        /* the row answers */
    uint64_t *row, *row_keys;
    size_t row_room;
    size_t row_limit;   /* postings from which on the row is moved */
    size_t moved;       /* of the row, so many first postings are in the tables as well */
} postings;

/* Makes an empty index over n tables, which is a row below row_limit postings. False without memory. */
bool postings_init(postings *self, unsigned max_distance, const plan_key *plan, uint32_t n, size_t row_limit);
void postings_free(postings *self);

/* Adds to `found` all postings within the distance, each once, in no order. False without memory. */
bool postings_find(const postings *self, uint64_t value, hits *found);
/* Adds to `found` all postings of exactly this fingerprint. False without memory. */
bool postings_of(const postings *self, uint64_t value, hits *found);
bool postings_has(const postings *self, uint64_t value, uint64_t key);
/* Stores a posting that is not there; `is_new` if no other one has its fingerprint. False without memory, and nothing
 * stored. */
bool postings_insert(postings *self, uint64_t value, uint64_t key, bool is_new);
/* Removes a posting; false if it is not there. */
bool postings_remove(postings *self, uint64_t value, uint64_t key);

/* Asks the memory for what a search of `soon`, a little later, and of `next` will read, or an insert will write. */
void postings_ask(const postings *self, uint64_t soon, uint64_t next);
/* Writes all n postings, in no order. */
void postings_read(const postings *self, uint64_t *values, uint64_t *keys);
size_t postings_bytes(const postings *self);
/* Returns a line that says what is wrong, NULL if nothing is. For tests: reads everything. */
const char *postings_check(const postings *self);

/* Puts the `most` nearest of the hits in front, in the order of distance, key, value; leaves out the others. */
void hits_cut(hits *self, size_t most);
/* Removes all hits, and frees the memory of many. */
void hits_clear(hits *self);

#endif
