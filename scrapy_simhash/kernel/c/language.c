/* Splits text into tokens, with a number for each distinct token, and counts by language: the C version of
 * page/language/. */
#include "page.h"

enum { MIN_SLOTS = 1024, MIXED_SCRIPTS = 255 };

/* Writes digits, and ASCII letters in lower case; other bytes become 0. Uses masks instead of branches, so that
 * compilers vectorise the loop. */
static void lower_words(char *restrict to, const char *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)from[i], lower = byte | 0x20;
        uint8_t letter = (uint8_t)(lower - 'a') <= 'z' - 'a' ? 0xff : 0;
        uint8_t digit = (uint8_t)(byte - '0') <= 9 ? 0xff : 0;
        to[i] = (char)((lower & letter) | (byte & digit));
    }
}

static void grow_slots(page *p)
{
    /* The initial size depends on the length of the text: half of its words are distinct, and a word has at least six
       bytes on average. */
    size_t n = p->slots.n == 0 ? MIN_SLOTS : 2 * p->slots.n;
    while (p->tokens.n == 0 && n < p->text.n / 6)
        n *= 2;
    p->slots.n = 0;
    RESERVE(&p->way_out, p->slots, n);
    p->slots.n = n;
    memset(p->slots.at, 0, n * sizeof *p->slots.at);
    for (size_t number = 0; number < p->tokens.n; number++) {
        size_t i = (size_t)placed(p->rules, p->tokens.at[number].key) & (n - 1);
        while (p->slots.at[i] != 0)
            i = (i + 1) & (n - 1);
        p->slots.at[i] = (uint32_t)number + 1;
    }
}

/* Adds a distinct token, after reserve(), and returns its number plus 1. `wide` has its characters; NULL for ASCII. */
static uint32_t add_token(page *p, size_t offset, size_t n, uint64_t key, const uint32_t *wide, size_t length)
{
    const char *text = p->bytes.at + offset;
    const token fresh = {.key = key, .hash = n > 8 ? key : xxh3(text, n), .offset = (uint32_t)offset,
                         .n = (uint32_t)n};
    token_facts facts = {.length = (uint32_t)length, .is_ascii = true, .is_decimal = true};
    facts.lists = lexicon_find_hashed(&p->rules->stopwords, text, n, fresh.hash);
    if (wide == NULL) {
        facts.is_decimal = text[0] <= '9' && text[n - 1] <= '9';
        for (size_t k = 1; facts.is_decimal && k < n; k++)
            facts.is_decimal = text[k] <= '9';
    } else {
        uint32_t all = wide[0], any = wide[0] & CHARACTER;
        facts.script = script_of(any);
        for (size_t k = 1; k < length; k++) {
            all &= wide[k];
            any |= wide[k] & CHARACTER;
            facts.script = script_of(wide[k] & CHARACTER) == facts.script ? facts.script : MIXED_SCRIPTS;
        }
        facts.is_ascii = any < 0x80;
        facts.is_decimal = all >> CLASSES_SHIFT & CHAR_DECIMAL;
    }
    p->facts.at[p->facts.n++] = facts;
    p->tokens.at[p->tokens.n++] = fresh;
    return (uint32_t)p->tokens.n;
}

/* Makes room for additional tokens and their bytes. */
static inline void reserve(page *p, size_t tokens, size_t bytes)
{
    RESERVE(&p->way_out, p->run, tokens);
    RESERVE(&p->way_out, p->tokens, tokens);
    RESERVE(&p->way_out, p->facts, tokens);
    RESERVE(&p->way_out, p->bytes, bytes + 8); /* so that eight bytes can be read anywhere */
    if (UNLIKELY(p->slots.n == 0))
        grow_slots(p);
}

/* Compares two runs of more than eight bytes. */
static inline bool is_equal(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i + 8 < n; i += 8)
        if (load8(a + i) != load8(b + i))
            return false;
    return load8(a + n - 8) == load8(b + n - 8);
}

/* Returns the number plus 1 of the token of n bytes at `offset` in p->bytes, 0 for a new token.
 *
 * The key of a token is its bytes if there are at most eight, otherwise their hash. If hashes are equal, the bytes
 * are also compared. */
static inline uint32_t find_token(const page *p, size_t offset, size_t n, uint64_t key)
{
    const uint32_t *const slots = p->slots.at;
    const token *const tokens = p->tokens.at;
    const char *const bytes = p->bytes.at;
    const size_t mask = p->slots.n - 1;
    uint32_t number;
    for (size_t i = (size_t)placed(p->rules, key) & mask; (number = slots[i]) != 0; i = (i + 1) & mask) {
        const token *known = &tokens[number - 1];
        if (known->key == key && known->n == n && (n <= 8 || is_equal(bytes + known->offset, bytes + offset, n)))
            break;
    }
    return number;
}

/* Adds a token that find_token() did not find; arguments as for add_token(). */
static uint32_t new_token(page *p, size_t offset, size_t n, uint64_t key, const uint32_t *wide, size_t length)
{
    if (2 * p->tokens.n >= p->slots.n)
        grow_slots(p);
    size_t mask = p->slots.n - 1, i = (size_t)placed(p->rules, key) & mask;
    while (p->slots.at[i] != 0)
        i = (i + 1) & mask;
    return p->slots.at[i] = add_token(p, offset, n, key, wide, length);
}

/* Appends the token of n bytes at `offset` in p->bytes to p->run, after reserve(). */
static void push_token(page *p, size_t offset, size_t n, uint64_t key, const uint32_t *wide, size_t length)
{
    uint32_t number = find_token(p, offset, n, key);
    if (number == 0)
        number = new_token(p, offset, n, key, wide, length);
    p->run.at[p->run.n++] = number - 1;
}

static inline uint64_t key_of(const char *text, size_t n)
{
    if (n > 8)
        return xxh3(text, n);
    uint64_t word = load8(text);
    return n == 8 ? word : word & (((uint64_t)1 << 8 * n) - 1);
}

static void take_ascii(page *p, const char *text, size_t n)
{
    reserve(p, n / 2 + 1, n);
    size_t begin = p->bytes.n, end = begin + n;
    char *const bytes = p->bytes.at;
    lower_words(bytes + begin, text, n);
    memset(bytes + end, 0, 8); /* ends the last word */
    p->bytes.n = end;
    uint32_t *to = p->run.at + p->run.n;
    for (size_t i = begin; i < end;) {
        uint64_t word = load8(bytes + i), zeros = zero_bytes(word);
        if ((word & 0xff) == 0) {
            i += word == 0 ? 8 : lowest_bit(word) / 8;
            continue;
        }
        size_t length = 8;
        uint64_t key = word;
        if (zeros != 0) {
            length = lowest_bit(zeros) / 8;
            key = word & (((uint64_t)1 << 8 * length) - 1);
        } else if (bytes[i + 8] != 0) {
            while ((zeros = zero_bytes(load8(bytes + i + length))) == 0)
                length += 8;
            length += lowest_bit(zeros) / 8;
            key = xxh3(bytes + i, length);
        }
        uint32_t number = find_token(p, i, length, key);
        if (number == 0)
            number = new_token(p, i, length, key, NULL, length);
        *to++ = number - 1;
        i += length + 1; /* words end with 0 */
    }
    p->run.n = (size_t)(to - p->run.at);
}

/* Writes `n` characters after p->bytes, after reserve(); returns the number of bytes. */
static inline size_t write_characters(page *p, const uint32_t *wide, size_t n)
{
    char *to = p->bytes.at + p->bytes.n;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += utf8_encode(wide[i] & CHARACTER, to + bytes);
    p->bytes.n += bytes;
    return bytes;
}

static void take_word(page *p, const uint32_t *wide, size_t n)
{
    size_t offset = p->bytes.n, bytes = write_characters(p, wide, n);
    push_token(p, offset, bytes, key_of(p->bytes.at + offset, bytes), wide, n);
}

/* Adds the bigrams of a run without spaces, or its single character. */
static void take_run(page *p, const uint32_t *wide, size_t n)
{
    if (n == 1) {
        take_word(p, wide, 1);
        return;
    }
    size_t before = p->bytes.n, bytes = write_characters(p, wide, 1);
    for (size_t i = 1; i < n; i++) {
        size_t more = write_characters(p, wide + i, 1);
        push_token(p, before, bytes + more, key_of(p->bytes.at + before, bytes + more), wide + i - 1, 2);
        before += bytes;
        bytes = more;
    }
}

/* Splits p->wide, normalised characters with their classes, into tokens. */
static void split_wide(page *p)
{
    enum { IS_WORD = CHAR_WORD << CLASSES_SHIFT, IS_MARK = CHAR_MARK << CLASSES_SHIFT };
    enum { IS_UNSPACED = CHAR_UNSPACED << CLASSES_SHIFT };
    size_t n = p->wide.n;
    const uint32_t *const wide = p->wide.at;
    reserve(p, n, 4 * n);
    for (size_t i = 0; i < n;) {
        size_t start = i;
        if (wide[i] & IS_UNSPACED) {
            do
                i++;
            while (i < n && wide[i] & (IS_UNSPACED | IS_MARK));
            take_run(p, wide + start, i - start);
        } else if (wide[i] & (IS_WORD | IS_MARK)) {
            /* A mark belongs to the word before it, even if it is a mark of an unspaced script. */
            do
                i++;
            while (i < n && (wide[i] & IS_MARK || (wide[i] & (IS_WORD | IS_UNSPACED)) == IS_WORD));
            take_word(p, wide + start, i - start);
        } else {
            i++;
        }
    }
}

/* Fills p->wide with a word normalised by Python. */
static void normalize_in_python(page *p, const char *text, size_t n)
{
    free(p->borrowed);
    size_t result_n = 0;
    p->borrowed = p->rules->normalize(p->rules->python, text, n, &result_n);
    if (p->borrowed == NULL)
        escape(&p->way_out, CALLBACK_FAILED);
    p->wide.n = 0;
    for (const char *at = p->borrowed; at < p->borrowed + result_n;) {
        uint32_t character = utf8_next(&at);
        PUSH(&p->way_out, p->wide,
             character | (uint32_t)char_classes(&p->way_out, &p->rules->chars, character) << CLASSES_SHIFT);
    }
}

/* Normalises a word, the text between two spaces, into p->wide.
 *
 * NFKC depends on neighbours, but most characters do not interact, and each is normalised alone (quick check of UAX
 * #15: starters, and marks in canonical order that do not compose). */
static void normalize_word(page *p, const char *text, size_t n)
{
    uint8_t last = 0; /* canonical combining class of the last character that is kept */
    int64_t marks = 0; /* marks in a row, including removed marks */
    char_table *table = &p->rules->chars;
    const char *end = text + n;
    RESERVE(&p->way_out, p->wide, n);
    uint32_t *to = p->wide.at;
    size_t made = 0;
    for (const char *at = text; at < end;) {
        uint32_t character = utf8_next(&at);
        const char_block *block = char_block_of(&p->way_out, table, character);
        uint32_t normal = block->normal[character % CHARS_IN_BLOCK];
        uint8_t order = block->order[character % CHARS_IN_BLOCK];
        uint32_t kind = normal >> KIND_SHIFT;
        if (kind == NORMAL_ONE && order == 0) { /* true for nearly all characters */
            to[made++] = normal;
            last = 0;
            marks = 0;
            continue;
        }
        bool is_mark = kind == NORMAL_ONE;
        marks = is_mark || kind == NORMAL_GONE ? marks + 1 : 0;
        if (kind == NORMAL_COMPLEX || (is_mark && order < last) || marks > p->rules->max_marks) {
            normalize_in_python(p, text, n);
            return;
        }
        if (kind == NORMAL_GONE)
            continue;
        last = order;
        if (kind == NORMAL_ONE) {
            to[made++] = normal;
            continue;
        }
        size_t many = normal & 0xff;
        p->wide.n = made;
        RESERVE(&p->way_out, p->wide, many + (size_t)(end - at));
        to = p->wide.at;
        memcpy(to + made, table->more + (normal >> 8 & 0xffff), many * sizeof *to);
        made += many;
    }
    p->wide.n = made;
}

/* Returns the number of ASCII bytes before the first other byte. */
static size_t ascii_length(const char *text, size_t n)
{
    size_t i = 0;
    while (i + 8 <= n && (load8(text + i) & EACH_BYTE(0x80)) == 0)
        i += 8;
    while (i < n && !((uint8_t)text[i] & 0x80))
        i++;
    return i;
}

/* Appends the tokens of `text` to p->run and returns their number; the only white space in the text is single spaces.
 *
 * No token and no composition crosses a space, so text that is not ASCII is normalised word by word. */
uint32_t words_of(page *p, const char *text, size_t n, bool is_ascii)
{
    size_t before = p->run.n;
    if (is_ascii) {
        take_ascii(p, text, n);
        return (uint32_t)(p->run.n - before);
    }
    for (size_t i = 0; i < n;) {
        size_t wide = i + ascii_length(text + i, n - i), start = wide, end = wide;
        while (start > i && text[start - 1] != ' ')
            start--;
        if (wide == n)
            start = n;
        const char *space = memchr(text + end, ' ', n - end);
        end = space == NULL ? n : (size_t)(space - text);
        take_ascii(p, text + i, start - i);
        normalize_word(p, text + start, end - start);
        split_wide(p);
        i = end + 1;
    }
    return (uint32_t)(p->run.n - before);
}

/* --- The counts of detect.py, for choose.py. */

static void count_scripts(const page *p, counts *counted, size_t number, int64_t times)
{
    const token_facts *facts = &p->facts.at[number];
    if (facts->script == 0)
        return;
    if (facts->script <= SCRIPTS) {
        counted->scripts[facts->script - 1] += times * facts->length;
        return;
    }
    const token *mixed = &p->tokens.at[number];
    const char *at = token_text(p, mixed), *end = at + mixed->n;
    while (at < end) {
        unsigned length;
        uint8_t script = script_of(utf8_decode(at, end, &length));
        if (script != 0)
            counted->scripts[script - 1] += times;
        at += length;
    }
}

/* Fills p->rows with the number of occurrences of each distinct token in the sample; returns the size of the sample. */
static int64_t take_sample(page *p, bool main_only)
{
    const int64_t most = p->rules->sample;
    int64_t taken = 0;
    p->rows.n = 0;
    RESERVE(&p->way_out, p->rows, p->tokens.n);
    uint32_t *const times = p->rows.at;
    memset(times, 0, p->tokens.n * sizeof *times);
    for (size_t i = 0; i < p->blocks.n && taken < most; i++) {
        const block *b = &p->blocks.at[i];
        if (main_only && b->reason != KEPT)
            continue;
        const uint32_t *numbers = p->run.at + b->run;
        const int64_t n = b->tokens < most - taken ? b->tokens : most - taken;
        for (int64_t k = 0; k < n; k++)
            times[numbers[k]]++;
        taken += n;
    }
    return taken;
}

/* Adds the counts of the sample; a repeated token is read only once. */
static void count_sample(const page *p, counts *counted)
{
    const uint64_t languages = ((uint64_t)1 << p->rules->languages) - 1;
    for (size_t number = 0; number < p->tokens.n; number++) {
        const int64_t times = p->rows.at[number];
        const token_facts *facts = &p->facts.at[number];
        if (times == 0)
            continue;
        counted->characters += times * facts->length;
        if (UNLIKELY(!facts->is_ascii))
            count_scripts(p, counted, number, times);
        if (facts->length == 1) /* an elision in one language, and a list marker in all */
            continue;
        for (uint64_t lists = facts->lists & languages; lists != 0; lists &= lists - 1)
            counted->votes[lowest_bit(lists)] += times;
    }
}

void detect_language(page *p, bool main_only)
{
    const rules *r = p->rules;
    const declaration declared = p->declared;
    counts counted = {.lists = r->languages,
                      .is_declared = declared.is_one,
                      .is_han = declared.is_han,
                      .declared = declared.list};
    counted.tokens = take_sample(p, main_only);
    count_sample(p, &counted);
    choose_language(p, r->choose_language(&counted));
}

void choose_language(page *p, int chosen)
{
    const int lists = p->rules->languages;
    p->chosen_language = chosen;
    p->language = chosen < 0 ? p->declared.list : chosen < lists ? chosen : p->rules->scripts[chosen - lists];
}
