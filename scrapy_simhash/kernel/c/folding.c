/* Collapses white space to single spaces, like `" ".join(text.split())`, for text in several parts. */
#include "page.h"

/* Copies ASCII text that needs no folding, which is words separated by single spaces. Returns the number of bytes.
 * Copies eight bytes at a time, so `to` needs room for seven more. */
static size_t copy_clean(char *to, const char *from, size_t n)
{
    size_t i = 0;
    uint64_t after_space = 0; /* the lowest byte: whether the byte before this word is a space */
    for (; i + 8 <= n; i += 8) {
        uint64_t word = load8(from + i), spaces = equal_bytes(word, ' ');
        uint64_t stops = uncommon_bytes(word) | (spaces & (spaces << 8 | after_space));
        memcpy(to + i, from + i, 8);
        if (stops != 0)
            return i + lowest_bit(stops) / 8;
        after_space = spaces >> 56;
    }
    if (i < n && n >= 8) { /* the last eight bytes, without stops before them */
        uint64_t word = load8(from + n - 8), spaces = equal_bytes(word, ' ');
        uint64_t stops = uncommon_bytes(word) | (spaces & spaces << 8);
        memcpy(to + n - 8, from + n - 8, 8);
        return stops == 0 ? n : n - 8 + lowest_bit(stops) / 8;
    }
    for (; i < n && (uint8_t)(from[i] - 0x20) < 0x60 && !(from[i] == ' ' && i > 0 && from[i - 1] == ' '); i++)
        to[i] = from[i];
    return i;
}

/* Copies characters of two and three bytes, up to invalid UTF-8 or a byte with which a white-space character may
 * begin.
 * Returns the number of bytes, and adds the number of characters to `length`. */
static size_t copy_long(char *to, const char *from, size_t n, size_t *length)
{
    const unsigned char *at = (const unsigned char *)from;
    size_t i = 0;
    for (; i + 3 <= n; ++*length)
        if (at[i] >= 0xc3 && at[i] < 0xe0 && utf8_is_tail(at[i + 1])) {
            memcpy(to + i, at + i, 2);
            i += 2;
        } else if (at[i] >= 0xe4 && at[i] < 0xf0 && at[i] != 0xed && utf8_is_tail(at[i + 1]) &&
                   utf8_is_tail(at[i + 2])) {
            memcpy(to + i, at + i, 3);
            i += 3;
        } else {
            break;
        }
    return i;
}

void fold_space(page *p, folding *f, const char *from, size_t n)
{
    size_t i = 0;
    /* The result is at most one byte longer: a space before a word. */
    RESERVE(&p->way_out, p->text, n + 1 + 8);
    char *to = p->text.at;
    size_t at = p->text.n;
    while (i < n) {
        unsigned length = 1;
        uint8_t byte = (uint8_t)from[i];
        bool is_long = byte >= 0x80, space = is_ascii_space(byte);
        if (is_long) {
            uint32_t character = utf8_decode(from + i, from + n, &length);
            if (length == 0)
                escape(&p->way_out, NOT_COVERED);
            space = is_space(character);
        }
        if (space) {
            f->space = true;
            i += length;
            continue;
        }
        if (f->space && at > f->start) {
            to[at++] = ' ';
            f->length++;
        }
        f->space = false;
        f->is_ascii = f->is_ascii && !is_long;
        size_t characters = 0;
        size_t copied = is_long ? copy_long(to + at, from + i, n - i, &characters) : copy_clean(to + at, from + i, n - i);
        i += copied;
        at += copied;
        f->length += is_long ? characters : copied;
        if (copied == 0) { /* a character of a different kind */
            for (unsigned k = 0; k < length; k++)
                to[at++] = from[i++];
            f->length++;
        } else if (to[at - 1] == ' ') { /* the next byte shows whether the text ends here */
            at--;
            f->length--;
            f->space = true;
        }
    }
    p->text.n = at;
}

/* --- Makes blocks of main text from plain text: the C version of plain_text(). */


static void end_paragraph(page *p, const folding *f)
{
    if (p->text.n == f->start)
        return;
    block b = {.text = (uint32_t)f->start, .n = (uint32_t)(p->text.n - f->start), .length = (uint32_t)f->length,
               .zone = ZONE_BODY, .is_ascii = f->is_ascii};
    PUSH(&p->way_out, p->blocks, b);
}

/* Two line ends with only white space between them separate paragraphs. */
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
        /* Read up to the next line end or the end of the text, because no paragraph ends before it. fold_space()
           splits the words. */
        const char *end = i < n ? memchr(text + i, '\n', n - i) : NULL;
        i = end == NULL ? n : (size_t)(end - text);
        fold_space(p, &f, text + start, i - start);
        /* White space before the line end belongs to the next run. */
    }
    end_paragraph(p, &f);
}
