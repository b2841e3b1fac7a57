"""Text for terminals and logs, without control characters."""


def printable(text: str) -> str:
    r"""Return *text* with control and bidirectional characters replaced, for terminals and logs.

    >>> printable("a\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def shown(value: object) -> str:
    r"""Return *value* in ASCII, with the escapes of Python.

    >>> shown("a\x1b[2Jé"), shown(0.8)
    ('a\\x1b[2J\\xe9', '0.8')
    """
    return ascii(value)[1:-1] if isinstance(value, str) else ascii(value)
