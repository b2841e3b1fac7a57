/* The workspace in which a page is read, and the steps that read and write it.
 *
 *     head.c       tree -> declared language, links in the head (needs the GIL, like the next two)
 *     outline.c, regions.c   tree -> blocks and spans
 *     things.c     tree -> elements with structured data, only if the outline found signs of them
 *     folding.c    text -> blocks, with white space collapsed
 *     language.c   blocks -> numbered distinct tokens, and the counts for page/language/choose.py
 *     blocks.c     blocks -> columns of numbers for page/text/main_text.py, which is compiled from Python; then the
 *                  title key, and the hashes of the page
 *     features.c   main text -> fingerprint and sketch
 *     facts.c      blocks and URL -> facts outside the sentences
 *     unique_text.c   main text -> pieces; unique text -> fingerprint and sketch
 *
 * Each file is the C version of code under page/, the reference implementation. Words, limits and weights come from
 * these Python modules (struct rules), and the decisions about filters, language and shingles are compiled from them.
 * Only patterns are implemented twice: scripts, separators of titles, hiding styles, codes of no language;
 * test_alike.py compares the results.
 */
#ifndef SIMHASH_PAGE_H
#define SIMHASH_PAGE_H

#include "base.h"
#include "characters.h"
#include "hashing.h"

enum { MAX_LANGUAGES = 64, MAX_SENTENCE_MARKS = 32, MAX_CURRENCIES = 64, MAX_WORDS = 256, WEIGHTS_KNOWN = 128, ZONES = 3 };
enum { SCRIPTS = 7 }; /* scripts that determine a language, in the order of page/language/choose.py */
enum { ZONE_HEADING, ZONE_BODY, ZONE_OFFER };
enum { REGION_PLAIN, REGION_MAIN, REGION_HEADER, REGION_LIKELY_CHROME, REGION_CHROME, REGION_DIALOG, REGION_HIDDEN };
enum { KEPT }; /* other numbers are the reasons of page/text/main_text.py */

/* Properties of a tag, as bits; the lowest three are its region. */
enum {
    TAG_REGION_BITS = 7,
    TAG_KNOWN = 1 << 3,
    TAG_UNSEEN = 1 << 4,
    TAG_INLINE = 1 << 5,
    TAG_HEADING = 1 << 6,
    TAG_CLASS_IGNORED = 1 << 7,
    TAG_NEVER_HIDDEN = 1 << 8,
    TAG_PARAGRAPH = 1 << 9,
    TAG_CELL = 1 << 10,
    TAG_LINK = 1 << 11,
    TAG_BREAK = 1 << 12,
    TAG_TITLE = 1 << 13,
    TAG_PREFORMATTED = 1 << 14,
    TAG_SECTION = 1 << 15,
    TAG_ENTRY = 1 << 16,
    TAG_SHOWN_BY_ATTRIBUTE = 1 << 17,
};
/* Properties of a word in class attributes. */
enum { NAME_CHROME = 1, NAME_HEADER = 2, NAME_NEUTRAL = 4, NAME_HIDDEN = 8, NAME_PART = 16, NAME_NEGATING = 32, NAME_TOOL = 64, NAME_CONTENT = 128,
       NAME_TEST = 256 };
/* The number of a boilerplate word is above these bits; in a claim, it is above the region. */
enum { WORD_SHIFT = 9, TAG_WORD_SHIFT = 18, CLAIM_REGION = 7, CLAIM_WORD = 3 };

/* Counts of a sample of tokens, see page/language/detect.py. */
typedef struct {
    int64_t tokens, characters;
    int64_t scripts[SCRIPTS];
    int64_t votes[MAX_LANGUAGES];
    int lists, declared;
    bool is_declared, is_han;
} counts;

/* The rules of the pure Python modules. Constant once created. */
typedef struct {
    lexicon tags, roles, names;
    lexicon things; /* properties by which page/structured.py recognises a thing */
    lexicon stopwords; /* word -> a bit for each language that has it */
    char_table chars;
    int languages;
    int scripts[SCRIPTS]; /* number of the stopword list of each script, -1 for none */
    double linked;
    uint64_t worded_reasons;  /* a bit for each reason (and for KEPT) whose blocks are in words_number */
    uint64_t unnamed_reasons; /* a bit for each reason whose headings are not the title key */
    uint32_t prose_tokens, max_words_of_date;
    uint32_t long_text, longer_text, min_number; /* see page/features/facts.py */
    uint8_t chrome, outside, links, edge, hidden, dialog; /* numbers of six reasons */
    uint32_t max_in_box, max_above, max_short_value;
    uint64_t unread_reasons;  /* a bit for each reason whose blocks have no facts */
    uint8_t consent;          /* number of the word for boxes over the page */
    int64_t sample, min_tokens, min_prose, min_beside, few_tokens, max_path_depth, max_marks;
    int64_t cut, min_piece, short_piece, doubtful_share;
    uint32_t sentence_marks[MAX_SENTENCE_MARKS];
    size_t n_sentence_marks;
    uint32_t currencies[MAX_CURRENCIES][2]; /* the first two characters; the second is 0 if there is only one */
    size_t n_currencies;
    uint64_t currency_starts[2];             /* a bit for each ASCII character at their beginning */
    int64_t weights[ZONES][2][WEIGHTS_KNOWN]; /* [zone][is a word][count] */
    uint64_t tie_mask, occurrence_scatter;
    uint64_t seeds[2]; /* random in each process, so that no page can contain words that collide on purpose */
    uint32_t mark_scatter;
    /* A function compiled from Python that runs without the GIL: page/language/choose.py. */
    int (*choose_language)(const counts *of);

    /* Callbacks into Python; each takes the GIL. -1 (or NULL): a Python exception is set. */
    void *python;
    char *(*normalize)(void *python, const char *text, size_t n, size_t *result_n); /* caller frees; NULL: failure */
    int64_t (*weight)(void *python, int zone, int is_word, int64_t count);
    int (*has_price)(void *python, const char *text, size_t n);
} rules;

typedef struct {
    uint32_t text, n;      /* bytes of page.text */
    uint32_t length;       /* characters */
    uint32_t link_length;  /* characters within links */
    uint32_t path;         /* index into page.paths, 0 for none */
    uint32_t run, tokens;  /* tokens are page.run[run ... run + tokens] */
    uint8_t zone, reason;
    bool is_ascii, is_hidden;
    bool in_article;  /* set by the filters */
    bool in_box;      /* in a box beside the article */
    bool is_pictured; /* after a linked picture in a different element */
} block;

/* A run of tokens whose features are counted: page.run[run ... run + n]. */
typedef struct {
    uint32_t run, n;
    uint8_t zone;
} segment;

typedef struct {
    uint32_t parent;
    uint32_t depth;
    const char *name; /* in the tree; valid as long as the tree */
    uint32_t n;
    uint32_t tag;
} path_node;

typedef struct {
    int32_t start, stop;
    uint8_t region, word;
} span;

/* The blocks in the form that the filters read: one number per block, and one more in sums. See
 * page/text/columns.py. */
enum { COLUMNS = 19 };
typedef struct {
    int32_t *lengths, *link_lengths, *tokens, *stopwords, *is_heading, *is_h1, *is_paragraph, *is_cell, *is_pictured, *ranks;
    int32_t *containers; /* the span around the element, -1 for none */
    int32_t *is_link, *is_prose, *is_offer, *is_inside, *reasons; /* results of the filters */
    int32_t *marks, *places, *sums;                   /* working arrays of the filters */
    int32_t held[MAX_WORDS], stops[MAX_WORDS];      /* by the number of a word for boilerplate */
} columns;

typedef struct {
    uint32_t path;
    uint32_t span;
    bool heading, hidden, of_template;
} open_element;

/* Tokens in page.run. */
typedef struct {
    uint32_t run, n;
} words;

/* A heading, or part of a title: tokens in page.run. */
typedef struct {
    uint32_t run, n;
    uint32_t block;
} heading;

/* A distinct token. Properties read for every occurrence are in token_facts. */
typedef struct {
    uint64_t key;  /* the bytes of the token if there are at most eight, else its hash */
    uint64_t hash; /* XXH3 */
    uint32_t offset, n; /* bytes of page.bytes */
} token;

typedef struct {
    uint64_t lists;  /* a bit for each language whose stopword it is */
    uint32_t length; /* characters */
    uint8_t script;  /* 1 + index into rules.scripts if all characters have it, 0 for none, 255 for a mix */
    bool is_decimal, is_ascii;
} token_facts;

/* A pair of neighbours in a segment, or a token that is alone in a segment. */
typedef struct {
    uint64_t key; /* first token << 32 | second token */
    uint64_t hash;
    uint32_t counts[ZONES];
    bool has_stopword;
} pair;

/* The language that markup or header declares. */
typedef struct {
    bool is_one, is_han; /* a language is declared; it may be written in Han */
    int list;            /* number of its stopword list, -1 for none */
} declaration;

/* The claim of a class attribute at its last occurrence, on this page or an earlier page. */
enum { NAMES_REMEMBERED = 1024, LONGEST_REMEMBERED = 117 };
typedef struct {
    uint64_t hash;
    uint16_t claim;
    uint8_t n;
    char names[LONGEST_REMEMBERED];
} name_memo;

/* The meaning of an attribute's name, by the address of the name. */
enum { ATTRIBUTES_REMEMBERED = 64 };
typedef struct {
    const void *name;
    int which;
} attribute_memo;

enum { STRUCTURED_SCRIPTS = 1, STRUCTURED_ITEMS = 2 };

/* An element that page/structured.py reads: a title or first heading, a JSON-LD script, an item. */
enum { THING_NAME, THING_SCRIPT, THING_ITEM };
typedef struct {
    const void *element; /* xmlNode */
    int kind; /* one of these, or a state in things.c */
} thing;

/* Limits of page/features/facts.py and page/fingerprint/facts.py, and the bits of words of AGO and ROTATING in a lexicon of stopwords. */
enum { LONGEST_LINE = 24, MAX_LINES = 16, LONGEST_HEADING = 64, MAX_SEGMENTS = 32, FIRST_BLOCKS = 3, LONGEST_LABEL = 4,
       LONGEST_VALUE = 8, WORD_BITS = 20, MAX_WORDS_KEPT = 29, MAX_FACTS = 28, MAX_ROWS = 4, MAX_ORDERS = 4, MAX_SIGNED = 2,
       MIN_LABELS = 2, MAX_FOLLOWING = 6, SENTENCE_SHARE = 3, AGO_BIT = 62, ROTATING_BIT = 63 };

typedef struct {
    hatch way_out;
    rules *rules;

    VEC(char) text;
    VEC(block) blocks;
    VEC(span) spans;
    VEC(path_node) paths;
    VEC(open_element) open;
    uint32_t title, title_n; /* bytes of text */
    bool title_is_ascii;
    int structured; /* structured data that the tree may have, as bits: see page/structured.py */
    bool has_items; /* an element with an itemtype was read */
    VEC(thing) things;
    VEC(thing) around; /* the open elements of the search, with a flag for hidden ones */
    bool may_name_canonical, has_little_text, names_test; /* names_test: an element has the name of a captcha */
    int64_t main_tokens, dialog_tokens, all_tokens;

    VEC(char) bytes; /* the bytes of tokens */
    VEC(token) tokens;
    VEC(uint32_t) run;     /* numbers of all tokens of the page, in order */
    VEC(token_facts) facts;
    VEC(uint32_t) slots;   /* hash table of tokens: number + 1, 0 for an empty slot */
    VEC(uint32_t) wide;    /* the characters of the current word, normalised, with their classes */
    char *borrowed;        /* result of normalize() */
    declaration declared;

    VEC(int32_t) numbers;  /* memory of the columns */
    columns columns;
    bool makes_offer;      /* whether any block is an offer */

    VEC(uint32_t) rows;    /* scratch */
    VEC(uint8_t) inside;

    int language; /* number of its stopword list, -1 for none */
    int chosen_language; /* result of choose_language() */

    heading title_key;
    VEC(heading) headings;
    VEC(uint32_t) heading_slots; /* hash table of headings: number + 1 */

    VEC(segment) segments; /* text to fold: the main text, or its unique part */
    VEC(segment) pieces;
    VEC(uint8_t) piece_keys; /* 8 bytes each, lowest first */
    uint16_t words_number;   /* see struct unique_text */
    VEC(pair) pairs;
    VEC(uint32_t) pair_slots; /* hash table of pairs: number + 1 */
    size_t pairs_with_stopword;
    VEC(uint32_t) word_counts; /* ZONES for each token */
    VEC(char) joined;          /* scratch: bytes to hash */
    VEC(char) segmented;       /* the title, while it is split into segments */
    name_memo names[NAMES_REMEMBERED];
    attribute_memo attributes[ATTRIBUTES_REMEMBERED]; /* of this walk */
} page;

/* Settings for folding, and whether the text is also hashed. */
typedef struct {
    int64_t min_shingles;
    bool with_sketch, with_paragraphs, with_hashes;
} fold_settings;

enum { SKETCH_BINS = 448, SKETCH_MINHASH = 112, SKETCH_TITLE_KEY = 8, SKETCH_FACTS = 128, SKETCH_BYTES = 256 };

typedef struct {
    bool has_fingerprint, has_hashes;
    uint64_t value, page_hash, text_hash;
    uint32_t features;
    size_t sketch_bytes;
    uint8_t sketch[SKETCH_BYTES];
} reading;

/* The unique text of a page, and the part of it that may be boilerplate. */
typedef struct {
    uint32_t tokens, whole, doubtful;
    uint16_t words; /* see words_number() of page/pieces.py */
    uint64_t text;  /* the page hash */
    uint64_t value; /* 0 if it is too short for a fingerprint */
    uint8_t sketch[SKETCH_FACTS];
} unique_text;

/* These functions return an outcome. After any outcome, the page may be reused. */
page *page_new(rules *rules);
void rules_free(rules *known); /* frees the contents, not the struct */
void page_free(page *p);
outcome page_take_tree(page *p, const void *root); /* xmlNode of libxml2; with the GIL */
/* Writes the language that the markup declares, "" for none; returns whether the tree is supported. */
bool declared_language(const void *root, char code[4]);
/* A link or base element in the head or directly in the body; a missing attribute is NULL. If is_wanted is false,
 * attributes other than rel are not read. */
typedef struct {
    bool is_base, is_wanted;
    const char *rel, *href, *language, *type;
} head_link;
const void *next_head_link(const void *root, const void *former); /* an xmlNode; NULL at the end */
/* Sets is_wanted only for links whose rel contains `word`, in lower case, or for all links if it is NULL. Returns
 * false if the tree is not supported. */
bool read_head_link(const void *element, const char *word, head_link *link);
/* Whether a skipped element is or contains a link for which read_head_link() with the word "canonical" sets is_wanted. */
bool may_name_canonical(const void *element);
/* Whether an a or link element of the tree may name the next or the previous page. O(nodes). */
bool may_name_steps(const void *root);
/* Fills p->things for page/structured.py, which limits the number of `names`, in the order of the tree; with the GIL. */
outcome page_find_things(page *p, const void *root, size_t names, size_t scripts);
outcome page_take_text(page *p, const char *text, size_t n);            /* UTF-8 */
/* The next four functions may run without the GIL. The filters run after page_measure(). */
outcome page_measure(page *p, declaration declared);
outcome page_conclude(page *p);
outcome page_prepare_text(page *p, declaration declared, bool detects); /* for plain text, instead of the two above */
outcome page_read(page *p, const fold_settings *settings, const char *url, size_t n, reading *result);
outcome page_cut(page *p); /* main text -> p->pieces */
/* `flags` has a byte for each piece: 1 for boilerplate, 2 for possible boilerplate; NULL for none.
   page_count_unique() only counts. */
outcome page_count_unique(page *p, const uint8_t *flags, unique_text *result);
outcome page_unique_text(page *p, const uint8_t *flags, const fold_settings *settings, unique_text *result);
/* packed() of page/reading.py; the result is in arrays of the page. */
outcome page_pack_paragraphs(page *p);
/* Tests of the text of a block, for the filters; the result is 0 or 1. */
outcome page_ends_in_letter(page *p, size_t i, int *answer);
outcome page_may_have_price(page *p, size_t i, int *answer);
bool is_entry(const page *p, const block *b);
bool has_date(const page *p, const block *b);
bool has_sentence_mark(const page *p, const block *b);
bool ends_with_sentence_mark(const page *p, const block *b);
bool counts_up(const page *p, const block *b);
bool are_beside(const page *p, const block *a, const block *b); /* the parents of their elements have the same path */
void page_release(page *p); /* after every page; keeps the memory that a usual page needs */

/* The steps. On failure, they call escape() with p->way_out. */
void outline(page *p, const void *root);
int claim_of(page *p, const void *element, uint64_t tag);
/* Whether the page under an element may contain a password field or a captcha, for which page/interstitial.py searches.
   Reads all nodes, unless the names of an element say so. */
bool may_ask(const page *p, const void *root);
/* Whether an element has an itemprop by which a thing is recognised. */
bool is_property_of_thing(page *p, const void *element);
/* Searches an element whose content is not read, or a script, for signs of structured data. Adds to p->structured. */
void look_for_things(page *p, const void *element);
void find_things(page *p, const void *root, size_t names, size_t scripts);
void take_plain_text(page *p, const char *text, size_t n);
uint32_t words_of(page *p, const char *text, size_t n, bool is_ascii); /* appends to p->run, returns their number */
void detect_language(page *p, bool main_only);
void choose_language(page *p, int chosen);
void make_columns(page *p);
void take_columns(page *p);
bool ends_in_letter(page *p, const block *b);
bool may_have_price(page *p, const block *b);
void find_title_key(page *p);
/* Both functions fold p->segments. */
void take_main_text(page *p);
bool fold_features(page *p, const fold_settings *settings, reading *result);
void sketch(page *p, uint8_t to[SKETCH_FACTS]);
void pack_paragraphs(page *p); /* into p->joined */
void cut_pieces(page *p);
void count_unique(page *p, const uint8_t *flags, unique_text *result);
void find_unique_text(page *p, const uint8_t *flags, const fold_settings *settings, unique_text *result);
void weigh_main_text(page *p);
/* Number of the block with the heading of the first level; the number of blocks without such a heading. */
size_t title_of(const page *p);
/* Sets columns.marks for the blocks that compared() of page/features/extract.py selects. The next two need them. */
void mark_compared(page *p);
void find_facts(page *p, const char *url, size_t n, reading *result);
/* Used by several files. */
heading unnumbered(heading h, const char *at, const char *end);
size_t separator_at(const char *at, const char *end);
bool is_byline(const page *p, const block *b);
bool is_date_above(const page *p, size_t i, size_t title);
bool is_line_above(const page *p, size_t i, size_t title);
bool is_link_at_title(const page *p, size_t i, size_t title, size_t first);
/* Splits a line into a label, which may be empty, and its value. */
void read_row(page *p, size_t i, words *label, words *value);
bool is_inside(const page *p, const block *b, const char *name);
bool is_year(const page *p, uint32_t token);
bool has_little_text(const page *p);
void hash_texts(page *p, reading *result); /* page hash and text hash; needs main text */

/* The claim of an element without attributes whose tag has these properties. */
static inline int claim_of_tag(uint64_t tag)
{
    return (int)(tag & TAG_REGION_BITS) | (int)(tag >> TAG_WORD_SHIFT) << CLAIM_WORD;
}

/* Appends the text of `from` with white space collapsed to single spaces; escapes if it is invalid UTF-8. */
typedef struct {
    size_t start;   /* start of the folded text in page.text */
    size_t length;  /* characters so far */
    bool space, is_ascii;
} folding;
void fold_space(page *p, folding *f, const char *from, size_t n);

/* The number in page/language/detect.py of a script that determines a language, plus 1; 0 for other scripts. */
static inline uint8_t script_of(uint32_t c)
{
    if (c < 0x0e01) /* most letters except Han are Latin, Greek, Cyrillic or Arabic */
        return 0;
    if (c >= 0x4e00 && c <= 0x9fff)
        return 6;
    if (c >= 0x3041 && c <= 0x30ff)
        return 1;
    if (c <= 0x0e4e)
        return 2;
    if (c >= 0x0e81 && c <= 0x0edf)
        return 3;
    if (c >= 0x1000 && c <= 0x109f)
        return 4;
    if (c >= 0x1780 && c <= 0x17dd)
        return 5;
    if ((c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x3134f))
        return 6;
    return c >= 0xac00 && c <= 0xd7a3 ? 7 : 0;
}


/* Hash of a key for a hash table. */
static inline uint64_t placed(const rules *r, uint64_t key)
{
    return xxh3_mul_fold(key ^ r->seeds[0], r->seeds[1]);
}

static inline int32_t page_container(const page *p, size_t i) { return p->columns.containers[i]; }
static inline bool is_main(const block *b) { return b->reason == KEPT; }

/* Accessors for callers that do not have the array types. */
static inline size_t page_things(const page *p) { return p->things.n; }
static inline thing page_thing(const page *p, size_t i) { return p->things.at[i]; }
static inline size_t page_pieces(const page *p) { return p->pieces.n; }
static inline const uint8_t *page_piece_keys(const page *p) { return p->piece_keys.at; }
static inline const char *page_packed(const page *p) { return p->joined.at; }
static inline size_t page_packed_length(const page *p) { return p->joined.n; }
static inline size_t page_length(const page *p) { return p->text.n; }
static inline size_t page_blocks(const page *p) { return p->blocks.n; }
static inline const block *page_block(const page *p, size_t i) { return &p->blocks.at[i]; }
static inline const span *page_spans(const page *p) { return p->spans.at; }
static inline size_t page_span_count(const page *p) { return p->spans.n; }
static inline const char *page_text(const page *p) { return p->text.at; }
static inline size_t page_paths(const page *p) { return p->paths.n; }
static inline const path_node *page_path(const page *p, size_t i) { return &p->paths.at[i]; }
static inline size_t page_tokens(const page *p) { return p->tokens.n; }
static inline const token *page_token(const page *p, size_t number) { return &p->tokens.at[number]; }
static inline const uint32_t *page_run(const page *p) { return p->run.at; }

static inline const char *token_text(const page *p, const token *t) { return p->bytes.at + t->offset; }

#endif
