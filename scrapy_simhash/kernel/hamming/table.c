#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE, madvise, sysconf */
#endif

#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "scan.h"

#if (defined(__unix__) || defined(__APPLE__)) && !defined(SIMHASH_TIGHT_ARRAYS)
#include <sys/mman.h>
#include <unistd.h>
#if defined(MAP_ANONYMOUS)
#define HAS_MAPS 1
#endif
#endif

/* --- Memory for large arrays: mapped from the system, on huge pages if supported.
 *
 * A segment is rebuilt whenever it has grown by about a fifth, each time in a block of a different size. A heap would
 * keep the holes, but unmapped pages are returned to the system. Small blocks come from the heap, where they cost
 * less.
 */

/* Min bytes of a block that is mapped. Below this size, the heap is a tenth faster in all, because it reuses pages;
 * its holes take about ten megabytes at most. */
#define MAPPED ((size_t)256 << 10)
#define HUGE_PAGE ((size_t)2 << 20)

#ifdef HAS_MAPS
/* Small blocks are populated at once, because one call for all pages is cheaper than a page fault for each. Large
 * blocks are not populated here, because madvise() must request huge pages first. */
#ifdef MAP_POPULATE
#define POPULATED(size) ((size) < HUGE_PAGE ? MAP_POPULATE : 0)
#else
#define POPULATED(size) 0
#endif

/* 4 KiB, or 16 or 64 KiB on some arm64 systems. A block to unmap must begin at a page. */
static size_t page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : (size_t)64 << 10;
}

static char *mapped(size_t size)
{
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | POPULATED(size), -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

/* Returns a block aligned to huge pages, because only whole huge pages are used. If the system refuses them, the
 * pages are normal. */
static char *mapped_huge(size_t size)
{
    char *more = mapped(size + HUGE_PAGE);
    if (more == NULL)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)more % HUGE_PAGE);
    if (before != 0)
        (void)munmap(more, before);
    (void)munmap(more + before + size, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    (void)madvise(more + before, size, MADV_HUGEPAGE);
#endif
    return more + before;
}
#endif

void *pages_new(size_t *bytes)
{
#ifdef HAS_MAPS
    if (*bytes >= MAPPED) {
        size_t page = page_size(), size = (*bytes + page - 1) / page * page;
        *bytes = size;
        return size < HUGE_PAGE ? mapped(size) : mapped_huge(size);
    }
#endif
    return malloc(*bytes);
}

void pages_free(void *block, size_t bytes)
{
#ifdef HAS_MAPS
    if (bytes >= MAPPED) {
        if (block != NULL)
            (void)munmap(block, bytes);
        return;
    }
#endif
    (void)bytes;
    free(block);
}

/* --- Entries. */

static inline uint64_t rest_of(const table *self, uint64_t turned) { return turned & (~0ull >> self->key_bits); }

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

/* --- Segments. */

/* The number of buckets doubles if they hold at least this many entries on average. */
#define LONG_BUCKET 16
/* Max buckets between an entry and a gap. */
#define GAP_REACH 96
/* A segment with fewer entries than this gets more room. */
#define SHORT_SEGMENT 4096
/* Max entries per segment. Twice as many still fit into 32 bits. */
#define MAX_ENTRIES 0x3fffffffu

void segment_free(segment *self)
{
    pages_free(self->block, self->bytes);
    memset(self, 0, sizeof *self);
}

static size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* Sets the pointers to the columns in the block; returns the bytes that the block needs. */
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

/* Returns the room of a rebuilt segment: about a fifth more than it needs, so that it is not full again soon.
 * Segments fill evenly, so the share differs by segment, from 3/32 to 9/32; otherwise all segments would be rebuilt
 * within a few inserts. Short segments, which are cheap, get twice as much. There is at least one free place per 32
 * buckets, so that a gap is near wherever the next entry goes. */
static uint32_t room_for(uint32_t n, unsigned bits, uint32_t number)
{
    uint64_t in_128 = (12 + number * 5 % 17 * 3 / 2) * (n < SHORT_SEGMENT ? 2 : 1);
    uint32_t share = (uint32_t)(n * in_128 / 128), least = (1u << bits) / 32;
    return n + (share > least ? share : least) + 4;
}

/* Rebuilds a segment in a new block with more room. Returns false if out of memory; then nothing is changed. */
static bool segment_lay_out(table *self, segment *old)
{
    if (old->n >= MAX_ENTRIES)
        return false;
    segment new = {.n = old->n, .bits = old->bits};
    while (new.bits < self->max_bits && new.n >> new.bits >= LONG_BUCKET)
        new.bits++;
    new.room = room_for(new.n, new.bits, (uint32_t)(old - self->segments));
    bool is_compact = old->tags != NULL || (self->has_compact && new.bits == self->max_bits);
    size_t entry = (is_compact ? sizeof *new.tags + sizeof *new.rests : sizeof *new.values) +
                   (self->has_keys ? sizeof *new.keys : 0);
    size_t wanted = new.bytes = lay_columns(&new, is_compact, self->has_keys);
    new.block = pages_new(&new.bytes);
    if (new.block == NULL)
        return false;
    new.room += (uint32_t)((new.bytes - wanted) / entry / 16 * 16); /* the rest of the last page, columns padded */
    lay_columns(&new, is_compact, self->has_keys);

    /* Copy bucket by bucket, in order: an old bucket becomes one new bucket, or several neighbouring ones. */
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

/* Moves the nearest gap to the end of the bucket. Returns false if no gap is near. */
static bool segment_make_gap(segment *in, uint32_t number)
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

/* A segment with this many entries, in which only one place in 32 is free, is rebuilt. A segment without a gap nearby
 * is also rebuilt. */
#define TIGHT(room) ((room) - (room) / 32)
/* Key bits of compact entries. The bucket determines the key, so entries leave it out; the rest is at most 48 bits. */
#define MIN_COMPACT 16
#define MAX_COMPACT 22

/* Max entries of a bucket per scan, which also limits the hits. */
#define SCANNED 512

/* --- Keys. */

static unsigned runs_of(uint64_t mask)
{
    return ones(mask & ~(mask << 1 | mask >> 63));
}

/* Writes the flips of up to `radius` of the `width` highest bits, with the fewest flipped bits first. With NULL, only
 * counts them. */
static size_t fill_flips(uint64_t *flips, unsigned width, unsigned radius)
{
    size_t n = 0;
    for (unsigned bits = 0; bits <= radius && bits <= width; bits++) {
        uint64_t flip = bits == 64 ? ~0ull : (1ull << bits) - 1;
        for (;;) {
            if (flips != NULL)
                flips[n] = width == 0 ? flip : flip << (64 - width);
            n++;
            /* Returns the next larger number with the same number of ones. */
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

/* A limit far above any plan, because each table keeps its flips in memory. */
#define MAX_FLIPS ((uint64_t)1 << 20)

bool table_is_possible(uint64_t mask, unsigned radius)
{
    unsigned width = ones(mask);
    uint64_t ways = 1, all = 1;
    if (radius > 0 && (radius > 64 || runs_of(mask) > 1))
        return false;
    for (unsigned bits = 1; bits <= radius && bits <= width && all <= MAX_FLIPS; bits++) {
        ways = ways * (width - bits + 1) / bits;
        all += ways;
    }
    return all <= MAX_FLIPS;
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
        self->has_compact = self->key_bits >= MIN_COMPACT && self->key_bits <= MAX_COMPACT;
    }
    self->mask = turned_left(mask, self->turn);
    unsigned bits = self->key_bits < 32 ? self->key_bits : 32;
    self->max_bits = (uint8_t)(bits > SEGMENT_BITS ? bits - SEGMENT_BITS : 0);
    /* Only keys of one block have a radius above 0; their bits are the highest. */
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

static place find_from(const table *self, segment *in, uint64_t value, uint32_t from)
{
    uint64_t turned = turned_left(value, self->turn);
    bucket mine = buckets_of(in)[bucket_of(in, table_hash(self, turned))];
    uint64_t entry = in->tags != NULL ? rest_of(self, turned) : value;
    for (uint32_t at = from > mine.start ? from : mine.start; at < mine.start + mine.count; at++)
        if (entry_at(in, at) == entry)
            return (place){in, at};
    return (place){NULL, 0};
}

place table_find(const table *self, uint64_t value)
{
    segment *in = segment_of(self, table_hash(self, turned_left(value, self->turn)));
    return in->block == NULL ? (place){NULL, 0} : find_from(self, in, value, 0);
}

place table_find_next(const table *self, uint64_t value, place after)
{
    return find_from(self, after.in, value, after.at + 1);
}

void table_remove_at(table *self, uint64_t value, place found)
{
    segment *in = found.in;
    bucket *mine = buckets_of(in) + bucket_of(in, table_hash(self, turned_left(value, self->turn)));
    move_entry(in, found.at, mine->start + --mine->count);
    in->n--;
}

void table_remove(table *self, uint64_t value)
{
    place found = table_find(self, value);
    if (found.in != NULL)
        table_remove_at(self, value, found);
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
            /* The bucket determines the key, so only the rest is compared. */
            uint64_t rest = rest_of(self, turned);
            unsigned flipped = ones(turned ^ turned_left(value, self->turn));
            found = scan.tags(in->tags + from, in->rests + from, n, (uint32_t)rest, (uint16_t)(rest >> TAG_BITS),
                              most - flipped, hits);
        } else {
            found = scan.values(in->values + from, n, value, most, hits);
        }
        for (size_t i = 0; i < found; i++) {
            uint64_t stored = table_value(self, in, number, from + hits[i]);
            /* A bucket may contain several of the probed keys: report only entries with the key of this probe. */
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
    /* The processor prefetches the rest of a longer bucket automatically. */
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

/* --- Memory and invariants. */

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
        if ((in->tags != NULL) != (self->has_compact && in->bits == self->max_bits))
            return "entries have the wrong form";
        if ((in->keys != NULL) != self->has_keys)
            return "keys are in the wrong table";
    }
    return NULL;
}
