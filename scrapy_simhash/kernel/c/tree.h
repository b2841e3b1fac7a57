/* The memory layout of the parts of libxml2's nodes that the kernel reads, unchanged since libxml2 2.0.
 *
 * The layout is declared here instead of included, because it must match the libxml2 in the running lxml, not the
 * libxml2 at build time; page/compiled/reader.py checks this. So the build needs neither lxml nor libxml2.
 */
#ifndef SIMHASH_TREE_H
#define SIMHASH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    XML_ELEMENT_NODE = 1,
    XML_TEXT_NODE = 3,
    XML_CDATA_SECTION_NODE = 4,
    XML_ENTITY_REF_NODE = 5,
    XML_PI_NODE = 7,
    XML_COMMENT_NODE = 8,
};

typedef unsigned char xmlChar;

/* The first fields of every node. */
#define NODE(kind_of_next)                                                                                            \
    void *_private;                                                                                                   \
    int type;                                                                                                         \
    const xmlChar *name;                                                                                              \
    struct _xmlNode *children, *last, *parent;                                                                        \
    kind_of_next *next, *prev;                                                                                        \
    const struct _xmlDoc *doc

typedef struct {
    void *next;
    int type;
    const xmlChar *href;
} xmlNs;

typedef struct {
    NODE(void);
    void *notations, *elements, *attributes;
} xmlDtd;

typedef struct _xmlDoc {
    NODE(void);
    int compression, standalone;
    const xmlDtd *intSubset, *extSubset;
} xmlDoc;

typedef struct _xmlAttr {
    NODE(struct _xmlAttr);
    const xmlNs *ns;
} xmlAttr;

typedef struct _xmlNode {
    NODE(struct _xmlNode);
    const xmlNs *ns;
    const xmlChar *content;
    const xmlAttr *properties;
} xmlNode;

#undef NODE

/* Returns the value of an attribute, "" for none, NULL if it contains an entity. */
static inline const char *attribute_text(const xmlAttr *attribute)
{
    const xmlNode *child = attribute == NULL ? NULL : attribute->children;
    if (child == NULL)
        return "";
    if (child->next != NULL || (child->type != XML_TEXT_NODE && child->type != XML_CDATA_SECTION_NODE))
        return NULL;
    return child->content == NULL ? "" : (const char *)child->content;
}

/* Returns the attribute with a name, in no namespace if `space` is NULL; NULL for none. */
static inline const xmlAttr *find_attribute(const xmlNode *element, const char *name, const char *space)
{
    const xmlAttr *attribute = element->properties;
    for (; attribute; attribute = attribute->next)
        if (strcmp((const char *)attribute->name, name) == 0 &&
            (space == NULL ? attribute->ns == NULL
                           : attribute->ns != NULL && strcmp((const char *)attribute->ns->href, space) == 0))
            break;
    return attribute;
}

/* Returns the next node in document order, NULL after the last node in `root`. Adds the change in depth to
   `depth`. */
static inline const xmlNode *next_node(const xmlNode *node, const xmlNode *root, size_t *depth)
{
    if (node->type == XML_ELEMENT_NODE && node->children != NULL) {
        ++*depth;
        return node->children;
    }
    for (; node != root; node = node->parent, --*depth)
        if (node->next != NULL)
            return node->next;
    return NULL;
}

/* Whether elements may have default attributes, declared by a document type. */
static inline bool declares_attributes(const xmlDoc *document)
{
    return document && ((document->intSubset && document->intSubset->attributes) ||
                        (document->extSubset && document->extSubset->attributes));
}

#endif
