"""Terminal-safe text."""


def printable(text: str) -> str:
    r"""Return *text* with control and bidirectional characters replaced, for terminals and logs.

    >>> printable("a\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in text)
