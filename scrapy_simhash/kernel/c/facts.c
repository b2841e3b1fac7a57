/* The facts of a page outside its sentences: the C version of page/features/facts.py, which gives the reasons, and of
   page/fingerprint/facts.py. */
#include "page.h"

enum { IN_TEXT = 1, IN_FOLDERS = 2, IN_LAST = 4, IS_NAME = 8, IS_ADDED = 16, IS_CUT = 32, IN_NAMING = 64 };
enum { CUT_LETTERS = 3 };
enum { NAME, NAME_IN_URL, NAME_IN_TEXT, NAME_IN_BOTH, TITLE, TITLE_IN_URL, LINE, NUMBERED, ROW, PLAIN, ABOVE, SIGNED };
enum { KIND_BITS = 4 };
enum { LABEL_LETTERS = 40 };

/* Letters and digits of the host in the URL of the page, and the words of the URL. */
typedef struct {
    const char *place, *path;
    size_t place_n, path_n;
    words folders, last, before_id; /* before_id: the folder before a last part with a digit */
} address;

typedef struct {
    uint32_t words[MAX_LINES * LONGEST_LINE + 2 * LONGEST_HEADING + MAX_SIGNED + MAX_ORDERS + MAX_WORDS_KEPT];
    uint32_t n;
    uint64_t labels[MAX_LINES], values[MAX_LINES];
    bool is_unlike[MAX_LINES]; /* a label that occurs twice, with different values */
    uint64_t orders[MAX_ORDERS];
    int rows, lines, n_orders;
} stated;

static bool is_ascii_text(const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((uint8_t)at[i] >= 0x80)
            return false;
    return true;
}

static words words_in(page *p, const char *at, size_t n)
{
    words w = {.run = (uint32_t)p->run.n};
    w.n = words_of(p, at, n, is_ascii_text(at, n));
    return w;
}

static uint32_t word_at(const page *p, words w, uint32_t i) { return p->run.at[w.run + i]; }

static bool is_stopword(const page *p, uint32_t number)
{
    return p->language >= 0 && p->facts.at[number].lists >> p->language & 1;
}

static bool is_rotating(const page *p, uint32_t number) { return p->facts.at[number].lists >> ROTATING_BIT & 1; }

static bool is_decimal_at(const page *p, words w, uint32_t i) { return i < w.n && p->facts.at[word_at(p, w, i)].is_decimal; }

/* Whether a word is compared in a common form, because it is a number in a date, or next to such a number. */
static bool is_cut(const page *p, words w, uint32_t i, bool has_date)
{
    return has_date && (is_decimal_at(p, w, i) || is_decimal_at(p, w, i + 1) || (i > 0 && is_decimal_at(p, w, i - 1)));
}

/* _unified(): returns the hash of a word, which has a common form in dates. */
static uint64_t unified(const page *p, words w, uint32_t i, bool has_date)
{
    const token *t = &p->tokens.at[word_at(p, w, i)];
    if (!is_cut(p, w, i, has_date))
        return t->hash;
    const char *at = token_text(p, t), *end = at + t->n, *stop = at;
    if (is_decimal_at(p, w, i)) {
        while (at + 1 < end && *at == '0')
            at++;
        return xxh3(at, (size_t)(end - at));
    }
    for (int letters = 0; letters < CUT_LETTERS && stop < end; letters++) {
        unsigned length;
        utf8_decode(stop, end, &length);
        stop += length;
    }
    return xxh3(at, (size_t)(stop - at));
}

static bool is_sentence(const page *p, const block *b)
{
    if (!is_main(b) || b->zone == ZONE_HEADING || b->tokens < p->rules->prose_tokens)
        return false;
    const char *text = p->text.at + b->text;
    int labels = 0;
    for (uint32_t i = 0; b->tokens < LONGEST_LINE && i + 1 < b->n; i++)
        labels += text[i] == ':' && text[i + 1] == ' ';
    if (labels < MIN_LABELS || p->language < 0 || ends_with_sentence_mark(p, b))
        return true;
    uint32_t stopwords = 0;
    for (uint32_t k = 0; k < b->tokens; k++)
        stopwords += is_stopword(p, p->run.at[b->run + k]);
    return SENTENCE_SHARE * stopwords >= b->tokens;
}

static bool is_unnamed(const page *p, const block *b) { return p->rules->unnamed_reasons >> b->reason & 1; }

static const path_node *tag_of(const page *p, const block *b) { return &p->paths.at[b->path]; }

/* --- The URL. */

static address read_address(page *p, const char *url, size_t n)
{
    address a = {0};
    const char *end = url + n, *start = NULL;
    for (const char *at = url; start == NULL && at + 2 < end; at++)
        if (memcmp(at, "://", 3) == 0)
            start = at + 3;
    if (start == NULL)
        return a;
    for (const char *at = start; at < end; at++)
        if (*at == '?' || *at == '#')
            end = at;
    const char *slash = memchr(start, '/', (size_t)(end - start));
    a.place = start;
    a.place_n = (size_t)((slash == NULL ? end : slash) - start);
    if (slash == NULL)
        return a;
    while (end > slash + 1 && end[-1] == '/')
        end--;
    const char *last = end;
    while (last > slash + 1 && last[-1] != '/')
        last--;
    a.folders = words_in(p, slash + 1, (size_t)(last - (slash + 1)));
    a.last = words_in(p, last, (size_t)(end - last));
    bool has_digit = false;
    for (const char *at = last; at < end; at++)
        has_digit |= is_ascii_digit(*at);
    if (has_digit && last > slash + 1) {
        end = last - 1;
        for (last = end; last > slash + 1 && last[-1] != '/';)
            last--;
        a.before_id = words_in(p, last, (size_t)(end - last));
    }
    return a;
}

/* Writes the host in lower case, without www, to p->joined. */
static void join_host(page *p, const address *a)
{
    p->joined.n = 0;
    RESERVE(&p->way_out, p->joined, a->place_n + 1);
    for (size_t i = 0; i < a->place_n; i++)
        p->joined.at[p->joined.n++] = ascii_lower(a->place[i]);
    if (p->joined.n >= 4 && memcmp(p->joined.at, "www.", 4) == 0) {
        p->joined.n -= 4;
        memmove(p->joined.at, p->joined.at + 4, p->joined.n);
    }
}

static uint8_t host_number(page *p, const address *a)
{
    if (a->place_n == 0)
        return 0;
    join_host(p, a);
    return (uint8_t)(xxh3(p->joined.at, p->joined.n) % 255 + 1);
}

/* Whether the letters and digits of the host contain these words, each directly after the previous one. */
static bool host_has(page *p, const address *a, words w)
{
    join_host(p, a);
    size_t letters = 0;
    for (size_t i = 0; i < p->joined.n; i++)
        if (is_ascii_letter(p->joined.at[i]) || is_ascii_digit(p->joined.at[i]))
            p->joined.at[letters++] = p->joined.at[i];
    size_t length = 0;
    for (uint32_t i = 0; i < w.n; i++)
        length += p->tokens.at[word_at(p, w, i)].n;
    for (size_t start = 0; start + length <= letters; start++) {
        const char *at = p->joined.at + start;
        bool is_here = true;
        for (uint32_t i = 0; is_here && i < w.n; i++) {
            const token *t = &p->tokens.at[word_at(p, w, i)];
            is_here = memcmp(at, token_text(p, t), t->n) == 0;
            at += t->n;
        }
        if (is_here)
            return true;
    }
    return false;
}

/* --- Words, without those whose stored bits occurred before. Words beyond the limit are ignored. */

static void add(stated *s, uint64_t word, int kind)
{
    const uint32_t hash = (uint32_t)(word >> (64 - WORD_BITS));
    for (uint32_t i = 0; i < s->n; i++)
        if (s->words[i] >> KIND_BITS == hash)
            return;
    if (s->n < sizeof s->words / sizeof *s->words)
        s->words[s->n++] = hash << KIND_BITS | (uint32_t)kind;
}

static bool is_in(const page *p, uint32_t number, int flag) { return p->inside.at[number] & flag; }

static void mark(page *p, words w, int flag)
{
    for (uint32_t i = 0; i < w.n; i++)
        p->inside.at[word_at(p, w, i)] |= (uint8_t)flag;
}

/* Adds words outside the sentences to p->rows: the upper half of each hash. */
static void add_plain(page *p, words w, bool has_date)
{
    for (uint32_t i = 0; i < w.n; i++) {
        const uint32_t number = word_at(p, w, i);
        const int flag = is_cut(p, w, i, has_date) ? IS_CUT : IS_ADDED;
        const uint64_t hash = unified(p, w, i, has_date);
        if (is_in(p, number, flag) || (is_stopword(p, number) && hash == p->tokens.at[number].hash))
            continue;
        p->inside.at[number] |= (uint8_t)flag;
        PUSH(&p->way_out, p->rows, (uint32_t)(hash >> 32));
    }
}

/* --- Names. */

/* Whether the version text[start..end) is a date: 1.03.2026. */
static bool is_date(const char *text, size_t start, size_t end)
{
    const char *dot = memchr(text + start, '.', end - start), *last = dot + 1;
    while (last < text + end && *last != '.')
        last++;
    const ptrdiff_t day = dot - (text + start), month = last - dot - 1, year = text + end - last - 1;
    if (text[start] == 'v' || day > 2 || month > 2 || year != 4)
        return false;
    for (int k = 1; k <= 4; k++)
        if (!is_ascii_digit(last[k]))
            return false;
    return (last[1] == '1' && last[2] == '9') || (last[1] == '2' && last[2] == '0');
}

/* Copies the title to p->segmented, with spaces instead of versions, such as v1.26 or 13.0.0, but not dates. */
static void blank_versions(page *p)
{
    const char *title = p->text.at + p->title;
    const size_t n = p->title_n;
    p->segmented.n = 0;
    RESERVE(&p->way_out, p->segmented, n + 1);
    p->segmented.n = n;
    char *to = p->segmented.at;
    memcpy(to, title, n);
    for (size_t i = 0; i < n;) {
        size_t digits = i + (to[i] == 'v' && i + 1 < n && is_ascii_digit(to[i + 1])), end = digits, parts = 0;
        while (end < n && is_ascii_digit(to[end]))
            end++;
        if (end == digits) {
            i++;
            continue;
        }
        while (end + 1 < n && to[end] == '.' && is_ascii_digit(to[end + 1])) {
            for (end++; end < n && is_ascii_digit(to[end]); end++)
                continue;
            parts++;
        }
        while (parts > 0 && end < n && (is_ascii_letter(to[end]) || is_ascii_digit(to[end])))
            end++;
        if (parts > 0 && !is_date(to, i, end))
            memset(to + i, ' ', end - i);
        i = end;
    }
}

/* Whether a block is hidden and not main text. Its words are set only while facts are searched. */
static bool is_concealed(const block *b) { return b->is_hidden && !is_main(b); }

static bool is_first_block(const page *p, words w)
{
    for (size_t i = 0; i < p->blocks.n && i < FIRST_BLOCKS; i++) {
        const block *b = &p->blocks.at[i];
        if (!is_concealed(b) && b->tokens == w.n &&
            memcmp(p->run.at + b->run, p->run.at + w.run, w.n * sizeof *p->run.at) == 0)
            return true;
    }
    return false;
}

static void add_segment(page *p, stated *s, const address *a, words w, uint32_t most)
{
    if (w.n == 0 || is_first_block(p, w) || host_has(p, a, w))
        return;
    for (uint32_t i = 0; i < w.n && i < most; i++) {
        const uint32_t number = word_at(p, w, i);
        const bool is_version = is_in(p, number, IN_FOLDERS) && p->facts.at[number].is_decimal && !is_year(p, number);
        if (is_stopword(p, number) || is_version || is_in(p, number, IS_NAME))
            continue;
        p->inside.at[number] |= IS_NAME;
        add(s, p->tokens.at[number].hash, is_in(p, number, IN_NAMING) ? TITLE_IN_URL : TITLE);
    }
}

/* Marks the words of the part of the path that has half of the words of the name, which are marked as IS_NAME. */
static void mark_naming_part(page *p, const address *a)
{
    uint32_t all = 0;
    for (size_t i = 0; i < p->tokens.n; i++)
        all += is_in(p, (uint32_t)i, IS_NAME) != 0;
    for (int k = 0; k < 2; k++) {
        const words part = k == 0 ? a->last : a->before_id;
        uint32_t found = 0;
        for (uint32_t i = 0; i < part.n; i++) {
            const uint32_t number = word_at(p, part, i);
            found += is_in(p, number, IS_NAME) && !is_in(p, number, IN_NAMING);
            p->inside.at[number] |= IN_NAMING;
        }
        if (2 * found >= all)
            return;
        for (uint32_t i = 0; i < part.n; i++)
            p->inside.at[word_at(p, part, i)] &= (uint8_t)~IN_NAMING;
    }
}

static void add_names(page *p, stated *s, const address *a, words name, const words *segments, size_t n)
{
    for (uint32_t i = 0; i < name.n; i++)
        if (!is_stopword(p, word_at(p, name, i)))
            mark(p, (words){.run = name.run + i, .n = 1}, IS_NAME);
    mark_naming_part(p, a);
    for (uint32_t i = 0; i < name.n; i++) {
        const uint32_t number = word_at(p, name, i);
        const int in_url = is_in(p, number, IN_NAMING) ? NAME_IN_URL : NAME;
        if (!is_stopword(p, number))
            add(s, p->tokens.at[number].hash, in_url + (is_in(p, number, IN_TEXT) ? NAME_IN_TEXT : NAME));
    }
    uint32_t left = LONGEST_HEADING;
    for (size_t i = 0; i < n; i++) {
        add_segment(p, s, a, segments[i], left);
        left -= segments[i].n < left ? segments[i].n : left;
    }
}

/* --- Lines and rows. */

static bool is_tag(const path_node *node, const char *name) { return node->n == 2 && memcmp(node->name, name, 2) == 0; }

static bool fits(const page *p, words label, words value)
{
    bool is_label = false;
    for (uint32_t i = 0; i < label.n && label.n <= LONGEST_LABEL; i++)
        is_label |= !p->facts.at[word_at(p, label, i)].is_decimal;
    return is_label && value.n > 0 && value.n <= LONGEST_VALUE;
}

/* Returns the number of bytes before the colon of a label, 0 for none. */
static size_t label_length(const char *text, size_t n)
{
    const char *at = text, *end = text + n;
    int letters = 0;
    while (at < end && *at != ':' && *at != ',' && !is_ascii_digit(*at) && letters <= LABEL_LETTERS) {
        unsigned length;
        utf8_decode(at, end, &length);
        at += length;
        letters++;
    }
    bool is_one = letters >= 2 && letters <= LABEL_LETTERS && at + 1 < end && at[0] == ':' && at[1] == ' ';
    return is_one ? (size_t)(at - text) : 0;
}

static bool is_beside(const page *p, size_t i)
{
    const block *before = &p->blocks.at[i - 1], *b = &p->blocks.at[i];
    const int32_t *containers = p->columns.containers;
    if (before->zone == ZONE_HEADING || is_tag(tag_of(p, b), "li"))
        return false;
    if (is_tag(tag_of(p, before), "dt") && is_tag(tag_of(p, b), "dd"))
        return true;
    return containers[i] >= 0 && containers[i] == containers[i - 1] && (i < 2 || containers[i - 2] != containers[i]) &&
           (i + 1 == p->blocks.n || containers[i + 1] != containers[i]);
}

void read_row(page *p, size_t i, words *label, words *value)
{
    const block *b = &p->blocks.at[i];
    *value = (words){.run = b->run, .n = b->tokens};
    const char *text = p->text.at + b->text;
    size_t length = label_length(text, b->n);
    if (length > 0) {
        const uint32_t before = (uint32_t)p->run.n;
        *label = words_in(p, text, length);
        /* The tokens are those of the block, so no token is new. */
        p->run.n = before;
        label->run = b->run;
        words rest = {.run = b->run + label->n, .n = label->n < b->tokens ? b->tokens - label->n : 0};
        if (fits(p, *label, rest)) {
            *value = rest;
            return;
        }
    }
    const block *former = i > 0 ? b - 1 : b;
    *label = (words){.run = former->run, .n = former->tokens};
    if (i > 0 && is_beside(p, i) && fits(p, *label, *value))
        return;
    label->n = 0;
    const heading h = unnumbered((heading){.run = b->run, .n = b->tokens}, text, text + b->n);
    *value = (words){.run = h.run, .n = h.n};
}

static uint64_t mix(const page *p, uint64_t key, uint64_t word)
{
    key = (key ^ word) * p->rules->occurrence_scatter;
    return key ^ key >> 32;
}

static uint64_t mixed(const page *p, words w, bool has_date)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < w.n; i++)
        key = mix(p, key, unified(p, w, i, has_date));
    return key;
}

static bool is_ascii_alphanumeric(char byte) { return is_ascii_letter(byte) || is_ascii_digit(byte); }

/* Adds the hash of a word of the name, text[start..end), with the signs after it; returns whether it is such a word. */
static bool add_signed_word(const page *p, stated *s, words name, const char *text, size_t start, size_t end, int signs)
{
    for (uint32_t i = 0; i < name.n; i++) {
        const token *t = &p->tokens.at[word_at(p, name, i)];
        size_t same = 0;
        while (same < t->n && start + same < end && token_text(p, t)[same] == ascii_lower(text[start + same]))
            same++;
        if (same < t->n || start + same < end)
            continue;
        uint64_t key = mix(p, 0, t->hash);
        for (int k = 0; k < signs; k++)
            key = mix(p, key, xxh3(text + end + k, 1));
        add(s, key, SIGNED);
        return true;
    }
    return false;
}

/* Adds words of the name that have signs: C++. */
static void add_signed(const page *p, stated *s, words name, const char *text, size_t n)
{
    int found = 0;
    for (size_t start = 0, end; start < n && found < MAX_SIGNED; start = end) {
        end = start;
        while (end < n && is_ascii_alphanumeric(text[end]))
            end++;
        size_t after = end;
        while (after < n && text[after] == '+')
            after++;
        /* After more letters, # is the link of a heading to itself. */
        after += after == end && end == start + 1 && end < n && text[end] == '#';
        const char next = after < n ? text[after] : ' ';
        const bool is_end = next != '+' && next != '#' && !is_ascii_alphanumeric(next);
        if (start < end && end < after && is_end)
            found += add_signed_word(p, s, name, text, start, end, (int)(after - end));
        end = after > start ? after : start + 1;
    }
}

/* Pairs each short number with the next number. */
static void add_orders(const page *p, stated *s, words w, bool has_date)
{
    uint64_t former = 0;
    bool has_former = false;
    for (uint32_t i = 0; i < w.n && s->n_orders < MAX_ORDERS; i++) {
        const token_facts *facts = &p->facts.at[word_at(p, w, i)];
        if (!facts->is_decimal || facts->length >= (uint32_t)p->rules->min_number)
            continue;
        const uint64_t number = unified(p, w, i, has_date);
        if (has_former)
            s->orders[s->n_orders++] = mix(p, mix(p, 0, former), number);
        former = number;
        has_former = true;
    }
}

/* _without_count(): leaves out a count at the end. */
static words without_count(const page *p, words w)
{
    if (w.n == 0)
        return w;
    const uint32_t last = word_at(p, w, w.n - 1);
    if (w.n > 1 && is_rotating(p, last) && !is_stopword(p, last) && is_decimal_at(p, w, w.n - 2))
        w.n -= 2;
    else if (w.n > 2 && p->facts.at[last].lists >> AGO_BIT & 1 && is_decimal_at(p, w, w.n - 3))
        w.n -= 3;
    return w;
}

static bool is_numbered(const page *p, words w)
{
    bool found = false;
    for (uint32_t i = 0; i < w.n; i++)
        found |= p->facts.at[word_at(p, w, i)].is_decimal;
    return found;
}

/* _signs(): mixes each plus and minus that has a space on one side into the key. */
static uint64_t mix_signs(const page *p, uint64_t key, const char *text, size_t n)
{
    static const char MINUS[] = "\xe2\x88\x92";
    for (size_t i = 0; i < n; i++) {
        const size_t length = n - i > 2 && memcmp(text + i, MINUS, 3) == 0 ? 3 : text[i] == '-' || text[i] == '+';
        if (length == 0)
            continue;
        const bool is_first = i == 0 || text[i - 1] == ' ', is_last = i + length == n || text[i + length] == ' ';
        if (is_first != is_last)
            key = mix(p, key, xxh3(text[i] == '+' ? "+" : "-", 1));
    }
    return key;
}

static void add_row(const page *p, stated *s, words label, words value, bool has_date, const block *b)
{
    const uint64_t key = mixed(p, label, false);
    const uint64_t value_key = mix_signs(p, mixed(p, value, has_date), p->text.at + b->text, b->n);
    for (int i = 0; i < s->rows; i++)
        if (s->labels[i] == key) {
            s->is_unlike[i] |= s->values[i] != value_key;
            return;
        }
    s->labels[s->rows] = key;
    s->values[s->rows] = value_key;
    s->is_unlike[s->rows++] = false;
}

static bool is_own_number(const page *p, uint32_t number)
{
    return is_in(p, number, IN_FOLDERS | IN_LAST) && p->facts.at[number].is_decimal &&
           p->facts.at[number].length >= (uint32_t)p->rules->min_number && !is_year(p, number);
}

/* Positions of the parts of a page, used to find its lines. */
typedef struct {
    size_t title, first; /* blocks; the first sentence is 0 if there is no sentence below the title */
    uint32_t length;     /* tokens of sentences */
} frame;

/* Whether a heading is at the title or in a box, where it is like a line. */
static bool is_stated_heading(const page *p, const frame *f, size_t i)
{
    return (f->title < i && i < f->first) || p->blocks.at[i].in_box || is_line_above(p, i, f->title);
}

/* Whether a heading in the main text may be a name. */
static bool may_name(const page *p, const frame *f, size_t i)
{
    const block *b = &p->blocks.at[i];
    bool is_new = false;
    if (b->zone != ZONE_HEADING || i <= f->title || is_stated_heading(p, f, i))
        return false;
    if (!is_main(b) || b->tokens > LONGEST_LABEL)
        return false;
    for (uint32_t k = 0; k < b->tokens; k++) {
        const uint32_t number = p->run.at[b->run + k];
        if (is_rotating(p, number))
            return false;
        is_new |= !is_stopword(p, number) && !is_in(p, number, IN_TEXT);
    }
    return is_new;
}

static void add_line(page *p, stated *s, const frame *f, size_t i)
{
    const rules *r = p->rules;
    const block *b = &p->blocks.at[i];
    const bool is_link = is_link_at_title(p, i, f->title, f->first);
    if (b->tokens == 0 || b->tokens >= LONGEST_LINE || is_sentence(p, b) ||
        (!is_link && (double)b->link_length / (double)b->length >= r->linked))
        return;
    const bool is_section = b->zone == ZONE_HEADING && !is_stated_heading(p, f, i) && !may_name(p, f, i);
    if (is_section || is_inside(p, b, "blockquote")) {
        add_plain(p, (words){.run = b->run, .n = b->tokens}, has_date(p, b));
        return;
    }
    words label, value;
    read_row(p, i, &label, &value);
    if (label.n == 0)
        value = without_count(p, value);
    bool rotates = value.n == 0 || (label.n == 0 && is_rotating(p, word_at(p, value, 0)));
    for (uint32_t k = 0; k < label.n; k++)
        rotates |= is_rotating(p, word_at(p, label, k));
    if (rotates || (!is_main(b) && is_byline(p, b)))
        return;
    const bool is_dated = has_date(p, b);
    add_plain(p, (words){.run = b->run, .n = b->tokens}, is_dated);
    const path_node *tag = tag_of(p, b);
    const bool is_value = is_tag(tag, "td") || is_tag(tag, "dd") || is_tag(tag, "address");
    const bool is_near = is_date_above(p, i, f->title) || is_line_above(p, i, f->title);
    const bool is_before = i < f->title && f->title < p->blocks.n && !is_value && !is_near;
    if (is_before || is_tag(tag, "th") || is_tag(tag, "dt") || s->lines >= MAX_LINES ||
        (may_have_price(p, b) && p->rules->has_price(p->rules->python, p->text.at + b->text, b->n)))
        return;
    const bool is_above = f->first == 0 || i < f->first, is_longer = f->length >= r->longer_text;
    if (!is_above && (label.n > 0 || is_value || b->in_box ? is_longer : f->length >= r->long_text))
        return;
    if (is_longer && is_dated)
        return;
    const bool has_number = is_numbered(p, value);
    if (label.n > 0 && (has_number || value.n == 1))
        add_row(p, s, label, value, is_dated, b);
    s->lines++;
    uint64_t numbers[LONGEST_LINE];
    uint32_t n = 0;
    const int kind = is_link || is_line_above(p, i, f->title) ? ABOVE : label.n > 0 ? ROW : has_number ? NUMBERED : LINE;
    bool is_whole = !is_dated, is_last_fact = false, has_facts = false;
    for (uint32_t k = 0; k < value.n; k++) {
        const uint32_t number = word_at(p, value, k);
        is_whole &= !is_own_number(p, number);
        is_last_fact = !(is_stopword(p, number) || is_in(p, number, IN_TEXT) || is_own_number(p, number));
        if (!is_last_fact)
            continue;
        has_facts = true;
        uint64_t word = unified(p, value, k, is_dated);
        if (p->facts.at[number].is_decimal) {
            bool is_repeated = false;
            for (uint32_t i = 0; i < n; i++)
                is_repeated |= numbers[i] == word;
            numbers[n++] = word;
            if (is_repeated)
                word = mix(p, 0, word);
        }
        add(s, word, kind);
    }
    const bool ends_in_letter = !is_last_fact && p->facts.at[word_at(p, value, value.n - 1)].length == 1;
    if (is_whole && (ends_in_letter || !has_facts) && value.n <= LONGEST_VALUE)
        add(s, mixed(p, value, false), kind);
    add_orders(p, s, value, is_dated);
}

/* --- As bytes. */

static int by_word(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void pack(page *p, stated *s, uint8_t host, reading *result)
{
    uint32_t kept[MAX_WORDS_KEPT];
    for (int i = 0; i < s->n_orders; i++)
        add(s, s->orders[i], NUMBERED);
    uint32_t n = s->n < MAX_FACTS ? s->n : MAX_FACTS;
    memcpy(kept, s->words, n * sizeof *kept);
    for (size_t i = 0; i < p->rows.n && n < MAX_WORDS_KEPT; i++) {
        const uint32_t before = s->n;
        add(s, (uint64_t)p->rows.at[i] << 32, PLAIN);
        if (s->n > before)
            kept[n++] = s->words[before];
    }
    qsort(kept, n, sizeof *kept, by_word);
    uint8_t *to = result->sketch + SKETCH_FACTS, *at = to + 1;
    *at++ = (uint8_t)n;
    for (uint32_t i = 0; i < n; i++)
        for (int shift = 16; shift >= 0; shift -= 8)
            *at++ = (uint8_t)(kept[i] >> shift);
    for (int i = 0, rows = 0; i < s->rows && rows < MAX_ROWS; i++) {
        bool counts = !s->is_unlike[i];
        for (int k = 0; k < i; k++)
            counts &= s->is_unlike[k] || s->labels[k] >> 49 != s->labels[i] >> 49;
        if (!counts)
            continue;
        const uint32_t row = (uint32_t)(s->labels[i] >> 49 << 16 | s->values[i] >> 48);
        for (int shift = 24; shift >= 0; shift -= 8)
            *at++ = (uint8_t)(row >> shift);
        rows++;
    }
    *at++ = host;
    *to = (uint8_t)(at - to - 1);
    result->sketch_bytes = (size_t)(at - result->sketch);
}

/* Whether blocks have paths, which they do not have in plain text, or under an inline root. */
static bool has_paths(const page *p)
{
    for (size_t i = 0; i < p->blocks.n; i++)
        if (p->blocks.at[i].path != 0)
            return true;
    return false;
}

void find_facts(page *p, const char *url, size_t url_n, reading *result)
{
    if (!has_paths(p))
        return;
    stated s;
    s.n = 0;
    s.rows = s.lines = s.n_orders = 0;
    frame f = {.title = title_of(p)};
    const address a = read_address(p, url, url_n);
    words name = {.run = p->title_key.run, .n = p->title_key.n};
    const char *heading_text = p->text.at + p->title;
    size_t heading_n = p->title_n;
    if (f.title < p->blocks.n && !is_unnamed(p, &p->blocks.at[f.title])) {
        const block *b = &p->blocks.at[f.title];
        heading_text = p->text.at + b->text;
        heading_n = b->n;
        const heading h =
            unnumbered((heading){.run = b->run, .n = b->tokens}, heading_text, heading_text + heading_n);
        name = (words){.run = h.run, .n = h.n};
    }
    name.n = name.n < LONGEST_HEADING ? name.n : LONGEST_HEADING;
    const words title = words_in(p, p->text.at + p->title, p->title_n);
    words segments[MAX_SEGMENTS];
    size_t n = 0;
    blank_versions(p);
    const char *start = p->segmented.at, *end = start + p->segmented.n;
    for (const char *at = start; at <= end && n < MAX_SEGMENTS;) {
        unsigned step = 1;
        const size_t length = at < end ? separator_at(at, end) : 0;
        if (length > 0 || at == end) {
            segments[n++] = words_in(p, start, (size_t)(at - start));
            start = at = at + length;
            if (length == 0)
                break;
            continue;
        }
        utf8_decode(at, end, &step);
        at += step;
    }
    for (size_t i = 0; i < p->blocks.n; i++) {
        block *b = &p->blocks.at[i];
        if (!is_concealed(b) || !p->columns.marks[i])
            continue;
        b->run = (uint32_t)p->run.n;
        b->tokens = words_of(p, p->text.at + b->text, b->n, b->is_ascii);
    }
    /* No tokens are added from here on. */
    p->inside.n = 0;
    RESERVE(&p->way_out, p->inside, p->tokens.n + 1);
    memset(p->inside.at, 0, p->tokens.n);
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (!is_sentence(p, b))
            continue;
        mark(p, (words){.run = b->run, .n = b->tokens}, IN_TEXT);
        f.length += b->tokens;
        if (f.first == 0 && i > f.title)
            f.first = i;
    }
    mark(p, a.folders, IN_FOLDERS);
    mark(p, a.last, IN_LAST);
    add_names(p, &s, &a, name, segments, n);
    add_signed(p, &s, name, heading_text, heading_n);
    p->rows.n = 0;
    add_plain(p, name, false);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < segments[i].n; k++)
            if (is_in(p, word_at(p, segments[i], k), IS_NAME))
                add_plain(p, (words){.run = segments[i].run + k, .n = 1}, false);
    add_plain(p, title, false);
    /* Headings that may be names come last. */
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < p->blocks.n; i++) {
            const block *b = &p->blocks.at[i];
            const bool is_read = p->columns.marks[i] || (b->zone == ZONE_HEADING && !is_unnamed(p, b));
            if (is_read && may_name(p, &f, i) == (k == 1))
                add_line(p, &s, &f, i);
        }
    for (size_t i = 0; i < p->blocks.n; i++)
        if (is_concealed(&p->blocks.at[i]))
            p->blocks.at[i].tokens = 0;
    pack(p, &s, host_number(p, &a), result);
}
