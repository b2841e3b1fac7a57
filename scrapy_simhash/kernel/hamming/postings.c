#include "postings.h"

#include <stdlib.h>
#include <string.h>

#include "scan.h"

/* Number of postings that an insert moves from the row to the tables. With many tables, each takes a few
 * microseconds. */
#define MOVED 16
/* Max postings of a row per scan, which also limits the hits. */
#define SCANNED 512
/* Max hits whose memory is kept for the next search: 96 KiB. */
#define HITS_KEPT 4096

bool postings_init(postings *self, unsigned max_distance, const plan_key *plan, uint32_t n, size_t row_limit)
{
    memset(self, 0, sizeof *self);
    scan_init();
    self->max_distance = max_distance;
    self->row_limit = n == 0 ? SIZE_MAX : row_limit;
    self->is_row = true;
    self->n_tables = n;
    self->plan = malloc((n + 1) * sizeof *plan);
    if (self->plan == NULL)
        return false;
    if (n != 0)
        memcpy(self->plan, plan, n * sizeof *plan);
    return true;
}

static void tables_free(postings *self)
{
    for (uint32_t i = 0; self->tables != NULL && i < self->n_tables; i++)
        table_free(&self->tables[i]);
    free(self->tables);
    self->tables = NULL;
}

static void row_free(postings *self)
{
    free(self->row);
    free(self->row_keys);
    self->row = self->row_keys = NULL;
    self->row_room = 0;
}

void postings_free(postings *self)
{
    tables_free(self);
    row_free(self);
    free(self->plan);
    memset(self, 0, sizeof *self);
}

/* --- The tables. */

static bool tables_init(postings *self)
{
    self->tables = calloc(self->n_tables, sizeof *self->tables);
    for (uint32_t i = 0; self->tables != NULL && i < self->n_tables; i++)
        if (!table_init(&self->tables[i], self->plan[i].mask, self->plan[i].radius, i == 0))
            tables_free(self);
    return self->tables != NULL;
}

/* Finds a posting in the first table. */
static place tables_find(const postings *self, uint64_t value, uint64_t key)
{
    place at = table_find(&self->tables[0], value);
    while (at.in != NULL && at.in->keys[at.at] != key)
        at = table_find_next(&self->tables[0], value, at);
    return at;
}

/* Adds a posting that is not stored yet; `is_new` means that no other posting has its fingerprint. Returns false if
 * out of memory; then nothing is added. */
static bool tables_insert(postings *self, uint64_t value, uint64_t key, bool is_new)
{
    bool is_known = !is_new && table_find(&self->tables[0], value).in != NULL;
    if (!table_insert(&self->tables[0], value, key))
        return false;
    for (uint32_t i = 1; !is_known && i < self->n_tables; i++) {
        if (!table_insert(&self->tables[i], value, 0)) {
            while (i > 0)
                table_remove(&self->tables[--i], value);
            return false;
        }
    }
    return true;
}

static bool tables_remove(postings *self, uint64_t value, uint64_t key)
{
    place at = tables_find(self, value, key);
    if (at.in == NULL)
        return false;
    table_remove_at(&self->tables[0], value, at);
    if (table_find(&self->tables[0], value).in == NULL)
        for (uint32_t i = 1; i < self->n_tables; i++)
            table_remove(&self->tables[i], value);
    return true;
}

static void tables_ask(const postings *self, uint64_t value)
{
    for (uint32_t i = 0; i < self->n_tables; i++)
        table_prefetch_buckets(&self->tables[i], value);
    for (uint32_t i = 0; i < self->n_tables; i++)
        table_prefetch_entries(&self->tables[i], value);
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

static size_t row_find(const postings *self, uint64_t value, uint64_t key)
{
    size_t at = 0;
    while (at < self->n && (self->row[at] != value || self->row_keys[at] != key))
        at++;
    return at;
}

/* Moves some postings to the tables, which are not searched until they contain all postings. If out of memory, the row
 * stays in use. */
static void row_move(postings *self)
{
    if (self->tables == NULL && !tables_init(self))
        return;
    for (size_t end = self->moved + MOVED; self->moved < end && self->moved < self->n; self->moved++)
        if (!tables_insert(self, self->row[self->moved], self->row_keys[self->moved], false))
            return;
    if (self->moved == self->n) {
        self->is_row = false;
        row_free(self);
    }
}

/* Removes a posting. The order of a row is arbitrary, except that moved postings come first. */
static bool row_remove(postings *self, uint64_t value, uint64_t key)
{
    size_t at = row_find(self, value, key), last = self->n - 1;
    if (at == self->n)
        return false;
    if (at < self->moved) {
        tables_remove(self, value, key);
        self->moved--;
        self->row[at] = self->row[self->moved];
        self->row_keys[at] = self->row_keys[self->moved];
        at = self->moved;
    }
    self->row[at] = self->row[last];
    self->row_keys[at] = self->row_keys[last];
    return true;
}

/* --- Search. */

static bool add_hit(hits *found, uint64_t value, uint64_t key, unsigned distance)
{
    if (found->n == found->room) {
        size_t room = 2 * found->room + 16;
        hit *at = realloc(found->at, room * sizeof *at);
        if (at == NULL)
            return false;
        found->at = at;
        found->room = room;
    }
    found->at[found->n++] = (hit){value, key, distance};
    return true;
}

/* Adds the postings of the row within a distance to `found`. */
static bool row_search(const postings *self, uint64_t value, unsigned most, hits *found)
{
    uint32_t near[SCANNED];
    for (size_t from = 0; from < self->n; from += SCANNED) {
        size_t n = self->n - from < SCANNED ? self->n - from : SCANNED;
        size_t n_near = scan.values(self->row + from, n, value, most, near);
        for (size_t i = 0; i < n_near; i++) {
            uint64_t stored = self->row[from + near[i]];
            if (!add_hit(found, stored, self->row_keys[from + near[i]], ones(stored ^ value)))
                return false;
        }
    }
    return true;
}

typedef struct {
    const postings *of;
    hits *found;
    uint64_t value;
    uint32_t table_number;
    bool no_memory;
} search;

static void found(void *of, uint64_t value, unsigned distance, place at)
{
    search *asked = of;
    const table *tables = asked->of->tables;
    /* A posting that several tables find is taken from the first of these, so no list of found postings is needed. */
    for (uint32_t i = 0; i < asked->table_number; i++)
        if (ones(turned_left(value ^ asked->value, tables[i].turn) & tables[i].mask) <= tables[i].radius)
            return;
    if (asked->table_number == 0) {
        asked->no_memory |= !add_hit(asked->found, value, at.in->keys[at.at], distance);
        return;
    }
    for (at = table_find(&tables[0], value); at.in != NULL; at = table_find_next(&tables[0], value, at))
        asked->no_memory |= !add_hit(asked->found, value, at.in->keys[at.at], distance);
}

bool postings_find(const postings *self, uint64_t value, hits *to)
{
    if (self->is_row)
        return row_search(self, value, self->max_distance, to);
    tables_ask(self, value);
    search asked = {self, to, value, 0, false};
    for (; asked.table_number < self->n_tables; asked.table_number++)
        table_probe(&self->tables[asked.table_number], value, self->max_distance, found, &asked);
    return !asked.no_memory;
}

bool postings_of(const postings *self, uint64_t value, hits *to)
{
    if (self->is_row)
        return row_search(self, value, 0, to);
    place at = table_find(&self->tables[0], value);
    for (; at.in != NULL; at = table_find_next(&self->tables[0], value, at))
        if (!add_hit(to, value, at.in->keys[at.at], 0))
            return false;
    return true;
}

bool postings_has(const postings *self, uint64_t value, uint64_t key)
{
    return self->is_row ? row_find(self, value, key) < self->n : tables_find(self, value, key).in != NULL;
}

/* --- Change. */

bool postings_insert(postings *self, uint64_t value, uint64_t key, bool is_new)
{
    if (!(self->is_row ? row_insert(self, value, key) : tables_insert(self, value, key, is_new)))
        return false;
    self->n++;
    if (self->is_row && self->n >= self->row_limit)
        row_move(self);
    return true;
}

bool postings_remove(postings *self, uint64_t value, uint64_t key)
{
    bool is_removed = self->is_row ? row_remove(self, value, key) : tables_remove(self, value, key);
    self->n -= is_removed;
    return is_removed;
}

void postings_prefetch(const postings *self, uint64_t soon, uint64_t next)
{
    for (uint32_t i = 0; !self->is_row && i < self->n_tables; i++) {
        table_prefetch_buckets(&self->tables[i], soon);
        table_prefetch_entries(&self->tables[i], next);
    }
}

/* --- Contents, memory and invariants. */

void postings_read(const postings *self, uint64_t *values, uint64_t *keys)
{
    if (self->is_row) {
        if (self->n != 0) {
            memcpy(values, self->row, self->n * sizeof *values);
            memcpy(keys, self->row_keys, self->n * sizeof *keys);
        }
        return;
    }
    const table *first = &self->tables[0];
    size_t n = 0;
    for (int s = 0; s < SEGMENTS; s++) {
        const segment *in = &first->segments[s];
        for (uint32_t number = 0; in->block != NULL && number < 1u << in->bits; number++) {
            bucket from = buckets_of(in)[number];
            for (uint32_t at = from.start; at < from.start + from.count; at++) {
                values[n] = table_value(first, in, number, at);
                keys[n++] = in->keys[at];
            }
        }
    }
}

size_t postings_bytes(const postings *self)
{
    size_t bytes = sizeof *self + 2 * self->row_room * sizeof *self->row + self->n_tables * sizeof *self->plan;
    for (uint32_t i = 0; self->tables != NULL && i < self->n_tables; i++)
        bytes += table_bytes(&self->tables[i]);
    return bytes;
}

static size_t count_in(const table *self)
{
    size_t n = 0;
    for (int i = 0; i < SEGMENTS; i++)
        n += self->segments[i].n;
    return n;
}

const char *postings_check(const postings *self)
{
    for (uint32_t i = 0; self->tables != NULL && i < self->n_tables; i++) {
        const char *wrong = table_check(&self->tables[i]);
        if (wrong != NULL)
            return wrong;
        if (count_in(&self->tables[i]) > count_in(&self->tables[0]))
            return "a table has more than the first";
        if (i > 1 && count_in(&self->tables[i]) != count_in(&self->tables[1]))
            return "a table of a plan lacks some";
    }
    if (self->tables != NULL && count_in(&self->tables[0]) != (self->is_row ? self->moved : self->n))
        return "the first table does not hold every posting";
    return NULL;
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

void hits_cut(hits *self, size_t most)
{
    /* Hits that are farther away than `most` other hits are removed before the rest is sorted. */
    size_t at[65] = {0}, within = 0, kept = 0;
    for (size_t i = 0; i < self->n; i++)
        at[self->at[i].distance]++;
    unsigned farthest = 0;
    while (farthest < 64 && (within += at[farthest]) < most)
        farthest++;
    for (size_t i = 0; i < self->n; i++)
        if (self->at[i].distance <= farthest)
            self->at[kept++] = self->at[i];
    if (kept > 1)
        qsort(self->at, kept, sizeof *self->at, compare_hits);
    self->n = kept < most ? kept : most;
}

void hits_clear(hits *self)
{
    self->n = 0;
    if (self->room > HITS_KEPT) {
        free(self->at);
        *self = (hits){NULL, 0, 0};
    }
}
