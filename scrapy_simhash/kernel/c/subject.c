/* What a page is about, where its title and its headings agree: the twin of page/text/subject.py. */
#include "page.h"

#define NONE 0xffffffffu

/* The characters of the two classes in the pattern that parts the name of a page from that of its site. */
static bool is_spaced_separator(uint32_t c)
{
    return c == '|' || c == '-' || c == 0x2013 || c == 0x2014 || c == 0xb7 || c == 0x2022 || c == ':' || c == 0xbb ||
           c == 0xab || c == '/';
}

static bool is_separator(uint32_t c)
{
    return c == '|' || c == 0x2013 || c == 0x2014 || c == 0xb7 || c == 0x2022 || c == 0xbb || c == 0xab ||
           c == 0xff1a || c == 0xff5c;
}

/* Returns the length in bytes of the separator at `at`, 0 for none. */
static size_t separator_at(const char *at, const char *end)
{
    unsigned length;
    uint32_t character = utf8_decode(at, end, &length);
    if (character == ' ') {
        const char *next = at + 1;
        while (next < end && is_spaced_separator(utf8_decode(next, end, &length)))
            next += length;
        return next > at + 1 && next < end && *next == ' ' ? (size_t)(next + 1 - at) : 0;
    }
    if (is_separator(character))
        return length;
    return character == ':' && at + 1 < end && at[1] == ' ' ? 2 : 0;
}

/* Leaves out digits and single letters in front, as long as something is left. */
static heading unnumbered(const page *p, heading h)
{
    while (h.n > 1) {
        const token_facts *first = &p->facts.at[p->run.at[h.run]];
        if (!first->is_decimal && !(first->length == 1 && first->is_ascii))
            break;
        h.run++;
        h.n--;
    }
    return h;
}

static heading tokens_of_title(page *p, const char *at, const char *end)
{
    heading h = {.run = (uint32_t)p->run.n, .block = NONE};
    /* The text may move: it stands in an array that words_of() does not grow. */
    h.n = words_of(p, at, (size_t)(end - at), p->title_is_ascii);
    return unnumbered(p, h);
}

static bool is_same(const page *p, heading a, heading b)
{
    return a.n == b.n && memcmp(p->run.at + a.run, p->run.at + b.run, a.n * sizeof *p->run.at) == 0;
}

static size_t place_of(const page *p, heading h)
{
    uint64_t hash = xxh3(p->run.at + h.run, h.n * sizeof *p->run.at);
    size_t i = (size_t)placed(p->rules, hash) & (p->heading_slots.n - 1);
    for (uint32_t slot; (slot = p->heading_slots.at[i]) != 0; i = (i + 1) & (p->heading_slots.n - 1))
        if (is_same(p, p->headings.at[slot - 1], h))
            break;
    return i;
}

static uint64_t level_of(const page *p, const block *b)
{
    const path_node *last = &p->paths.at[b->path];
    bool is_heading = last->n == 2 && last->name[0] == 'h' && last->name[1] >= '1' && last->name[1] <= '3';
    return is_heading ? (uint64_t)(last->name[1] - '0') : 0;
}

static void find_headings(page *p)
{
    p->headings.n = 0;
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (b->tokens > 0 && level_of(p, b) > 0)
            PUSH(&p->way_out, p->headings,
                 unnumbered(p, (heading){.run = b->run, .n = b->tokens, .block = (uint32_t)i}));
    }
    size_t places = 16;
    while (places < 2 * p->headings.n)
        places *= 2;
    p->heading_slots.n = 0;
    RESERVE(&p->way_out, p->heading_slots, places);
    p->heading_slots.n = places;
    memset(p->heading_slots.at, 0, places * sizeof *p->heading_slots.at);
    for (size_t i = 0; i < p->headings.n; i++) {
        size_t place = place_of(p, p->headings.at[i]);
        if (p->heading_slots.at[place] == 0)
            p->heading_slots.at[place] = (uint32_t)i + 1;
    }
}

static void choose(page *p, heading h) { p->subject = h; }

static bool title_has(page *p, const char *at, const char *end)
{
    heading part = tokens_of_title(p, at, end);
    if (part.n == 0 || p->heading_slots.at[place_of(p, part)] == 0)
        return false;
    choose(p, part);
    return true;
}

/* Compares two headings as tuples of strings are compared; negative, 0 or positive. */
static int compare(const page *p, heading a, heading b)
{
    for (uint32_t i = 0; i < a.n && i < b.n; i++) {
        const token *x = &p->tokens.at[p->run.at[a.run + i]], *y = &p->tokens.at[p->run.at[b.run + i]];
        int order = memcmp(token_text(p, x), token_text(p, y), x->n < y->n ? x->n : y->n);
        if (order != 0 || x->n != y->n)
            return order != 0 ? order : x->n < y->n ? -1 : 1;
    }
    return a.n == b.n ? 0 : a.n < b.n ? -1 : 1;
}

/* The longest heading of two words or more that the title holds. */
static bool choose_held(page *p, heading whole)
{
    p->inside.n = 0;
    RESERVE(&p->way_out, p->inside, p->tokens.n);
    memset(p->inside.at, 0, p->tokens.n);
    for (uint32_t i = 0; i < whole.n; i++)
        p->inside.at[p->run.at[whole.run + i]] = 1;
    bool found = false;
    heading best = {0};
    for (size_t i = 0; i < p->headings.n; i++) {
        const heading h = p->headings.at[i];
        bool held = h.n > 1;
        for (uint32_t k = 0; held && k < h.n; k++)
            held = p->inside.at[p->run.at[h.run + k]];
        if (held && (!found || h.n > best.n || (h.n == best.n && compare(p, h, best) > 0))) {
            best = h;
            found = true;
        }
    }
    if (found)
        choose(p, best);
    return found;
}

/* The first of the highest headings of the main text. */
static bool choose_own(page *p)
{
    uint64_t highest = 0;
    size_t last = p->blocks.n;
    while (last > 0 && !is_main(&p->blocks.at[last - 1]))
        last--;
    for (size_t i = 0; i < p->headings.n; i++) {
        /* What stands behind the text is no heading of it. */
        if (p->headings.at[i].block + 1 >= last)
            break;
        const block *b = &p->blocks.at[p->headings.at[i].block];
        uint64_t level = level_of(p, b);
        if (p->rules->unnamed_reasons >> b->reason & 1 || (highest != 0 && level >= highest) ||
            (double)b->link_length / (double)b->length >= p->rules->linked)
            continue;
        highest = level;
        choose(p, p->headings.at[i]);
    }
    return highest != 0;
}

/* Leaves the tokens of the subject in p->subject. On a page that makes an offer, the offer is the subject. */
void find_subject(page *p)
{
    p->subject = (heading){0};
    if (p->makes_offer)
        return;
    const char *title = p->text.at + p->title, *end = title + p->title_n, *start = title;
    find_headings(p);
    heading whole = tokens_of_title(p, title, end);
    if (p->headings.n > 0) {
        if (title_has(p, title, end))
            return;
        for (const char *at = title; at < end;) {
            size_t length = separator_at(at, end);
            if (length > 0) {
                if (title_has(p, start, at))
                    return;
                start = at + length;
                at = start;
                continue;
            }
            unsigned step;
            utf8_decode(at, end, &step);
            at += step;
        }
        if (title_has(p, start, end) || choose_held(p, whole) || choose_own(p))
            return;
    }
    choose(p, whole);
}
