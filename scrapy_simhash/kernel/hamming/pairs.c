/* All pairs of fingerprints within a distance; index/pairs.py chooses the tables.
 *
 * For every table of a plan, the values are grouped so that equal keys are neighbours, and neighbours are compared. A
 * pair can agree in the keys of several tables, but only the first of these reports it, so no list of reported pairs
 * is needed. The memory is two buffers of 8 bytes per value:
 *
 *     values      --by the top bits of the key's hash-->   parts, each small enough for the cache
 *     one part    --by the next bits-->                    buckets of a few values, back where the values were
 *     one bucket  --each with all after it-->              pairs
 */
#include <stdlib.h>
#include <string.h>

#include "scan.h"
#include "table.h"

enum {
    /* Approximate number of values per part and per bucket. A part of 32 KiB and its result fit into the second-level
     * cache. With half to eight times as many values per part, or 4 to 12 per bucket, the time differs by at most a
     * tenth. */
    PART = 4096,
    BUCKET = 8,
    /* With twice as many parts, grouping is a third slower, because more pages are written at a time than the TLB has
     * entries. */
    MAX_PART_BITS = 10,
    MAX_BUCKET_BITS = 16,
    WIDTH = MIN_ROOM, /* max candidates per comparison */
    STEP = 1 << 22 /* max candidates compared, or values grouped, per step, which takes a few milliseconds */
};

struct pair_search {
    size_t n, tables, room; /* the size of each of the two buffers in bytes */
    int is_distinct;
    unsigned k, part_bits;
    uint64_t *values, *parted;
    /* Position of the search: the table, the part, its first unfinished bucket, and in this bucket the row, a value
     * that was compared with all values before the column. `parts` is 0 until the values are grouped for the
     * table. */
    size_t table, part, parts, bucket, buckets, row, column;
    uint32_t part_ends[1 << MAX_PART_BITS], bucket_ends[1 << MAX_BUCKET_BITS];
    uint64_t masks[];
};

/* Returns the number of bits that split `values` into groups of about `size`, at most `most`. */
static unsigned bits_for(size_t values, size_t size, unsigned most)
{
    unsigned bits = 0;
    while (bits < most && values >> bits > size)
        bits++;
    return bits;
}

pair_search *pairs_new(size_t n, const uint64_t *masks, size_t tables, unsigned k)
{
    pair_search *s = malloc(sizeof *s + tables * sizeof *masks);
    if (!s)
        return NULL;
    scan_init();
    memset(s, 0, sizeof *s);
    memcpy(s->masks, masks, tables * sizeof *masks);
    s->n = n, s->tables = tables, s->k = k;
    /* Each row is compared with WIDTH candidates at a time, including those past the end. */
    size_t room = s->room = (n + WIDTH) * sizeof *s->values;
    s->values = pages_new(&s->room);
    s->parted = pages_new(&room);
    if (!s->values || !s->parted) {
        pairs_free(s);
        return NULL;
    }
    memset(s->values + n, 0, WIDTH * sizeof *s->values);
    memset(s->parted + n, 0, WIDTH * sizeof *s->parted);
    return s;
}

void pairs_free(pair_search *s)
{
    if (s) {
        pages_free(s->values, s->room);
        pages_free(s->parted, s->room);
        free(s);
    }
}

uint64_t *pairs_values(pair_search *s) { return s->values; }

/* Group `from` into `to` by the `bits` bits of the hash that follow its first `above` bits; `ends` receives the ends
 * of the groups, counted from `to`. */
static void group(const uint64_t *from, size_t n, uint64_t mask, unsigned above, unsigned bits, uint64_t *to,
                  uint32_t *ends)
{
    size_t groups = (size_t)1 << bits;
    unsigned below = 63 - bits;
    uint32_t start = 0;
    memset(ends, 0, groups * sizeof *ends);
#define GROUP_OF(value) ((((value) & mask) * SCATTER << above) >> 1 >> below)
    for (size_t i = 0; i < n; i++)
        ends[GROUP_OF(from[i])]++;
    for (size_t g = 0; g < groups; g++) {
        uint32_t length = ends[g];
        ends[g] = start;
        start += length;
    }
    for (size_t i = 0; i < n; i++)
        to[ends[GROUP_OF(from[i])]++] = from[i];
#undef GROUP_OF
}

/* Group all values into parts. */
static void lay_out(pair_search *s, uint64_t mask)
{
    unsigned key_bits = ones(mask);
    s->part_bits = bits_for(s->n, PART, key_bits < MAX_PART_BITS ? key_bits : MAX_PART_BITS);
    s->parts = (size_t)1 << s->part_bits;
    s->part = 0;
    if (s->part_bits) {
        group(s->values, s->n, mask, 0, s->part_bits, s->parted, s->part_ends);
    } else {
        uint64_t *values = s->values;
        s->values = s->parted, s->parted = values;
        s->part_ends[0] = (uint32_t)s->n;
    }
}

static uint32_t part_start(const pair_search *s)
{
    return s->part ? s->part_ends[s->part - 1] : 0;
}

/* Group the values of a part into buckets. */
static void open_part(pair_search *s, uint64_t mask)
{
    size_t start = part_start(s), n = s->part_ends[s->part] - start;
    unsigned key_bits = ones(mask) - s->part_bits;
    unsigned bits = bits_for(n, BUCKET, key_bits < MAX_BUCKET_BITS ? key_bits : MAX_BUCKET_BITS);
    group(s->parted + start, n, mask, s->part_bits, bits, s->values + start, s->bucket_ends);
    s->buckets = (size_t)1 << bits;
    s->bucket = 0;
    s->row = 0, s->column = 1;
}

static int compare_values(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

/* Use insertion sort for short arrays, as nearly every bucket is. */
static void sort(uint64_t *at, size_t n)
{
    if (n > 32) {
        qsort(at, n, sizeof *at, compare_values);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint64_t value = at[i];
        size_t j = i;
        for (; j > 0 && at[j - 1] > value; j--)
            at[j] = at[j - 1];
        at[j] = value;
    }
}

/* Remove duplicates, and sort the values in an order that does not depend on the original order. */
static void keep_distinct(pair_search *s)
{
    const uint64_t all = ~(uint64_t)0;
    uint32_t kept = 0;
    lay_out(s, all);
    for (; s->part < s->parts; s->part++) {
        open_part(s, all);
        uint64_t *at = s->values + part_start(s);
        uint32_t start = 0;
        for (size_t b = 0; b < s->buckets; start = s->bucket_ends[b++]) {
            sort(at + start, s->bucket_ends[b] - start);
            for (uint32_t i = start; i < s->bucket_ends[b]; i++)
                if (i == start || at[i] != at[i - 1])
                    s->values[kept++] = at[i];
        }
    }
    s->n = kept;
    s->parts = 0;
    s->is_distinct = 1;
}

/* Add the pair of x and y to `pairs` if this is the first table in whose key they agree; return their
 * new number. */
static size_t report(const pair_search *s, uint64_t x, uint64_t y, value_pair *pairs, size_t found)
{
    uint64_t differing = x ^ y;
    if (differing & s->masks[s->table])
        return found;
    for (size_t table = 0; table < s->table; table++)
        if (!(differing & s->masks[table]))
            return found;
    pairs[found].small = x < y ? x : y;
    pairs[found].large = x < y ? y : x;
    return found + 1;
}

/* Compare each value of the part with all later values in its bucket, from the position of the search until the part
 * ends, the result is full or the step has done its work. `near` returns a bit mask for `width` candidates at
 * once. */
#define COMPARE(name, target, width, near)                                                                           \
    target static size_t name(pair_search *s, value_pair *pairs, size_t found, size_t room, int64_t *work)           \
    {                                                                                                                \
        const uint64_t *at = s->values + part_start(s);                                                              \
        const unsigned k = s->k;                                                                                     \
        size_t bucket = s->bucket, row = s->row, column = s->column;                                                 \
        for (; bucket < s->buckets; bucket++) {                                                                      \
            uint32_t end = s->bucket_ends[bucket];                                                                   \
            for (; row < end; row++, column = row + 1) {                                                             \
                uint64_t value = at[row];                                                                            \
                for (; column < end; column += width) {                                                              \
                    unsigned hits = near(at + column, value, k);                                                     \
                    if (hits) {                                                                                      \
                        if (end - column < width)                                                                    \
                            hits &= (1u << (end - column)) - 1;                                                      \
                        for (unsigned i = 0; hits >> i; i++)                                                         \
                            if (hits >> i & 1)                                                                       \
                                found = report(s, value, at[column + i], pairs, found);                              \
                        if (room - found < width) {                                                                  \
                            column += width;                                                                         \
                            goto out;                                                                                \
                        }                                                                                            \
                    }                                                                                                \
                }                                                                                                    \
                if ((*work -= (int64_t)(end - row)) < 0) {                                                           \
                    row++, column = row + 1;                                                                         \
                    goto out;                                                                                        \
                }                                                                                                    \
            }                                                                                                        \
        }                                                                                                            \
    out:                                                                                                             \
        s->bucket = bucket, s->row = row, s->column = column;                                                        \
        return found;                                                                                                \
    }

static inline unsigned near_portable(const uint64_t *at, uint64_t value, unsigned k)
{
    return ones(*at ^ value) <= k;
}

COMPARE(compare_portable, , 1, near_portable)

#ifdef X86

POPCNT static inline unsigned near_popcnt(const uint64_t *at, uint64_t value, unsigned k)
{
    return popcnt(*at ^ value) <= k;
}

AVX512 static inline unsigned near_avx512(const uint64_t *at, uint64_t value, unsigned k)
{
    __m512i x = _mm512_xor_si512(_mm512_loadu_si512(at), _mm512_set1_epi64((long long)value));
    return _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(x), _mm512_set1_epi64((long long)k));
}

COMPARE(compare_popcnt, POPCNT, 1, near_popcnt)
COMPARE(compare_avx512, AVX512, 8, near_avx512)

#endif

/* The variant for each level of scan.h. */
static size_t (*const COMPARES[])(pair_search *, value_pair *, size_t, size_t, int64_t *) = {
    compare_portable,
#ifdef X86
    compare_popcnt, compare_avx512,
#endif
};

size_t pairs_step(pair_search *s, value_pair *pairs, size_t room)
{
    size_t found = 0;
    int64_t work = STEP;
    if (!s->is_distinct)
        keep_distinct(s);
    while (s->table < s->tables && work > 0 && room - found >= WIDTH) {
        uint64_t mask = s->masks[s->table];
        if (!s->parts) {
            lay_out(s, mask);
            open_part(s, mask);
            work -= (int64_t)s->n;
        }
        found = COMPARES[scan_level()](s, pairs, found, room, &work);
        if (s->bucket < s->buckets)
            break;
        if (++s->part < s->parts)
            open_part(s, mask);
        else
            s->table++, s->parts = 0;
    }
    return found;
}

double pairs_done(const pair_search *s)
{
    if (s->table == s->tables)
        return 1;
    double of_table = s->parts && s->n ? (double)(part_start(s) + s->row) / (double)s->n : 0;
    return ((double)s->table + of_table) / (double)s->tables;
}
