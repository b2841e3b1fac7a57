/* What is known about each character, 256 at a time: asked of the interpreter when a character is first met.
 *
 * So the kernel has the Unicode tables of the Python it runs in, and none of its own that could differ from them.
 */
#ifndef SIMHASH_CHARS_H
#define SIMHASH_CHARS_H

#include "base.h"

/* Classes of a character, as bits. */
enum { CHAR_WORD = 1, CHAR_MARK = 2, CHAR_UNSPACED = 4, CHAR_DECIMAL = 8 };

/* A character with its classes: 21 bits and those above. */
enum { CHARACTER = 0x1fffff, CLASSES_SHIFT = 21 };

/* How a character is normalised: the kind in the two highest bits of `normal`, below it what the kind says. */
enum {
    KIND_SHIFT = 30,
    NORMAL_ONE = 0,     /* it becomes the character in the lower bits, most often itself, with the classes of that */
    NORMAL_MANY = 1,    /* it becomes `more[offset] ...`: 16 bits of offset, 8 bits of length */
    NORMAL_GONE = 2,    /* it is left out */
    NORMAL_COMPLEX = 3, /* it changes with its neighbours: Python normalises the word */
};

enum { CHARS_IN_BLOCK = 256, CHAR_BLOCKS = 0x110000 / CHARS_IN_BLOCK };

typedef struct {
    uint32_t normal[CHARS_IN_BLOCK];
    uint8_t classes[CHARS_IN_BLOCK];
    uint8_t order[CHARS_IN_BLOCK]; /* canonical combining class */
    size_t n_more;
    uint32_t more[]; /* what the characters of kind MANY become */
} char_block;

typedef struct {
    char_block *blocks[CHAR_BLOCKS];
    /* Fills blocks[i]; 0 or -1 with a Python exception set. */
    int (*load)(void *of, uint32_t block);
    void *of;
} char_table;

static inline const char_block *char_block_of(hatch *way_out, char_table *table, uint32_t character)
{
    char_block *block = LOAD_POINTER(&table->blocks[character / CHARS_IN_BLOCK]);
    if (UNLIKELY(block == NULL)) {
        if (table->load(table->of, character / CHARS_IN_BLOCK) != 0)
            escape(way_out, CALLBACK_FAILED);
        block = LOAD_POINTER(&table->blocks[character / CHARS_IN_BLOCK]);
    }
    return block;
}

static inline uint8_t char_classes(hatch *way_out, char_table *table, uint32_t character)
{
    return char_block_of(way_out, table, character)->classes[character % CHARS_IN_BLOCK];
}

#endif
