/* Which blocks read like sentences, and which are links: the twin of text/prose.py. */
#include "page.h"

uint64_t tag_of(const page *p, const block *b) { return p->paths.at[b->path].tag; }

bool ends_with_h1(const page *p, const block *b)
{
    const path_node *last = &p->paths.at[b->path];
    return last->depth > 1 && last->n == 2 && memcmp(last->name, "h1", 2) == 0;
}

bool is_link(const page *p, const block *b)
{
    return !ends_with_h1(p, b) && (double)b->link_length >= p->rules->linked * (double)b->length;
}

static bool has_sentence_mark(const page *p, const block *b)
{
    const char *at = p->text.at + b->text, *end = at + b->n;
    while (at < end) {
        unsigned length;
        uint32_t character = utf8_decode(at, end, &length);
        for (size_t i = 0; i < p->rules->n_sentence_marks; i++)
            if (p->rules->sentence_marks[i] == character)
                return true;
        at += length;
    }
    return false;
}

static bool is_prose(const page *p, const block *b)
{
    const rules *r = p->rules;
    if (b->tokens < r->prose_tokens || b->zone == ZONE_HEADING || is_link(p, b))
        return false;
    if (p->language >= 0)
        return b->density >= r->prose_density;
    return b->tokens >= r->long_tokens || has_sentence_mark(p, b);
}

/* Fills in density and is_prose, by the language of the whole page. */
void measure_prose(page *p)
{
    for (size_t i = 0; i < p->blocks.n; i++) {
        block *b = &p->blocks.at[i];
        if (p->language >= 0 && b->tokens > 0) {
            uint32_t known = 0;
            for (uint32_t k = 0; k < b->tokens; k++)
                known += p->facts.at[p->run.at[b->run + k]].lists >> p->language & 1;
            b->density = (double)known / (double)b->tokens;
        }
        b->is_prose = is_prose(p, b);
    }
}
