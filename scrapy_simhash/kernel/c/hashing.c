#include "hashing.h"

/* XXH3 with the secret of the xxHash specification, which its author, Yann Collet, publishes under the BSD 2-Clause
   license. */
const uint8_t XXH3_SECRET[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

enum { STRIPE = 64, LANES = 8, STRIPES_PER_BLOCK = 16 };

static void accumulate(uint64_t lanes[LANES], const uint8_t *data, size_t secret)
{
    for (size_t i = 0; i < LANES; i++) {
        uint64_t word = load8(data + 8 * i), key = word ^ load8(XXH3_SECRET + secret + 8 * i);
        lanes[i ^ 1] += word;
        lanes[i] += (key & 0xffffffffu) * (key >> 32);
    }
}

static uint64_t hash_stripes(const uint8_t *data, size_t n)
{
    uint64_t lanes[LANES] = {XXH_P32_3, XXH_P64_1, XXH_P64_2, XXH_P64_3, XXH_P64_4, XXH_P32_2, XXH_P64_5, XXH_P32_1};
    size_t stripes = (n - 1) / STRIPE;
    for (size_t i = 0; i < stripes; i++) {
        accumulate(lanes, data + i * STRIPE, 8 * (i % STRIPES_PER_BLOCK));
        if (i % STRIPES_PER_BLOCK == STRIPES_PER_BLOCK - 1)
            for (size_t lane = 0; lane < LANES; lane++) {
                uint64_t mixed = lanes[lane] ^ lanes[lane] >> 47 ^ load8(XXH3_SECRET + 128 + 8 * lane);
                lanes[lane] = mixed * XXH_P32_1;
            }
    }
    accumulate(lanes, data + n - STRIPE, 192 - STRIPE - 7);
    uint64_t h = n * XXH_P64_1;
    for (size_t i = 0; i < LANES; i += 2)
        h += xxh3_mul_fold(lanes[i] ^ load8(XXH3_SECRET + 11 + 8 * i),
                           lanes[i + 1] ^ load8(XXH3_SECRET + 11 + 8 * i + 8));
    return xxh3_avalanche(h);
}

/* For n > 32. */
uint64_t xxh3_long(const uint8_t *data, size_t n)
{
    if (n > 240)
        return hash_stripes(data, n);
    uint64_t h = n * XXH_P64_1;
    if (n <= 128) {
        for (size_t i = (n - 1) / 32 + 1; i-- > 0;) {
            h += xxh3_mix16(data + 16 * i, 32 * i);
            h += xxh3_mix16(data + n - 16 * (i + 1), 32 * i + 16);
        }
        return xxh3_avalanche(h);
    }
    for (size_t i = 0; i < 8; i++)
        h += xxh3_mix16(data + 16 * i, 16 * i);
    h = xxh3_avalanche(h);
    for (size_t i = 8; i < n / 16; i++)
        h += xxh3_mix16(data + 16 * i, 16 * (i - 8) + 3);
    h += xxh3_mix16(data + n - 16, 136 - 17);
    return xxh3_avalanche(h);
}

/* --- Sets of words. */

enum { MIN_PLACES = 64 };

static lexicon_entry *place_of(lexicon *words, const char *word, size_t n, uint64_t hash)
{
    size_t i = (size_t)hash & words->mask;
    while (words->entries[i].value != 0) {
        lexicon_entry *entry = &words->entries[i];
        if (entry->hash == hash && entry->n == n && memcmp(words->bytes.at + entry->offset, word, n) == 0)
            break;
        i = (i + 1) & words->mask;
    }
    return &words->entries[i];
}

static void put(lexicon *words, lexicon_entry entry)
{
    size_t bit = (size_t)(entry.hash >> 32) & (FILTER_BITS * (words->mask + 1) - 1);
    words->filter[bit / 8] |= (uint8_t)(1 << bit % 8);
    *place_of(words, words->bytes.at + entry.offset, entry.n, entry.hash) = entry;
}

static void grow(hatch *way_out, lexicon *words)
{
    size_t former_places = words->entries == NULL ? 0 : words->mask + 1;
    size_t places = former_places == 0 ? MIN_PLACES : 2 * former_places;
    lexicon_entry *former = words->entries, *entries = calloc(places, sizeof *entries);
    uint8_t *filter = calloc(FILTER_BITS * places / 8, 1);
    if (entries == NULL || filter == NULL) {
        free(entries);
        free(filter);
        escape(way_out, NO_MEMORY);
    }
    free(words->filter);
    words->entries = entries;
    words->filter = filter;
    words->mask = places - 1;
    for (size_t i = 0; i < former_places; i++)
        if (former[i].value != 0)
            put(words, former[i]);
    free(former);
}

static void add(hatch *way_out, lexicon *words, const char *word, size_t n, uint64_t value)
{
    /* The table is at most half full. */
    if (words->entries == NULL || 2 * (words->n + 1) > words->mask + 1)
        grow(way_out, words);
    RESERVE(way_out, words->bytes, n);
    uint64_t hash = xxh3(word, n);
    lexicon_entry entry = *place_of(words, word, n, hash);
    if (entry.value == 0) {
        entry = (lexicon_entry){.hash = hash, .offset = (uint32_t)words->bytes.n, .n = (uint32_t)n};
        memcpy(words->bytes.at + words->bytes.n, word, n);
        words->bytes.n += n;
        words->n++;
    }
    if (n > 0)
        words->lengths[ends_of(word, n)] |= (uint32_t)1 << (n < 31 ? n : 31);
    entry.value |= value;
    put(words, entry);
}

outcome lexicon_add(lexicon *words, const char *word, size_t n, uint64_t value)
{
    hatch way_out;
    int why = setjmp(way_out.exit);
    if (why != 0)
        return (outcome)why;
    add(&way_out, words, word, n, value);
    return DONE;
}

void lexicon_free(lexicon *words)
{
    free(words->entries);
    free(words->filter);
    free(words->bytes.at);
    memset(words, 0, sizeof *words);
}
