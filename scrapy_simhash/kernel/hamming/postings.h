/* What an index stores, and how it grows: a row that is scanned, then the tables of a plan, then those of another.
 *
 *     few           row       every fingerprint is looked at
 *     more          now       the tables that answer
 *     plan changed  next      filled bit by bit, some postings with every insert, while `now` answers
 *                   old       what `next` has replaced, given back bit by bit
 *
 * Every distinct fingerprint is stored once. Its key stands beside it in the first table: the smallest of its keys,
 * with the bit FURTHER if there are others, which the caller keeps.
 */
#ifndef SIMHASH_POSTINGS_H
#define SIMHASH_POSTINGS_H

#include "table.h"

#define FURTHER ((uint64_t)1 << 63)

/* A key of a plan: its bits, and how far from a query's it is probed. */
typedef struct {
    uint64_t mask;
    uint32_t radius;
} plan_key;

/* The tables of one plan: every fingerprint is in each of them, its key in the first. */
typedef struct {
    table *all;
    uint32_t n;
} tables;

typedef struct {
    uint64_t value, key;
    uint32_t distance;
} hit;

typedef struct {
    unsigned max_distance;
    size_t n;           /* distinct fingerprints */
    uint64_t *row, *row_keys;
    size_t row_room;
    tables now, next, old;
    uint64_t moved_to;  /* fingerprints below this hash in the first table of `now` are in `next` as well */
    hit *hits;          /* what the last search found */
    size_t n_hits, hits_room;
    bool no_memory;     /* for its hits */
} postings;

void postings_init(postings *self, unsigned max_distance);
void postings_free(postings *self);

/* Goes on with the tables of `keys`. From a row at once, from other tables bit by bit. False without memory. */
bool postings_replan(postings *self, const plan_key *keys, uint32_t n);
bool postings_is_moving(const postings *self);
/* Moves some postings on to the next plan, all of them if `most` allows. False without memory: the rest stays. */
bool postings_move(postings *self, size_t most);

/* Fills `hits` with all that is within the distance, each fingerprint once, in no order. False without memory. */
bool postings_find(postings *self, uint64_t value);
/* Puts the `most` nearest of n hits in front, in the order of distance, key, value; returns how many that are. */
size_t hits_cut(hit *hits, size_t n, size_t most);
/* Stores a fingerprint that is not there. False without memory, and nothing stored. */
bool postings_insert(postings *self, uint64_t value, uint64_t key);
/* Reads the key of a fingerprint; false if it is not there. */
bool postings_key(const postings *self, uint64_t value, uint64_t *key);
/* Changes the key of a fingerprint that is there. */
void postings_set_key(postings *self, uint64_t value, uint64_t key);
/* Takes a fingerprint out that is there. */
void postings_remove(postings *self, uint64_t value);

/* For each of n fingerprints writes the key of the nearest there is, the smallest of several, or stores it under its
 * own key (of `keys`, or numbered on from `first` without them) and writes -1. Stops early without memory, and when
 * there are `limit` fingerprints; returns how many are done. */
size_t postings_claim(postings *self, const uint64_t *values, const uint64_t *keys, uint64_t first, size_t n,
                      size_t limit, int64_t *nearest);

/* Asks the memory for what a search of `soon`, a little later, and of `next` will read, or an insert will write. */
void postings_ask(const postings *self, uint64_t soon, uint64_t next);

/* The postings are read part by part, of at most so many: */
uint32_t postings_parts(const postings *self);
size_t postings_part_size(const postings *self, uint32_t part);
void postings_read_part(const postings *self, uint32_t part, uint64_t *values, uint64_t *keys);

size_t postings_bytes(const postings *self);
/* Returns a line that says what is wrong, NULL if nothing is. For tests: reads everything. */
const char *postings_check(const postings *self);

#endif
