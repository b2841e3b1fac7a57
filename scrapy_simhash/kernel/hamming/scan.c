#include "scan.h"

/* Nearly every candidate is none. So the loops ask of a whole strip whether there is a hit, without a branch for each
 * candidate, and look again only where there is one. */
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

/* The candidates from i on, one by one. */

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

/* popcnt: one instruction a candidate, in 2008 and later processors. Four to a branch. */

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

/* AVX2 has no popcount. Looking up half bytes is: 0.22 ns a candidate where popcnt takes 0.33, whatever k is.
 * Clearing the lowest bit k times is 0.18 to 0.21 for k = 3, and worse from 4 on. */

AVX2 static size_t values_avx2(const uint64_t *at, size_t n, uint64_t query, unsigned k, uint32_t *hits)
{
    const __m256i queries = _mm256_set1_epi64x((long long)query), beyond = _mm256_set1_epi64x((long long)k + 1);
    size_t found = 0, i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(at + i)), queries);
        __m256i near = _mm256_cmpgt_epi64(beyond, _mm256_sad_epu8(ones_in_bytes(x), _mm256_setzero_si256()));
        if (!_mm256_testz_si256(near, near))
            found = take_values(at, i, i + 4, query, k, hits, found);
    }
    return take_values(at, i, n, query, k, hits, found);
}

AVX2 static size_t tags_avx2(const uint32_t *tags, const uint16_t *rests, size_t n, uint32_t tag, uint16_t rest,
                             unsigned k, uint32_t *hits)
{
    const __m256i queries = _mm256_set1_epi32((int)tag), beyond = _mm256_set1_epi32((int)(k < 64 ? k : 64) + 1);
    size_t found = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(tags + i)), queries);
        x = _mm256_maddubs_epi16(ones_in_bytes(x), _mm256_set1_epi8(1));
        x = _mm256_madd_epi16(x, _mm256_set1_epi16(1));
        unsigned near = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(beyond, x)));
        for (; near; near &= near - 1)
            found = take_tag(tags, rests, i + (size_t)__builtin_ctz(near), tag, rest, k, hits, found);
    }
    return take_tags(tags, rests, i, n, tag, rest, k, hits, found);
}

/* AVX-512 counts eight or sixteen at once, and its masks keep off what is past the end. */

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

static const struct {
    const char *name;
    struct scans scans;
} VARIANTS[] = {
    {"portable", {values_portable, tags_portable}},
#ifdef X86
    {"popcnt", {values_popcnt, tags_popcnt}},
    {"avx2", {values_avx2, tags_avx2}},
    {"avx512", {values_avx512, tags_avx512}},
#endif
};

struct scans scan = {values_portable, tags_portable};
static int level_in_use = SCAN_PORTABLE, is_chosen;

static int runs_here(int level)
{
#ifdef X86
    __builtin_cpu_init();
    int popcnt = __builtin_cpu_supports("popcnt"), avx2 = popcnt && __builtin_cpu_supports("avx2");
    if (level == SCAN_POPCNT)
        return popcnt;
    if (level == SCAN_AVX2)
        return avx2;
    if (level == SCAN_AVX512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq") &&
               __builtin_cpu_supports("bmi");
#endif
    return level == SCAN_PORTABLE;
}

int scan_use(int level)
{
    if (level > SCAN_AVX512)
        level = SCAN_AVX512;
    while (level > SCAN_PORTABLE && !runs_here(level))
        level--;
    if (level < SCAN_PORTABLE)
        level = SCAN_PORTABLE;
    scan = VARIANTS[level].scans;
    is_chosen = 1;
    return level_in_use = level;
}

void scan_init(void)
{
    if (!is_chosen)
        scan_use(SCAN_AVX512);
}

int scan_level(void) { return level_in_use; }

const char *scan_name(void) { return VARIANTS[level_in_use].name; }
