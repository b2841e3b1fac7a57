#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE, madvise, sysconf */
#endif

#include "pages.h"

#include <stdint.h>
#include <stdlib.h>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(SIMHASH_TIGHT_ARRAYS)
#include <sys/mman.h>
#include <unistd.h>
#if defined(MAP_ANONYMOUS)
#define HAS_MAPS 1
#endif
#endif

/* From so many bytes on a block is mapped. Below, the heap is a tenth faster in all, since its pages are used again; the
 * holes it may keep are no more than some ten megabytes. */
#define MAPPED ((size_t)256 << 10)
#define HUGE_PAGE ((size_t)2 << 20)

#ifdef HAS_MAPS
/* Small blocks are filled at once: to ask for all their pages in one call is cheaper than to meet each for itself. Under
 * large ones it would be too early, before the system knows that they may be huge. */
#ifdef MAP_POPULATE
#define POPULATED(size) ((size) < HUGE_PAGE ? MAP_POPULATE : 0)
#else
#define POPULATED(size) 0
#endif

/* 4 KiB, or 16 or 64 on some arm64: what is given back must begin with a page, or stays. */
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

/* A block that begins where a huge page does: only whole ones are huge. The system may refuse them, at no loss. */
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
