/* Memory that is short: in a build for fuzzing, the kernel's files ask here instead of the heap.
 *
 * One request in so many is refused, and up to seven after it, as it is when memory is short for a while. What is out
 * is counted, so that what is not given back shows. */
#include <stddef.h>
#include <stdint.h>

#undef malloc
#undef calloc
#undef realloc
#undef free
#include <stdlib.h>

#define SHOWN __attribute__((visibility("default")))

static uint64_t state;
static uint32_t one_in, refused;
static long blocks;

/* Refuses one request in so many from now on, none for 0. */
SHOWN void simhash_starve(uint32_t wanted, uint32_t seed)
{
    one_in = wanted;
    refused = 0;
    state = ((uint64_t)seed << 1 | 1) * 0x9E3779B97F4A7C15u;
}

/* Returns how many blocks are out. */
SHOWN long simhash_blocks(void) { return blocks; }

static int is_refused(void)
{
    if (one_in == 0)
        return 0;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (refused > 0) {
        refused--;
        return 1;
    }
    if ((state >> 32) % one_in != 0)
        return 0;
    refused = (uint32_t)(state >> 20 & 7);
    return 1;
}

void *simhash_malloc(size_t bytes)
{
    void *block = is_refused() ? NULL : malloc(bytes);
    blocks += block != NULL;
    return block;
}

void *simhash_calloc(size_t n, size_t bytes)
{
    void *block = is_refused() ? NULL : calloc(n, bytes);
    blocks += block != NULL;
    return block;
}

void *simhash_realloc(void *old, size_t bytes)
{
    void *block = is_refused() ? NULL : realloc(old, bytes);
    blocks += block != NULL && old == NULL;
    return block;
}

void simhash_free(void *block)
{
    blocks -= block != NULL;
    free(block);
}
