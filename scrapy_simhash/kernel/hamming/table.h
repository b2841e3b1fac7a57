/* One table: every fingerprint is in the bucket of its key, and buckets are side by side in segments.
 *
 *     hash of the key     | segment |  bucket  |  ...
 *                              6        grows
 *
 *     segment             [bucket 0: start, count][bucket 1]...            the directory
 *                         [e e e e . . | e e . | e e e e e . | ...]        the entries, with gaps
 *                         [k k k k . . | k k . | k k k k k . | ...]        first table only: the keys of the entries
 *
 * A new entry goes to the end of its bucket. If there is no gap, the nearest gap is moved there from bucket to bucket:
 * each bucket moves one entry from one end to the other, because the order within a bucket is arbitrary. A segment
 * that is nearly full is rebuilt separately, about a fifth larger, with more buckets if they have become long. So no
 * insert waits for more than a 64th of a table.
 *
 * The first table of an index has an entry for every posting, so a fingerprint with several keys has several entries;
 * any other table has each fingerprint once.
 *
 * An entry is the fingerprint, eight bytes. If the bucket determines the whole key, and the key is one block of at
 * least 16 bits, the other bits fit into six bytes: a tag of 32 bits, which is scanned, and 16 bits, which are read if
 * the tag is near.
 *
 * The hash is a multiplication by an odd number, which scatters similar keys. A key of one block, rotated to the top,
 * can be computed from its bucket.
 */
#ifndef SIMHASH_TABLE_H
#define SIMHASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_BITS 6
#define SEGMENTS (1 << SEGMENT_BITS)

/* 2^64 divided by the golden ratio. */
#define SCATTER 0x9E3779B97F4A7C15u

typedef struct {
    uint32_t start, count;
} bucket;

typedef struct {
    void *block;       /* the directory, then the columns; NULL if nothing has been stored */
    uint64_t *values;  /* the column of entries, unless compact */
    uint32_t *tags;    /* the two columns of entries, if compact */
    uint16_t *rests;
    uint64_t *keys;    /* NULL except in the first table */
    size_t bytes;
    uint32_t n, room;
    uint8_t bits;      /* 2^bits buckets */
} segment;

typedef struct {
    uint64_t mask;     /* the bits of the key, after the rotation */
    uint64_t *flips;   /* the bits to flip in a rotated fingerprint for each key to probe; the first is 0 */
    uint32_t n_flips;
    uint8_t turn;      /* a rotation to the left that moves a key of one block to the top */
    uint8_t key_bits;
    uint8_t max_bits; /* max `bits` per segment: more buckets would stay empty */
    uint8_t radius;    /* max distance of the keys that are probed */
    bool has_compact, has_keys;
    segment segments[SEGMENTS];
} table;

/* The place of an entry. */
typedef struct {
    segment *in;
    uint32_t at;
} place;

#if defined(__GNUC__)
#define PREFETCH(at) __builtin_prefetch(at)
#elif defined(_M_X64)
#include <intrin.h>
#define PREFETCH(at) _mm_prefetch((const char *)(at), _MM_HINT_T0)
#else
#define PREFETCH(at) ((void)(at))
#endif

static inline uint64_t turned_left(uint64_t value, unsigned by)
{
    return value << (by & 63) | value >> (-by & 63);
}

/* Allocates a block, aligned to 16 bytes, and rounds *bytes up to its size. Returns NULL if out of memory. */
void *pages_new(size_t *bytes);
/* Frees a block; `bytes` is its size as rounded by pages_new(). NULL is allowed. */
void pages_free(void *block, size_t bytes);

/* Whether a table of the bits `mask` can be probed within `radius`: a single block, at most a million probes. */
bool table_is_possible(uint64_t mask, unsigned radius);
/* Initialises an empty table with the key bits `mask`. Returns false if out of memory. */
bool table_init(table *self, uint64_t mask, unsigned radius, bool has_keys);
void table_free(table *self);
void segment_free(segment *self);

/* Adds an entry, with its key in the first table. Returns false if out of memory; the table is unchanged then. */
bool table_insert(table *self, uint64_t value, uint64_t key);
/* Finds an entry equal to `value`; in == NULL if there is none. */
place table_find(const table *self, uint64_t value);
/* Finds the next entry equal to `value`, after the place of an entry that was found. */
place table_find_next(const table *self, uint64_t value, place after);
/* Removes the entry of `value` at the place where it was found. */
void table_remove_at(table *self, uint64_t value, place found);
/* Removes an entry equal to `value`, if there is one. */
void table_remove(table *self, uint64_t value);

/* Calls `hit` once for every entry within `most` bits that the probes of this table find. */
typedef void hit_function(void *of, uint64_t value, unsigned distance, place at);
void table_probe(const table *self, uint64_t value, unsigned most, hit_function *hit, void *of);
/* Prefetch the memory that a probe of `value` reads: first the buckets, then the entries. */
void table_prefetch_buckets(const table *self, uint64_t value);
void table_prefetch_entries(const table *self, uint64_t value);

size_t table_bytes(const table *self);
/* Returns a message if an invariant is broken, else NULL. For tests; reads everything. */
const char *table_check(const table *self);

static inline uint64_t table_hash(const table *self, uint64_t turned) { return (turned & self->mask) * SCATTER; }

static inline uint32_t bucket_of(const segment *in, uint64_t hash)
{
    return (uint32_t)(hash << SEGMENT_BITS >> 32 >> (32 - in->bits));
}

static inline bucket *buckets_of(const segment *in) { return (bucket *)in->block; }

/* Bits of the tag, the lower bits of a compact entry. */
#define TAG_BITS 32

static inline unsigned rest_bits(const table *self) { return 64 - self->key_bits; }

static inline uint64_t entry_at(const segment *in, uint32_t at)
{
    return in->tags != NULL ? (uint64_t)in->rests[at] << TAG_BITS | in->tags[at] : in->values[at];
}

/* Returns the fingerprint at a place in the bucket with this number. */
static inline uint64_t table_value(const table *self, const segment *in, uint32_t bucket_number, uint32_t at)
{
    if (in->tags == NULL)
        return in->values[at];
    /* The inverse of an odd number by Newton's method: three bits are correct at first, and each step doubles them. */
    uint64_t inverse = SCATTER;
    for (int step = 0; step < 5; step++)
        inverse *= 2 - SCATTER * inverse;
    uint64_t number = (uint64_t)(in - self->segments) << in->bits | bucket_number;
    uint64_t key = number * inverse << rest_bits(self);
    return turned_left(key | entry_at(in, at), 64u - self->turn);
}

#endif
