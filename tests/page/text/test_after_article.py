"""Comments, figures and teasers after an article, and similar main text."""

from __future__ import annotations

import re

import pytest
from magazine.catalogue import load_captions
from magazine.stories import load_stories

from tests.page.text.reading import MENU, read


def sentences(key: str, count: int) -> list[str]:
    """Return sentences of medium length from a story of the example site."""
    least, most = (20, 60) if key.startswith("zh") else (70, 150)
    found = (text.strip() for text in re.findall(r"[^.。\n]+[.。]", load_stories()[key].text))
    return [text for text in found if least < len(text) < most][:count]


ARTICLE = {
    "en": sentences("en/last-wooden-ferry", 9),
    "es": sentences("es/last-wooden-ferry", 9),
    "zh": sentences("zh/last-wooden-ferry", 18),
}
WRITERS = (
    ("Ada", "3 May 2024"),
    ("Tom W.", "4 May 2024"),
    ("keeper62", "4 May 2024"),
    ("Ines", "7 May 2024"),
)
SHORT = {"en": "Lovely!", "es": "¡Precioso!", "zh": "真好！"}
REPLIES = {
    language: [
        (*writer, text)
        for writer, text in zip(WRITERS, [*sentences(f"{language}/repair-cafe", 3), short], strict=True)
    ]
    for language, short in SHORT.items()
}
STORIES = [
    (load_stories()[f"en/{name}"].title, sentences(f"en/{name}", 1)[0])
    for name in ("seed-swap", "eel-count", "tide-tables", "piano-tuner", "brass-band")
]
CAPTIONS = [caption for _, caption in load_captions()[:4]]
COMMENTS = {"en": "Comments (4)", "es": "Comentarios", "zh": "评论"}


def paragraphs(language: str = "en") -> str:
    return "".join(f"<p>{text}</p>" for text in ARTICLE[language])


def comments(language: str, entry: str) -> str:
    return "".join(entry.format(*reply) for reply in REPLIES[language])


def stories(entry: str) -> str:
    return "".join(entry.format(title, teaser) for title, teaser in STORIES)


def whole_stories(entry: str) -> str:
    return "".join(
        entry.format(title, "".join(f"<p>{teaser}</p>" for _, teaser in STORIES[i:] + STORIES[:i]))
        for i, (title, _) in enumerate(STORIES)
    )


def captions(entry: str) -> str:
    return "".join(entry.format(caption, i) for i, caption in enumerate(CAPTIONS))


def page(body: str, language: str = "en") -> str:
    return (
        f"<html lang={language}><body><nav><ul>{MENU}</ul></nav>{body}"
        "<footer><p>Since 1962 at the river</p></footer></body></html>"
    )


H1 = "<h1>The ferry</h1>"
DIV = "<div><b>{0}</b> <time>{1}</time><p>{2}</p></div>"
FIGURE = "<figure><a href=/{1}><img src={1}></a><figcaption>{0}</figcaption></figure>"
PICTURE = "<li><a href=/{1}><img src={1}></a><p>{0}</p></li>"
LINKED = "<article><h3><a href=/x>{0}</a></h3><p>{1}</p></article>"

#: Comments after an article: ``@`` is replaced by the paragraphs of the article, ``#`` by the comments with
#: their heading.
AFTER = {
    "rows in the article": ("<article>{h1}@#</article>", DIV),
    "rows behind the article": ("<main><article>{h1}@</article><section>#</section></main>", DIV),
    "rows beside the paragraphs": ("<div>{h1}@#</div>", DIV),
    "a list": ("<main>{h1}@<ol>#</ol></main>", "<li><div>{0}, {1}</div><div>{2}</div></li>"),
    "itemprop": ("<article>{h1}@#</article>", "<div itemprop=comment><b>{0}</b> {1}<p>{2}</p></div>"),
    "itemtype": (
        "<div>{h1}@#</div>",
        "<div itemscope itemtype=https://schema.org/Comment><b>{0}</b> <i>{1}</i><p>{2}</p></div>",
    ),
    "nested articles": (
        "<article>{h1}@<section>#</section></article>",
        "<article><footer>{0}, <time>{1}</time></footer><p>{2}</p></article>",
    ),
    "nested articles with headers": (
        "<article>{h1}@#</article>",
        "<article><header><b>{0}</b> {1}</header><p>{2}</p></article>",
    ),
    "a section of its own": ("<div><div>{h1}@</div><div>#</div></div>", DIV),
}


@pytest.mark.parametrize("language", ARTICLE)
@pytest.mark.parametrize("name", AFTER)
def test_comments_after_an_article_are_removed(name: str, language: str) -> None:
    body, entry = AFTER[name]
    said = f"<h2>{COMMENTS[language]}</h2>{comments(language, entry)}"
    body = body.replace("{h1}", H1).replace("@", paragraphs(language)).replace("#", said)
    assert read(page(body, language)).text.removeprefix("The ferry\n") == "\n".join(ARTICLE[language])


ROWS = "<div><div><a href=/{1}><img src={1}></a></div><div>{0}</div></div>"


@pytest.mark.parametrize(
    "body",
    [
        f"<main><article>{H1}@</article>{captions(FIGURE)}</main>",
        f"<article>{H1}@<ul>{captions(PICTURE)}</ul></article>",
        f"<main><article>{H1}@</article>{captions(ROWS)}</main>",
        f"<main><article>{H1}@</article>{stories(LINKED)}</main>",
        f"<main>{H1}@<h2>More</h2>{stories(LINKED)}</main>",
        # The second article element is longer and contains other stories.
        f"<article>{H1}@</article><article>{stories('<div><b>{0}</b><p>{1}</p></div>') * 2}</article>",
    ],
)
def test_pictures_and_teasers_after_an_article_are_removed(body: str) -> None:
    text = read(page(body.replace("@", paragraphs()))).text
    assert text.removeprefix("The ferry\n") == "\n".join(ARTICLE["en"])


#: Kept, because lists of posts or products look the same.
KEPT_BEHIND = {
    "terms": f"<article>{H1}@<h2>Comments</h2><dl>{comments('en', '<dt>{0}, {1}</dt><dd>{2}</dd>')}</dl></article>",
    "author behind the text": f"<div>{H1}@"
    + comments("en", "<div itemprop=comment><p>{2}</p><span>{0}, {1}</span></div>")
    + "</div>",
    "as much as the article": f"<main>{H1}@<section>{whole_stories(LINKED)}</section></main>",
}


@pytest.mark.parametrize("name", KEPT_BEHIND)
def test_text_that_looks_like_boilerplate_is_kept(name: str) -> None:
    kept = read(page(KEPT_BEHIND[name].replace("@", paragraphs()))).text
    assert all(text in kept for text in ARTICLE["en"])
    if name != "in the article":
        assert (STORIES[0][1] if name.startswith("as much") else REPLIES["en"][0][2]) in kept
