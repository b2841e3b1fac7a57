#include "base.h"

/* Returns `at` moved to where there is room for `need` elements; at least doubles, so that pushing is O(1). */
void *grown(hatch *way_out, void *at, size_t *room, size_t need, size_t element)
{
    size_t wanted = *room < 32 ? 64 : 2 * *room;
#ifdef SIMHASH_TIGHT_ARRAYS /* for a build that looks for reads beyond the end */
    wanted = need;
#endif
    if (wanted < need)
        wanted = need;
    if (need > MOST_ELEMENTS)
        escape(way_out, NOT_COVERED);
    if (wanted > MOST_ELEMENTS)
        wanted = MOST_ELEMENTS;
    if (wanted > SIZE_MAX / element)
        escape(way_out, NO_MEMORY);
    void *moved = realloc(at, wanted * element);
    if (moved == NULL)
        escape(way_out, NO_MEMORY);
    *room = wanted;
    return moved;
}
