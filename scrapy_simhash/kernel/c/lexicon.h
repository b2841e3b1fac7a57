/* A fixed set of words, each with 64 bits of what is known about it: stopwords, tags, roles, class names. */
#ifndef SIMHASH_LEXICON_H
#define SIMHASH_LEXICON_H

#include "base.h"
#include "xxh3.h"

enum { FILTER_BITS = 4 }; /* for each place in the table */

typedef struct {
    uint64_t hash;
    uint64_t value;  /* never 0: 0 stands for an empty place */
    uint32_t offset; /* into bytes */
    uint32_t n;
} lexicon_entry;

typedef struct {
    lexicon_entry *entries;
    uint8_t *filter; /* a bit for each hash that may be in: most words are in no list, and this is a small table */
    uint32_t lengths[256]; /* by first byte: a bit for each length in bytes there is, 31 for that or more */
    size_t mask, n;
    VEC(char) bytes;
} lexicon;

/* Adds `value` to what is known about a word, by or. */
outcome lexicon_add(lexicon *words, const char *word, size_t n, uint64_t value);
void lexicon_free(lexicon *words);

/* Returns what is known about a word, 0 for nothing. `hash` is its XXH3. */
static inline uint64_t lexicon_find_hashed(const lexicon *words, const char *word, size_t n, uint64_t hash)
{
    size_t bit = (size_t)(hash >> 32) & (FILTER_BITS * (words->mask + 1) - 1);
    if (!(words->filter[bit / 8] >> bit % 8 & 1))
        return 0;
    for (size_t i = (size_t)hash & words->mask;; i = (i + 1) & words->mask) {
        const lexicon_entry *entry = &words->entries[i];
        if (entry->value == 0)
            return 0;
        /* Of eight bytes and fewer no two of one length have the same hash. */
        if (entry->hash == hash && entry->n == n &&
            (n <= 8 || memcmp(words->bytes.at + entry->offset, word, n) == 0))
            return entry->value;
    }
}

static inline uint64_t lexicon_find(const lexicon *words, const char *word, size_t n)
{
    if (n == 0 || !(words->lengths[(uint8_t)word[0]] >> (n < 31 ? n : 31) & 1))
        return 0;
    return lexicon_find_hashed(words, word, n, xxh3(word, n));
}

#endif
