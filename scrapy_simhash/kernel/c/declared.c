/* The language that the markup declares: the twin of a function of page/text/extract.py and of primary_subtag(). */
#include "page.h"
#include "tree.h"

/* Writes the primary subtag, two or three letters, "" for none; returns whether there is one. */
bool primary_subtag(const char *tag, char code[4])
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
    /* The codes of ISO 639 that name no language. */
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

/* The first meta element that stands for the header decides, whatever it says. */
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
