"""What the programs are made of beside themselves, one idea a file; no program is imported here.

Shared by several programs:

    pack              the labelled pages that are no part of the project
    sample            some of them, or of the example site's, to be timed
    documents         documents to fingerprints in several processes, and the rules that compare them
    scores            precision and recall of fingerprints, by counting
    report            what is printed alike: environment, progress, tables
    clock, memory     the processor time of a call; the memory of a process
    processes         functions in processes of their own
    store_weight      what a page takes in a store
    settings          settings on the command line
    readers           the compiled kernel and pure Python side by side
    texts             texts of a given length in several languages
    fingerprints      random fingerprints, some near others
    prose_site        a server of invented prose, for crawls
    shared_text       generated sites whose pages share most of their text, with the truth about them
    attacks           pages, URLs, headers and items made to take long, and the ways into the plugin
    witness           a spider that writes down every verdict

Parts of one program:

    hamming_runs      one measurement in a process of its own
    hamming_peers     other libraries behind one interface
    kernel_tables     the figures as a person reads them
    kernel_peers      other libraries on the same texts
    quality_peers     other libraries on the same labels
    quality_holdout   the rule chosen without each source in turn
    quality_html      the figures as a page
"""
