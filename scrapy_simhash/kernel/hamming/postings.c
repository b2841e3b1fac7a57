#include "postings.h"

#include <stdlib.h>
#include <string.h>

#include "scan.h"

/* What every insert moves while the plan changes: it takes some microseconds, and ends long before the next change. */
#define MOVED 16
/* How far ahead of itself a batch asks the memory, first for buckets, then for what is in them. */
#define AHEAD_BUCKETS 8
#define AHEAD_ENTRIES 4
/* What of a row is scanned at once: as many hits are kept. */
#define SCANNED 512

/* --- The tables of a plan. */

static void tables_free(tables *self)
{
    for (uint32_t i = 0; i < self->n; i++)
        table_free(&self->all[i]);
    free(self->all);
    *self = (tables){NULL, 0};
}

/* Makes the empty tables of a plan. False without memory. */
static bool tables_init(tables *self, const plan_key *keys, uint32_t n)
{
    self->all = calloc(n, sizeof *self->all);
    if (self->all == NULL)
        return false;
    for (self->n = 0; self->n < n; self->n++) {
        if (!table_init(&self->all[self->n], keys[self->n].mask, keys[self->n].radius, self->n == 0)) {
            tables_free(self);
            return false;
        }
    }
    return true;
}

/* Adds a fingerprint that is not there. False without memory, and it is in none of them. */
static bool tables_insert(tables *self, uint64_t value, uint64_t key)
{
    for (uint32_t i = 0; i < self->n; i++) {
        if (!table_insert(&self->all[i], value, key)) {
            while (i > 0)
                table_remove(&self->all[--i], value);
            return false;
        }
    }
    return true;
}

static void tables_remove(tables *self, uint64_t value)
{
    for (uint32_t i = 0; i < self->n; i++)
        table_remove(&self->all[i], value);
}

/* Frees one segment, and at last the tables: all at once takes the system a while. */
static void tables_give_back(tables *self)
{
    table *last = &self->all[self->n - 1];
    for (int i = 0; i < SEGMENTS; i++) {
        if (last->segments[i].block != NULL) {
            segment_free(&last->segments[i]);
            return;
        }
    }
    table_free(last);
    if (--self->n == 0)
        tables_free(self);
}

static size_t tables_bytes(const tables *self)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < self->n; i++)
        bytes += table_bytes(&self->all[i]);
    return bytes;
}

static size_t count_in(const table *self)
{
    size_t n = 0;
    for (int i = 0; i < SEGMENTS; i++)
        n += self->segments[i].n;
    return n;
}

static size_t tables_count(const tables *self) { return self->n == 0 ? 0 : count_in(&self->all[0]); }

static const char *tables_check(const tables *self)
{
    for (uint32_t i = 0; i < self->n; i++) {
        const char *wrong = table_check(&self->all[i]);
        if (wrong != NULL)
            return wrong;
        if (count_in(&self->all[i]) != tables_count(self))
            return "a table of a plan lacks some";
    }
    return NULL;
}

/* --- The whole. */

void postings_init(postings *self, unsigned max_distance)
{
    memset(self, 0, sizeof *self);
    self->max_distance = max_distance;
    scan_init();
}

void postings_free(postings *self)
{
    tables_free(&self->now);
    tables_free(&self->next);
    tables_free(&self->old);
    free(self->row);
    free(self->row_keys);
    free(self->hits);
    memset(self, 0, sizeof *self);
}

/* --- The row. */

static bool row_insert(postings *self, uint64_t value, uint64_t key)
{
    if (self->n == self->row_room) {
        size_t room = self->row_room + self->row_room / 4 + 8;
        uint64_t *row = realloc(self->row, room * sizeof *row);
        if (row != NULL)
            self->row = row;
        uint64_t *keys = realloc(self->row_keys, room * sizeof *keys);
        if (keys != NULL)
            self->row_keys = keys;
        if (row == NULL || keys == NULL)
            return false;
        self->row_room = room;
    }
    self->row[self->n] = value;
    self->row_keys[self->n] = key;
    return true;
}

static size_t row_place(const postings *self, uint64_t value)
{
    size_t at = 0;
    while (at < self->n && self->row[at] != value)
        at++;
    return at;
}

/* --- From one plan to another. */

bool postings_is_moving(const postings *self) { return self->next.n != 0; }

static bool is_moved(const postings *self, uint64_t value)
{
    const table *first = &self->now.all[0];
    return postings_is_moving(self) && table_hash(first, turned_left(value, first->turn)) < self->moved_to;
}

bool postings_replan(postings *self, const plan_key *keys, uint32_t n)
{
    tables made;
    if (postings_is_moving(self) && !postings_move(self, SIZE_MAX))
        return false;
    tables_free(&self->old);
    if (!tables_init(&made, keys, n))
        return false;
    if (self->now.n != 0) {
        self->next = made;
        self->moved_to = 0;
        return true;
    }
    for (size_t i = 0; i < self->n; i++) {
        if (!tables_insert(&made, self->row[i], self->row_keys[i])) {
            tables_free(&made);
            return false;
        }
    }
    self->now = made;
    free(self->row);
    free(self->row_keys);
    self->row = self->row_keys = NULL;
    self->row_room = 0;
    return true;
}

bool postings_move(postings *self, size_t most)
{
    table *first = &self->now.all[0];
    size_t moved = 0;
    while (moved < most) {
        segment *in = &first->segments[self->moved_to >> (64 - SEGMENT_BITS)];
        uint32_t number = in->block == NULL ? 0 : bucket_of(in, self->moved_to);
        unsigned step = 64u - SEGMENT_BITS - in->bits;
        if (in->block != NULL) {
            bucket from = buckets_of(in)[number];
            for (uint32_t at = from.start; at < from.start + from.count; at++) {
                uint64_t value = table_value(first, in, number, at);
                if (!tables_insert(&self->next, value, in->keys[at])) {
                    /* The bucket is moved again, when there is memory, from its start. */
                    while (at-- > from.start)
                        tables_remove(&self->next, table_value(first, in, number, at));
                    return false;
                }
            }
            moved += from.count;
        }
        moved++;
        self->moved_to += 1ull << step;
        if (self->moved_to == 0) {
            self->old = self->now;
            self->now = self->next;
            self->next = (tables){NULL, 0};
            return true;
        }
    }
    return true;
}

/* --- Search. */

typedef struct {
    postings *of;
    uint64_t value;
    uint32_t table_number;
} search;

static void add_hit(postings *self, uint64_t value, uint64_t key, unsigned distance)
{
    if (self->n_hits == self->hits_room) {
        size_t room = 2 * self->hits_room + 16;
        hit *hits = realloc(self->hits, room * sizeof *hits);
        if (hits == NULL) {
            self->no_memory = true;
            return;
        }
        self->hits = hits;
        self->hits_room = room;
    }
    self->hits[self->n_hits++] = (hit){value, key, distance};
}

static void found(void *of, uint64_t value, unsigned distance, place at)
{
    const search *asked = of;
    postings *self = asked->of;
    /* What several tables find is taken from the first of them: no list of what has been found is needed. */
    for (uint32_t i = 0; i < asked->table_number; i++) {
        const table *earlier = &self->now.all[i];
        if (ones(turned_left(value ^ asked->value, earlier->turn) & earlier->mask) <= earlier->radius)
            return;
    }
    if (at.in->keys == NULL)
        at = table_find(&self->now.all[0], value);
    add_hit(self, value, at.in->keys[at.at], distance);
}

bool postings_find(postings *self, uint64_t value)
{
    self->n_hits = 0;
    self->no_memory = false;
    if (self->now.n == 0) {
        uint32_t hits[SCANNED];
        for (size_t from = 0; from < self->n; from += SCANNED) {
            size_t n = self->n - from < SCANNED ? self->n - from : SCANNED;
            size_t near = scan.values(self->row + from, n, value, self->max_distance, hits);
            for (size_t i = 0; i < near; i++) {
                uint64_t stored = self->row[from + hits[i]];
                add_hit(self, stored, self->row_keys[from + hits[i]], ones(stored ^ value));
            }
        }
        return !self->no_memory;
    }
    for (uint32_t i = 0; i < self->now.n; i++)
        table_prefetch_buckets(&self->now.all[i], value);
    for (uint32_t i = 0; i < self->now.n; i++)
        table_prefetch_entries(&self->now.all[i], value);
    for (uint32_t i = 0; i < self->now.n; i++) {
        search asked = {self, value, i};
        table_probe(&self->now.all[i], value, self->max_distance, found, &asked);
    }
    return !self->no_memory;
}

bool postings_key(const postings *self, uint64_t value, uint64_t *key)
{
    if (self->now.n == 0) {
        size_t at = row_place(self, value);
        if (at < self->n)
            *key = self->row_keys[at];
        return at < self->n;
    }
    place at = table_find(&self->now.all[0], value);
    if (at.in != NULL)
        *key = at.in->keys[at.at];
    return at.in != NULL;
}

/* --- Change. */

bool postings_insert(postings *self, uint64_t value, uint64_t key)
{
    if (self->now.n == 0) {
        if (!row_insert(self, value, key))
            return false;
        self->n++;
        return true;
    }
    bool has_moved = is_moved(self, value);
    if (has_moved && !tables_insert(&self->next, value, key))
        return false;
    if (!tables_insert(&self->now, value, key)) {
        if (has_moved)
            tables_remove(&self->next, value);
        return false;
    }
    self->n++;
    if (postings_is_moving(self))
        (void)postings_move(self, MOVED); /* without memory `now` goes on answering */
    else if (self->old.n != 0)
        tables_give_back(&self->old);
    return true;
}

void postings_set_key(postings *self, uint64_t value, uint64_t key)
{
    if (self->now.n == 0) {
        self->row_keys[row_place(self, value)] = key;
        return;
    }
    place at = table_find(&self->now.all[0], value);
    at.in->keys[at.at] = key;
    if (is_moved(self, value)) {
        at = table_find(&self->next.all[0], value);
        at.in->keys[at.at] = key;
    }
}

void postings_remove(postings *self, uint64_t value)
{
    self->n--;
    if (self->now.n == 0) {
        size_t at = row_place(self, value);
        self->row[at] = self->row[self->n];
        self->row_keys[at] = self->row_keys[self->n];
        return;
    }
    if (is_moved(self, value))
        tables_remove(&self->next, value);
    tables_remove(&self->now, value);
}

void postings_ask(const postings *self, uint64_t soon, uint64_t next)
{
    for (uint32_t t = 0; t < self->now.n; t++) {
        table_prefetch_buckets(&self->now.all[t], soon);
        table_prefetch_entries(&self->now.all[t], next);
    }
}

size_t postings_claim(postings *self, const uint64_t *values, const uint64_t *keys, uint64_t first, size_t n,
                      size_t limit, int64_t *nearest)
{
    size_t i = 0;
    for (; i < n && self->n < limit; i++) {
        if (i + AHEAD_BUCKETS < n)
            postings_ask(self, values[i + AHEAD_BUCKETS], values[i + AHEAD_ENTRIES]);
        if (!postings_find(self, values[i]))
            break;
        if (self->n_hits == 0) {
            if (!postings_insert(self, values[i], keys != NULL ? keys[i] : first + i))
                break;
            nearest[i] = -1;
            continue;
        }
        hit best = self->hits[0];
        best.key &= ~FURTHER;
        for (size_t h = 1; h < self->n_hits; h++) {
            hit other = self->hits[h];
            other.key &= ~FURTHER;
            if (other.distance < best.distance || (other.distance == best.distance && other.key < best.key))
                best = other;
        }
        nearest[i] = (int64_t)best.key;
    }
    return i;
}

/* --- Account. */

uint32_t postings_parts(const postings *self) { return self->now.n == 0 ? 1 : SEGMENTS; }

size_t postings_part_size(const postings *self, uint32_t part)
{
    return self->now.n == 0 ? self->n : self->now.all[0].segments[part].n;
}

void postings_read_part(const postings *self, uint32_t part, uint64_t *values, uint64_t *keys)
{
    if (self->now.n == 0) {
        if (self->n) {
            memcpy(values, self->row, self->n * sizeof *values);
            memcpy(keys, self->row_keys, self->n * sizeof *keys);
        }
        return;
    }
    const table *first = &self->now.all[0];
    const segment *in = &first->segments[part];
    size_t n = 0;
    for (uint32_t number = 0; in->block != NULL && number < 1u << in->bits; number++) {
        bucket from = buckets_of(in)[number];
        for (uint32_t at = from.start; at < from.start + from.count; at++) {
            values[n] = table_value(first, in, number, at);
            keys[n++] = in->keys[at];
        }
    }
}

size_t postings_bytes(const postings *self)
{
    const tables *const all[] = {&self->now, &self->next, &self->old};
    size_t bytes = sizeof *self + 2 * self->row_room * sizeof *self->row + self->hits_room * sizeof *self->hits;
    for (int i = 0; i < 3; i++)
        bytes += tables_bytes(all[i]);
    return bytes;
}

const char *postings_check(const postings *self)
{
    const char *wrong = tables_check(&self->now);
    if (wrong == NULL)
        wrong = tables_check(&self->next);
    if (wrong == NULL && self->now.n != 0 && tables_count(&self->now) != self->n)
        wrong = "the tables do not hold every fingerprint";
    return wrong;
}

/* --- Hits. */

static int compare_hits(const void *one, const void *other)
{
    const hit *a = one, *b = other;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

size_t hits_cut(hit *hits, size_t n, size_t most)
{
    /* What is farther than `most` others is left out before the rest is put in order. */
    size_t at[65] = {0}, within = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        at[hits[i].distance]++;
    unsigned farthest = 0;
    while (farthest < 64 && (within += at[farthest]) < most)
        farthest++;
    for (size_t i = 0; i < n; i++)
        if (hits[i].distance <= farthest)
            hits[kept++] = hits[i];
    if (kept > 1)
        qsort(hits, kept, sizeof *hits, compare_hits);
    return kept < most ? kept : most;
}
