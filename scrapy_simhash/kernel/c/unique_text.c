/* Splits the main text into pieces, and finds its unique text: the C version of page/pieces.py and
 * PageFingerprinter._unique_text. */
#include "page.h"

enum { OF_SITE = 1 };

bool is_year(const page *p, uint32_t number)
{
    const token *t = &p->tokens.at[number];
    const char *text = token_text(p, t);
    return p->facts.at[number].is_decimal && t->n == 4 &&
           ((text[0] == '1' && text[1] == '9') || (text[0] == '2' && text[1] == '0'));
}

/* Whether a decimal token is a day of a month. */
static bool is_day(const page *p, uint32_t number)
{
    const token_facts *facts = &p->facts.at[number];
    char first = token_text(p, &p->tokens.at[number])[0];
    return facts->length == 1 || (facts->length == 2 && first >= '0' && first <= '3');
}

/* Returns the sum of the words of a date that ends in the year `i`: the words after `last`, the decimal before it, if
 * that is a day, or the word before a day directly before the year. */
static uint64_t sum_of_date(const page *p, const uint32_t *run, uint32_t last, uint32_t i)
{
    enum { DATE_REACH = 3 };
    uint64_t sum = 0;
    if (last == UINT32_MAX || i - last > DATE_REACH + 1 || !is_year(p, run[i]) || !is_day(p, run[last]))
        return 0;
    if (i - last == 1)
        return last == 0 || p->facts.at[run[last - 1]].is_decimal ? 0 : p->tokens.at[run[last - 1]].hash;
    for (uint32_t k = last + 1; k < i; k++)
        sum += p->tokens.at[run[k]].hash;
    return sum;
}

/* words_number() of page/pieces.py for one paragraph, as a sum. */
static uint64_t sum_of_words(const page *p, const uint32_t *run, uint32_t n)
{
    const token_facts *const facts = p->facts.at;
    const token *const tokens = p->tokens.at;
    uint64_t sum = 0;
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (!facts[run[i]].is_decimal) {
            sum += tokens[run[i]].hash;
            continue;
        }
        sum -= sum_of_date(p, run, last, i);
        last = i;
    }
    return sum;
}

/* Splits a paragraph of main text into pieces; returns its sum_of_words(). */
static uint64_t cut(page *p, segment part, uint64_t zero)
{
    const rules *r = p->rules;
    const uint32_t least = (uint32_t)r->min_piece, mask = (uint32_t)r->cut - 1;
    const uint64_t scatter = r->occurrence_scatter;
    const uint32_t *const run = p->run.at + part.run;
    const token_facts *const facts = p->facts.at;
    const token *const tokens = p->tokens.at;
    uint32_t start = 0, last = UINT32_MAX;
    uint64_t key = 0, sum = 0;
    for (uint32_t i = 0; i < part.n; i++) {
        uint64_t hash = tokens[run[i]].hash;
        bool is_end = (hash & mask) == 0 && i + 1 - start >= least;
        if (UNLIKELY(facts[run[i]].is_decimal)) {
            sum -= sum_of_date(p, run, last, i);
            last = i;
            hash = zero;
            is_end = false;
        } else {
            sum += hash;
        }
        key = (key ^ hash) * scatter;
        key ^= key >> 32;
        if (!is_end && i + 1 < part.n)
            continue;
        const segment piece = {.run = part.run + start, .n = i + 1 - start, .zone = part.zone};
        key = (key & ~(uint64_t)1) | (piece.n < (uint32_t)r->short_piece);
        PUSH(&p->way_out, p->pieces, piece);
        RESERVE(&p->way_out, p->piece_keys, 8);
        store8(p->piece_keys.at + p->piece_keys.n, key);
        p->piece_keys.n += 8;
        start = i + 1;
        key = 0;
    }
    return sum;
}

void cut_pieces(page *p)
{
    uint64_t zero = xxh3("0", 1), sum = 0;
    p->pieces.n = p->piece_keys.n = 0;
    RESERVE(&p->way_out, p->piece_keys, 8);
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (is_main(b) && b->tokens > 0) /* worded_reasons includes the main text */
            sum += cut(p, (segment){.run = b->run, .n = b->tokens, .zone = b->zone}, zero);
        else if (p->rules->worded_reasons >> b->reason & 1)
            sum += sum_of_words(p, p->run.at + b->run, b->tokens);
    }
    p->words_number = (uint16_t)(sum * p->rules->occurrence_scatter >> 48);
}

void count_unique(page *p, const uint8_t *flags, unique_text *result)
{
    memset(result, 0, sizeof *result);
    result->words = p->words_number;
    for (size_t i = 0; i < p->pieces.n; i++) {
        uint8_t flag = flags == NULL ? 0 : flags[i];
        result->whole += p->pieces.at[i].n;
        result->tokens += flag == OF_SITE ? 0 : p->pieces.at[i].n;
        result->doubtful += flag > OF_SITE ? p->pieces.at[i].n : 0;
    }
}

void find_unique_text(page *p, const uint8_t *flags, const fold_settings *settings, unique_text *result)
{
    reading whole;
    p->segments.n = 0;
    RESERVE(&p->way_out, p->segments, p->pieces.n);
    for (size_t i = 0; i < p->pieces.n; i++)
        if (flags[i] != OF_SITE)
            p->segments.at[p->segments.n++] = p->pieces.at[i];
    if (fold_features(p, settings, &whole))
        result->value = whole.value;
    /* The sketch is also made if the unique text is too short for a fingerprint, because its features are counted. */
    sketch(p, result->sketch);
}
