/* The tables of one plan: every fingerprint is in each of them, its key in the first. */
#ifndef SIMHASH_TABLES_H
#define SIMHASH_TABLES_H

#include "table.h"

/* A key of a plan: its bits, and how far from a query's it is probed. */
typedef struct {
    uint64_t mask;
    uint32_t radius;
} plan_key;

typedef struct {
    table *all;
    uint32_t n;
} tables;

/* Makes the empty tables of a plan. False without memory. */
bool tables_init(tables *self, const plan_key *keys, uint32_t n);
void tables_free(tables *self);
/* Frees one segment, and at last the tables: all at once takes the system a while. */
void tables_give_back(tables *self);

/* Adds a fingerprint that is not there. False without memory, and it is in none of them. */
bool tables_insert(tables *self, uint64_t value, uint64_t key);
/* Takes a fingerprint out that is there. */
void tables_remove(tables *self, uint64_t value);

size_t tables_count(const tables *self);
size_t tables_bytes(const tables *self);
/* Returns a line that says what is wrong, NULL if nothing is. For tests: reads everything. */
const char *tables_check(const tables *self);

#endif
