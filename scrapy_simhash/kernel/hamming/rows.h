/* What a store in memory keeps of a page and of a content: numbers side by side, and bytes in two long strings. */
#ifndef SIMHASH_ROWS_H
#define SIMHASH_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* Keys of this length are kept in the row: a request fingerprint of Scrapy. */
#define KEY_BYTES 20
/* Numbers of sites, from 0; a URL of any other is kept with its host. */
#define NO_SITE 0xffffffu

/* Beside `is_known`: the hash of the text that the page has now. */
typedef struct {
    uint64_t text_hash;
    int64_t seen;
    uint64_t url : 40, site : 24;                    /* where the URL begins, after its host */
    uint64_t print : 48, length : 15, is_known : 1;  /* the fingerprint; as its content's if `length` is 0 */
    uint32_t content, rank, copies;                  /* of those that joined its cluster, 0 if nobody did */
    uint8_t key[KEY_BYTES];
} page_row;

/* Pages of a cluster with which one is compared that is not near its content: FIRST_COPIES in store/candidates.py. */
#define FIRST_COPIES 2

typedef struct {
    uint32_t joined;              /* how many have joined the cluster */
    uint32_t first[FIRST_COPIES]; /* those that did so first, plus one; they may have left */
} copies_row;

typedef struct {
    uint64_t print;
    uint32_t page, scope;
    uint32_t head; /* of a content that its page has no more; 0 as long as it is in the row of the page */
    uint16_t length;
    bool is_short;
} content_row;

/* What a content came with, beside its fingerprint. */
typedef struct {
    uint64_t text_hash;
    int64_t seen;
    bool is_known;
} head_row;

/* A growing array. */
typedef struct {
    char *at;
    size_t n, room;
} column;

/* Makes room for so many more items of a size. False without memory, and nothing changed. */
static inline bool column_reserve(column *self, size_t more, size_t size)
{
    if (more <= self->room - self->n)
        return true;
    size_t room = self->n + more, slack = room / 16 + 8;
    if (room < more || room > SIZE_MAX / size / 2)
        return false;
    char *at = realloc(self->at, (room + slack) * size);
    if (at == NULL)
        return false;
    self->at = at;
    self->room = room + slack;
    return true;
}

/* Which page has a key: numbers of rows, plus one, at a place that follows from the key or, where that is taken, in the
 * next free one. Four bytes a page and room for half as many; a segment at a time is laid out anew. */
typedef struct {
    uint32_t *at, n, room;
} key_segment;

typedef struct {
    key_segment segments[SEGMENTS];
} key_set;

static inline uint64_t key_hash(const uint8_t *key)
{
    uint64_t parts[3] = {0}, hash = 0;
    memcpy(parts, key, KEY_BYTES);
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ parts[i]) * SCATTER;
        hash ^= hash >> 32;
    }
    return hash * SCATTER;
}

static inline uint32_t key_place(const key_segment *in, uint64_t hash)
{
    return (uint32_t)((hash & UINT32_MAX) * in->room >> 32);
}

static inline uint32_t key_after(const key_segment *in, uint32_t place) { return place + 1 < in->room ? place + 1 : 0; }

/* Finds the place of a key, or a free one where it would be. There must be room. */
static inline uint32_t key_seek(const key_segment *in, const page_row *rows, const uint8_t *key, uint64_t hash)
{
    uint32_t place = key_place(in, hash);
    while (in->at[place] != 0 && memcmp(rows[in->at[place] - 1].key, key, KEY_BYTES) != 0)
        place = key_after(in, place);
    return place;
}

/* Returns the number of the page with a key, plus one; 0 if there is none. */
static inline uint32_t keys_find(const key_set *self, const page_row *rows, const uint8_t *key)
{
    uint64_t hash = key_hash(key);
    const key_segment *in = &self->segments[hash >> (64 - SEGMENT_BITS)];
    return in->room == 0 ? 0 : in->at[key_seek(in, rows, key, hash)];
}

/* Adds a page whose key is not there. False without memory, and nothing changed. */
static inline bool keys_add(key_set *self, const page_row *rows, const uint8_t *key, uint32_t number)
{
    uint64_t hash = key_hash(key);
    key_segment *in = &self->segments[hash >> (64 - SEGMENT_BITS)];
    if (in->n >= in->room / 4 * 3) {
        key_segment more = {NULL, in->n, in->room + in->room / 2 + 4};
        more.at = calloc(more.room, sizeof *more.at);
        if (more.at == NULL)
            return false;
        for (uint32_t i = 0; i < in->room; i++)
            if (in->at[i] != 0) {
                const uint8_t *its = rows[in->at[i] - 1].key;
                more.at[key_seek(&more, rows, its, key_hash(its))] = in->at[i];
            }
        free(in->at);
        *in = more;
    }
    in->at[key_seek(in, rows, key, hash)] = number + 1;
    in->n++;
    return true;
}

/* Takes a page out that is there; those that were moved on for its sake come back. */
static inline void keys_remove(key_set *self, const page_row *rows, const uint8_t *key)
{
    uint64_t hash = key_hash(key);
    key_segment *in = &self->segments[hash >> (64 - SEGMENT_BITS)];
    uint32_t gap = key_seek(in, rows, key, hash);
    for (uint32_t i = key_after(in, gap); in->at[i] != 0; i = key_after(in, i)) {
        uint32_t home = key_place(in, key_hash(rows[in->at[i] - 1].key));
        if (gap <= i ? home <= gap || home > i : home <= gap && home > i) {
            in->at[gap] = in->at[i];
            gap = i;
        }
    }
    in->at[gap] = 0;
    in->n--;
}

static inline void keys_free(key_set *self)
{
    for (int i = 0; i < SEGMENTS; i++)
        free(self->segments[i].at);
}

#endif
