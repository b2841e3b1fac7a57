/* Which language the tokens are in: the twin of page/language/detect.py. */
#include "fold.h"

typedef struct {
    int64_t tokens, characters;
    int64_t scripts[SCRIPTS];
    int64_t votes[MOST_LANGUAGES];
    uint64_t lanes[MOST_LANGUAGES / 8]; /* votes of the last few tokens, a byte for each language */
    bool is_ascii;
} sample;

static void count_scripts(const page *p, sample *s, uint32_t number)
{
    const token_facts *facts = &p->facts.at[number];
    s->is_ascii = s->is_ascii && facts->is_ascii;
    if (facts->script == 0)
        return;
    if (facts->script <= SCRIPTS) {
        s->scripts[facts->script - 1] += facts->length;
        return;
    }
    const token *mixed = &p->tokens.at[number];
    const char *at = token_text(p, mixed), *end = at + mixed->n;
    while (at < end) {
        unsigned length;
        uint8_t script = script_of(utf8_decode(at, end, &length));
        if (script != 0)
            s->scripts[script - 1]++;
        at += length;
    }
}

static void empty_lanes(sample *s)
{
    for (int i = 0; i < MOST_LANGUAGES; i++)
        s->votes[i] += (int64_t)(s->lanes[i / 8] >> i % 8 * 8 & 0xff);
    memset(s->lanes, 0, sizeof s->lanes);
}

/* At most 255 tokens. Nothing depends on which token is a stopword, which nobody could foresee. */
static void take_few(const page *p, sample *s, const uint32_t *numbers, uint32_t n)
{
    const int bytes = (p->rules->languages + 7) / 8;
    for (uint32_t k = 0; k < n; k++) {
        const token_facts *facts = &p->facts.at[numbers[k]];
        s->characters += facts->length;
        if (UNLIKELY(!facts->is_ascii))
            count_scripts(p, s, numbers[k]);
        /* Single letters are elisions in one language and list markers in all. */
        uint64_t lists = facts->lists & -(uint64_t)(facts->length > 1);
        for (int i = 0; i < bytes; i++)
            s->lanes[i] += SPREAD_BYTE[lists >> 8 * i & 0xff];
    }
}

static void take_sample(const page *p, sample *s, bool main_only)
{
    int64_t counted = 0; /* tokens in lanes */
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (main_only && b->reason != KEPT)
            continue;
        for (uint32_t k = 0; k < b->tokens && s->tokens < p->rules->sample;) {
            int64_t n = p->rules->sample - s->tokens, in_block = b->tokens - k, in_lanes = MOST_IN_BYTE - counted;
            n = n < in_block ? n : in_block;
            n = n < in_lanes ? n : in_lanes;
            take_few(p, s, p->run.at + b->run + k, (uint32_t)n);
            k += (uint32_t)n;
            s->tokens += n;
            counted += n;
            if (counted == MOST_IN_BYTE) {
                empty_lanes(s);
                counted = 0;
            }
        }
    }
    empty_lanes(s);
}

static int language_of_script(const page *p, const sample *s)
{
    int64_t all = 0;
    int most = 0;
    for (int i = 0; i < SCRIPTS; i++) {
        all += s->scripts[i];
        most = s->scripts[i] > s->scripts[most] ? i : most;
    }
    if (s->is_ascii || (double)all < p->rules->script_share * (double)s->characters)
        return -1;
    /* Kana are a third or more of Japanese and absent from Chinese. */
    if (s->scripts[SCRIPT_JA] * 10 > s->scripts[SCRIPT_ZH] && s->scripts[SCRIPT_JA] > 0)
        return SCRIPT_JA;
    return most;
}

static void conclude(page *p, int source, int place, int list)
{
    p->language_source = source;
    p->language_place = place;
    p->language = list;
}

void detect_language(page *p, bool main_only)
{
    sample s = {.is_ascii = true};
    const rules *r = p->rules;
    take_sample(p, &s, main_only);
    conclude(p, LANGUAGE_DECLARED, 0, p->declared.list);
    if (s.tokens == 0)
        return;
    int script = language_of_script(p, &s);
    if (script >= 0) {
        /* Han alone does not tell Chinese from a Japanese page that declares itself. */
        if (script != SCRIPT_ZH || !p->declared.is_han)
            conclude(p, LANGUAGE_OF_SCRIPT, script, r->scripts[script]);
        return;
    }
    int winner = 0;
    for (int i = 1; i < r->languages; i++)
        winner = s.votes[i] > s.votes[winner] ? i : winner;
    if (s.votes[winner] == 0 || (double)s.votes[winner] < r->vote_floor * (double)s.tokens)
        return;
    int64_t declared = p->declared.list < 0 ? 0 : s.votes[p->declared.list];
    if (p->declared.is_one && (double)declared >= r->borne_out * (double)s.votes[winner])
        return;
    conclude(p, LANGUAGE_VOTED, winner, winner);
}
