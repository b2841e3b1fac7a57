#include "scan.h"

/* Hits are rare. So the loops test a whole strip for any hit, without a branch per candidate, and read the strip
   again only if it has a hit. */
enum { STRIP = 32 };

static size_t values_portable(const uint64_t *at, size_t n, uint64_t query, unsigned k, uint32_t *hits)
{
    size_t found = 0;
    for (size_t start = 0; start < n; start += STRIP) {
        size_t end = n - start < STRIP ? n : start + STRIP;
        unsigned any = 0;
        for (size_t i = start; i < end; i++)
            any |= ones(at[i] ^ query) <= k;
        for (size_t i = any ? start : end; i < end; i++)
            if (ones(at[i] ^ query) <= k)
                hits[found++] = (uint32_t)i;
    }
    return found;
}

static size_t tags_portable(const uint32_t *tags, const uint16_t *rests, size_t n, uint32_t tag, uint16_t rest,
                            unsigned k, uint32_t *hits)
{
    size_t found = 0;
    for (size_t start = 0; start < n; start += STRIP) {
        size_t end = n - start < STRIP ? n : start + STRIP;
        unsigned any = 0;
        for (size_t i = start; i < end; i++)
            any |= ones(tags[i] ^ tag) <= k;
        for (size_t i = any ? start : end; i < end; i++)
            if (ones(tags[i] ^ tag) <= k && ones((uint64_t)(tags[i] ^ tag) << 16 | (rests[i] ^ rest)) <= k)
                hits[found++] = (uint32_t)i;
    }
    return found;
}

#ifdef X86

/* Add the hits among the candidates from i on, one by one. */

POPCNT static inline size_t take_values(const uint64_t *at, size_t i, size_t end, uint64_t query, unsigned k,
                                        uint32_t *hits, size_t found)
{
    for (; i < end; i++)
        if (popcnt(at[i] ^ query) <= k)
            hits[found++] = (uint32_t)i;
    return found;
}

POPCNT static inline size_t take_tag(const uint32_t *tags, const uint16_t *rests, size_t i, uint32_t tag,
                                     uint16_t rest, unsigned k, uint32_t *hits, size_t found)
{
    hits[found] = (uint32_t)i;
    return found + (popcnt((uint64_t)(tags[i] ^ tag) << 16 | (rests[i] ^ rest)) <= k);
}

POPCNT static inline size_t take_tags(const uint32_t *tags, const uint16_t *rests, size_t i, size_t end, uint32_t tag,
                                      uint16_t rest, unsigned k, uint32_t *hits, size_t found)
{
    for (; i < end; i++)
        if (popcnt(tags[i] ^ tag) <= k)
            found = take_tag(tags, rests, i, tag, rest, k, hits, found);
    return found;
}

/* Since 2008, popcnt counts the bits of a candidate in one instruction. There is one branch for four candidates. */

POPCNT static size_t values_popcnt(const uint64_t *at, size_t n, uint64_t query, unsigned k, uint32_t *hits)
{
    size_t found = 0, i = 0;
    for (; i + 4 <= n; i += 4) {
        unsigned a = popcnt(at[i] ^ query) <= k, b = popcnt(at[i + 1] ^ query) <= k;
        unsigned c = popcnt(at[i + 2] ^ query) <= k, d = popcnt(at[i + 3] ^ query) <= k;
        if (a | b | c | d)
            found = take_values(at, i, i + 4, query, k, hits, found);
    }
    return take_values(at, i, n, query, k, hits, found);
}

POPCNT static size_t tags_popcnt(const uint32_t *tags, const uint16_t *rests, size_t n, uint32_t tag, uint16_t rest,
                                 unsigned k, uint32_t *hits)
{
    size_t found = 0, i = 0;
    for (; i + 4 <= n; i += 4) {
        unsigned a = popcnt(tags[i] ^ tag) <= k, b = popcnt(tags[i + 1] ^ tag) <= k;
        unsigned c = popcnt(tags[i + 2] ^ tag) <= k, d = popcnt(tags[i + 3] ^ tag) <= k;
        if (a | b | c | d)
            found = take_tags(tags, rests, i, i + 4, tag, rest, k, hits, found);
    }
    return take_tags(tags, rests, i, n, tag, rest, k, hits, found);
}

/* AVX-512 counts eight or sixteen candidates at once; its masks prevent reads past the end. */

AVX512 static size_t values_avx512(const uint64_t *at, size_t n, uint64_t query, unsigned k, uint32_t *hits)
{
    const __m512i queries = _mm512_set1_epi64((long long)query), most = _mm512_set1_epi64((long long)k);
    size_t found = 0, i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i low = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(at + i), queries));
        __m512i high = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(at + i + 8), queries));
        unsigned near = _mm512_cmple_epu64_mask(low, most) | (unsigned)_mm512_cmple_epu64_mask(high, most) << 8;
        for (; near; near &= near - 1)
            hits[found++] = (uint32_t)i + (uint32_t)__builtin_ctz(near);
    }
    for (; i < n; i += 8) {
        __mmask8 within = n - i < 8 ? (__mmask8)((1u << (n - i)) - 1) : 0xff;
        __m512i x = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_maskz_loadu_epi64(within, at + i), queries));
        for (unsigned near = _mm512_mask_cmple_epu64_mask(within, x, most); near; near &= near - 1)
            hits[found++] = (uint32_t)i + (uint32_t)__builtin_ctz(near);
    }
    return found;
}

AVX512 static size_t tags_avx512(const uint32_t *tags, const uint16_t *rests, size_t n, uint32_t tag, uint16_t rest,
                                 unsigned k, uint32_t *hits)
{
    const __m512i queries = _mm512_set1_epi32((int)tag), most = _mm512_set1_epi32((int)k);
    size_t found = 0, i = 0;
    for (; i + 32 <= n; i += 32) {
        __m512i low = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_loadu_si512(tags + i), queries));
        __m512i high = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_loadu_si512(tags + i + 16), queries));
        unsigned near = _mm512_cmple_epu32_mask(low, most) | (unsigned)_mm512_cmple_epu32_mask(high, most) << 16;
        for (; near; near &= near - 1)
            found = take_tag(tags, rests, i + (size_t)__builtin_ctz(near), tag, rest, k, hits, found);
    }
    for (; i < n; i += 16) {
        __mmask16 within = n - i < 16 ? (__mmask16)((1u << (n - i)) - 1) : 0xffff;
        __m512i x = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_maskz_loadu_epi32(within, tags + i), queries));
        for (unsigned near = _mm512_mask_cmple_epu32_mask(within, x, most); near; near &= near - 1)
            found = take_tag(tags, rests, i + (size_t)__builtin_ctz(near), tag, rest, k, hits, found);
    }
    return found;
}

#endif

/* The variant for each level. */
static const struct scans VARIANTS[] = {
    {values_portable, tags_portable},
#ifdef X86
    {values_popcnt, tags_popcnt},
    {values_avx512, tags_avx512},
#endif
};

/* Tests also build this file for slower processors. */
#ifndef SCAN_MOST
#define SCAN_MOST SCAN_AVX512
#endif

struct scans scan = {values_portable, tags_portable};
static int level_in_use = SCAN_PORTABLE;

static int runs_here(int level)
{
#ifdef X86
    __builtin_cpu_init();
    if (level == SCAN_POPCNT)
        return __builtin_cpu_supports("popcnt");
    if (level == SCAN_AVX512)
        return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("bmi");
#endif
    return level == SCAN_PORTABLE;
}

void scan_init(void)
{
    if (level_in_use != SCAN_PORTABLE)
        return;
    int level = SCAN_MOST;
    while (!runs_here(level))
        level--;
    scan = VARIANTS[level];
    level_in_use = level;
}

int scan_level(void) { return level_in_use; }
