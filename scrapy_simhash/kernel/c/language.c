/* The counts that tell the language of the tokens, as page/language/detect.py makes them; page/language/choose.py decides. */
#include "fold.h"

typedef struct {
    counts counted;
    uint64_t lanes[MOST_LANGUAGES / 8]; /* votes of the last few tokens, a byte for each language */
} sample;

static void count_scripts(const page *p, sample *s, uint32_t number)
{
    const token_facts *facts = &p->facts.at[number];
    if (facts->script == 0)
        return;
    if (facts->script <= SCRIPTS) {
        s->counted.scripts[facts->script - 1] += facts->length;
        return;
    }
    const token *mixed = &p->tokens.at[number];
    const char *at = token_text(p, mixed), *end = at + mixed->n;
    while (at < end) {
        unsigned length;
        uint8_t script = script_of(utf8_decode(at, end, &length));
        if (script != 0)
            s->counted.scripts[script - 1]++;
        at += length;
    }
}

static void empty_lanes(sample *s)
{
    for (int i = 0; i < MOST_LANGUAGES; i++)
        s->counted.votes[i] += (int64_t)(s->lanes[i / 8] >> i % 8 * 8 & 0xff);
    memset(s->lanes, 0, sizeof s->lanes);
}

/* At most 255 tokens. Nothing depends on which token is a stopword, which nobody could foresee. */
static void take_few(const page *p, sample *s, const uint32_t *numbers, uint32_t n)
{
    const int bytes = (p->rules->languages + 7) / 8;
    for (uint32_t k = 0; k < n; k++) {
        const token_facts *facts = &p->facts.at[numbers[k]];
        s->counted.characters += facts->length;
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
        for (uint32_t k = 0; k < b->tokens && s->counted.tokens < p->rules->sample;) {
            int64_t n = p->rules->sample - s->counted.tokens, in_block = b->tokens - k, in_lanes = MOST_IN_BYTE - counted;
            n = n < in_block ? n : in_block;
            n = n < in_lanes ? n : in_lanes;
            take_few(p, s, p->run.at + b->run + k, (uint32_t)n);
            k += (uint32_t)n;
            s->counted.tokens += n;
            counted += n;
            if (counted == MOST_IN_BYTE) {
                empty_lanes(s);
                counted = 0;
            }
        }
    }
    empty_lanes(s);
}

void detect_language(page *p, bool main_only)
{
    const rules *r = p->rules;
    const declaration declared = p->declared;
    sample s = {.counted = {.lists = r->languages,
                            .is_declared = declared.is_one,
                            .is_han = declared.is_han,
                            .declared = declared.list}};
    take_sample(p, &s, main_only);
    choose_language(p, r->choose_language(&s.counted));
}

void choose_language(page *p, int chosen)
{
    const int lists = p->rules->languages;
    p->chosen_language = chosen;
    p->language = chosen < 0 ? p->declared.list : chosen < lists ? chosen : p->rules->scripts[chosen - lists];
}
