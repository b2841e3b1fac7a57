# The part of _native.pyx that reads the links in the head of a page: the twin of a function of hints/markup.py.

def links_in_head(_Element root not None, bytes word, Py_ssize_t limit):
    """Return (rel, href, hreflang, type) of each link in the head of a page, and of each base, without a rel.

    With a *word*, of those links only whose rel has it in it. Looks at *limit* elements. None for what is missing;
    instead of the list: not covered.
    """
    cdef head_link link
    cdef const char *wanted = NULL
    cdef const void *element = NULL
    cdef list found = []
    if root._c_node == NULL:
        return None
    if word is not None:
        wanted = word
    for _ in range(limit):
        element = next_head_link(root._c_node, element)
        if element == NULL:
            break
        if not read_head_link(element, wanted, &link):
            return None
        if link.is_told and link.href != NULL and link.href[0]:
            rel = None if link.is_base else text_of(link.rel)
            found.append((rel, text_of(link.href), text_of(link.language), text_of(link.type)))
    return found


cdef str text_of(const char *text):
    return None if text == NULL else string_of(text, strlen(text))
