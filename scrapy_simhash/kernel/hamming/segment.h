/* How the entries of one segment of a table lie: written, moved to make room, laid out anew. See table.h. */
#ifndef SIMHASH_SEGMENT_H
#define SIMHASH_SEGMENT_H

#include "table.h"

/* Of a compact entry, its lower bits. */
#define TAG_BITS 32

void segment_free(segment *self);

/* Lays a segment out anew in a block of its own, with room for more. False without memory, and nothing changed. */
bool segment_lay_out(table *self, segment *old);
/* Makes a place at the end of the bucket, handed over from the nearest gap. False if none is near. */
bool segment_make_gap(segment *in, uint32_t number);

static inline unsigned rest_bits(const table *self) { return 64 - self->key_bits; }
static inline uint64_t rest_of(const table *self, uint64_t turned) { return turned & (~0ull >> self->key_bits); }

static inline uint64_t entry_at(const segment *in, uint32_t at)
{
    return in->tags != NULL ? (uint64_t)in->rests[at] << TAG_BITS | in->tags[at] : in->values[at];
}

static inline void put_entry(segment *in, uint32_t at, uint64_t entry)
{
    if (in->tags != NULL) {
        in->tags[at] = (uint32_t)entry;
        in->rests[at] = (uint16_t)(entry >> TAG_BITS);
    } else {
        in->values[at] = entry;
    }
}

static inline void move_entry(segment *in, uint32_t to, uint32_t from)
{
    put_entry(in, to, entry_at(in, from));
    if (in->keys != NULL)
        in->keys[to] = in->keys[from];
}

static inline uint32_t end_of_room(const segment *in, uint32_t number)
{
    return number + 1 < 1u << in->bits ? buckets_of(in)[number + 1].start : in->room;
}

/* Reads the entry at a place, which lies in the bucket of this number. */
static inline uint64_t table_value(const table *self, const segment *in, uint32_t bucket_number, uint32_t at)
{
    if (in->tags == NULL)
        return in->values[at];
    /* The inverse of an odd number, by Newton: each step doubles the bits that are right, of which there are three. */
    uint64_t inverse = SCATTER;
    for (int step = 0; step < 5; step++)
        inverse *= 2 - SCATTER * inverse;
    uint64_t number = (uint64_t)(in - self->segments) << in->bits | bucket_number;
    uint64_t key = number * inverse << rest_bits(self);
    return turned_left(key | entry_at(in, at), 64u - self->turn);
}

#endif
