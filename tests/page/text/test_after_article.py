"""What follows an article and is no part of it, told by structure; and what looks like it and is the text."""

from __future__ import annotations

import pytest

from scrapy_simhash import PageFingerprinter
from scrapy_simhash.page.text import Document, extract, parse

ARTICLE = {
    "en": (
        "The last wooden ferry came out of the water on a grey morning, and half of the town was there to see it.",
        "It had carried bread, brides and bicycles over the river for sixty years, and never once on a Sunday.",
        "The council had asked three times for a price, and each time the yard had said that the wood was sound.",
        "What ended it was not the hull but the engine, for which nobody makes the parts that it would need.",
        "So the men took it to pieces on the slip, and they wrote a number on each of its planks with chalk.",
        "In the spring it will be put together again in the hall of the museum, where it is to stand by the door.",
        "The ferryman, who is eighty now, has asked for one thing only, and that is to ring the bell at the end.",
        "His daughter drives the bus that goes over the bridge, and she says that it is never late nor missed.",
        "Nobody knows yet what will become of the two landings, where the children of the town have learned to swim.",
    ),
    "de": (
        "Die letzte hölzerne Fähre kam an einem grauen Morgen aus dem Wasser, und die halbe Stadt sah dabei zu.",
        "Sie hatte sechzig Jahre lang Brot, Bräute und Fahrräder über den Fluss gebracht, nur nie an einem Sonntag.",
        "Die Stadt fragte dreimal nach einem Preis, und jedes Mal sagte die Werft, dass das Holz noch gut sei.",
        "Zu Ende ging es nicht wegen des Rumpfes, sondern wegen der Maschine, für die niemand mehr Teile macht.",
        "Also nahmen die Männer sie auf der Helling auseinander und schrieben mit Kreide auf jede Planke eine Zahl.",
        "Im Frühling wird sie in der Halle des Museums wieder zusammengesetzt, wo sie neben der Tür stehen soll.",
        "Der Fährmann, der jetzt achtzig ist, hat nur um eines gebeten: dass er dann die Glocke läuten darf.",
        "Seine Tochter fährt den Bus über die Brücke und sagt, dass er nie zu spät kommt und nie vermisst wird.",
        "Was aus den beiden Anlegern wird, an denen die Kinder der Stadt schwimmen gelernt haben, weiß noch niemand.",
    ),
    "ja": (
        "最後の木造の渡し船が灰色の朝に水から引き上げられ、町の人の半分がその様子を見に集まりました。",
        "この船は六十年のあいだ、パンや花嫁や自転車を川の向こうへ運び、日曜日だけは一度も動きませんでした。",
        "町は三度も修理の値段を尋ねましたが、そのたびに造船所は木材がまだ丈夫であると答えていました。",
        "船の役目を終わらせたのは船体ではなく機関で、必要な部品を作る人がもうどこにもいなかったのです。",
        "そこで職人たちは船台の上で船をばらばらにし、一枚一枚の板に白墨で番号を書いていきました。",
        "春になると博物館の広間でもう一度組み立てられ、入口の扉のすぐ横に置かれることになっています。",
        "八十歳になった渡し守の願いはただ一つで、組み立てが終わったら自分の手で鐘を鳴らしたいというものです。",
        "その娘は橋を渡るバスの運転手で、バスは一度も遅れたことがないが惜しまれることもないと話していました。",
        "町の子どもたちが泳ぎを覚えた二つの船着き場がこれからどうなるのか、まだ誰にも分かっていません。",
    ),
}
REPLIES = {
    "en": (
        (
            "Ada",
            "3 May 2024",
            "I took it to school every morning, and I can still smell the oil of that engine.",
        ),
        ("Tom W.", "4 May 2024", "Lovely!"),
        (
            "keeper62",
            "4 May 2024",
            "They should have kept it in the water, since a boat in a hall is only furniture.",
        ),
        (
            "Ines",
            "7 May 2024",
            "Who pays for the door of the museum, if it is not wide enough for the ferry?",
        ),
    ),
    "de": (
        (
            "Ada",
            "3. Mai 2024",
            "Ich bin jeden Morgen damit zur Schule gefahren und rieche das Öl noch heute.",
        ),
        ("Tom W.", "4. Mai 2024", "Schön!"),
        (
            "wart62",
            "4. Mai 2024",
            "Man hätte sie im Wasser lassen sollen, denn ein Boot in der Halle ist ein Möbel.",
        ),
        (
            "Ines",
            "7. Mai 2024",
            "Wer bezahlt die Tür des Museums, wenn sie für die Fähre nicht breit genug ist?",
        ),
    ),
    "ja": (
        (
            "あや",
            "2024年5月3日",
            "毎朝この船で学校へ通いました。あの機関の油のにおいを今でもよく覚えています。",
        ),
        ("とむ", "2024年5月4日", "すてき！"),
        (
            "灯台守",
            "2024年5月4日",
            "水の上に残しておくべきでした。広間に置かれた船はただの家具になってしまいます。",
        ),
        (
            "いね",
            "2024年5月7日",
            "もし船が入らなければ、博物館の扉を広げるお金はいったい誰が払うのでしょうか。",
        ),
    ),
}
STORIES = (
    (
        "Bridge closed",
        "The old bridge is closed from Monday on, and all who want to cross will need to walk.",
    ),
    ("Bread prize", "A baker from the upper town has won the prize for the best bread of the whole valley."),
    ("Snow in May", "It has snowed in the hills for the first time in May since anybody wrote it down."),
    ("New clock", "The clock of the town hall has been taken down, and a new one will be there by June."),
    (
        "Choir looks for men",
        "The choir has been looking for two more basses since the autumn, and found one.",
    ),
)
CAPTIONS = (
    "The ferry on the slip in the first light of the morning, with the men of the yard around it",
    "The bell of the ferry, which is to be rung once more when the hall of the museum is opened",
    "One of the planks with its number in chalk, and the hand of the man who has written it there",
    "The crowd at the water, seen from the window of the house in which the ferryman was born",
)
COMMENT_HEADINGS = {"en": "Comments (4)", "de": "Kommentare", "ja": "コメント"}


def paragraphs(language: str = "en") -> str:
    return "".join(f"<p>{text}</p>" for text in ARTICLE[language])


def comments(language: str, entry: str) -> str:
    return "".join(entry.format(name, date, text) for name, date, text in REPLIES[language])


def stories(entry: str) -> str:
    return "".join(entry.format(title, teaser) for title, teaser in STORIES)


def whole_stories(entry: str) -> str:
    return "".join(
        entry.format(title, "".join(f"<p>{teaser}</p>" for _, teaser in STORIES[i:] + STORIES[:i]))
        for i, (title, _) in enumerate(STORIES)
    )


def captions(entry: str) -> str:
    return "".join(entry.format(caption, i) for i, caption in enumerate(CAPTIONS))


MENU = "".join(f"<li><a href=/{name}>{name}</a>" for name in "boats kitchen town science garden arts".split())


def page(body: str, language: str = "en") -> str:
    return (
        f"<html lang={language}><body><nav><ul>{MENU}</ul></nav>{body}"
        "<footer><p>Since 1962 at the river</p></footer></body></html>"
    )


def read(html: str) -> Document:
    """Return what Python reads; the kernel, if there is one, reads the same."""
    found = extract(parse(html))
    assert PageFingerprinter().extract(html) == found
    return found


H1 = "<h1>The ferry</h1>"
DIV = "<div><b>{0}</b> <time>{1}</time><p>{2}</p></div>"
FIGURE = "<figure><a href=/{1}><img src={1}></a><figcaption>{0}</figcaption></figure>"
PICTURE = "<li><a href=/{1}><img src={1}></a><p>{0}</p></li>"
LINKED = "<article><h3><a href=/x>{0}</a></h3><p>{1}</p></article>"


def with_heading(language: str, entry: str, around: str = "{}") -> str:
    entries = around.format(comments(language, entry))
    return f"<h2>{COMMENT_HEADINGS[language]}</h2>{entries}"


def forms_after() -> dict[str, tuple[str, str]]:
    """Return by name the language and the body of a page, in which ``{}`` stands for the article's paragraphs."""
    forms = {}
    for code in ARTICLE:
        forms[f"rows in the article, {code}"] = code, f"<article>{H1}{{}}{with_heading(code, DIV)}</article>"
        forms[f"rows behind the article, {code}"] = (
            code,
            f"<main><article>{H1}{{}}</article><section>{with_heading(code, DIV)}</section></main>",
        )
        forms[f"rows beside the paragraphs, {code}"] = code, f"<div>{H1}{{}}{with_heading(code, DIV)}</div>"
        forms[f"a list, {code}"] = (
            code,
            f"<main>{H1}{{}}{with_heading(code, '<li><div>{0}, {1}</div><div>{2}</div></li>', '<ol>{}</ol>')}</main>",
        )
        forms[f"itemprop, {code}"] = (
            code,
            f"<article>{H1}{{}}{with_heading(code, '<div itemprop=comment><b>{0}</b> {1}<p>{2}</p></div>')}"
            "</article>",
        )
        forms[f"itemtype, {code}"] = (
            code,
            f"<div>{H1}{{}}"
            + comments(
                code,
                "<div itemscope itemtype=https://schema.org/Comment><b>{0}</b> <i>{1}</i><p>{2}</p></div>",
            )
            + "</div>",
        )
        forms[f"nested articles, {code}"] = (
            code,
            f"<article>{H1}{{}}<section>"
            + with_heading(code, "<article><footer>{0}, <time>{1}</time></footer><p>{2}</p></article>")
            + "</section></article>",
        )
        forms[f"nested articles with headers, {code}"] = (
            code,
            f"<article>{H1}{{}}"
            + with_heading(code, "<article><header><b>{0}</b> {1}</header><p>{2}</p></article>")
            + "</article>",
        )
        forms[f"a section of its own, {code}"] = (
            code,
            f"<div><div>{H1}{{}}</div><div>{with_heading(code, DIV)}</div></div>",
        )
    forms["figures behind"] = "en", f"<main><article>{H1}{{}}</article>{captions(FIGURE)}</main>"
    forms["figures inside"] = "en", f"<article>{H1}{{}}<div>{captions(FIGURE)}</div></article>"
    forms["pictures in a list"] = "en", f"<article>{H1}{{}}<ul>{captions(PICTURE)}</ul></article>"
    forms["stream behind"] = "en", f"<main><article>{H1}{{}}</article>{stories(LINKED)}</main>"
    forms["stream inside"] = "en", f"<article>{H1}{{}}<section>{stories(LINKED)}</section></article>"
    forms["stream in one element"] = "en", f"<main>{H1}{{}}<h2>More</h2>{stories(LINKED)}</main>"
    forms["pictures behind"] = (
        "en",
        f"<main><article>{H1}{{}}</article>"
        + captions("<div><div><a href=/{1}><img src={1}></a></div><div>{0}</div></div>")
        + "</main>",
    )
    return forms


AFTER = forms_after()


@pytest.mark.parametrize("name", AFTER)
def test_what_follows_an_article_is_left_out(name: str) -> None:
    language, body = AFTER[name]
    found = read(page(body.format(paragraphs(language)), language))
    text = found.text.removeprefix("The ferry\n")
    assert text == "\n".join(ARTICLE[language])


# What a list of posts or of things looks like too: kept.
KEPT_BEHIND = {
    "terms": f"<article>{H1}{{}}{with_heading('en', '<dt>{0}, {1}</dt><dd>{2}</dd>', '<dl>{}</dl>')}</article>",
    "author behind the text": f"<div>{H1}{{}}"
    + comments("en", "<div itemprop=comment><p>{2}</p><span>{0}, {1}</span></div>")
    + "</div>",
    "as much as the article": f"<main>{H1}{{}}<section>{whole_stories(LINKED)}</section></main>",
}


@pytest.mark.parametrize("name", KEPT_BEHIND)
def test_what_a_text_may_look_like_too_is_kept(name: str) -> None:
    kept = read(page(KEPT_BEHIND[name].format(paragraphs()))).text
    assert all(text in kept for text in ARTICLE["en"])
    assert (STORIES[0][1] if name.startswith("as much") else REPLIES["en"][0][2]) in kept


def test_of_two_marked_texts_the_first_is_the_article() -> None:
    # The second is longer, and the stream of other stories.
    stream = f"<article>{stories('<div><b>{0}</b><p>{1}</p></div>') * 2}</article>"
    found = read(page(f"<article>{H1}{paragraphs()}</article>{stream}")).text
    assert found.removeprefix("The ferry\n") == "\n".join(ARTICLE["en"])


GOES_ON = (
    "And so it was that the ferry came over the river once more, on the back of a lorry and by the bridge."
)


def test_an_article_goes_on_behind_what_stands_in_it() -> None:
    teasers = f"<article>{H1}{paragraphs()}{stories(LINKED)}<p>{GOES_ON}</p></article>"
    assert GOES_ON in read(page(teasers)).text


# --- What is the text, though it repeats.

POST = "<div><div><b>{0}</b> <time>{1}</time></div><div>{2}</div></div>"
ASKED = "".join(f"<p>{text}</p>" for text in ARTICLE["en"][:5])
ANSWERS = tuple(
    (name, date, "".join(f"<p>{text}</p>" for text in ARTICLE["en"][i : i + 3]))
    for i, (name, date, _) in enumerate(REPLIES["en"])
)


def posts(entry: str, answers: tuple[tuple[str, str, str], ...] = ANSWERS) -> str:
    return "".join(entry.format(*answer) for answer in answers)


FAQ = "".join(f"<h3>{text.split(',')[0][:40]}?</h3><p>{text}</p>" for text in ARTICLE["en"])
STEPS = "".join(f"<li>{text}</li>" for text in ARTICLE["en"][:4])
TALK = "".join(f"<p><b>{STORIES[i % 5][0]}?</b></p><p>{text}</p>" for i, text in enumerate(ARTICLE["en"]))

JOB = "<div><h3><a href=/x>{0}</a></h3><p>Harbour, 3 May 2024</p><p>{1}</p></div>"

TEXTS = {
    "thread": f"<main>{H1}{posts(POST)}</main>",
    "thread with a longer first post": f"<main>{H1}{POST.format('Bo', '1 May 2024', ASKED)}{posts(POST)}</main>",
    "thread in articles": f"<main>{H1}{posts('<article><header>{0}, {1}</header>{2}</article>')}</main>",
    "thread with short posts": f"<main>{H1}{POST.format('Bo', '1 May 2024', ASKED)}"
    + comments("en", POST.replace("{2}", "<p>{2}</p>"))
    + "</main>",
    "question and answers": f"<main>{H1}<div><div>{ASKED}</div><div>asked 1 May 2024 by Bo</div></div>"
    f"<h2>4 answers</h2>{posts('<div><div>{2}</div><div>answered {1} by {0}</div></div>')}</main>",
    "question and answers in comments": f"<main>{H1}<article>{ASKED}<p>Bo, 1 May 2024</p></article><section>"
    f"{posts('<div itemprop=suggestedAnswer>{2}<div>{0}, {1}</div></div>')}</section></main>",
    "thread of schema.org": f"<div>{H1}"
    + posts("<div itemprop=comment itemscope itemtype=https://schema.org/Comment><b>{0}</b> {1}{2}</div>")
    + "</div>",
    "recipe": f"<article>{H1}{paragraphs()}<h2>Method</h2><ol>{STEPS}</ol></article>",
    "recipe in steps": f"<article>{H1}{paragraphs()}"
    + "".join(f"<div><h3>Step {i}</h3><p>{text}</p></div>" for i, text in enumerate(ARTICLE["en"][:4]))
    + "</article>",
    "questions": f"<main>{H1}{FAQ}</main>",
    "questions in rows": f"<main>{H1}{paragraphs()}"
    + "".join(f"<div><h3>{title}?</h3><p>{text}</p></div>" for title, text in STORIES)
    + "</main>",
    "interview": f"<article>{H1}{TALK}</article>",
    "interview in rows": f"<article>{H1}{paragraphs()}"
    + "".join(f"<div><b>{title}?</b><p>{text}</p></div>" for title, text in STORIES)
    + "</article>",
    "chronicle": f"<article>{H1}{paragraphs()}"
    + "".join(f"<div><h3>{1962 + i}</h3><p>{text}</p></div>" for i, (_, text) in enumerate(STORIES))
    + "</article>",
    "headings and figures": f"<article>{H1}{paragraphs()}<h2>The men</h2>{captions(FIGURE)}{paragraphs()}</article>",
    "front page of posts": "<main>"
    + whole_stories("<article><h2><a href=/x>{0}</a></h2>{1}</article>")
    + "</main>",
    "front page of a blog": "<div>"
    + whole_stories("<div><h2>{0}</h2><div>3 May 2024</div>{1}</div>")
    + "</div>",
    "front page with a first post": f"<main><article><h2><a href=/x>The ferry</a></h2>{paragraphs()}</article>"
    + whole_stories("<article><h2><a href=/x>{0}</a></h2>{1}</article>")
    + "</main>",
    "jobs": f"<main><h1>Jobs</h1>{stories(JOB)}</main>",
    "jobs with an introduction": f"<main><h1>Jobs</h1><p>{ARTICLE['en'][0]}</p>{stories(JOB)}</main>",
    "gallery": f"<main>{H1}<p>{ARTICLE['en'][0]}</p><ul>{captions(PICTURE)}</ul></main>",
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_repeats_and_is_the_text_is_kept(name: str) -> None:
    captions = CAPTIONS if "figcaption" in TEXTS[name] else ()
    parts = [part for part in read(page(TEXTS[name])).paragraphs if part.text not in captions]
    assert [part.text for part in parts if len(part.text) > 60 and part.boilerplate] == []
