/* What stands around and between the paragraphs of an article: the twin of text/furniture.py. */
#include "page.h"

static bool ends_in_letter(page *p, const block *b)
{
    const char *end = p->text.at + b->text + b->n, *at = end - 1;
    unsigned length;
    while (utf8_is_tail((unsigned char)*at))
        at--;
    return char_classes(&p->way_out, &p->rules->chars, utf8_decode(at, end, &length)) & CHAR_WORD;
}

/* Tells whether a block is a short one in a bare container, amid paragraphs: neither table nor heading. */
static bool is_inset(page *p, size_t place)
{
    const block *b = &p->blocks.at[p->kept.at[place]];
    const block *after = place + 1 < p->kept.n ? &p->blocks.at[p->kept.at[place + 1]] : NULL;
    const block *before = place > 0 ? &p->blocks.at[p->kept.at[place - 1]] : NULL;
    uint64_t tag = tag_of(p, b);
    if (tag & TAG_PARAGRAPH || b->zone == ZONE_HEADING || b->length > p->rules->inset_length)
        return false;
    if (tag & TAG_CELL)
        return !((before && tag_of(p, before) & TAG_CELL) || (after && tag_of(p, after) & TAG_CELL));
    return !(after && after->is_prose && ends_in_letter(p, b));
}

void leave_out_furniture(page *p)
{
    int64_t all = 0, in_sentences = 0, in_paragraphs = 0;
    int64_t first_sentence = -1, last_sentence = -1, first_paragraph = -1, last_paragraph = -1;
    for (size_t i = 0; i < p->kept.n; i++) {
        uint32_t place = p->kept.at[i];
        const block *b = &p->blocks.at[place];
        all += b->length;
        if (!b->is_prose)
            continue;
        in_sentences += b->length;
        first_sentence = first_sentence < 0 ? place : first_sentence;
        last_sentence = place;
        if (tag_of(p, b) & TAG_PARAGRAPH) {
            in_paragraphs += b->length;
            first_paragraph = first_paragraph < 0 ? place : first_paragraph;
            last_paragraph = place;
        }
    }
    double least = p->rules->prose_share * (double)all;
    bool has_paragraphs = first_paragraph >= 0 && (double)in_paragraphs >= least;
    if (has_paragraphs) {
        first_sentence = first_paragraph;
        last_sentence = last_paragraph;
    } else if (first_sentence < 0 || (double)in_sentences < least) {
        return;
    }
    for (size_t i = 0; i < p->kept.n; i++) {
        uint32_t place = p->kept.at[i];
        if (place < first_sentence || place > last_sentence)
            p->blocks.at[place].reason = EDGE;
        else if (has_paragraphs && is_inset(p, i))
            p->blocks.at[place].reason = INSET;
    }
}
