/* Finds the claim of an element from its tag, role and names: the C version of page/text/tags.py, which has the
   vocabulary. */
#include "page.h"
#include "tree.h"

enum { LONGEST_NAME = 30, ID_WORDS = 2 };
/* Bits above those of a claim: the name is a name for main text; the name may be that of a captcha. */
enum { CLAIMS_CONTENT = 1 << 15, CLAIMS_TEST = 1 << 14 };

/* Returns the properties of a word in lower case. Words longer than all known words are unknown. */
static uint64_t find_name(const page *p, const char *word, size_t n)
{
    char lower[LONGEST_NAME];
    if (n > sizeof lower || !lexicon_may_have(&p->rules->names, word, n))
        return 0;
    for (size_t i = 0; i < n; i++)
        lower[i] = ascii_lower(word[i]);
    return lexicon_find_hashed(&p->rules->names, lower, n, xxh3(lower, n));
}

/* Whether the run of letters and digits at `i` has a letter after a digit, as in the hash of a CSS module. */
static bool is_hash(const char *name, size_t i, size_t n)
{
    for (; i + 1 < n && (is_ascii_letter(name[i]) || is_ascii_digit(name[i])); i++)
        if (is_ascii_digit(name[i]) && is_ascii_letter(name[i + 1]))
            return true;
    return false;
}

/* The claim of an element that may cover the page, such as a consent dialog. */
static int box_claim(const page *p) { return REGION_LIKELY_CHROME | p->rules->consent << CLAIM_WORD; }

/* Whether a name begins like the names of a consent tool. */
static bool is_of_tool(const page *p, const char *name)
{
    size_t i = 0;
    while (is_ascii_letter(name[i]) && !(i > 0 && is_ascii_upper(name[i]) && is_ascii_lower(name[i - 1])))
        i++;
    return i > 0 && find_name(p, name, i) & NAME_TOOL;
}

/* Returns the claim of a name, which is split at non-letters and between the words of sidebarRight; _claim_of_name()
   in tags.py describes which word counts. */
static int claim_of_name(const page *p, const char *name, size_t n, bool has_digit)
{
    uint64_t any = 0, all = ~(uint64_t)0, last = 0, word = 0, before = 0, found = 0;
    size_t part = 0;               /* start of the block or element */
    bool modifies = false, hashed = false;
    for (size_t i = 0; i < n;) {
        if (!is_ascii_letter(name[i])) {
            if (name[i] == '_' && i + 1 < n && name[i + 1] == '_') {
                found = found == 0 ? word : found;
                word = before = 0;
                modifies = hashed = false;
                part = i += 2;
                continue;
            }
            if (name[i] == '-' && i + 1 < n && name[i + 1] == '-' && i > part)
                modifies = true;
            if (!is_ascii_digit(name[i]))
                hashed = false;
            else if (has_digit && (i == part || !(is_ascii_letter(name[i - 1]) || is_ascii_digit(name[i - 1]))))
                hashed = is_hash(name, i, n);
            if (hashed && !modifies)
                word = before = 0;
            i++;
            continue;
        }
        size_t start = i++;
        while (i < n && is_ascii_letter(name[i]) &&
               !(is_ascii_upper(name[i]) && is_ascii_lower(name[i - 1])))
            i++;
        uint64_t known = find_name(p, name + start, i - start);
        if (start == 0 && known & NAME_TOOL)
            return box_claim(p);
        any |= last = known;
        all &= known & (NAME_HEADER | NAME_NEUTRAL) ? ~(uint64_t)0 : 0;
        if (has_digit && (start == part || !(is_ascii_letter(name[start - 1]) || is_ascii_digit(name[start - 1]))))
            hashed = is_hash(name, start, n);
        if (modifies)
            continue;
        if (hashed)
            known = word = 0;
        else if (known & NAME_CHROME)
            word = before & NAME_NEGATING ? 0 : word == 0 ? known >> WORD_SHIFT : word;
        else if (!(known & NAME_PART))
            word = 0;
        before = known;
    }
    found = found == 0 ? word : found;
    if (found != 0)
        return REGION_LIKELY_CHROME | (int)found << CLAIM_WORD;
    if (last & NAME_CONTENT && !(any & NAME_CHROME))
        return REGION_PLAIN | CLAIMS_CONTENT;
    return any & NAME_HEADER && all ? REGION_HEADER : REGION_PLAIN;
}

static size_t skip_space(const char *text, size_t i)
{
    while (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'))
        i++;
    return i;
}

/* Returns the length of `word` if `text` begins with it, ignoring case, else 0; both end with NUL. */
static size_t begins_with(const char *text, const char *word)
{
    size_t i = 0;
    for (; word[i] != '\0'; i++)
        if (ascii_lower(text[i]) != word[i])
            return 0;
    return i;
}

/* Whether an element may be a password field or a script of a captcha, or the content of its skipped parts may. */
static bool element_may_ask(const xmlNode *node)
{
    const char *name = (const char *)node->name, *value;
    switch (name[0]) {
    case 'f': /* the content of a fieldset or a label is skipped */
        return strcmp(name, "fieldset") == 0;
    case 'l':
        return strcmp(name, "label") == 0;
    case 'i':
        if (strcmp(name, "input") != 0)
            break;
        if (node->children != NULL) /* in XML; this content is skipped, too */
            return true;
        value = attribute_text(find_attribute(node, "type", NULL));
        return value == NULL || (begins_with(value, "password") && value[8] == '\0');
    case 's':
        break;
    default:
        return false;
    }
    if (node->properties == NULL || (strcmp(name, "script") != 0 && strcmp(name, "iframe") != 0))
        return false;
    const xmlAttr *source = find_attribute(node, "src", NULL);
    value = source == NULL ? "" : attribute_text(source);
    return value == NULL || strstr(value, "captcha") != NULL || strstr(value, "chl") != NULL ||
           strstr(value, "awswaf") != NULL;
}

bool may_ask(const page *p, const void *root)
{
    size_t depth = 0;
    bool found = p->names_test;
    for (const xmlNode *node = root; node != NULL && !found; node = next_node(node, root, &depth))
        found = node->type == XML_ELEMENT_NODE && element_may_ask(node);
    return found;
}

/* Returns the claim of a class attribute or a short id: that of its strongest name, or of a name that hides. */
static int judge_names(page *p, const char *names, size_t n)
{
    int claim = REGION_PLAIN;
    bool hidden = false, content = false, tests = false;
    for (size_t i = 0; i < n;) {
        unsigned length = 1;
        size_t start = i;
        bool has_digit = false;
        for (; i < n; i += length) {
            for (; (unsigned char)names[i] > ' ' && (unsigned char)names[i] < 0x7f; i++) /* up to NUL */
                has_digit |= is_ascii_digit(names[i]);
            if (i == n)
                break;
            uint32_t character = utf8_decode(names + i, names + n, &length);
            if (length == 0)
                escape(&p->way_out, NOT_COVERED);
            if (is_space(character))
                break;
        }
        if (i > start) {
            uint64_t whole = find_name(p, names + start, i - start);
            hidden = hidden || whole & NAME_HIDDEN;
            tests = tests || whole & NAME_TEST;
            int named = claim_of_name(p, names + start, i - start, has_digit);
            content = content || named & CLAIMS_CONTENT;
            named &= ~CLAIMS_CONTENT;
            claim = (named & CLAIM_REGION) > (claim & CLAIM_REGION) ? named : claim;
        }
        i += length;
    }
    if (hidden)
        return REGION_HIDDEN;
    if (content && (claim & CLAIM_REGION) == REGION_LIKELY_CHROME)
        claim = REGION_PLAIN;
    return tests ? claim | CLAIMS_TEST : claim;
}

/* The place of a value in the table of class names. */
static uint64_t hash_names(const char *names, size_t n)
{
    uint64_t hash = n, last = 0;
    for (size_t i = 0; i + 8 < n; i += 8)
        hash = xxh3_mul_fold(hash ^ load8(names + i), XXH_P64_2);
    if (n < 8)
        memcpy(&last, names, n);
    else
        last = load8(names + n - 8);
    return xxh3_mul_fold(hash ^ last, XXH_P64_1);
}

/* Cached, because templates repeat class names. */
static int claim_of_names(page *p, const char *names, size_t n)
{
    if (n > LONGEST_REMEMBERED)
        return judge_names(p, names, n);
    uint64_t hash = hash_names(names, n);
    name_memo *memo = &p->names[hash % NAMES_REMEMBERED];
    if (memo->hash != hash || memo->n != n || memcmp(memo->names, names, n) != 0) {
        int claim = judge_names(p, names, n);
        memo->hash = hash;
        memo->n = (uint8_t)n;
        memo->claim = (uint16_t)claim;
        memcpy(memo->names, names, n);
    }
    return memo->claim;
}

/* Whether an id has few words, so that it is the name of a part of the page rather than of a heading. */
static bool is_short_id(const char *id, size_t n)
{
    size_t words = 1;
    bool before = true, lower = false; /* the previous character is a letter, a lower-case one */
    for (size_t i = 0; i < n && words <= ID_WORDS; i++) {
        const bool letter = is_ascii_letter(id[i]);
        words += letter ? lower && is_ascii_upper(id[i]) : before;
        before = letter;
        lower = is_ascii_lower(id[i]);
    }
    return words <= ID_WORDS;
}

enum { HIDES = 1, IS_FIXED = 2 };

/* The properties of a style, as bits. */
static int read_style(const char *style)
{
    static const char *const RULES[3][2] = {{"display", "none"}, {"visibility", "hidden"}, {"position", "fixed"}};
    const uint32_t FIRST_LETTERS = 1 | 1 << ('v' - 'd') | 1 << ('p' - 'd');
    int said = 0;
    for (; *style != '\0'; style++) {
        const unsigned first = (unsigned)(*style | 0x20) - 'd';
        if (first > 'v' - 'd' || !(FIRST_LETTERS >> first & 1))
            continue;
        const int rule = first == 0 ? 0 : first == 'v' - 'd' ? 1 : 2;
        size_t i = begins_with(style, RULES[rule][0]);
        if (i == 0)
            continue;
        i = skip_space(style, i);
        if (style[i] == ':' && begins_with(style + skip_space(style, i + 1), RULES[rule][1]))
            said |= rule < 2 ? HIDES : IS_FIXED;
    }
    return said;
}

static const char *value_of(page *p, const xmlAttr *attribute)
{
    const char *value = attribute_text(attribute);
    if (value == NULL)
        escape(&p->way_out, NOT_COVERED);
    return value;
}

/* --- Attributes. */

/* The attributes of REGION_ATTRIBUTES, one bit each. */
enum { OTHER_ATTRIBUTE = 0, CLASS = 1, ID = 2, HIDDEN = 4, STYLE = 8, ROLE = 16, ITEMPROP = 32, ITEMTYPE = 64, MODAL = 128 };

static int attribute_named(const char *name)
{
    switch (name[0]) {
    case 'a':
        return strcmp(name, "aria-modal") == 0 ? MODAL : OTHER_ATTRIBUTE;
    case 'c':
        return strcmp(name, "class") == 0 ? CLASS : OTHER_ATTRIBUTE;
    case 'h':
        return strcmp(name, "hidden") == 0 ? HIDDEN : OTHER_ATTRIBUTE;
    case 'i':
        return strcmp(name, "id") == 0         ? ID
               : strcmp(name, "itemprop") == 0 ? ITEMPROP
               : strcmp(name, "itemtype") == 0 ? ITEMTYPE
                                               : OTHER_ATTRIBUTE;
    case 'r':
        return strcmp(name, "role") == 0 ? ROLE : OTHER_ATTRIBUTE;
    case 's':
        return strcmp(name, "style") == 0 ? STYLE : OTHER_ATTRIBUTE;
    default:
        return OTHER_ATTRIBUTE;
    }
}

/* Names are interned, so the same pointer is the same attribute within a walk. */
static inline int attribute_of(page *p, const xmlAttr *attribute)
{
    const size_t place = ((uintptr_t)attribute->name ^ (uintptr_t)attribute->name >> 7) % ATTRIBUTES_REMEMBERED;
    if (attribute->ns != NULL)
        return OTHER_ATTRIBUTE;
    if (p->attributes[place].name != attribute->name) {
        p->attributes[place].name = attribute->name;
        p->attributes[place].which = attribute_named((const char *)attribute->name);
    }
    return p->attributes[place].which;
}

/* Returns the claim of an element with attributes. `tag` has the properties of its tag. */
int claim_of(page *p, const void *element, uint64_t tag)
{
    int claim = claim_of_tag(tag), names = REGION_PLAIN, seen = 0, style = 0;
    for (const xmlAttr *attribute = ((const xmlNode *)element)->properties; attribute; attribute = attribute->next) {
        int which = attribute_of(p, attribute);
        if (which == OTHER_ATTRIBUTE)
            continue;
        if (seen & which)
            escape(&p->way_out, NOT_COVERED); /* a broken XML page may repeat a name: only the first counts */
        seen |= which;
        switch (which) {
        case CLASS:
        case ID: {
            if (tag & TAG_CLASS_IGNORED)
                break;
            const char *value = value_of(p, attribute);
            size_t n = strlen(value);
            /* The id of a section is made from its heading. */
            if (which == CLASS || (!(tag & TAG_SECTION) && (is_short_id(value, n) || is_of_tool(p, value)))) {
                int named = claim_of_names(p, value, n);
                p->names_test = p->names_test || named & CLAIMS_TEST;
                named &= ~CLAIMS_TEST;
                names = (named & CLAIM_REGION) > (names & CLAIM_REGION) ? named : names;
            }
            break;
        }
        case HIDDEN:
            return REGION_HIDDEN;
        case MODAL:
            claim = strcmp(value_of(p, attribute), "true") == 0 ? REGION_DIALOG : claim;
            break;
        case STYLE:
            style = read_style(value_of(p, attribute));
            if (style & HIDES)
                return REGION_HIDDEN;
            break;
        case ROLE: {
            const char *value = value_of(p, attribute);
            uint64_t role = lexicon_find(&p->rules->roles, value, strlen(value));
            claim = role != 0 ? claim_of_tag(role) : claim;
            break;
        }
        case ITEMPROP: {
            const char *value = value_of(p, attribute);
            claim = strcmp(value, "articleBody") == 0 ? REGION_MAIN
                    : strcmp(value, "author") == 0    ? REGION_LIKELY_CHROME
                                                      : claim;
            break;
        }
        case ITEMTYPE:
            p->has_items = true;
            break;
        default:
            break;
        }
    }
    if (names == REGION_HIDDEN)
        return REGION_HIDDEN;
    if (style & IS_FIXED)
        names = box_claim(p);
    /* A footer may be the consent box, but marked main text is not. */
    int region = claim & CLAIM_REGION;
    if (names == box_claim(p) && region != REGION_MAIN && region != REGION_DIALOG)
        return names;
    return claim != REGION_PLAIN ? claim : names;
}

/* The words are separated by white space. A value with an entity may contain any word. */
bool is_property_of_thing(page *p, const void *element)
{
    for (const xmlAttr *attribute = ((const xmlNode *)element)->properties; attribute; attribute = attribute->next) {
        if (attribute_of(p, attribute) != ITEMPROP)
            continue;
        const char *words = attribute_text(attribute);
        for (size_t n; words != NULL && *words != '\0'; words += n) {
            words += skip_space(words, 0);
            for (n = 0; is_ascii_letter(words[n]) || is_ascii_digit(words[n]); n++)
                continue;
            if (n > 0 && lexicon_find(&p->rules->things, words, n) != 0)
                return true;
            n += words[n] != '\0';
        }
        return words == NULL;
    }
    return false;
}
