/* What the filters of page/text/main_text.py ask of the blocks, and what they say of them: see page/text/columns.py. */
#include "page.h"

/* Of the first number of a block that counts up. */
enum { MOST_DIGITS = 6 };

/* What the path of a heading is told by: the character after its last "/h", else its first one. */
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

void make_columns(page *p)
{
    const size_t n = p->blocks.n;
    p->numbers.n = 0;
    RESERVE(&p->way_out, p->numbers, COLUMNS * n + 1);
    columns *c = &p->columns;
    int32_t **const all[] = {&c->lengths, &c->link_lengths, &c->tokens, &c->stopwords, &c->is_heading, &c->is_h1,
                             &c->is_paragraph, &c->is_cell, &c->ranks, &c->is_link, &c->is_prose, &c->is_offer,
                             &c->reasons, &c->marks, &c->places, &c->sums};
    _Static_assert(sizeof all / sizeof *all == COLUMNS, "every column has its place");
    for (size_t i = 0; i < COLUMNS; i++)
        *all[i] = p->numbers.at + i * n;
    memset(c->is_link, 0, 4 * n * sizeof *c->is_link); /* these and the three behind them are filled in by the filters */
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
        c->ranks[i] = c->is_heading[i] ? rank_of(p, b) : 0;
    }
}

void take_columns(page *p)
{
    const columns *c = &p->columns;
    p->makes_offer = false;
    for (size_t i = 0; i < p->blocks.n; i++) {
        block *b = &p->blocks.at[i];
        b->reason = (uint8_t)c->reasons[i];
        b->density = b->tokens == 0 ? 0 : (double)c->stopwords[i] / (double)b->tokens;
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

bool has_sentence_mark(const page *p, const block *b)
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

bool counts_up(const page *p, const block *b)
{
    const char *at = p->text.at + b->text, *end = at + b->n;
    for (uint32_t before = 0;;) {
        uint32_t number = 0, digits = 0;
        for (; at < end && *at >= '0' && *at <= '9' && digits < 8; at++, digits++)
            number = 10 * number + (uint32_t)(*at - '0');
        bool is_first = before == 0;
        if (is_first ? number == 0 || digits > MOST_DIGITS || *(p->text.at + b->text) == '0' : number != before + 1)
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

/* A digit, and the first two characters of a currency: only then is Python asked for the pattern of a price. */
bool may_have_price(page *p, const block *b)
{
    const char *at = p->text.at + b->text, *end = at + b->n;
    bool has_digit = false, has_currency = false;
    for (uint32_t former = 0, character; at < end; former = character) {
        unsigned length;
        character = utf8_decode(at, end, &length);
        at += length;
        has_digit = has_digit || (character >= '0' && character <= '9') ||
                    (character >= 0x80 && char_classes(&p->way_out, &p->rules->chars, character) & CHAR_DECIMAL);
        has_currency = has_currency || begins_currency(p->rules, former, character) ||
                       (at == end && begins_currency(p->rules, character, 0));
        if (has_digit && has_currency)
            return true;
    }
    return false;
}
