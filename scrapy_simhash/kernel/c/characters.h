/* UTF-8, as strict as Python's decoder, and properties of characters. */
#ifndef SIMHASH_CHARACTERS_H
#define SIMHASH_CHARACTERS_H

#include "base.h"

static inline bool utf8_is_tail(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/* Returns the character at `text` and sets its length in bytes, 1 to 4, or 0 for invalid UTF-8. `end` is never
 * read. */
static inline uint32_t utf8_decode(const char *text, const char *end, unsigned *length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = (size_t)(end - text);
    unsigned char lead = at[0];
    if (lead < 0x80) {
        *length = 1;
        return lead;
    }
    if (lead >= 0xc2 && lead < 0xe0 && left >= 2 && utf8_is_tail(at[1])) {
        *length = 2;
        return (uint32_t)(lead & 0x1f) << 6 | (at[1] & 0x3fu);
    }
    if ((lead & 0xf0) == 0xe0 && left >= 3 && utf8_is_tail(at[1]) && utf8_is_tail(at[2])) {
        uint32_t character = (uint32_t)(lead & 0x0f) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3fu);
        *length = character >= 0x800 && !(character >= 0xd800 && character < 0xe000) ? 3 : 0;
        return character;
    }
    if (lead >= 0xf0 && lead < 0xf5 && left >= 4 && utf8_is_tail(at[1]) && utf8_is_tail(at[2]) && utf8_is_tail(at[3])) {
        uint32_t character = (uint32_t)(lead & 0x07) << 18 | (uint32_t)(at[1] & 0x3f) << 12 |
                             (uint32_t)(at[2] & 0x3f) << 6 | (at[3] & 0x3fu);
        *length = character >= 0x10000 && character < 0x110000 ? 4 : 0;
        return character;
    }
    *length = 0;
    return 0;
}

/* Returns the character at `*at` and advances `*at`; the text must be valid UTF-8. */
static inline uint32_t utf8_next(const char **at)
{
    const unsigned char *text = (const unsigned char *)*at;
    uint32_t lead = text[0];
    if (lead < 0x80) {
        *at += 1;
        return lead;
    }
    if (lead < 0xe0) {
        *at += 2;
        return (lead & 0x1f) << 6 | (text[1] & 0x3fu);
    }
    if (lead < 0xf0) {
        *at += 3;
        return (lead & 0x0f) << 12 | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu);
    }
    *at += 4;
    return (lead & 0x07) << 18 | (text[1] & 0x3fu) << 12 | (text[2] & 0x3fu) << 6 | (text[3] & 0x3fu);
}

/* Writes a character, 1 to 4 bytes; returns the number of bytes. */
static inline unsigned utf8_encode(uint32_t character, char *to)
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        to[0] = (char)(0xc0 | character >> 6);
        to[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        to[0] = (char)(0xe0 | character >> 12);
        to[1] = (char)(0x80 | (character >> 6 & 0x3f));
        to[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | character >> 18);
    to[1] = (char)(0x80 | (character >> 12 & 0x3f));
    to[2] = (char)(0x80 | (character >> 6 & 0x3f));
    to[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

/* Returns the number of characters in valid UTF-8. */
static inline size_t utf8_length(const char *text, size_t n)
{
    size_t tails = 0;
    for (size_t i = 0; i < n; i++)
        tails += utf8_is_tail((unsigned char)text[i]);
    return n - tails;
}

static inline bool is_ascii_lower(char byte) { return byte >= 'a' && byte <= 'z'; }
static inline bool is_ascii_upper(char byte) { return byte >= 'A' && byte <= 'Z'; }
static inline bool is_ascii_digit(char byte) { return byte >= '0' && byte <= '9'; }
static inline bool is_ascii_letter(char byte) { return is_ascii_lower(byte) || is_ascii_upper(byte); }
static inline char ascii_lower(char byte) { return is_ascii_upper(byte) ? (char)(byte + 32) : byte; }

static inline bool is_ascii_space(unsigned char byte)
{
    return byte <= ' ' && (((uint64_t)0x1f << 0x1c | 0x1f << 0x09) >> byte & 1);
}

/* White space as in str.split(). */
static inline bool is_space(uint32_t character)
{
    if (character < 0x80)
        return is_ascii_space((unsigned char)character);
    return character == 0x85 || character == 0xa0 || character == 0x1680 ||
           (character >= 0x2000 && character <= 0x200a) || character == 0x2028 || character == 0x2029 ||
           character == 0x202f || character == 0x205f || character == 0x3000;
}

/* --- Properties of characters, requested from the interpreter at the first occurrence.
 *
 * So the kernel uses the Unicode tables of the running Python, and has no other tables that could differ from these.
 */

/* Classes of a character, as bits. */
enum { CHAR_WORD = 1, CHAR_MARK = 2, CHAR_UNSPACED = 4, CHAR_DECIMAL = 8 };

/* A character with its classes: the lower 21 bits, and the bits above. */
enum { CHARACTER = 0x1fffff, CLASSES_SHIFT = 21 };

/* Kinds of normalisation: the two highest bits of `normal` are the kind, the lower bits its argument. */
enum {
    KIND_SHIFT = 30,
    NORMAL_ONE = 0,     /* becomes the character in the lower bits, usually itself, with its classes */
    NORMAL_MANY = 1,    /* becomes `table->more[offset] ...`: 16 bits of offset, 8 bits of length */
    NORMAL_GONE = 2,    /* is removed */
    NORMAL_COMPLEX = 3, /* depends on its neighbours: Python normalises the word */
};

/* A character that has not occurred yet. */
#define CHAR_UNASKED 0xffffffffu

/* MAX_MORE: Unicode 14 needs 3,229. */
enum { CHARS_IN_BLOCK = 256, CHAR_BLOCKS = 0x110000 / CHARS_IN_BLOCK, MAX_MORE = 1 << 13 };

typedef struct {
    uint32_t normal[CHARS_IN_BLOCK]; /* written last, because other threads read it without a lock */
    uint8_t classes[CHARS_IN_BLOCK];
    uint8_t order[CHARS_IN_BLOCK]; /* canonical combining class */
} char_block;

typedef struct {
    char_block *blocks[CHAR_BLOCKS];
    size_t n_more;
    uint32_t more[MAX_MORE]; /* results for characters of kind MANY */
    /* Loads the properties of a character; returns 0, or -1 with a Python exception set. Called by one thread at a
       time. */
    int (*load)(void *of, uint32_t character);
    void *of;
} char_table;

/* Returns the block of a character; loads the properties of the character first if needed. */
static inline const char_block *char_block_of(hatch *way_out, char_table *table, uint32_t character)
{
    char_block *block = LOAD_POINTER(&table->blocks[character / CHARS_IN_BLOCK]);
    if (UNLIKELY(block == NULL || LOAD_WORD(&block->normal[character % CHARS_IN_BLOCK]) == CHAR_UNASKED)) {
        if (table->load(table->of, character) != 0)
            escape(way_out, CALLBACK_FAILED);
        block = LOAD_POINTER(&table->blocks[character / CHARS_IN_BLOCK]);
    }
    return block;
}

/* Returns the block of a character, or a new empty block; NULL if out of memory. */
static inline char_block *char_block_for(char_table *table, uint32_t character)
{
    char_block **place = &table->blocks[character / CHARS_IN_BLOCK], *made;
    if (*place == NULL && (made = malloc(sizeof *made)) != NULL) {
        memset(made->normal, 0xff, sizeof made->normal);
        STORE_POINTER(place, made);
    }
    return *place;
}

static inline void char_put(char_block *block, uint32_t character, uint32_t normal, uint8_t classes, uint8_t order)
{
    uint32_t i = character % CHARS_IN_BLOCK;
    block->classes[i] = classes;
    block->order[i] = order;
    STORE_WORD(&block->normal[i], normal);
}

static inline uint8_t char_classes(hatch *way_out, char_table *table, uint32_t character)
{
    return char_block_of(way_out, table, character)->classes[character % CHARS_IN_BLOCK];
}

#endif
