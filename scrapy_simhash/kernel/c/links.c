/* The links in the head of a page: the twin of links_in_head() of hints/markup.py. Python decides what they mean. */
#include "page.h"
#include "tree.h"

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

/* Writes the value of an attribute, NULL if there is none; returns false for one that holds more than text. */
static bool take(const xmlNode *element, const char *name, const char **value)
{
    const xmlAttr *attribute = find_attribute(element, name, NULL);
    *value = attribute == NULL ? NULL : attribute_text(attribute);
    return attribute == NULL || *value != NULL;
}

/* Whether a text has a word of small ASCII letters in it, in letters of any case. */
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
    link->is_told = link->is_base || (link->rel != NULL && (word == NULL || has_word(link->rel, word)));
    return !link->is_told || (take(node, "href", &link->href) && take(node, "hreflang", &link->language) &&
                              take(node, "type", &link->type));
}

bool may_name_canonical(const void *element)
{
    const xmlNode *node = element;
    if (strcmp((const char *)node->name, "link") != 0) /* the links in a hidden head are read all the same */
        return strcmp((const char *)node->name, "head") == 0;
    const char *rel = declares_attributes(node->doc) ? NULL : attribute_text(find_attribute(node, "rel", NULL));
    return rel == NULL || has_word(rel, "canonical");
}
