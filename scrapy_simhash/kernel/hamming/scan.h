/* The scans of candidates: which of many fingerprints lie within a distance of one.
 *
 * Each scan has a variant for every kind of processor that matters; all give the same hits. Before scan_init() the
 * portable one runs. Whoever scans calls that first, once for what he scans in; it may be called at any time. */
#ifndef SIMHASH_SCAN_H
#define SIMHASH_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* What a processor can do, the later the faster. */
enum { SCAN_PORTABLE, SCAN_POPCNT, SCAN_AVX2, SCAN_AVX512 };

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

/* Choose the fastest variant this processor runs, unless one was chosen already. */
void scan_init(void);
/* Take the variant of this level, or the best below it that runs here; return its level. For tests. */
int scan_use(int level);
/* The level in use, and its name. */
int scan_level(void);
const char *scan_name(void);

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

#endif
