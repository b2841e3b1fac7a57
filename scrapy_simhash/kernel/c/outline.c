/* Walks over the tree: the C version of page/text/outline.py, which reads the libxml2 nodes of lxml. */
#include "page.h"
#include "tree.h"

enum { REMEMBERED = 128 };

typedef struct {
    page *p;
    folding text;           /* the current block */
    bool has_parts;         /* text was read, possibly only white space */
    size_t link_length;
    size_t link_depth;
    bool is_pictured;       /* a linked picture occurred since the last block, */
    uint32_t pictured;      /* and the span of its element */
    const xmlNode *title;   /* the first title element */
    const xmlNode *listing; /* the open listing (pre), which is one block; NULL outside */
    /* Names are shared strings, so equal tags have equal pointers within a walk. */
    struct {
        const xmlChar *name;
        uint64_t tag;
        uint32_t n;
    } known[REMEMBERED];
} walk;

static uint64_t look_up(walk *w, const xmlChar *name, size_t place)
{
    size_t n = strlen((const char *)name);
    uint64_t tag = lexicon_find(&w->p->rules->tags, (const char *)name, n);
    w->known[place].name = name;
    w->known[place].tag = tag != 0 ? tag : TAG_KNOWN;
    w->known[place].n = (uint32_t)n;
    return w->known[place].tag;
}

static inline size_t place_of(const xmlChar *name) { return ((uintptr_t)name ^ (uintptr_t)name >> 7) % REMEMBERED; }

static inline uint64_t tag_at(walk *w, const xmlChar *name)
{
    size_t place = place_of(name);
    return w->known[place].name == name ? w->known[place].tag : look_up(w, name, place);
}

static void begin_block(walk *w)
{
    w->text = (folding){.start = w->p->text.n, .is_ascii = true};
    w->has_parts = false;
    w->link_length = 0;
}

/* Ends the current block if it has text. */
static void flush(walk *w)
{
    page *p = w->p;
    if (p->text.n > w->text.start) {
        const open_element *top = &p->open.at[p->open.n - 1];
        size_t length = w->text.length;
        block b = {.text = (uint32_t)w->text.start, .n = (uint32_t)(p->text.n - w->text.start),
                   .length = (uint32_t)length, .path = top->path, .is_ascii = w->text.is_ascii,
                   .zone = top->heading ? ZONE_HEADING : ZONE_BODY, .is_hidden = top->hidden,
                   .is_pictured = w->is_pictured && w->pictured != top->span,
                   .link_length = (uint32_t)(w->link_length < length ? w->link_length : length)};
        PUSH(&p->way_out, p->blocks, b);
        w->is_pictured = false;
    }
    begin_block(w);
}

/* The text of the title follows that of all blocks. */
static void take_title(page *p, const xmlNode *element)
{
    folding f = {.start = p->text.n, .is_ascii = true};
    const xmlNode *child = element == NULL ? NULL : element->children;
    for (; child && (child->type == XML_TEXT_NODE || child->type == XML_CDATA_SECTION_NODE); child = child->next)
        if (child->content != NULL)
            fold_space(p, &f, (const char *)child->content, strlen((const char *)child->content));
    if (child && child->type != XML_ELEMENT_NODE && child->type != XML_COMMENT_NODE && child->type != XML_PI_NODE)
        escape(&p->way_out, NOT_COVERED);
    p->title = (uint32_t)f.start;
    p->title_n = (uint32_t)(p->text.n - f.start);
    p->title_is_ascii = f.is_ascii;
}

/* Whether hidden content is skipped in a region, such as in menus, forms and boxes. */
static bool is_of_template(int claim)
{
    int region = claim & CLAIM_REGION;
    return region == REGION_HEADER || region == REGION_LIKELY_CHROME || region == REGION_CHROME ||
           region == REGION_DIALOG;
}

static void open_block_element(walk *w, const xmlNode *element, uint64_t tag, int claim)
{
    page *p = w->p;
    const open_element top = p->open.at[p->open.n - 1];
    open_element inner = {.path = top.path, .heading = top.heading || tag & TAG_HEADING, .span = (uint32_t)p->spans.n,
                          .hidden = top.hidden || (claim & CLAIM_REGION) == REGION_HIDDEN,
                          .of_template = top.of_template || is_of_template(claim)};
    if ((int64_t)p->open.n <= p->rules->max_path_depth) {
        path_node node = {.parent = top.path, .depth = p->paths.at[top.path].depth + 1,
                          .name = (const char *)element->name, .n = w->known[place_of(element->name)].n,
                          .tag = (uint32_t)tag};
        inner.path = (uint32_t)p->paths.n;
        PUSH(&p->way_out, p->paths, node);
    }
    claim = inner.hidden ? REGION_HIDDEN : claim;
    PUSH(&p->way_out, p->open, inner);
    PUSH(&p->way_out, p->spans, (span){.start = (int32_t)p->blocks.n, .region = (uint8_t)(claim & CLAIM_REGION),
                                        .word = (uint8_t)(claim >> CLAIM_WORD)});
}

/* Whether an element that is normally not read has an attribute that shows it: SHOWING in page/text/tags.py. */
static bool is_shown(const xmlNode *element)
{
    return find_attribute(element, "open", NULL) != NULL || find_attribute(element, "shadowrootmode", NULL) != NULL;
}

/* Returns false if the content of the element is skipped. */
static bool open_element_of(walk *w, const xmlNode *element, bool abuts)
{
    page *p = w->p;
    uint64_t tag = tag_at(w, element->name);
    int claim = claim_of_tag(tag);
    bool unseen = tag & TAG_UNSEEN;
    /* The properties of an item come after its type. */
    if (UNLIKELY(p->has_items) && !(p->structured & STRUCTURED_ITEMS) && is_property_of_thing(p, element))
        p->structured |= STRUCTURED_ITEMS;
    if (tag & TAG_SHOWN_BY_ATTRIBUTE && is_shown(element)) {
        claim = REGION_HIDDEN;
        unseen = false;
    } else if (!unseen && element->properties != NULL) {
        claim = claim_of(p, element, tag);
    }
    if ((claim & CLAIM_REGION) == REGION_HIDDEN) {
        /* In a line or a listing, hidden text is left out, so that the visible text stays a single block. */
        unseen = tag & TAG_INLINE || w->listing != NULL || p->text.n > w->text.start ||
                 p->open.at[p->open.n - 1].of_template;
        if (tag & TAG_NEVER_HIDDEN) {
            unseen = false;
            claim = REGION_PLAIN;
            p->has_items = true; /* possibly: not all attributes were read */
        }
    }
    if (unseen) {
        /* The title of an SVG picture is skipped, like its content. */
        if (w->title == NULL && tag & TAG_TITLE)
            w->title = element;
        look_for_things(p, element);
        p->may_name_canonical = p->may_name_canonical || may_name_canonical(element);
        return false;
    }
    if (!(tag & TAG_INLINE) && w->listing == NULL) {
        if (w->has_parts)
            flush(w);
        open_block_element(w, element, tag, claim);
        if (tag & TAG_PREFORMATTED)
            w->listing = element;
        return true;
    }
    /* Adjacent elements are rendered separately, so <b>name</b><i>type</i> is two words. In a listing, white space is
     * preserved, and a line may be an element. */
    if (w->listing == NULL ? abuts || tag & TAG_BREAK : !(tag & TAG_INLINE) || tag & TAG_BREAK)
        w->text.space = w->has_parts = true;
    w->link_depth += (tag & TAG_LINK) != 0;
    if (w->link_depth > 0 && element->name[0] == 'i' && strcmp((const char *)element->name, "img") == 0) {
        w->is_pictured = true;
        w->pictured = p->open.at[p->open.n - 1].span;
    }
    return true;
}

static void close_element(walk *w, const xmlNode *element)
{
    page *p = w->p;
    uint64_t tag = tag_at(w, element->name);
    if (w->listing == element)
        w->listing = NULL;
    if (!(tag & TAG_INLINE) && w->listing != NULL) {
        w->text.space = w->has_parts = true;
    } else if (!(tag & TAG_INLINE)) {
        if (w->has_parts)
            flush(w);
        p->spans.at[p->open.at[p->open.n - 1].span].stop = (int32_t)p->blocks.n;
        p->open.n--;
    } else {
        w->link_depth -= (tag & TAG_LINK) != 0;
    }
}

static bool take_text(walk *w, const xmlNode *node)
{
    const char *text = (const char *)node->content, *start = text;
    if (text == NULL || *text == '\0')
        return false;
    w->has_parts = true;
    while (is_ascii_space((unsigned char)*start))
        start++;
    w->text.space = w->text.space || start > text;
    /* Most text nodes are only the indentation of the markup. */
    size_t n = *start == '\0' ? 0 : strlen(start);
    if (w->link_depth > 0)
        w->link_length += (size_t)(start - text) + utf8_length(start, n);
    if (n > 0)
        fold_space(w->p, &w->text, start, n);
    return true;
}

static void drop_empty_spans(page *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->spans.n; i++)
        if (p->spans.at[i].stop > p->spans.at[i].start)
            p->spans.at[n++] = p->spans.at[i];
    p->spans.n = n;
}

/* Returns the next element after `root` at the top of its document; usually NULL. */
static const xmlNode *next_root(const xmlNode *root)
{
    if (root->parent == NULL || root->parent->type == XML_ELEMENT_NODE)
        return NULL;
    do
        root = root->next;
    while (root != NULL && root->type != XML_ELEMENT_NODE);
    return root;
}

void outline(page *p, const void *tree)
{
    const xmlNode *root = tree, *node = root;
    walk w = {.p = p};
    bool abuts = false;
    memset(p->attributes, 0, sizeof p->attributes);
    PUSH(&p->way_out, p->paths, (path_node){.depth = 0}); /* path 0 is empty */
    PUSH(&p->way_out, p->open, (open_element){.path = 0, .span = UINT32_MAX});
    begin_block(&w);
    for (;;) {
        bool inside = false;
        switch (node->type) {
        case XML_ELEMENT_NODE:
            inside = open_element_of(&w, node, abuts);
            abuts = inside ? false : abuts;
            p->may_name_canonical = p->may_name_canonical || (node == tree && !inside);
            if (inside && node->children == NULL) {
                close_element(&w, node);
                inside = false;
                abuts = true;
            }
            break;
        case XML_TEXT_NODE:
        case XML_CDATA_SECTION_NODE:
            abuts = take_text(&w, node) ? false : abuts;
            break;
        case XML_COMMENT_NODE:
        case XML_PI_NODE:
            break;
        default: /* unresolved entities, XInclude nodes */
            escape(&p->way_out, NOT_COVERED);
        }
        if (inside) {
            node = node->children;
            continue;
        }
        while (node != root && node->next == NULL) {
            node = node->parent;
            close_element(&w, node);
            abuts = true;
        }
        if (node == root) {
            root = next_root(root);
            if (root == NULL)
                break;
            node = root;
            continue;
        }
        node = node->next;
    }
    if (w.has_parts)
        flush(&w);
    take_title(p, w.title);
    drop_empty_spans(p);
}
