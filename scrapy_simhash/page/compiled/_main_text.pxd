# cython: language_level=3
"""C types for the compiled text/main_text.py. Names that are not declared here are Python objects."""

from scrapy_simhash.kernel._native cimport Columns

cdef int KEPT, CHROME, OUTSIDE, LINKS, EDGE, INSET, DIALOG, HIDDEN
cdef int BOX, LONGEST_BOX, MAX_BOXES, MIN_COUNTING, WORDS, MIN_ARTICLE, MIN_ARTICLE_PROSE, MIN_MAIN_TOKENS, MAX_LINKS_RATIO
cdef int MAIN_REGION, HEADER_REGION, LIKELY_CHROME_REGION, CHROME_REGION, DIALOG_REGION
cdef double LINKED, PROSE_DENSITY, CHROME_LIMIT, WORD_SHARE, MARKED_SHARE, HEADED_SHARE, TITLED_SHARE, MAIN_SHARE, DOMINANT_SHARE, PROSE_SHARE
cdef double BODY_SHARE, MIN_PROSE, MAX_BESIDE, MAX_AFTER, ARTICLE_SHARE, FIRST_SHARE
cdef int MIN_ENTRIES, PROSE_TOKENS, LONG_TOKENS, LINK_ROW, OFFER_LENGTH, INSET_LENGTH, LONGEST_DESCRIPTION

cdef object _find_links_and_prose(Columns page)
cdef object _remove_dialogs(Columns page)
cdef object _remove_chrome(Columns page)
cdef Py_ssize_t _sum_up_words(Columns page) except -1
cdef bint _keep_marked_main(Columns page) except -1
cdef object _keep_dominant(Columns page)
cdef object _remove_link_rows(Columns page)
cdef object _remove_before_title(Columns page)
cdef bint _find_offer(Columns page) except -1
cdef Py_ssize_t _find_body(Columns page, double stop) except -2
cdef object _remove_entries(Columns page)
cdef Py_ssize_t _find_entries(Columns page) except -2
cdef object _keep_body(Columns page)
cdef object _remove_boilerplate(Columns page)
cdef object _restore_removed(Columns page)
cdef object _restore_hidden(Columns page)
cdef object _find_article(Columns page)

cdef Py_ssize_t _kept_length(Columns page) except -1
cdef Py_ssize_t _hidden_length(Columns page) except -1
cdef Py_ssize_t _list_kept(Columns page) except -1
cdef Py_ssize_t _sum_up(Columns page) except -1
cdef Py_ssize_t _main_heading(Columns page) except -2
