/* The votes of all features on all bits: the twin of page/fingerprint/fold.py and page/fingerprint/sketch.py. */
#ifndef SIMHASH_FOLD_H
#define SIMHASH_FOLD_H

#include "page.h"

/* Votes are gathered in lanes, several to a 64-bit word, and weighed out before a lane could run over. Features of
 * one usual weight are counted, in lanes of 8 bits; for any other weight below 2^16, lanes of 16 bits take the weight
 * itself. No lane ever carries into the next: a byte counts 255 features, 16 bits hold a sum below 2^16. */
enum { USUAL = 4, MOST_IN_BYTE = 255, MOST_WEIGHED = 0xffff };

typedef struct {
    int64_t weight;
    uint32_t n;
    uint64_t lanes[8];
} usual_weight;

typedef struct {
    int64_t total;
    int64_t votes[64]; /* the weight that has the bit */
    usual_weight usual[USUAL];
    int64_t weighed; /* the sum of the weights in lanes */
    uint64_t lanes[16];
} tally;

void tally_begin(tally *votes, const rules *r);
void tally_empty_counts(tally *votes, usual_weight *of);
void tally_empty_lanes(tally *votes);
uint64_t tally_end(tally *votes, uint64_t tie_mask);

/* The bits of a byte, each in a byte of its own; those of a half byte, each in 16 bits. */
extern const uint64_t SPREAD_BYTE[256], SPREAD_HALF[16];

static inline void tally_count(tally *votes, usual_weight *of, uint64_t hash)
{
    for (int byte = 0; byte < 8; byte++)
        of->lanes[byte] += SPREAD_BYTE[hash >> 8 * byte & 0xff];
    if (UNLIKELY(++of->n == MOST_IN_BYTE))
        tally_empty_counts(votes, of);
}

static inline void tally_add(tally *votes, uint64_t hash, int64_t weight)
{
    votes->total += weight;
    for (int i = 0; i < USUAL; i++)
        if (votes->usual[i].weight == weight) {
            tally_count(votes, &votes->usual[i], hash);
            return;
        }
    if (UNLIKELY(weight > MOST_WEIGHED)) {
        for (int bit = 0; bit < 64; bit++)
            votes->votes[bit] += weight & -(int64_t)(hash >> bit & 1);
        return;
    }
    if (votes->weighed + weight > MOST_WEIGHED)
        tally_empty_lanes(votes);
    votes->weighed += weight;
    for (int half = 0; half < 16; half++)
        votes->lanes[half] += SPREAD_HALF[hash >> 4 * half & 0xf] * (uint64_t)weight;
}

#endif
