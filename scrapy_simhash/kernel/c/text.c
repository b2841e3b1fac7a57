/* All that a page says, to be compared as it is: the twin of page/features/text.py and page/text/compared.py. */
#include "page.h"

bool says_something(const page *p)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < p->blocks.n; i++)
        tokens += is_main(&p->blocks.at[i]) ? p->blocks.at[i].tokens : 0;
    return (int64_t)tokens >= p->rules->least_tokens;
}

/* Tells whether two blocks stand in elements of the same path. */
static bool are_beside(const page *p, const block *a, const block *b)
{
    uint32_t one = p->paths.at[a->path].parent, other = p->paths.at[b->path].parent;
    while (one != other) {
        const path_node *x = &p->paths.at[one], *y = &p->paths.at[other];
        if (x->depth != y->depth || x->n != y->n || memcmp(x->name, y->name, x->n) != 0)
            return false;
        one = x->parent;
        other = y->parent;
    }
    return true;
}

/* Tells whether a text has a time to the second. */
static bool has_time(const char *text, size_t n)
{
    static const char FORM[] = "0:00:00";
    for (size_t i = 0; i + sizeof FORM - 1 <= n; i++) {
        size_t k = 0;
        while (k < sizeof FORM - 1 && (FORM[k] == ':' ? text[i + k] == ':' : (uint8_t)(text[i + k] - '0') < 10))
            k++;
        if (k == sizeof FORM - 1)
            return true;
    }
    return false;
}

/* Tells whether a block behind the main text, which begins and ends with these two, may be its last one. */
static bool may_be_last(const page *p, const block *b, const block *first, const block *last)
{
    if (b->zone == ZONE_HEADING || (double)b->link_length / (double)b->length >= p->rules->linked ||
        has_time(p->text.at + b->text, b->n))
        return false;
    return p->paths.at[b->path].tag & TAG_ENTRY || are_beside(p, b, first) || are_beside(p, b, last);
}

static void append(page *p, uint32_t text, uint32_t n, char end)
{
    RESERVE(&p->way_out, p->joined, n + 1);
    memcpy(p->joined.at + p->joined.n, p->text.at + text, n);
    p->joined.n += n;
    p->joined.at[p->joined.n++] = end;
}

uint64_t hash_text(page *p)
{
    size_t first = 0, last = p->blocks.n - 1;
    while (!is_main(&p->blocks.at[first]))
        first++;
    while (!is_main(&p->blocks.at[last]))
        last--;
    p->joined.n = 0;
    append(p, p->title, p->title_n, '\n');
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (is_main(b) ||
            (b->reason == p->rules->edge &&
             (p->columns.is_h1[i] || (i > last && may_be_last(p, b, &p->blocks.at[first], &p->blocks.at[last])))))
            append(p, b->text, b->n, ' ');
    }
    return xxh3(p->joined.at, p->joined.n - 1);
}
