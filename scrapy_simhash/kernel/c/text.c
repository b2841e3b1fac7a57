/* All that a page says, to be compared as it is: the twin of page/features/text.py. */
#include "page.h"

/* Bytes that are copied in one piece: most tokens have fewer. */
enum { PIECE = 16 };

bool says_something(const page *p)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < p->blocks.n; i++)
        tokens += is_main(&p->blocks.at[i]) ? p->blocks.at[i].tokens : 0;
    return (int64_t)tokens >= p->rules->least_tokens;
}

/* Appends tokens to p->joined, a space behind each. The bytes behind a token are read too. */
static void append_words(page *p, const uint32_t *numbers, size_t n)
{
    const token *const tokens = p->tokens.at;
    const char *const bytes = p->bytes.at;
    char *joined = p->joined.at;
    size_t made = p->joined.n, room = p->joined.room;
    for (size_t i = 0; i < n; i++) {
        const token *t = &tokens[numbers[i]];
        const size_t length = t->n, offset = t->offset;
        if (UNLIKELY(made + length + PIECE >= room)) {
            p->joined.n = made;
            RESERVE(&p->way_out, p->joined, length + PIECE);
            joined = p->joined.at;
            room = p->joined.room;
        }
        memcpy(joined + made, bytes + offset, PIECE);
        if (UNLIKELY(length > PIECE))
            memcpy(joined + made, bytes + offset, length);
        made += length;
        joined[made++] = ' ';
    }
    p->joined.n = made;
}

uint64_t hash_text(page *p)
{
    const size_t title = p->run.n, words = words_of(p, p->text.at + p->title, p->title_n, p->title_is_ascii);
    RESERVE(&p->way_out, p->bytes, PIECE);
    p->joined.n = 0;
    append_words(p, p->run.at + title, words);
    p->joined.n -= words > 0;
    PUSH(&p->way_out, p->joined, '\n');
    for (size_t i = 0; i < p->blocks.n; i++)
        if (is_main(&p->blocks.at[i]))
            append_words(p, p->run.at + p->blocks.at[i].run, p->blocks.at[i].tokens);
    return xxh3(p->joined.at, p->joined.n - 1);
}
