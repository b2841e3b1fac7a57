#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "scan.h"
#include "segment.h"

/* A segment is laid out anew when so few places in 32 are left, or no gap is near. */
#define TIGHT(room) ((room) - (room) / 32)
/* Compact entries leave out a key of 16 bits or more, all of it told by the bucket; the rest is 48 bits at most. */
#define LEAST_COMPACT 16
#define MOST_COMPACT 22

/* What of a bucket is scanned at once: as many hits are kept. */
#define SCANNED 512

/* --- Keys. */

static unsigned runs_of(uint64_t mask)
{
    return ones(mask & ~(mask << 1 | mask >> 63));
}

/* Fills the flips of up to `radius` of the `width` highest bits, fewest first; with NULL only counts them. */
static size_t fill_flips(uint64_t *flips, unsigned width, unsigned radius)
{
    size_t n = 0;
    for (unsigned bits = 0; bits <= radius && bits <= width; bits++) {
        uint64_t flip = bits == 64 ? ~0ull : (1ull << bits) - 1;
        for (;;) {
            if (flips != NULL)
                flips[n] = width == 0 ? flip : flip << (64 - width);
            n++;
            /* The next greater number with as many ones. */
            uint64_t lowest = flip & -flip, above = flip + lowest;
            if (flip == 0 || above == 0)
                break;
            flip = above | ((flip ^ above) >> 2) / lowest;
            if (width < 64 && flip >> width)
                break;
        }
    }
    return n;
}

bool table_init(table *self, uint64_t mask, unsigned radius, bool has_keys)
{
    memset(self, 0, sizeof *self);
    self->key_bits = (uint8_t)ones(mask);
    self->has_keys = has_keys;
    self->radius = (uint8_t)radius;
    if (mask != 0 && ~mask != 0 && runs_of(mask) == 1) {
        unsigned turn = 0;
        while (!(turned_left(mask, turn) >> 63) || turned_left(mask, turn) & 1)
            turn++;
        self->turn = (uint8_t)turn;
        self->has_compact = self->key_bits >= LEAST_COMPACT && self->key_bits <= MOST_COMPACT;
    }
    self->mask = turned_left(mask, self->turn);
    unsigned bits = self->key_bits < 32 ? self->key_bits : 32;
    self->most_bits = (uint8_t)(bits > SEGMENT_BITS ? bits - SEGMENT_BITS : 0);
    /* Only the keys of one block are probed around: their bits are the highest. */
    size_t n = fill_flips(NULL, self->key_bits, radius);
    self->flips = malloc(n * sizeof *self->flips);
    if (self->flips == NULL)
        return false;
    self->n_flips = (uint32_t)fill_flips(self->flips, self->key_bits, radius);
    return true;
}

void table_free(table *self)
{
    for (int i = 0; i < SEGMENTS; i++)
        segment_free(&self->segments[i]);
    free(self->flips);
    self->flips = NULL;
}

static inline segment *segment_of(const table *self, uint64_t hash)
{
    return (segment *)&self->segments[hash >> (64 - SEGMENT_BITS)];
}

/* --- Change. */

bool table_insert(table *self, uint64_t value, uint64_t key)
{
    uint64_t turned = turned_left(value, self->turn), hash = table_hash(self, turned);
    segment *in = segment_of(self, hash);
    for (;;) {
        if (in->n < TIGHT(in->room)) {
            uint32_t number = bucket_of(in, hash);
            bucket *mine = buckets_of(in) + number;
            if (mine->start + mine->count < end_of_room(in, number) || segment_make_gap(in, number)) {
                uint32_t at = mine->start + mine->count++;
                put_entry(in, at, in->tags != NULL ? rest_of(self, turned) : value);
                if (in->keys != NULL)
                    in->keys[at] = key;
                in->n++;
                return true;
            }
        }
        if (!segment_lay_out(self, in))
            return false;
    }
}

/* --- Search. */

place table_find(const table *self, uint64_t value)
{
    uint64_t turned = turned_left(value, self->turn), hash = table_hash(self, turned);
    segment *in = segment_of(self, hash);
    place none = {NULL, 0};
    if (in->block == NULL)
        return none;
    bucket mine = buckets_of(in)[bucket_of(in, hash)];
    uint64_t entry = in->tags != NULL ? rest_of(self, turned) : value;
    for (uint32_t at = mine.start; at < mine.start + mine.count; at++)
        if (entry_at(in, at) == entry)
            return (place){in, at};
    return none;
}

void table_remove(table *self, uint64_t value)
{
    place found = table_find(self, value);
    segment *in = found.in;
    if (in == NULL)
        return;
    bucket *mine = buckets_of(in) + bucket_of(in, table_hash(self, turned_left(value, self->turn)));
    move_entry(in, found.at, mine->start + --mine->count);
    in->n--;
}

static void probe_bucket(const table *self, uint64_t turned, uint64_t value, unsigned most, hit_function *hit,
                         void *of)
{
    uint64_t hash = table_hash(self, turned);
    segment *in = segment_of(self, hash);
    if (in->block == NULL)
        return;
    uint32_t number = bucket_of(in, hash), hits[SCANNED];
    bucket mine = buckets_of(in)[number];
    for (uint32_t from = mine.start, end = mine.start + mine.count; from < end; from += SCANNED) {
        uint32_t n = end - from < SCANNED ? end - from : SCANNED;
        size_t found;
        if (in->tags != NULL) {
            /* The bucket has told the key: what is left is the distance of the rest. */
            uint64_t rest = rest_of(self, turned);
            unsigned flipped = ones(turned ^ turned_left(value, self->turn));
            found = scan.tags(in->tags + from, in->rests + from, n, (uint32_t)rest, (uint16_t)(rest >> TAG_BITS),
                              most - flipped, hits);
        } else {
            found = scan.values(in->values + from, n, value, most, hits);
        }
        for (size_t i = 0; i < found; i++) {
            uint64_t stored = table_value(self, in, number, from + hits[i]);
            /* A bucket may serve several of the keys probed: only its own is told by this probe. */
            if (((turned_left(stored, self->turn) ^ turned) & self->mask) == 0)
                hit(of, stored, ones(stored ^ value), (place){in, from + hits[i]});
        }
    }
}

void table_probe(const table *self, uint64_t value, unsigned most, hit_function *hit, void *of)
{
    uint64_t turned = turned_left(value, self->turn);
    enum { AHEAD_BUCKETS = 12, AHEAD_ENTRIES = 6 };
    for (uint32_t i = 0; i < self->n_flips; i++) {
        if (i + AHEAD_BUCKETS < self->n_flips)
            table_prefetch_buckets(self, turned_left(turned ^ self->flips[i + AHEAD_BUCKETS], 64u - self->turn));
        if (i + AHEAD_ENTRIES < self->n_flips)
            table_prefetch_entries(self, turned_left(turned ^ self->flips[i + AHEAD_ENTRIES], 64u - self->turn));
        if (ones(self->flips[i]) <= most)
            probe_bucket(self, turned ^ self->flips[i], value, most, hit, of);
    }
}

void table_prefetch_buckets(const table *self, uint64_t value)
{
    uint64_t hash = table_hash(self, turned_left(value, self->turn));
    segment *in = segment_of(self, hash);
    if (in->block != NULL)
        PREFETCH(buckets_of(in) + bucket_of(in, hash));
}

void table_prefetch_entries(const table *self, uint64_t value)
{
    uint64_t hash = table_hash(self, turned_left(value, self->turn));
    segment *in = segment_of(self, hash);
    if (in->block == NULL)
        return;
    bucket mine = buckets_of(in)[bucket_of(in, hash)];
    const char *from = in->tags != NULL ? (const char *)(in->tags + mine.start) : (const char *)(in->values + mine.start);
    const char *end = from + mine.count * (in->tags != NULL ? sizeof *in->tags : sizeof *in->values);
    /* The system itself goes on with what is longer. */
    enum { LINE = 64, LINES = 8 };
    if (end - from > LINE * LINES)
        end = from + LINE * LINES;
    for (const char *line = from; line < end; line += LINE)
        PREFETCH(line);
    PREFETCH(end - 1);
    if (in->tags != NULL)
        PREFETCH(in->rests + mine.start + mine.count);
    if (in->keys != NULL)
        PREFETCH(in->keys + mine.start + mine.count);
}

/* --- Account. */

size_t table_bytes(const table *self)
{
    size_t bytes = sizeof *self + self->n_flips * sizeof *self->flips;
    for (int i = 0; i < SEGMENTS; i++)
        bytes += self->segments[i].bytes;
    return bytes;
}

const char *table_check(const table *self)
{
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        const segment *in = &self->segments[s];
        if (in->block == NULL) {
            if (in->n)
                return "an empty segment has entries";
            continue;
        }
        uint64_t n = 0;
        uint32_t end = 0;
        for (uint32_t number = 0; number < 1u << in->bits; number++) {
            bucket mine = buckets_of(in)[number];
            if (mine.start < end || mine.start + mine.count > in->room)
                return "buckets overlap";
            end = mine.start + mine.count;
            n += mine.count;
            for (uint32_t at = mine.start; at < end; at++) {
                uint64_t value = table_value(self, in, number, at);
                uint64_t hash = table_hash(self, turned_left(value, self->turn));
                if (hash >> (64 - SEGMENT_BITS) != s || bucket_of(in, hash) != number)
                    return "an entry is not in its bucket";
            }
        }
        if (n != in->n)
            return "a segment counts wrongly";
        if ((in->tags != NULL) != (self->has_compact && in->bits == self->most_bits))
            return "entries have the wrong form";
        if ((in->keys != NULL) != self->has_keys)
            return "keys are in the wrong table";
    }
    return NULL;
}
