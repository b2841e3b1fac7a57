"""What several benchmark programs share, one idea a file.

shared_text   generated sites whose pages share most of their text, with the truth about them
"""
