/* XXH3, 64 bits, seed 0: the hash of every feature.
 *
 * The xxhash package that pure Python uses has no C interface, and hashing a word takes less time than a call to
 * Python. So the algorithm is implemented here from its specification (xxHash project, doc/xxhash_spec.md); a test
 * compares it with the package for every length. The code is scalar, because a shingle has about a dozen bytes.
 */
#ifndef SIMHASH_HASHING_H
#define SIMHASH_HASHING_H

#include "base.h"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

uint64_t xxh3_long(const uint8_t *data, size_t n);

/* The default secret of the specification, 192 bytes. */
extern const uint8_t XXH3_SECRET[192];

static inline uint32_t xxh3_read32(const uint8_t *data)
{
    return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

static inline uint64_t xxh3_swap64(uint64_t word)
{
    word = (word & 0x00ff00ff00ff00ffu) << 8 | (word >> 8 & 0x00ff00ff00ff00ffu);
    word = (word & 0x0000ffff0000ffffu) << 16 | (word >> 16 & 0x0000ffff0000ffffu);
    return word << 32 | word >> 32;
}

/* Returns the high and the low half of a 128-bit product, folded by xor. */
static inline uint64_t xxh3_mul_fold(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    uint64_t high, low = _umul128(a, b, &high);
    return low ^ high;
#else
    uint64_t ll = (a & 0xffffffffu) * (b & 0xffffffffu), hl = (a >> 32) * (b & 0xffffffffu);
    uint64_t lh = (a & 0xffffffffu) * (b >> 32), hh = (a >> 32) * (b >> 32);
    uint64_t middle = (ll >> 32) + (hl & 0xffffffffu) + lh;
    return ((middle << 32) | (ll & 0xffffffffu)) ^ ((hl >> 32) + (middle >> 32) + hh);
#endif
}

#define XXH_P32_1 0x9E3779B1u
#define XXH_P32_2 0x85EBCA77u
#define XXH_P32_3 0xC2B2AE3Du
#define XXH_P64_1 0x9E3779B185EBCA87u
#define XXH_P64_2 0xC2B2AE3D27D4EB4Fu
#define XXH_P64_3 0x165667B19E3779F9u
#define XXH_P64_4 0x85EBCA77C2B2AE63u
#define XXH_P64_5 0x27D4EB2F165667C5u

static inline uint64_t xxh3_avalanche(uint64_t h)
{
    h ^= h >> 37;
    h *= 0x165667919E3779F9u;
    return h ^ h >> 32;
}

static inline uint64_t xxh64_avalanche(uint64_t h)
{
    h ^= h >> 33;
    h *= XXH_P64_2;
    h ^= h >> 29;
    h *= XXH_P64_3;
    return h ^ h >> 32;
}

static inline uint64_t xxh3_mix16(const uint8_t *data, size_t secret)
{
    return xxh3_mul_fold(load8(data) ^ load8(XXH3_SECRET + secret),
                         load8(data + 8) ^ load8(XXH3_SECRET + secret + 8));
}

static inline uint64_t xxh3(const void *bytes, size_t n)
{
    const uint8_t *data = bytes;
    if (n > 32)
        return xxh3_long(data, n);
    if (n > 16) /* many pairs of words */
        return xxh3_avalanche(n * XXH_P64_1 + xxh3_mix16(data, 0) + xxh3_mix16(data + n - 16, 16));
    if (n > 8) {
        uint64_t low = load8(data) ^ (load8(XXH3_SECRET + 24) ^ load8(XXH3_SECRET + 32));
        uint64_t high = load8(data + n - 8) ^ (load8(XXH3_SECRET + 40) ^ load8(XXH3_SECRET + 48));
        return xxh3_avalanche(n + xxh3_swap64(low) + high + xxh3_mul_fold(low, high));
    }
    if (n >= 4) {
        uint64_t word = xxh3_read32(data + n - 4) + ((uint64_t)xxh3_read32(data) << 32);
        uint64_t h = word ^ (load8(XXH3_SECRET + 8) ^ load8(XXH3_SECRET + 16));
        h ^= (h << 49 | h >> 15) ^ (h << 24 | h >> 40);
        h *= 0x9FB21C651E98DF25u;
        h ^= (h >> 35) + n;
        h *= 0x9FB21C651E98DF25u;
        return h ^ h >> 28;
    }
    if (n > 0) {
        uint32_t word = (uint32_t)data[0] << 16 | (uint32_t)data[n >> 1] << 24 | data[n - 1] | (uint32_t)n << 8;
        uint64_t key = xxh3_read32(XXH3_SECRET) ^ xxh3_read32(XXH3_SECRET + 4);
        return xxh64_avalanche(word ^ key);
    }
    return xxh64_avalanche(load8(XXH3_SECRET + 56) ^ load8(XXH3_SECRET + 64));
}

/* --- Sets of words. */

/* A fixed set of words, each with 64 bits of properties: stopwords, tags, roles, class names. */

enum { FILTER_BITS = 4 }; /* per slot of the table */
enum { LENGTHS = 1 << 10 };

typedef struct {
    uint64_t hash;
    uint64_t value;  /* 0 for an empty slot */
    uint32_t offset; /* into bytes */
    uint32_t n;
} lexicon_entry;

typedef struct {
    lexicon_entry *entries;
    uint8_t *filter; /* a bit for each hash that may be present; small, because most words are in no list */
    uint32_t lengths[LENGTHS]; /* by first and last byte: bit n is set if a word has n bytes, bit 31 for 31 or more */
    size_t mask, n;
    VEC(char) bytes;
} lexicon;

/* Adds the bits of `value` to a word. */
outcome lexicon_add(lexicon *words, const char *word, size_t n, uint64_t value);
void lexicon_free(lexicon *words);

/* Returns the bits of a word, 0 if it is unknown. `hash` is its XXH3. */
static inline uint64_t lexicon_find_hashed(const lexicon *words, const char *word, size_t n, uint64_t hash)
{
    size_t bit = (size_t)(hash >> 32) & (FILTER_BITS * (words->mask + 1) - 1);
    if (!(words->filter[bit / 8] >> bit % 8 & 1))
        return 0;
    for (size_t i = (size_t)hash & words->mask;; i = (i + 1) & words->mask) {
        const lexicon_entry *entry = &words->entries[i];
        if (entry->value == 0)
            return 0;
        /* Different words of the same length, up to eight bytes, have different hashes. */
        if (entry->hash == hash && entry->n == n &&
            (n <= 8 || memcmp(words->bytes.at + entry->offset, word, n) == 0))
            return entry->value;
    }
}

/* The place in `lengths` of a word of n > 0 bytes, which does not depend on the case of ASCII letters. */
static inline size_t ends_of(const char *word, size_t n)
{
    return (size_t)((word[0] & 0x1f) << 5 | (word[n - 1] & 0x1f));
}

/* Returns false for most unknown words, in lower or upper case. */
static inline bool lexicon_may_have(const lexicon *words, const char *word, size_t n)
{
    return n > 0 && words->lengths[ends_of(word, n)] >> (n < 31 ? n : 31) & 1;
}

static inline uint64_t lexicon_find(const lexicon *words, const char *word, size_t n)
{
    if (!lexicon_may_have(words, word, n))
        return 0;
    return lexicon_find_hashed(words, word, n, xxh3(word, n));
}

#endif
