/* All pairs of fingerprints within a distance: the twin of index/pairs.py.
 *
 * For every table of a plan the values are laid out so that equal keys are neighbours, and neighbours are compared. A
 * pair can agree in the keys of several tables; it is reported by the first of them only, so that nothing has to
 * remember what was reported. Two buffers of 8 bytes a value are all the memory, whatever the values are:
 *
 *     values      --by the top bits of the key's hash-->   parts, each small enough for the cache
 *     one part    --by the next bits-->                    buckets of a few values, back where the values were
 *     one bucket  --each with all after it-->              pairs
 */
#ifndef SIMHASH_PAIRS_H
#define SIMHASH_PAIRS_H

#include <stddef.h>
#include <stdint.h>

typedef struct pair_search pair_search;

typedef struct {
    uint64_t small, large;
} value_pair;

/* The least room for pairs that a step needs. */
enum { LEAST_ROOM = 8 };

/* Make a search over n values, which must be below 2^32, with the masks of the keys of an exact plan for distance k;
 * none of it is checked. NULL: no memory. Nothing is allocated later. */
pair_search *pairs_new(size_t n, const uint64_t *masks, size_t tables, unsigned k);
void pairs_free(pair_search *search);

/* Where the n values are to be written before the first step, in any order, equal ones as often as they come. */
uint64_t *pairs_values(pair_search *search);

/* Go on with the search, for some milliseconds, write up to room pairs and return how many: each pair of different
 * values once. 0 is no sign of the end. The order depends on the set of values, the masks and nothing else. */
size_t pairs_step(pair_search *search, value_pair *pairs, size_t room);

/* Which share of the work is done, 0 to 1: 1 is the end. */
double pairs_done(const pair_search *search);

#endif
