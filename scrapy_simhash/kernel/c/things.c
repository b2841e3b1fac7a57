/* Finds the elements with structured data: the C version of the searches in page/structured.py, which interprets
   them. */
#include "page.h"
#include "tree.h"

/* Whether text begins with `word`, ignoring ASCII case, after white space. */
static bool starts_with(const char *text, const char *word)
{
    while (*text == ' ' || (*text >= '\t' && *text <= '\r'))
        text++;
    for (; *word != '\0'; text++, word++)
        if (ascii_lower(*text) != *word)
            return false;
    return true;
}

/* Whether a script has the type of JSON-LD, or may have it because the type contains an entity. */
static bool is_json_ld(const xmlNode *script)
{
    const char *type = attribute_text(find_attribute(script, "type", NULL));
    return type == NULL || starts_with(type, "application/ld+json");
}

/* Whether a JSON-LD script contains a quoted property by which a thing is recognised. O(bytes). */
static bool has_known_property(const page *p, const char *script)
{
    for (const char *at = script; (at = strchr(at, '"')) != NULL;) {
        const char *start = ++at;
        while (is_ascii_letter(*at) || is_ascii_digit(*at))
            at++;
        if (*at == '"' && at > start && lexicon_find(&p->rules->things, start, (size_t)(at - start)) != 0)
            return true;
    }
    return false;
}

/* Whether an element may be a script with structured data; only the result true may be wrong. */
static bool may_describe_thing(const page *p, const xmlNode *element)
{
    const xmlNode *text = element->children;
    if (text == NULL || strcmp((const char *)element->name, "script") != 0 || !is_json_ld(element))
        return false;
    /* Python joins text in several nodes. */
    return text->next != NULL || (text->type != XML_TEXT_NODE && text->type != XML_CDATA_SECTION_NODE) ||
           text->content == NULL || has_known_property(p, (const char *)text->content);
}

void look_for_things(page *p, const void *element)
{
    if (!(p->structured & STRUCTURED_SCRIPTS) && may_describe_thing(p, element))
        p->structured |= STRUCTURED_SCRIPTS;
    size_t depth = 0;
    for (const xmlNode *node = element; node != NULL && p->has_items && !(p->structured & STRUCTURED_ITEMS);
         node = next_node(node, element, &depth))
        if (node->type == XML_ELEMENT_NODE && is_property_of_thing(p, node))
            p->structured |= STRUCTURED_ITEMS;
}

/* --- The search. */

enum { UNTESTED, VISIBLE, CONCEALED };

static bool hides(page *p, const xmlNode *element)
{
    uint64_t tag = lexicon_find(&p->rules->tags, (const char *)element->name, strlen((const char *)element->name));
    return tag & TAG_UNSEEN ||
           (!(tag & TAG_NEVER_HIDDEN) && (claim_of(p, element, tag) & CLAIM_REGION) == REGION_HIDDEN);
}

/* Whether the element at a depth of the search, or an element around it, hides its content. Each element is tested
   once. */
static bool is_hidden(page *p, size_t depth)
{
    thing *const around = p->around.at;
    size_t first = depth;
    while (first > 0 && around[first].kind == UNTESTED)
        first--;
    bool hidden = around[first].kind == CONCEALED;
    for (size_t i = first; i <= depth; i++) {
        if (around[i].kind == UNTESTED)
            around[i].kind = hidden || hides(p, around[i].element) ? CONCEALED : VISIBLE;
        hidden = around[i].kind == CONCEALED;
    }
    return hidden;
}

void find_things(page *p, const void *root, size_t names, size_t scripts)
{
    const xmlNode *node = root;
    size_t depth = 0;
    /* Elements around the root may hide the root. */
    if (node->parent != NULL && node->parent->type == XML_ELEMENT_NODE)
        escape(&p->way_out, NOT_COVERED);
    memset(p->attributes, 0, sizeof p->attributes);
    p->things.n = p->around.n = 0;
    for (; node != NULL; node = next_node(node, root, &depth)) {
        if (node->type != XML_ELEMENT_NODE)
            continue;
        const char *name = (const char *)node->name;
        p->around.n = depth;
        PUSH(&p->way_out, p->around, (thing){.element = node, .kind = UNTESTED});
        if (names > 0 && (strcmp(name, "h1") == 0 || strcmp(name, "title") == 0)) {
            names--;
            PUSH(&p->way_out, p->things, (thing){.element = node, .kind = THING_NAME});
        } else if (scripts > 0 && strcmp(name, "script") == 0) {
            scripts--;
            if (may_describe_thing(p, node) && (depth == 0 || !is_hidden(p, depth - 1)))
                PUSH(&p->way_out, p->things, (thing){.element = node, .kind = THING_SCRIPT});
        }
        if (node->properties != NULL && find_attribute(node, "itemtype", NULL) != NULL && !is_hidden(p, depth))
            PUSH(&p->way_out, p->things, (thing){.element = node, .kind = THING_ITEM});
    }
}
