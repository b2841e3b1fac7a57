/* Where a page may have structured data that says what it is about, so that page/structured.py looks at few pages. Its
 * twin there decides; what is told here may be more, never less. */
#include "page.h"
#include "tree.h"

/* Characters of a list of types, and of one type, as _TYPE_NAMES in page/structured.py has them. */
enum { MOST_OF_LIST = 500, MOST_OF_TYPE = 200 };

static bool is_white_or_colon(char c) { return (c > '\0' && c <= ' ') || c == ':'; }
static bool is_letter(char c) { return (uint8_t)((c | 32) - 'a') < 26; }

/* Tells whether one of the runs of letters in `text` names a kind of thing. */
static bool names_a_thing(const lexicon *things, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t start = i;
        while (i < n && is_letter(text[i]))
            i++;
        if (lexicon_find(things, text + start, i - start) != 0)
            return true;
    }
    return false;
}

bool may_be_thing(const page *p, const void *itemtype)
{
    const char *types = attribute_text(itemtype);
    return types == NULL || names_a_thing(&p->rules->things, types, strlen(types));
}

/* Tells whether a script of JSON-LD may name a thing. O(bytes). */
static bool says_thing(const page *p, const char *script)
{
    static const char KEY[] = "\"@type\"";
    const char *end = script + strlen(script);
    for (const char *at = script; (at = strstr(at, KEY)) != NULL;) {
        at += sizeof KEY - 1;
        while (is_white_or_colon(*at))
            at++;
        if ((uint8_t)*at >= 0x80)
            return true; /* perhaps white space */
        if (*at != '[' && *at != '"')
            continue;
        size_t most = *at == '[' ? MOST_OF_LIST : MOST_OF_TYPE, room = (size_t)(end - ++at);
        const char *last = memchr(at, most == MOST_OF_LIST ? ']' : '"', room < 4 * most + 1 ? room : 4 * most + 1);
        if (last == NULL || utf8_length(at, (size_t)(last - at)) > most)
            continue;
        if (names_a_thing(&p->rules->things, at, (size_t)(last - at)))
            return true;
        at = last + 1;
    }
    return false;
}

bool may_say_thing(const page *p, const void *element)
{
    const xmlNode *script = element, *text = script->children;
    if (strcmp((const char *)script->name, "script") != 0)
        return false;
    const char *type = attribute_text(find_attribute(script, "type", NULL));
    if (type != NULL && !is_json_ld(type))
        return false;
    if (text == NULL)
        return false;
    /* Text in several nodes is put together over there. */
    return text->next != NULL || (text->type != XML_TEXT_NODE && text->type != XML_CDATA_SECTION_NODE) ||
           text->content == NULL || says_thing(p, (const char *)text->content);
}
