#include "page.h"

/* Reallocates `at` with room for `need` elements, at least twice as many as before, so that PUSH is O(1). */
void *grown(hatch *way_out, void *at, size_t *room, size_t need, size_t element)
{
    size_t wanted = *room < 32 ? 64 : 2 * *room;
#ifdef SIMHASH_TIGHT_ARRAYS /* for a build that detects reads past the end */
    wanted = need;
#endif
    if (wanted < need)
        wanted = need;
    if (need > MAX_ELEMENTS)
        escape(way_out, NOT_COVERED);
    if (wanted > MAX_ELEMENTS)
        wanted = MAX_ELEMENTS;
    if (wanted > SIZE_MAX / element)
        escape(way_out, NO_MEMORY);
    void *moved = realloc(at, wanted * element);
    if (moved == NULL)
        escape(way_out, NO_MEMORY);
    *room = wanted;
    return moved;
}

/* --- The workspace. */

/* Max bytes of an array that are kept for the next page; larger arrays are freed. */
#ifdef SIMHASH_TIGHT_ARRAYS
enum { KEPT_BYTES = 0 };
#else
enum { KEPT_BYTES = 1 << 20 };
#endif

page *page_new(rules *rules)
{
    page *p = calloc(1, sizeof *p);
    if (p != NULL)
        p->rules = rules;
    return p;
}

static void release(page *p, size_t max_bytes)
{
    RELEASE(p->text, max_bytes);
    RELEASE(p->blocks, max_bytes);
    RELEASE(p->spans, max_bytes);
    RELEASE(p->paths, max_bytes);
    RELEASE(p->open, max_bytes);
    RELEASE(p->things, max_bytes);
    RELEASE(p->around, max_bytes);
    RELEASE(p->bytes, max_bytes);
    RELEASE(p->tokens, max_bytes);
    RELEASE(p->run, max_bytes);
    RELEASE(p->facts, max_bytes);
    RELEASE(p->slots, max_bytes);
    RELEASE(p->wide, max_bytes);
    RELEASE(p->numbers, max_bytes);
    RELEASE(p->rows, max_bytes);
    RELEASE(p->inside, max_bytes);
    RELEASE(p->headings, max_bytes);
    RELEASE(p->heading_slots, max_bytes);
    RELEASE(p->segments, max_bytes);
    RELEASE(p->pieces, max_bytes);
    RELEASE(p->piece_keys, max_bytes);
    RELEASE(p->pairs, max_bytes);
    RELEASE(p->pair_slots, max_bytes);
    RELEASE(p->word_counts, max_bytes);
    RELEASE(p->joined, max_bytes);
    RELEASE(p->segmented, max_bytes);
    free(p->borrowed);
    p->borrowed = NULL;
    p->title = p->title_n = 0;
    p->title_is_ascii = true;
    p->makes_offer = false;
    p->structured = 0;
    p->has_items = p->may_name_canonical = p->names_test = false;
    p->title_key = (heading){0};
}

void page_release(page *p) { release(p, KEPT_BYTES); }

void rules_free(rules *known)
{
    lexicon *words[] = {&known->tags, &known->roles, &known->names, &known->things, &known->stopwords};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        lexicon_free(words[i]);
    for (size_t i = 0; i < CHAR_BLOCKS; i++)
        free(known->chars.blocks[i]);
}

void page_free(page *p)
{
    if (p != NULL) {
        release(p, 0);
        free(p);
    }
}

/* Runs the statements; if one of them calls escape(), returns its outcome. */
#define TRY(...)                                                                                                      \
    do {                                                                                                              \
        int why = setjmp(p->way_out.exit);                                                                            \
        if (why != 0)                                                                                                 \
            return (outcome)why;                                                                                      \
        __VA_ARGS__;                                                                                                  \
        return DONE;                                                                                                  \
    } while (0)

static void take_text(page *p, const char *text, size_t n)
{
    PUSH(&p->way_out, p->paths, (path_node){.depth = 0});
    take_plain_text(p, text, n);
}

outcome page_take_tree(page *p, const void *root)
{
    release(p, KEPT_BYTES);
    TRY(outline(p, root));
}

outcome page_find_things(page *p, const void *root, size_t names, size_t scripts)
{
    TRY(find_things(p, root, names, scripts));
}

outcome page_take_text(page *p, const char *text, size_t n)
{
    release(p, KEPT_BYTES);
    TRY(take_text(p, text, n));
}

static void find_tokens(page *p, declaration declared)
{
    p->declared = declared;
    for (size_t i = 0; i < p->blocks.n; i++) {
        block *b = &p->blocks.at[i];
        b->run = (uint32_t)p->run.n;
        b->tokens = b->is_hidden ? 0 : words_of(p, p->text.at + b->text, b->n, b->is_ascii);
    }
}

static void measure(page *p, declaration declared)
{
    find_tokens(p, declared);
    detect_language(p, false);
    make_columns(p);
}

outcome page_measure(page *p, declaration declared) { TRY(measure(p, declared)); }

static void conclude(page *p)
{
    take_columns(p);
    /* Detect the language again without the menus, so that it does not depend on the template. */
    detect_language(p, true);
    find_title_key(p);
}

outcome page_conclude(page *p) { TRY(conclude(p)); }

outcome page_ends_in_letter(page *p, size_t i, int *answer) { TRY(*answer = ends_in_letter(p, &p->blocks.at[i])); }

outcome page_may_have_price(page *p, size_t i, int *answer) { TRY(*answer = may_have_price(p, &p->blocks.at[i])); }

static void prepare_text(page *p, declaration declared, bool detects)
{
    find_tokens(p, declared);
    if (detects)
        detect_language(p, false);
    else
        choose_language(p, -1); /* the declared language */
}

outcome page_prepare_text(page *p, declaration declared, bool detects) { TRY(prepare_text(p, declared, detects)); }

static void read_page(page *p, const fold_settings *settings, const char *url, size_t n, reading *result)
{
    memset(result, 0, sizeof *result);
    take_main_text(p);
    weigh_main_text(p);
    result->has_fingerprint = fold_features(p, settings, result);
    result->has_hashes = settings->with_hashes && (result->has_fingerprint || p->main_tokens >= p->rules->min_tokens);
    if (settings->with_hashes && (result->has_hashes || result->has_fingerprint))
        mark_compared(p);
    if (result->has_hashes)
        hash_texts(p, result);
    result->sketch[SKETCH_FACTS] = 0;
    result->sketch_bytes = SKETCH_FACTS + 1;
    /* Plain text has no structured data. */
    if (result->has_fingerprint && settings->with_sketch && settings->with_hashes)
        find_facts(p, url, n, result);
    p->has_little_text = result->has_hashes && !result->has_fingerprint && has_little_text(p);
}

outcome page_read(page *p, const fold_settings *settings, const char *url, size_t n, reading *result)
{
    TRY(read_page(p, settings, url, n, result));
}

outcome page_pack_paragraphs(page *p) { TRY(pack_paragraphs(p)); }

outcome page_cut(page *p) { TRY(cut_pieces(p)); }

outcome page_count_unique(page *p, const uint8_t *flags, unique_text *result) { TRY(count_unique(p, flags, result)); }

outcome page_unique_text(page *p, const uint8_t *flags, const fold_settings *settings, unique_text *result)
{
    TRY(find_unique_text(p, flags, settings, result));
}
