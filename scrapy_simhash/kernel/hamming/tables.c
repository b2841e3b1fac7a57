#include "tables.h"

#include <stdlib.h>

#include "segment.h"

void tables_free(tables *self)
{
    for (uint32_t i = 0; i < self->n; i++)
        table_free(&self->all[i]);
    free(self->all);
    *self = (tables){NULL, 0};
}

bool tables_init(tables *self, const plan_key *keys, uint32_t n)
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

bool tables_insert(tables *self, uint64_t value, uint64_t key)
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

void tables_remove(tables *self, uint64_t value)
{
    for (uint32_t i = 0; i < self->n; i++)
        table_remove(&self->all[i], value);
}

void tables_give_back(tables *self)
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

size_t tables_bytes(const tables *self)
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

size_t tables_count(const tables *self) { return self->n == 0 ? 0 : count_in(&self->all[0]); }

const char *tables_check(const tables *self)
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
