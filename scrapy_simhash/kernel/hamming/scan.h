/* The scans of candidates: which of many fingerprints lie within a distance of one.
 *
 * Each scan has a variant for every kind of processor that matters; all give the same hits. Before scan_init() the
 * portable one runs; every index and every search for pairs calls it first. */
#ifndef SIMHASH_SCAN_H
#define SIMHASH_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* What a processor can do, the later the faster. */
enum { SCAN_PORTABLE, SCAN_POPCNT, SCAN_AVX512 };

struct scans {
    /* Write the places i, rising, where at[i] and query differ in at most k bits; return how many. Nothing is read
     * from at[n] on; hits has room for n, which must be below 2^32. */
    size_t (*values)(const uint64_t *at, size_t n, uint64_t query, unsigned k, uint32_t *hits);
    /* The same over fingerprints, or what is left of them, that lie in two pieces. rests is read only where the tag
     * alone is within k. */
    size_t (*tags)(const uint32_t *tags, const uint16_t *rests, size_t n, uint32_t tag, uint16_t rest, unsigned k,
                   uint32_t *hits);
};

extern struct scans scan;

/* Choose the fastest variant this processor runs. It may be called at any time. */
void scan_init(void);
/* The level in use. */
int scan_level(void);

/* The number of ones. */
static inline unsigned ones(uint64_t x)
{
#if defined __GNUC__ && (defined __POPCNT__ || !defined __x86_64__)
    return (unsigned)__builtin_popcountll(x);
#else /* Without the instruction the builtin is a call of a function, which no loop can be vectorised around. */
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (unsigned)(x * 0x0101010101010101u >> 56);
#endif
}

/* --- Pairs: see pairs.c. */

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

/* --- What scan.c and pairs.c share where a compiler can make code for other x86 processors than the one it builds for:
 * which functions need which instructions, and the ones of 64 bits. Elsewhere X86 is not defined. */
#if defined __GNUC__ && defined __x86_64__
#define X86 1

#include <immintrin.h>

/* Before a function: it may be called from the level of scan.h on that is named like it. */
#define POPCNT __attribute__((target("popcnt")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt,bmi")))

POPCNT static inline unsigned popcnt(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

#endif

#endif
