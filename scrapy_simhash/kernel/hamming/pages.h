/* Memory for the great arrays of a table: straight from the system, on huge pages where it has them.
 *
 * A segment is laid out anew whenever it has grown by a fifth or so, and every time into a block of another size. A
 * heap would keep the holes; pages that are given back are gone. Small blocks come from the heap, where they cost less.
 */
#ifndef SIMHASH_PAGES_H
#define SIMHASH_PAGES_H

#include <stddef.h>

/* Returns *bytes rounded up to what the block really has, and the block, aligned to 16 bytes; NULL without memory. */
void *pages_new(size_t *bytes);

/* Gives back a block of so many bytes, as pages_new() has rounded them. NULL is allowed. */
void pages_free(void *block, size_t bytes);

#endif
