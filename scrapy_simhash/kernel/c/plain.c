/* Plain text to blocks, all of them main text: the twin of page/text/plain.py. */
#include "page.h"

static void end_paragraph(page *p, const folding *f)
{
    if (p->text.n == f->start)
        return;
    block b = {.text = (uint32_t)f->start, .n = (uint32_t)(p->text.n - f->start), .length = (uint32_t)f->length,
               .zone = ZONE_BODY, .is_ascii = f->is_ascii};
    PUSH(&p->way_out, p->blocks, b);
}

/* Two line ends with nothing but white space between them part two paragraphs. */
void take_plain_text(page *p, const char *text, size_t n)
{
    folding f = {.start = p->text.n, .is_ascii = true};
    size_t line_ends = 0;
    for (size_t i = 0; i < n;) {
        unsigned length;
        size_t start = i;
        uint32_t character;
        while (i < n && is_space(character = utf8_decode(text + i, text + n, &length)) && length != 0) {
            line_ends += character == '\n';
            i += length;
        }
        if (line_ends >= 2) {
            end_paragraph(p, &f);
            f = (folding){.start = p->text.n, .is_ascii = true};
        } else if (i > start) {
            f.space = true;
        }
        line_ends = 0;
        start = i;
        /* Up to the next line end or the end: no paragraph ends inside, and fold_space() splits the words. */
        const char *end = i < n ? memchr(text + i, '\n', n - i) : NULL;
        i = end == NULL ? n : (size_t)(end - text);
        fold_space(p, &f, text + start, i - start);
        /* White space in front of the line end belongs to the run that is judged next: it holds no line end. */
    }
    end_paragraph(p, &f);
}
