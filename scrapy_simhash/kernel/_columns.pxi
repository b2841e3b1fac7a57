# What the filters ask of the blocks, included by _native.pyx.

cdef class Columns:
    """The blocks of a page for the filters of page/text/main_text.py: arrays of C, which live as long as the page's text."""

    cdef bint has_price(self, Py_ssize_t i) except -1:
        cdef const block *b = page_block(self._page, i)
        cdef int answer = 0
        raise_for(page_may_have_price(self._page, i, &answer), self._rules)
        return answer and self._rules._has_price(string_of(page_text(self._page) + b.text, b.n))

    cdef bint has_sentence_mark(self, Py_ssize_t i) except -1:
        return has_sentence_mark(self._page, page_block(self._page, i))

    cdef bint counts_up(self, Py_ssize_t i) except -1:
        return counts_up(self._page, page_block(self._page, i))

    cdef bint ends_in_letter(self, Py_ssize_t i) except -1:
        cdef int answer = 0
        raise_for(page_ends_in_letter(self._page, i, &answer), self._rules)
        return answer


cdef Columns columns_of(page *p, Rules rules):
    cdef Columns made = Columns.__new__(Columns)
    cdef columns c = p.columns
    made._page, made._rules = p, rules
    made.blocks, made.span_count, made.spans = page_blocks(p), page_span_count(p), page_spans(p)
    made.has_stopwords = p.language >= 0
    made.lengths, made.link_lengths, made.tokens, made.stopwords = c.lengths, c.link_lengths, c.tokens, c.stopwords
    made.is_heading, made.is_h1, made.is_paragraph, made.is_cell = c.is_heading, c.is_h1, c.is_paragraph, c.is_cell
    made.ranks, made.is_link, made.is_prose, made.is_offer = c.ranks, c.is_link, c.is_prose, c.is_offer
    made.reasons, made.sums, made.marks, made.places = c.reasons, c.sums, c.marks, c.places
    made.held, made.stops = p.columns.held, p.columns.stops
    return made
