/* The declared language of a page, and the links in its head. */
#include "page.h"
#include "tree.h"

/* --- The language: the C version of _declared_language() and primary_subtag(). */


/* Writes the primary subtag, two or three letters, or "" for none; returns whether the tag has a primary subtag. */
static bool primary_subtag(const char *tag, char code[4])
{
    size_t n = strlen(tag), i = 0, letters = 0;
    unsigned length;
    code[0] = '\0';
    while (i < n && is_space(utf8_decode(tag + i, tag + n, &length)) && length != 0)
        i += length;
    while (is_ascii_letter(tag[i + letters]))
        letters++;
    if (letters != 2 && letters != 3)
        return false;
    for (size_t k = 0; k < letters; k++)
        code[k] = ascii_lower(tag[i + k]);
    code[letters] = '\0';
    /* ISO 639 codes that are not a language. */
    if (strcmp(code, "mis") == 0 || strcmp(code, "mul") == 0 || strcmp(code, "und") == 0 || strcmp(code, "zxx") == 0)
        code[0] = '\0';
    return code[0] != '\0';
}

static bool is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && node->ns == NULL && strcmp((const char *)node->name, name) == 0;
}

static bool is_content_language(const char *name)
{
    static const char WANTED[] = "content-language";
    size_t i = 0;
    while (WANTED[i] != '\0' && ascii_lower(name[i]) == WANTED[i])
        i++;
    return WANTED[i] == '\0' && name[i] == '\0';
}

/* Only the first meta element for the header Content-Language is read. */
static bool meta_language(const xmlNode *root, char code[4])
{
    for (const xmlNode *head = root->children; head; head = head->next) {
        if (!is_element(head, "head"))
            continue;
        for (const xmlNode *meta = head->children; meta; meta = meta->next) {
            const xmlAttr *equivalent = is_element(meta, "meta") ? find_attribute(meta, "http-equiv", NULL) : NULL;
            if (equivalent == NULL)
                continue;
            const char *name = attribute_text(equivalent), *content = attribute_text(find_attribute(meta, "content", NULL));
            if (name == NULL || content == NULL)
                return false;
            if (is_content_language(name)) {
                primary_subtag(content, code);
                return true;
            }
        }
    }
    return true;
}

bool declared_language(const void *tree, char code[4])
{
    static const char *const NAMES[3][2] = {
        {"lang", NULL}, {"lang", "http://www.w3.org/XML/1998/namespace"}, {"xml:lang", NULL}};
    const xmlNode *root = tree;
    code[0] = '\0';
    if (declares_attributes(root->doc))
        return false;
    for (int i = 0; i < 3; i++) {
        const char *value = attribute_text(find_attribute(root, NAMES[i][0], NAMES[i][1]));
        if (value == NULL)
            return false;
        if (primary_subtag(value, code))
            return true;
    }
    return meta_language(root, code);
}

/* --- The links: the C version of links_in_head() of judge/hints/markup.py, which interprets them. */


static bool is_named(const xmlNode *node, const char *name, const char *other)
{
    return node->type == XML_ELEMENT_NODE &&
           (strcmp((const char *)node->name, name) == 0 || strcmp((const char *)node->name, other) == 0);
}

static const xmlNode *first_named(const xmlNode *node, const char *name, const char *other)
{
    while (node != NULL && !is_named(node, name, other))
        node = node->next;
    return node;
}

const void *next_head_link(const void *tree, const void *former)
{
    const xmlNode *root = tree, *link = former, *part;
    if (link != NULL) {
        part = link->parent;
        link = first_named(link->next, "link", "base");
    } else {
        part = first_named(root->children, "head", "body");
        link = part == NULL ? NULL : first_named(part->children, "link", "base");
    }
    while (link == NULL && part != NULL) {
        part = first_named(part->next, "head", "body");
        link = part == NULL ? NULL : first_named(part->children, "link", "base");
    }
    return link;
}

/* Writes the value of an attribute, NULL without a value; returns false if it contains an entity. */
static bool take(const xmlNode *element, const char *name, const char **value)
{
    const xmlAttr *attribute = find_attribute(element, name, NULL);
    *value = attribute == NULL ? NULL : attribute_text(attribute);
    return attribute == NULL || *value != NULL;
}

/* Whether a text contains `word`, given in lower case; ignores ASCII case. */
static bool has_word(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        while (word[i] && (text[i] | 0x20) == word[i])
            i++;
        if (!word[i])
            return true;
    }
    return false;
}

bool read_head_link(const void *element, const char *word, head_link *link)
{
    const xmlNode *node = element;
    if (declares_attributes(node->doc))
        return false;
    link->is_base = strcmp((const char *)node->name, "base") == 0;
    if (!take(node, "rel", &link->rel))
        return false;
    link->is_wanted = link->is_base || (link->rel != NULL && (word == NULL || has_word(link->rel, word)));
    return !link->is_wanted || (take(node, "href", &link->href) && take(node, "hreflang", &link->language) &&
                              take(node, "type", &link->type));
}

bool may_name_canonical(const void *element)
{
    const xmlNode *node = element;
    if (strcmp((const char *)node->name, "link") != 0) /* the links in a hidden head are also read */
        return strcmp((const char *)node->name, "head") == 0;
    const char *rel = declares_attributes(node->doc) ? NULL : attribute_text(find_attribute(node, "rel", NULL));
    return rel == NULL || has_word(rel, "canonical");
}

bool may_name_steps(const void *tree)
{
    const xmlNode *root = tree, *node = root;
    if (declares_attributes(root->doc))
        return true;
    for (;;) {
        if (node->properties != NULL && is_named(node, "a", "link")) {
            const char *rel = attribute_text(find_attribute(node, "rel", NULL));
            if (rel == NULL || has_word(rel, "next") || has_word(rel, "prev"))
                return true;
        }
        if (node->type == XML_ELEMENT_NODE && node->children != NULL) {
            node = node->children;
            continue;
        }
        while (node != root && node->next == NULL)
            node = node->parent;
        if (node == root)
            return false;
        node = node->next;
    }
}
