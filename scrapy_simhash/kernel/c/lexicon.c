#include "lexicon.h"

enum { LEAST_PLACES = 64 };

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
    size_t places = former_places == 0 ? LEAST_PLACES : 2 * former_places;
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
    /* Half full at most. */
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
        words->lengths[(uint8_t)word[0]] |= (uint32_t)1 << (n < 31 ? n : 31);
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
