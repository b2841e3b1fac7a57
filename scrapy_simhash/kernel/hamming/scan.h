/* Scans of candidates: find the fingerprints within a distance of a query.
 *
 * Each scan has a variant per kind of processor; all return the same hits. The portable variant is used until
 * scan_init() is called, which every index and every search for pairs does. */
#ifndef SIMHASH_SCAN_H
#define SIMHASH_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Levels of processors, from slow to fast. */
enum { SCAN_PORTABLE, SCAN_POPCNT, SCAN_AVX512 };

struct scans {
    /* Write, in ascending order, each i for which at[i] and query differ in at most k bits; return their number.
       Nothing is read from at[n] on; hits has room for n elements. n must be below 2^32. */
    size_t (*values)(const uint64_t *at, size_t n, uint64_t query, unsigned k, uint32_t *hits);
    /* Does the same for compact entries, which are stored as tag and rest. The rest is read only if the tag is within
     * k. */
    size_t (*tags)(const uint32_t *tags, const uint16_t *rests, size_t n, uint32_t tag, uint16_t rest, unsigned k,
                   uint32_t *hits);
};

extern struct scans scan;

/* Choose the fastest variant that the processor supports. May be called at any time. */
void scan_init(void);
/* The level in use. */
int scan_level(void);

/* Returns the number of ones. */
static inline unsigned ones(uint64_t x)
{
#if defined __GNUC__ && (defined __POPCNT__ || !defined __x86_64__)
    return (unsigned)__builtin_popcountll(x);
#else /* Without the instruction, the builtin calls a function, so compilers do not vectorise the loop. */
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

/* Min room for pairs per step. */
enum { MIN_ROOM = 8 };

/* Create a search over n values, with the masks of the keys of an exact plan for distance k. n must be below 2^32;
 * arguments are not checked. Returns NULL if out of memory. Nothing is allocated later. */
pair_search *pairs_new(size_t n, const uint64_t *masks, size_t tables, unsigned k);
void pairs_free(pair_search *search);

/* Returns the array for the n values. Write them before the first step, in any order. Equal values may be
 * repeated. */
uint64_t *pairs_values(pair_search *search);

/* Continue the search for a few milliseconds, write up to room pairs, each pair of different values once, and return
 * their number. 0 does not mean the end. The order depends only on the set of values and the masks. */
size_t pairs_step(pair_search *search, value_pair *pairs, size_t room);

/* The completed share of the work, 0 to 1; 1 is the end. */
double pairs_done(const pair_search *search);

/* --- Shared by scan.c and pairs.c: defined if the compiler can generate code for several kinds of x86 processors. */
#if defined __GNUC__ && defined __x86_64__
#define X86 1

#include <immintrin.h>

/* Marks a function that needs a processor of this level or above. */
#define POPCNT __attribute__((target("popcnt")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt,bmi")))

POPCNT static inline unsigned popcnt(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

#endif

#endif
