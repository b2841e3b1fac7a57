#include "segment.h"

#include <string.h>

#include "pages.h"

/* A segment gets as many buckets again when they hold more than this on average. */
#define LONG_BUCKET 16
/* How far away a gap may be. */
#define GAP_REACH 96
/* A segment of fewer entries is laid out with more room. */
#define SHORT_SEGMENT 4096
/* Segments have fewer entries, so that twice as many still fit 32 bits. */
#define MOST_ENTRIES 0x3fffffffu

void segment_free(segment *self)
{
    pages_free(self->block, self->bytes);
    memset(self, 0, sizeof *self);
}

static size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* Points the columns into the block; returns the bytes that all of it takes. */
static size_t lay_columns(segment *in, bool is_compact, bool has_keys)
{
    char *block = in->block;
    size_t at = sizeof(bucket) << in->bits, room = in->room;
    in->values = NULL;
    in->tags = NULL;
    in->rests = NULL;
    in->keys = NULL;
    if (has_keys) {
        in->keys = block == NULL ? NULL : (uint64_t *)(block + at);
        at += padded(room * sizeof *in->keys);
    }
    if (is_compact) {
        in->tags = block == NULL ? NULL : (uint32_t *)(block + at);
        at += padded(room * sizeof *in->tags);
        in->rests = block == NULL ? NULL : (uint16_t *)(block + at);
        at += padded(room * sizeof *in->rests);
    } else {
        in->values = block == NULL ? NULL : (uint64_t *)(block + at);
        at += padded(room * sizeof *in->values);
    }
    return at;
}

/* The room to lay a segment out with: some fifth more than it needs, so that it is not tight at once. Segments fill
 * evenly, so each has a share of its own, three 32nds to nine, else all would be laid out anew within the same few
 * inserts; short ones have twice as much, as they are no burden. And a place for every 32 buckets at least, so that a
 * gap is near wherever the next entry comes. */
static uint32_t room_for(uint32_t n, unsigned bits, uint32_t number)
{
    uint64_t in_128 = (12 + number * 5 % 17 * 3 / 2) * (n < SHORT_SEGMENT ? 2 : 1);
    uint32_t share = (uint32_t)(n * in_128 / 128), least = (1u << bits) / 32;
    return n + (share > least ? share : least) + 4;
}

bool segment_lay_out(table *self, segment *old)
{
    if (old->n >= MOST_ENTRIES)
        return false;
    segment new = {.n = old->n, .bits = old->bits};
    while (new.bits < self->most_bits && new.n >> new.bits >= LONG_BUCKET)
        new.bits++;
    new.room = room_for(new.n, new.bits, (uint32_t)(old - self->segments));
    bool is_compact = old->tags != NULL || (self->has_compact && new.bits == self->most_bits);
    size_t entry = (is_compact ? sizeof *new.tags + sizeof *new.rests : sizeof *new.values) +
                   (self->has_keys ? sizeof *new.keys : 0);
    size_t wanted = new.bytes = lay_columns(&new, is_compact, self->has_keys);
    new.block = pages_new(&new.bytes);
    if (new.block == NULL)
        return false;
    new.room += (uint32_t)((new.bytes - wanted) / entry / 16 * 16); /* the rest of the last page, columns padded */
    lay_columns(&new, is_compact, self->has_keys);

    /* Bucket by bucket, in order: one of the old is the new one, or is cut into several neighbours. */
    unsigned finer = (unsigned)(new.bits - old->bits);
    uint32_t buckets = old->block == NULL ? 0 : 1u << old->bits;
    uint64_t spare = new.room - new.n, filled = 0;
    memset(new.block, 0, sizeof(bucket) << new.bits);
    bucket *to = buckets_of(&new);
    for (uint32_t number = 0; number < buckets; number++) {
        bucket from = buckets_of(old)[number];
        bucket *first = to + ((size_t)number << finer);
        if (finer == 0) {
            first->count = from.count;
        } else {
            for (uint32_t at = from.start; at < from.start + from.count; at++) {
                uint64_t hash = table_hash(self, turned_left(old->values[at], self->turn));
                to[bucket_of(&new, hash)].count++;
            }
        }
        for (size_t i = 0; i < (size_t)1 << finer; i++) {
            uint64_t before = ((uint64_t)number << finer) + i;
            first[i].start = (uint32_t)(filled + (spare * before >> new.bits));
            filled += first[i].count;
            first[i].count = finer == 0 ? first[i].count : 0;
        }
        if (finer == 0 && is_compact == (old->tags != NULL)) {
            if (is_compact) {
                memcpy(new.tags + first->start, old->tags + from.start, from.count * sizeof *new.tags);
                memcpy(new.rests + first->start, old->rests + from.start, from.count * sizeof *new.rests);
            } else {
                memcpy(new.values + first->start, old->values + from.start, from.count * sizeof *new.values);
            }
            if (new.keys != NULL)
                memcpy(new.keys + first->start, old->keys + from.start, from.count * sizeof *new.keys);
            continue;
        }
        first->count = finer == 0 ? 0 : first->count;
        for (uint32_t at = from.start; at < from.start + from.count; at++) {
            uint64_t turned = turned_left(old->values[at], self->turn);
            bucket *mine = to + bucket_of(&new, table_hash(self, turned));
            uint32_t end = mine->start + mine->count++;
            put_entry(&new, end, is_compact ? rest_of(self, turned) : old->values[at]);
            if (new.keys != NULL)
                new.keys[end] = old->keys[at];
        }
    }
    segment_free(old);
    *old = new;
    return true;
}

bool segment_make_gap(segment *in, uint32_t number)
{
    bucket *all = buckets_of(in);
    uint32_t buckets = 1u << in->bits;
    for (uint32_t step = 1; step <= GAP_REACH; step++) {
        uint32_t right = number + step;
        if (right < buckets && all[right].start + all[right].count < end_of_room(in, right)) {
            for (uint32_t i = right; i > number; i--) {
                if (all[i].count)
                    move_entry(in, all[i].start + all[i].count, all[i].start);
                all[i].start++;
            }
            return true;
        }
        if (step > number)
            continue;
        uint32_t left = number - step;
        if (all[left].start + all[left].count < all[left + 1].start) {
            for (uint32_t i = left + 1; i <= number; i++) {
                all[i].start--;
                if (all[i].count)
                    move_entry(in, all[i].start, all[i].start + all[i].count);
            }
            return true;
        }
    }
    return false;
}
