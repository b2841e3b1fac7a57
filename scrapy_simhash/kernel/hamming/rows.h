/* What a store in memory keeps of a page and of a content: numbers side by side, and bytes in two long strings. */
#ifndef SIMHASH_ROWS_H
#define SIMHASH_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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
    uint32_t content, rank, joined;
    uint8_t key[KEY_BYTES];
} page_row;

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

#endif
