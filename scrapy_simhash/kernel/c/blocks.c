/* Columns for the filters of page/text/main_text.py, then the title key and the hashes of the page: the C version of
 * page/text/columns.py, title_key.py, compared() and whole_text(). */
#include "page.h"

/* Max digits of the first number in a block of consecutive numbers. */
enum { MAX_DIGITS = 6 };

/* Returns the level of a heading: the character after the last "/h" of its path; without one, the first character of
   the path. */
static int32_t rank_of(const page *p, const block *b)
{
    unsigned length;
    bool is_last = true;
    const path_node *node = &p->paths.at[b->path];
    for (; node->depth > 1; node = &p->paths.at[node->parent], is_last = false)
        if (node->name[0] == 'h') {
            if (node->n > 1)
                return (int32_t)utf8_decode(node->name + 1, node->name + node->n, &length);
            return is_last ? 0 : '/';
        }
    return node->depth == 1 ? (int32_t)utf8_decode(node->name, node->name + node->n, &length) : 0;
}

static bool is_h1(const path_node *last) { return last->depth > 1 && last->n == 2 && memcmp(last->name, "h1", 2) == 0; }

static int32_t count_stopwords(const page *p, const block *b)
{
    uint32_t known = 0;
    for (uint32_t k = 0; k < b->tokens; k++)
        known += p->facts.at[p->run.at[b->run + k]].lists >> p->language & 1;
    return (int32_t)known;
}

/* Finds the second smallest span that contains each block. */
static void find_containers(page *p, int32_t *containers)
{
    size_t opened = 0;
    p->rows.n = 0; /* the open spans */
    for (size_t i = 0; i < p->blocks.n; i++) {
        while (p->rows.n > 0 && p->spans.at[p->rows.at[p->rows.n - 1]].stop <= (int32_t)i)
            p->rows.n--;
        for (; opened < p->spans.n && p->spans.at[opened].start == (int32_t)i; opened++)
            PUSH(&p->way_out, p->rows, (uint32_t)opened);
        containers[i] = p->rows.n > 1 ? (int32_t)p->rows.at[p->rows.n - 2] : -1;
    }
}

void make_columns(page *p)
{
    const size_t n = p->blocks.n;
    p->numbers.n = 0;
    RESERVE(&p->way_out, p->numbers, COLUMNS * n + 1);
    columns *c = &p->columns;
    int32_t **const all[] = {&c->lengths, &c->link_lengths, &c->tokens, &c->stopwords, &c->is_heading, &c->is_h1,
                             &c->is_paragraph, &c->is_cell, &c->is_pictured, &c->ranks, &c->containers, &c->is_link, &c->is_prose, &c->is_offer, &c->is_inside,
                             &c->reasons, &c->marks, &c->places, &c->sums};
    _Static_assert(sizeof all / sizeof *all == COLUMNS, "every column has its place");
    for (size_t i = 0; i < COLUMNS; i++)
        *all[i] = p->numbers.at + i * n;
    memset(c->is_link, 0, 5 * n * sizeof *c->is_link); /* this and the next four are set by the filters */
    for (size_t i = 0; i < n; i++) {
        const block *b = &p->blocks.at[i];
        const path_node *last = &p->paths.at[b->path];
        c->lengths[i] = (int32_t)b->length;
        c->link_lengths[i] = (int32_t)b->link_length;
        c->tokens[i] = (int32_t)b->tokens;
        c->stopwords[i] = p->language >= 0 ? count_stopwords(p, b) : 0;
        c->is_heading[i] = b->zone == ZONE_HEADING;
        c->is_h1[i] = is_h1(last);
        c->is_paragraph[i] = (last->tag & TAG_PARAGRAPH) != 0;
        c->is_cell[i] = (last->tag & TAG_CELL) != 0;
        c->is_pictured[i] = b->is_pictured;
        c->ranks[i] = c->is_heading[i] ? rank_of(p, b) : 0;
        c->reasons[i] = b->is_hidden ? p->rules->hidden : KEPT;
    }
    find_containers(p, c->containers);
}

void take_columns(page *p)
{
    const columns *c = &p->columns;
    p->makes_offer = false;
    for (size_t i = 0; i < p->blocks.n; i++) {
        block *b = &p->blocks.at[i];
        b->reason = (uint8_t)c->reasons[i];
        b->in_article = c->is_inside[i] != 0;
        if (b->is_hidden && is_main(b)) {
            b->run = (uint32_t)p->run.n;
            b->tokens = words_of(p, p->text.at + b->text, b->n, b->is_ascii);
        }
        if (c->is_offer[i]) {
            b->zone = ZONE_OFFER;
            p->makes_offer = true;
        }
    }
}

bool ends_in_letter(page *p, const block *b)
{
    const char *end = p->text.at + b->text + b->n, *at = end - 1;
    unsigned length;
    while (utf8_is_tail((unsigned char)*at))
        at--;
    return char_classes(&p->way_out, &p->rules->chars, utf8_decode(at, end, &length)) & CHAR_WORD;
}

bool is_entry(const page *p, const block *b) { return p->paths.at[b->path].tag & TAG_ENTRY; }

/* Most blocks have no digit, and therefore neither a date nor a price. */
static bool has_ascii_digit(const char *text, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        if (digit_bytes(load8(text + i)) != 0)
            return true;
    while (i < n && !is_ascii_digit(text[i]))
        i++;
    return i < n;
}

/* Returns the number of digits at `at`; 5 for five or more. */
static size_t digits_at(const char *at, const char *end)
{
    size_t n = 0;
    while (n < 5 && at + n < end && at[n] >= '0' && at[n] <= '9')
        n++;
    return n;
}

bool has_date(const page *p, const block *b)
{
    const char *at = p->text.at + b->text, *end = at + b->n;
    if (!has_ascii_digit(at, b->n))
        return false;
    for (bool inside = false; at < end; at++) {
        size_t n = inside ? 0 : digits_at(at, end);
        inside = *at >= '0' && *at <= '9';
        if (n == 4 && (memcmp(at, "19", 2) == 0 || memcmp(at, "20", 2) == 0))
            return true;
        if ((n == 1 || n == 2) && at + n < end && at[n] == ':' && digits_at(at + n + 1, end) == 2)
            return true;
    }
    return false;
}

static bool is_sentence_mark(const page *p, uint32_t character)
{
    for (size_t i = 0; i < p->rules->n_sentence_marks; i++)
        if (p->rules->sentence_marks[i] == character)
            return true;
    return false;
}

bool has_sentence_mark(const page *p, const block *b)
{
    const char *at = p->text.at + b->text, *end = at + b->n;
    while (at < end) {
        unsigned length;
        if (is_sentence_mark(p, utf8_decode(at, end, &length)))
            return true;
        at += length;
    }
    return false;
}

bool ends_with_sentence_mark(const page *p, const block *b)
{
    const char *start = p->text.at + b->text, *end = start + b->n, *at = end - 1;
    while (at > start && ((uint8_t)*at & 0xC0) == 0x80)
        at--;
    unsigned length;
    return is_sentence_mark(p, utf8_decode(at, end, &length));
}

bool counts_up(const page *p, const block *b)
{
    const char *at = p->text.at + b->text, *end = at + b->n;
    for (uint32_t before = 0;;) {
        uint32_t number = 0, digits = 0;
        for (; at < end && *at >= '0' && *at <= '9' && digits < 8; at++, digits++)
            number = 10 * number + (uint32_t)(*at - '0');
        bool is_first = before == 0;
        if (is_first ? number == 0 || digits > MAX_DIGITS || *(p->text.at + b->text) == '0' : number != before + 1)
            return false;
        if (at == end)
            return true;
        if (*at++ != ' ' || at == end || *at == '0')
            return false;
        before = number;
    }
}

static bool begins_currency(const rules *r, uint32_t first, uint32_t second)
{
    if (first < 0x80 && !(r->currency_starts[first / 64] >> first % 64 & 1))
        return false;
    for (size_t i = 0; i < r->n_currencies; i++)
        if (r->currencies[i][0] == first && (r->currencies[i][1] == 0 || r->currencies[i][1] == second))
            return true;
    return false;
}

/* Returns whether an amount is directly followed by the first two characters of a currency, or a digit follows a
 * currency sign, or a capital letter, which may end a code. Python matches the pattern of a price only in this case. */
bool may_have_price(page *p, const block *b)
{
    const char *at = p->text.at + b->text, *end = at + b->n;
    bool amount = false, former_amount = false; /* whether an amount ends here, or at `former` */
    uint32_t former = 0, beside = 0;            /* the last character, and the last character except spaces */
    if (b->is_ascii && !has_ascii_digit(at, b->n))
        return false;
    while (at < end) {
        unsigned length;
        uint32_t character = utf8_decode(at, end, &length);
        at += length;
        if (former_amount && begins_currency(p->rules, former, character))
            return true;
        bool digit = (character >= '0' && character <= '9') ||
                     (character >= 0x80 && char_classes(&p->way_out, &p->rules->chars, character) & CHAR_DECIMAL);
        if (digit && ((beside >= 'A' && beside <= 'Z') || begins_currency(p->rules, beside, 0)))
            return true;
        former_amount = amount;
        amount = digit || (amount && (character == ' ' || character == '.' || character == ',' || character == '\'' ||
                                      character == 0x2019));
        former = character;
        beside = character == ' ' ? beside : character;
    }
    return former_amount && begins_currency(p->rules, former, 0);
}

/* --- The title key: the C version of page/text/title_key.py. */


#define NONE 0xffffffffu

/* The two character classes in the pattern for separators between the name of the page and that of the site. */
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
size_t separator_at(const char *at, const char *end)
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

/* Returns the number of tokens of a leading chapter number: two for "4.2. " and "D.5 ", 0 for none. */
static uint32_t numbering(const char *at, const char *end)
{
    bool is_letter = at < end && is_ascii_letter(*at);
    uint32_t parts = is_letter || (at < end && is_ascii_digit(*at)) ? 1 : 0;
    for (at += is_letter; !is_letter && at < end && is_ascii_digit(*at); at++)
        continue;
    while (parts > 0 && at + 1 < end && *at == '.' && is_ascii_digit(at[1])) {
        for (at++; at < end && is_ascii_digit(*at); at++)
            continue;
        parts++;
    }
    bool is_closed = at < end && (*at == '.' || *at == ')');
    at += is_closed;
    return parts > 1 && (is_closed || is_letter) && at < end && *at == ' ' ? parts : 0;
}

/* Removes a leading chapter number, unless nothing else is left. */
heading unnumbered(heading h, const char *at, const char *end)
{
    uint32_t parts = numbering(at, end);
    return parts < h.n ? (heading){.run = h.run + parts, .n = h.n - parts, .block = h.block} : h;
}

static heading tokens_of_title(page *p, const char *at, const char *end)
{
    heading h = {.run = (uint32_t)p->run.n, .block = NONE};
    /* words_of() does not grow the array of this text, so `at` stays valid. */
    h.n = words_of(p, at, (size_t)(end - at), p->title_is_ascii);
    return unnumbered(h, at, end);
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

/* Lists the headings that may be the title key, or all headings. */
static void find_headings(page *p, bool all)
{
    p->headings.n = 0;
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (b->tokens > 0 && level_of(p, b) > 0 && (all || !(p->rules->unnamed_reasons >> b->reason & 1)))
            PUSH(&p->way_out, p->headings,
                 unnumbered((heading){.run = b->run, .n = b->tokens, .block = (uint32_t)i}, p->text.at + b->text,
                            p->text.at + b->text + b->n));
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

static void choose(page *p, heading h) { p->title_key = h; }

static bool title_has(page *p, const char *at, const char *end)
{
    heading part = tokens_of_title(p, at, end);
    if (part.n == 0 || p->heading_slots.at[place_of(p, part)] == 0)
        return false;
    choose(p, part);
    return true;
}

/* Compares two headings like tuples of strings; returns a negative number, 0 or a positive number. */
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

/* Chooses the longest heading of two words or more that the title contains. */
static bool choose_contained(page *p, heading whole)
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

/* Chooses the first of the highest headings before the end of the main text. */
static bool choose_highest(page *p)
{
    uint64_t highest = 0;
    size_t last = p->blocks.n;
    while (last > 0 && !is_main(&p->blocks.at[last - 1]))
        last--;
    for (size_t i = 0; i < p->headings.n; i++) {
        /* Headings after the main text do not count. */
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

/* Chooses the common part of headings and title. */
static bool choose_agreed(page *p, heading whole)
{
    const char *title = p->text.at + p->title, *end = title + p->title_n, *start = title;
    if (p->headings.n == 0)
        return false;
    if (title_has(p, title, end))
        return true;
    for (const char *at = title; at < end;) {
        size_t length = separator_at(at, end);
        if (length > 0) {
            if (title_has(p, start, at))
                return true;
            start = at + length;
            at = start;
            continue;
        }
        unsigned step;
        utf8_decode(at, end, &step);
        at += step;
    }
    return title_has(p, start, end) || choose_contained(p, whole);
}

/* Sets p->title_key to the tokens of the title key. */
void find_title_key(page *p)
{
    p->title_key = (heading){0};
    const char *title = p->text.at + p->title;
    heading whole = tokens_of_title(p, title, title + p->title_n);
    find_headings(p, false);
    if (choose_agreed(p, whole))
        return;
    /* Headings in the template name the site, so use them only if no other heading agrees with the title. */
    size_t before = p->headings.n;
    find_headings(p, true);
    if ((p->headings.n > before && choose_agreed(p, whole)) || choose_highest(p))
        return;
    choose(p, whole);
}

/* --- Hashes of the page: the C version of whole_text() and compared(). */


/* Counts the tokens of the main text, of dialogs, and all tokens. */
void weigh_main_text(page *p)
{
    p->main_tokens = p->dialog_tokens = p->all_tokens = 0;
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        p->main_tokens += is_main(b) ? b->tokens : 0;
        p->all_tokens += b->tokens;
        p->dialog_tokens += b->reason == p->rules->dialog ? b->tokens : 0;
    }
}

bool has_little_text(const page *p)
{
    int64_t beside = 0;
    for (size_t i = 0; i < p->blocks.n; i++)
        beside += is_main(&p->blocks.at[i]) ? 0 : p->blocks.at[i].tokens;
    return p->main_tokens < p->rules->min_beside && p->main_tokens < beside;
}

bool are_beside(const page *p, const block *a, const block *b)
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

/* Whether a text contains a time with seconds. */
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

static bool is_steady(const page *p, const block *b)
{
    return (double)b->link_length / (double)b->length < p->rules->linked && !has_time(p->text.at + b->text, b->n);
}

static bool is_named(const path_node *node, const char *name)
{
    return node->depth > 0 && node->n == strlen(name) && memcmp(node->name, name, node->n) == 0;
}

/* Whether a block is in an element with a name. */
bool is_inside(const page *p, const block *b, const char *name)
{
    const path_node *node = &p->paths.at[b->path];
    for (; node->depth > 0; node = &p->paths.at[node->parent])
        if (is_named(node, name))
            return true;
    return false;
}

static bool is_unread(const page *p, const block *b) { return p->rules->unread_reasons >> b->reason & 1; }

/* Whether a block is a cell, a term, a caption or an address. */
static bool states(const page *p, const block *b)
{
    const path_node *last = &p->paths.at[b->path];
    return (is_entry(p, b) && !is_named(last, "li")) || is_named(last, "address") || is_named(last, "figcaption");
}

/* Whether a block is a line with a date and other words, including a rotating word. A stopword counts as a rotating
 * word only at the beginning. */
bool is_byline(const page *p, const block *b)
{
    uint32_t words = 0;
    bool rotates = false;
    for (uint32_t k = 0; k < b->tokens; k++) {
        const token_facts *facts = &p->facts.at[p->run.at[b->run + k]];
        const bool is_stopword = p->language >= 0 && facts->lists >> p->language & 1;
        words += !facts->is_decimal;
        rotates |= facts->lists >> ROTATING_BIT & 1 && (k == 0 || !is_stopword);
    }
    return words > p->rules->max_words_of_date && rotates && has_date(p, b);
}

/* Whether a block before the end of the main text, but outside it, is a line of the article. */
static bool may_state(const page *p, const block *b, bool is_below_title)
{
    if (!b->in_article || is_unread(p, b))
        return false;
    if (states(p, b))
        return is_steady(p, b);
    if (b->reason == p->rules->chrome && (!is_below_title || b->link_length > 0 || is_inside(p, b, "noscript")))
        return false;
    return !is_byline(p, b) && is_steady(p, b);
}

/* Whether a block after the main text, which is from `first` to `last`, belongs to it or has facts of the article. */
static bool may_be_last(page *p, size_t i, const block *first, const block *last)
{
    const block *b = &p->blocks.at[i];
    if (b->zone == ZONE_HEADING || is_unread(p, b))
        return false;
    if (b->in_article && (states(p, b) || is_inside(p, b, "details")))
        return is_steady(p, b);
    if (b->reason == p->rules->edge && (is_entry(p, b) || are_beside(p, b, first) || are_beside(p, b, last)))
        return is_steady(p, b);
    if (!b->in_article || b->reason == p->rules->chrome)
        return false;
    words label, value;
    read_row(p, i, &label, &value);
    bool is_item = label.n > 0;
    for (uint32_t k = 0; k < label.n; k++)
        is_item &= !(p->facts.at[p->run.at[label.run + k]].lists >> ROTATING_BIT & 1);
    return (is_item || is_entry(p, b)) && !is_byline(p, b) && is_steady(p, b);
}

static void append(page *p, uint32_t text, uint32_t n, char end)
{
    RESERVE(&p->way_out, p->joined, n + 1);
    memcpy(p->joined.at + p->joined.n, p->text.at + text, n);
    p->joined.n += n;
    p->joined.at[p->joined.n++] = end;
}

size_t title_of(const page *p)
{
    size_t title = 0;
    while (title < p->blocks.n && !(p->columns.is_h1[title] && p->blocks.at[title].reason != p->rules->hidden))
        title++;
    return title;
}

/* --- Boxes beside the article: boxes() of page/features/extract.py and what it calls, with the same limits. */

static bool is_beside_article(const page *p, const block *b)
{
    return (b->reason == p->rules->outside || b->reason == p->rules->edge || b->reason == p->rules->links) &&
           !b->in_article;
}

static bool is_long(const page *p, const block *b)
{
    return b->zone != ZONE_HEADING && b->tokens >= p->rules->prose_tokens;
}

/* Sets in_box for the blocks of the boxes beside the article. */
static void find_boxes(page *p)
{
    size_t start = 0, links = 0;
    bool has_sentence = false;
    for (size_t i = 0; i <= p->blocks.n; i++) {
        if (i < p->blocks.n && is_beside_article(p, &p->blocks.at[i])) {
            links += p->blocks.at[i].link_length > 0;
            has_sentence |= is_long(p, &p->blocks.at[i]);
            continue;
        }
        if (i - start <= p->rules->max_in_box && 3 * links <= i - start && !has_sentence)
            for (size_t k = start; k < i; k++)
                p->blocks.at[k].in_box = true;
        start = i + 1;
        links = 0;
        has_sentence = false;
    }
}

static bool has_copyright_sign(const page *p, const block *b)
{
    const char *text = p->text.at + b->text;
    for (size_t i = 0; !b->is_ascii && i + 1 < b->n; i++)
        if (memcmp(text + i, "\xc2\xa9", 2) == 0)
            return true;
    return false;
}

/* Whether a block after the main text is a line of the article without a link or a count, or its heading. */
static bool may_follow(const page *p, const block *b)
{
    bool has_number = false;
    if ((b->reason != p->rules->outside && b->reason != p->rules->edge) || !b->in_article ||
        (b->zone == ZONE_HEADING && b->tokens > LONGEST_LABEL) || is_long(p, b) || b->link_length > 0)
        return false;
    for (uint32_t k = 0; k < b->tokens; k++) {
        const token_facts *facts = &p->facts.at[p->run.at[b->run + k]];
        if (facts->lists >> ROTATING_BIT & 1)
            return false;
        has_number |= facts->is_decimal;
    }
    return !has_number || has_date(p, b);
}

/* Whether a block of a box, or directly after the main text, counts; a cell counts only with a label. */
static bool is_stated(page *p, size_t i)
{
    const block *b = &p->blocks.at[i];
    if (b->link_length > 0 || has_copyright_sign(p, b))
        return false;
    const path_node *tag = &p->paths.at[b->path];
    if (is_named(tag, "td") || is_named(tag, "th")) {
        words label, value;
        read_row(p, i, &label, &value);
        if (label.n == 0)
            return false;
    }
    return !is_byline(p, b) && is_steady(p, b);
}

/* Whether a block is a date directly above the title, with a year or a time, or as in "5 Mar". */
bool is_date_above(const page *p, size_t i, size_t title)
{
    const block *b = &p->blocks.at[i];
    uint32_t days = 0;
    if (i + p->rules->max_above < title || i >= title || title == p->blocks.n || b->zone == ZONE_HEADING ||
        is_unread(p, b) || b->link_length > 0 || b->tokens > p->rules->max_words_of_date + 4 ||
        has_copyright_sign(p, b) || is_inside(p, b, "nav") || is_inside(p, b, "footer"))
        return false;
    for (uint32_t k = 0; k < b->tokens; k++) {
        const token_facts *facts = &p->facts.at[p->run.at[b->run + k]];
        if (facts->lists >> ROTATING_BIT & 1)
            return false;
        days += facts->is_decimal && facts->length <= 2;
    }
    return has_date(p, b) || (b->tokens == 2 && days == 1);
}

bool is_line_above(const page *p, size_t i, size_t title)
{
    const block *b = &p->blocks.at[i];
    if (!b->in_article || i + p->rules->max_above < title || i >= title || title >= p->blocks.n ||
        b->tokens > LONGEST_VALUE)
        return false;
    for (uint32_t k = 0; k < b->tokens; k++)
        if (p->facts.at[p->run.at[b->run + k]].is_decimal)
            return false;
    return true;
}

bool is_link_at_title(const page *p, size_t i, size_t title, size_t first)
{
    const block *b = &p->blocks.at[i];
    const size_t reach = p->rules->max_above;
    const bool is_above = i < title && i + reach >= title, is_below = title < i && i <= title + reach && i < first;
    if (!(is_above || is_below) || !b->in_article || title >= p->blocks.n || b->tokens > LONGEST_VALUE ||
        b->reason == p->rules->hidden || b->reason == p->rules->dialog || b->reason == p->rules->chrome ||
        (double)b->link_length / (double)b->length < p->rules->linked)
        return false;
    const char *text = p->text.at + b->text;
    bool may_be_address = false;
    for (size_t k = 0; k + 1 < b->n; k++)
        may_be_address |= text[k] == ',' && text[k + 1] == ' ';
    may_be_address &= !has_date(p, b);
    for (uint32_t k = 0; k < b->tokens; k++) {
        const token_facts *facts = &p->facts.at[p->run.at[b->run + k]];
        if ((facts->is_decimal && !may_be_address) || facts->lists >> ROTATING_BIT & 1)
            return false;
    }
    return true;
}

/* Whether a block beside the article is the value of a row. */
static bool is_row_beside(page *p, size_t i)
{
    const block *b = &p->blocks.at[i];
    if ((b->reason != p->rules->chrome && !is_beside_article(p, b)) || b->link_length > 0 || b->zone == ZONE_HEADING)
        return false;
    words label, value;
    read_row(p, i, &label, &value);
    for (uint32_t k = 0; k < label.n; k++)
        if (p->facts.at[p->run.at[label.run + k]].lists >> ROTATING_BIT & 1)
            return false;
    bool is_short = value.n <= p->rules->max_short_value;
    for (uint32_t k = 0; k < value.n; k++)
        is_short |= p->facts.at[p->run.at[value.run + k]].is_decimal;
    const path_node *tag = &p->paths.at[b->path];
    const bool is_value = is_named(tag, "dd") || is_named(tag, "td") || (value.n < b->tokens && is_short);
    return label.n > 0 && is_value && is_steady(p, b);
}

void mark_compared(page *p)
{
    find_boxes(p);
    size_t first = 0, last = p->blocks.n - 1;
    while (!is_main(&p->blocks.at[first]))
        first++;
    while (!is_main(&p->blocks.at[last]))
        last--;
    const size_t title = title_of(p);
    size_t below = title; /* end of the lines between title and first sentences */
    for (; below < p->blocks.n; below++) {
        const block *b = &p->blocks.at[below];
        if (below > title && is_main(b) && is_long(p, b))
            break;
    }
    if (below == p->blocks.n)
        below = 0;
    size_t following = last + 1; /* end of the lines directly after the main text */
    while (following < p->blocks.n && following <= last + MAX_FOLLOWING && may_follow(p, &p->blocks.at[following]))
        following++;
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        const bool may_be_stated = b->in_box || (i > last && i < following && b->zone != ZONE_HEADING);
        p->columns.marks[i] = is_main(b) || (may_be_stated && is_stated(p, i)) || is_row_beside(p, i) ||
                              (is_date_above(p, i, title) && is_steady(p, b)) ||
                              is_link_at_title(p, i, title, below) ||
                              (b->reason == p->rules->hidden && b->in_article) ||
                              (b->reason == p->rules->edge && p->columns.is_h1[i]) ||
                              (i < last && may_state(p, b, title < i && i < below)) ||
                              (i > last && may_be_last(p, i, &p->blocks.at[first], &p->blocks.at[last]));
    }
}

/* Hashes the title and the compared blocks, or only those of the main text. */
static uint64_t hash_blocks(page *p, bool only_main)
{
    p->joined.n = 0;
    append(p, p->title, p->title_n, '\n');
    for (size_t i = 0; i < p->blocks.n; i++)
        if (only_main ? is_main(&p->blocks.at[i]) : p->columns.marks[i])
            append(p, p->blocks.at[i].text, p->blocks.at[i].n, ' ');
    return xxh3(p->joined.at, p->joined.n - 1);
}

void hash_texts(page *p, reading *result)
{
    result->page_hash = hash_blocks(p, false);
    result->text_hash = hash_blocks(p, true);
}

/* --- The paragraphs, for a comparison with an earlier version of the page. */

enum { PACKED = 10, MAX_PACKED_WORDS = 0xffff };

void pack_paragraphs(page *p)
{
    p->joined.n = 0;
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (!is_main(b))
            continue;
        uint64_t hash = xxh3(p->text.at + b->text, b->n);
        uint32_t words = b->tokens < MAX_PACKED_WORDS ? b->tokens : MAX_PACKED_WORDS;
        RESERVE(&p->way_out, p->joined, PACKED);
        char *to = p->joined.at + p->joined.n;
        for (int byte = 0; byte < 8; byte++)
            to[byte] = (char)(hash >> (56 - 8 * byte));
        to[8] = (char)(words >> 8);
        to[9] = (char)words;
        p->joined.n += PACKED;
    }
}
