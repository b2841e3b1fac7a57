"""What pages and texts are drawn from: all that takes a way of its own through the kernel, and anything else."""

from __future__ import annotations

from hypothesis import strategies as st
from lxml import etree

from fuzz.characters import ALPHABETS
from fuzz.generate import ATTRIBUTES, PRICES, TAGS, VALUES
from scrapy_simhash.page.language import languages, stopwords
from scrapy_simhash.page.text.outline import MAX_PATH_DEPTH

#: Codes with a stopword list, of scripts, without either, and what is no code.
LANGUAGES = st.sampled_from([None, *languages(), "ja", "zh", "yue", "th", "ko", "xx", ""])
#: Values of a Content-Language header.
HEADERS = st.sampled_from([None, "en", "de-AT", "fr, en", " ja", "zh-Hans", "yue", "mul", "x-klingon", ""])

WORDS = sorted({word for code in languages() for word in sorted(stopwords(code))[::7]})


def spelled(alphabets: dict[str, str]) -> st.SearchStrategy[str]:
    """Draw text whose characters are mostly of one kind: only neighbours make a difference."""
    of_one_kind = st.sampled_from(sorted(alphabets)).flatmap(
        lambda kind: st.text(alphabets[kind], max_size=12)
    )
    return st.lists(of_one_kind, max_size=4).map("".join)


#: Prose in a language that can be told, which makes paragraphs main text.
PROSE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=45).map(" ".join)
#: Words of hundreds of characters.
LONG = st.builds(lambda part, count: part * count, spelled(ALPHABETS), st.integers(20, 400))
ANY_TEXT = st.one_of(
    st.text(max_size=30), spelled(ALPHABETS), spelled(ALPHABETS), PROSE, PROSE, st.sampled_from(PRICES), LONG
)
#: Lone surrogates and NULs too: a page has none, a caller's text may.
PLAIN_TEXT = st.lists(
    st.one_of(
        ANY_TEXT, st.sampled_from(["\n\n", "\n \u2003\n", "\r\n\r\n", "\n", "\x00", "\ud800", "\udfff"])
    ),
    max_size=8,
).map("".join)

# What an XML tree may hold: no control characters, no surrogates, no non-characters.
_ENCODABLE = {
    name: "".join(
        c for c in characters if c in "\t\n\r" or ((c.isprintable() or c >= "\xa0") and c < "\uffff")
    )
    for name, characters in ALPHABETS.items()
    if name != "controls"
}
NODE_TEXT = st.one_of(
    st.sampled_from(["", " ", "\n  ", "x"]), spelled(_ENCODABLE), PROSE, st.sampled_from(PRICES)
)
_VALUE = st.one_of(
    st.sampled_from(VALUES),
    st.lists(st.sampled_from(VALUES), max_size=4).map(" ".join),
    st.lists(st.sampled_from(VALUES), max_size=3).map(lambda names: "-".join(names).title()),
    spelled(_ENCODABLE),
)
# What lxml lets a caller write; a parser goes further.
_TREE_TAGS = [tag for tag in TAGS if tag != "o:p"]
_TREE_ATTRIBUTES = [name for name in ATTRIBUTES if name != "xml:lang"]
_NODE = st.tuples(
    st.sampled_from(["element"] * 8 + ["comment", "pi", "entity"]),
    st.integers(0, 100),  # how far above it is hung up
    st.sampled_from(_TREE_TAGS),
    st.dictionaries(st.sampled_from(_TREE_ATTRIBUTES), _VALUE, max_size=3),
    NODE_TEXT,
    NODE_TEXT,
)


@st.composite
def trees(draw: st.DrawFn) -> etree._Element:
    """Grow a tree node by node, broad, or deeper than a path goes."""
    elements = [etree.Element(draw(st.sampled_from(("html", "html", "div", *_TREE_TAGS))))]
    elements[0].text = draw(NODE_TEXT)
    if draw(st.integers(0, 9)) == 0:
        for _ in range(MAX_PATH_DEPTH + draw(st.integers(-3, 3))):
            elements.append(etree.SubElement(elements[-1], draw(st.sampled_from(_TREE_TAGS))))
    for kind, above, tag, attributes, text, tail in draw(st.lists(_NODE, max_size=14)):
        parent = elements[-1 - above % len(elements)]
        node: etree._Element
        if kind == "element":
            node = etree.SubElement(parent, tag, attributes)
            node.text = text
            elements.append(node)
        else:
            if kind == "comment":
                node = etree.Comment("not this")
            else:
                node = (
                    etree.Entity("eacute")
                    if kind == "entity"
                    else etree.ProcessingInstruction("pi", "nor this")
                )
            parent.append(node)
        node.tail = tail
    return elements[0]


@st.composite
def markup(draw: st.DrawFn) -> str:
    """Write tags that need not match, for the parser to make sense of."""
    parts = []
    opened = []
    for _ in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(["open", "open", "text", "text", "close", "other"]))
        if kind == "open":
            opened.append(draw(st.sampled_from(TAGS)).rpartition("}")[2])
            attributes = draw(st.dictionaries(st.sampled_from(ATTRIBUTES), _VALUE, max_size=2))
            written = "".join(
                f' {name.rpartition("}")[2]}="{value.translate(_NO_QUOTES)}"'
                for name, value in attributes.items()
            )
            parts.append(f"<{opened[-1]}{written}>")
        elif kind == "text":
            parts.append(draw(NODE_TEXT).translate(_NO_QUOTES))
        elif kind == "other":
            parts.append(
                draw(st.sampled_from(["<!-- x -->", "<?x y?>", "<br/>", "&amp;", "&#769;", "&eacute;"]))
            )
        elif opened:
            parts.append(f"</{opened.pop()}>")
    return "".join(parts)


def _page_of(blocks: list[tuple[str, str]], title: str) -> etree._Element:
    root = etree.Element("html")
    etree.SubElement(etree.SubElement(root, "head"), "title").text = title
    body = etree.SubElement(root, "body")
    for path, text in blocks:
        node = body
        for tag in path.split("/"):
            node = etree.SubElement(node, tag)
        node.text = text
    return root


_PATHS = "p p p li h1 h2 td div header/p nav/p main/p aside/p a span/a".split()
#: Pages of prose and headings.
PAGES_OF_PROSE = st.builds(
    _page_of, st.lists(st.tuples(st.sampled_from(_PATHS), PROSE), min_size=1, max_size=12), NODE_TEXT
)

#: Words that stand in names, in rows, in sentences and in URLs: each of them has a way of its own through the facts.
_SAID = st.sampled_from(
    "night pilots Harbour lamp v1.26 4.2. 16 2024 12345 98765 7 kiel Ulm posted by views Straße é İ 北京 the of $5 5€"
    " 5 May".split()
)
_SAYING = st.lists(_SAID, max_size=5).map(" ".join)
_TITLES = st.lists(st.tuples(_SAYING, st.sampled_from([" | ", " - ", ": ", "：", " "])), max_size=5).map(
    lambda parts: "".join(said + mark for said, mark in parts)
)
_BLOCKS = st.sampled_from(
    [
        "<p>{}</p>",
        "<p>{}: {}</p>",
        "<dl><dt>{}</dt><dd>{}</dd></dl>",
        "<dt>{}<dd>{}<dd>{}",
        "<table><tr><th>{}</th><td>{}</td></tr><tr><td>{}</td><td>{}</td></tr></table>",
        "<ul><li>{}: {}</li><li><b>{}</b> {}</li></ul>",
        "<div><div>{}</div><div>{}</div></div>",
        "<div><p>{}</p><p>{}</p><p>{}</p></div>",
        "<h1>{}</h1>",
        "<h2>{}</h2>",
        "<p class=meta>{}</p>",
        "<p hidden>{}</p>",
        "<p><a href=/>{}</a></p>",
        "<details><summary>{}</summary><p>{}</p></details>",
    ]
)
_SENTENCES = st.builds(
    lambda said, times: (
        f"<p>{f'The ship went to the {said} and came home with the tide in the bay. ' * times}</p>"
    ),
    _SAYING,
    st.sampled_from([1, 1, 4, 13, 40]),
)
_STATED = st.builds(
    lambda block, said: block.format(*said), _BLOCKS, st.lists(_SAYING, min_size=4, max_size=4)
)


_HOSTS = st.sampled_from(
    [
        *("lamp.example", "www.lamp.example", "WWW.Lamp.Example", "night-pilots.example", "Straße.example"),
        *(
            "북.example",
            "xn--strae-oqa.example",
            "127.0.0.1",
            "[::1]",
            "",
            "www.",
            "İ.example",
            "\ud800.example",
        ),
    ]
) | st.text(max_size=8)
_PARTS = (
    st.lists(_SAID, max_size=4).map("-".join)
    | st.sampled_from(
        ["", "", "print", "16", "2024", "%C3%A9", "\udc80", "\ud83d\ude00", ";a=b", "a:b@c", "//", "é"]
    )
    | st.text(max_size=6)
)
#: URLs, right and wrong.
URLS = st.builds(
    "{}{}{}{}{}{}".format,
    st.sampled_from(["https://", "https://", "HTTP://", "://", "//", "", "file:///", "data:", "https:/"]),
    st.sampled_from(["", "", "", "ann@", "ann:secret@", "lamp:pilots@", "a@b@"]),
    _HOSTS,
    st.sampled_from(["", "", ":80", ":8080", ":", ":x"]),
    st.lists(_PARTS, max_size=4).map(lambda parts: "".join(f"/{part}" for part in parts)),
    st.sampled_from(["", "", "/", "//", "?", "#", "?id=12345", "/?night=pilots#lamp", "#/12345", "?a#b?c"]),
)


@st.composite
def stating_pages(draw: st.DrawFn) -> tuple[str, str]:
    """Write a page that states something beside its sentences, and its URL, which may have words of its heading."""
    name, url = draw(_SAYING), draw(URLS)
    heading = draw(st.sampled_from([f"<h1>{name}</h1>"] * 3 + ["", f"<h2>{name}</h2>"]))
    title = draw(st.sampled_from(["", name, f"{name} | ", f"{name} kiel: "])) + draw(_TITLES)
    first = draw(st.sampled_from(["", "<header>Lamp</header>", "<nav><h1>Lamp</h1><a href=/>Home</a></nav>"]))
    blocks = draw(st.lists(_STATED | _STATED | _SENTENCES, max_size=12))
    if draw(st.booleans()):
        url = f"https://{draw(_HOSTS)}/{draw(_PARTS)}/{'-'.join(name.split())}-{draw(_PARTS)}"
    language = draw(st.sampled_from(["en", "en", "de", "zh", ""]))
    body = f"<body>{first}<main>{heading}{''.join(blocks)}</main></body>"
    return f"<html lang={language}><title>{title}</title>{body}</html>", url


_NO_QUOTES = str.maketrans("", "", '"<&')
