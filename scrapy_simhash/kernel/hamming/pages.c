#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE, madvise */
#endif

#include "pages.h"

#include <stdint.h>
#include <stdlib.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#if defined(MAP_ANONYMOUS)
#define HAS_MAPS 1
#endif
#endif

#define PAGE ((size_t)4 << 10)
/* From so many bytes on a block is mapped. Below, the heap is a tenth faster in all, since its pages are used again; the
 * holes it may keep are no more than some ten megabytes. */
#define MAPPED ((size_t)256 << 10)
#define HUGE_PAGE ((size_t)2 << 20)

#ifdef HAS_MAPS
/* Small blocks are filled at once: to ask for all their pages in one call is cheaper than to meet each for itself. Under
 * large ones it would be too early, before the system knows that they may be huge. */
#ifdef MAP_POPULATE
#define POPULATED(size) ((size) < 2 * HUGE_PAGE ? MAP_POPULATE : 0)
#else
#define POPULATED(size) 0
#endif

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
        size_t size = (*bytes + PAGE - 1) / PAGE * PAGE;
        *bytes = size;
        return size < 2 * HUGE_PAGE ? mapped(size) : mapped_huge(size);
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
