"""Texts of a given length, in languages that are written in different ways.

English, Spanish and Chinese are real: the main texts of pages, one after another, cut to size; of Chinese ones those
that are Chinese for the most part, for manuals of software are half program. Where they do not suffice, as with the
example site, they are gone through again with their sentences in another order. The other
languages are drawn: no page of theirs is at hand, so the words of a few sentences below are put in random order. Such
a text has as many shingles as a real one, but fewer words.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from scrapy_simhash import Document

SEED = 65
#: Texts of each set.
COUNT = 24

WORDS, CHARACTERS = "words", "characters"

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*\s*|\s+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"\S+")

#: What is drawn from; in Thai, spaces part the words here and nowhere else.
_DRAWN = {
    "ru": (
        "Старый паром вышел из гавани в шесть часов утра, как он делал это все сорок лет до"
        " того дня. С севера дул лёгкий ветер, и капитан сказал, что он стихнет, когда они"
        " выйдут в открытое море. Никто на палубе ему не поверил, потому что он ошибался"
        " насчёт ветра каждый день этой недели. Хлеб на островах пекут на воде, в которой"
        " варили водоросли, и совсем без соли. Его оставляют под полотенцем в самом тёплом"
        " углу дома, пока он не станет вдвое больше. Когда печь разогрета так, что страница"
        " газеты темнеет, хлеб ставят внутрь на целый час. Смотритель маяка записывал погоду в"
        " толстую тетрадь, а его жена считала корабли, которые проходили мимо скал. Зимой"
        " почта приходила раз в две недели, если позволял лёд, и тогда вся деревня собиралась"
        " на причале. Дети знали названия всех лодок и умели узнавать их по звуку мотора"
        " задолго до того, как они появлялись из тумана."
    ),
    "ar": (
        "غادرت العبارة القديمة الميناء في الساعة السادسة صباحا كما كانت تفعل طوال أربعين عاما"
        " قبل ذلك اليوم. كانت الريح خفيفة من الشمال وقال القبطان إنها ستهدأ عندما يصلون إلى"
        " البحر المفتوح. لم يصدقه أحد على ظهر السفينة لأنه أخطأ في أمر الريح كل يوم من أيام"
        " ذلك الأسبوع. يصنع خبز الجزر بالماء الذي غليت فيه الأعشاب البحرية ومن دون أي ملح."
        " يترك العجين تحت قطعة قماش في أدفأ مكان في البيت حتى يصير ضعف حجمه. وعندما يسخن الفرن"
        " بحيث تسمر صفحة الجريدة يوضع الرغيف فيه مدة ساعة كاملة. كان حارس المنارة يكتب حال"
        " الطقس في دفتر سميك وكانت زوجته تعد السفن التي تمر قرب الصخور. في الشتاء كان البريد"
        " يأتي مرة كل أسبوعين إذا سمح الجليد بذلك، وعندئذ تجتمع القرية كلها على الرصيف. كان"
        " الأطفال يعرفون أسماء جميع القوارب ويميزونها من صوت المحرك قبل أن تظهر من الضباب بوقت"
        " طويل."
    ),
    "hi": (
        "पुरानी नाव सुबह छह बजे बंदरगाह से निकली, जैसा कि वह उस दिन से पहले चालीस साल तक करती"
        " आई थी। उत्तर से हल्की हवा चल रही थी और कप्तान ने कहा कि खुले समुद्र में पहुँचने तक"
        " वह थम जाएगी। डेक पर किसी ने उस पर विश्वास नहीं किया, क्योंकि उस सप्ताह के हर दिन हवा"
        " के बारे में उसकी बात गलत निकली थी। द्वीपों की रोटी उस पानी से बनती है जिसमें समुद्री"
        " घास उबाली गई हो, और उसमें नमक बिल्कुल नहीं डाला जाता। आटे को घर के सबसे गरम कोने में"
        " कपड़े के नीचे तब तक रखा जाता है जब तक वह दुगुना न हो जाए। जब भट्ठी इतनी गरम हो कि"
        " अखबार का पन्ना भूरा पड़ जाए, तब रोटी को एक घंटे के लिए भीतर रखते हैं। प्रकाशस्तंभ का"
        " रखवाला मोटी कॉपी में मौसम लिखता था और उसकी पत्नी चट्टानों के पास से गुजरने वाले जहाज"
        " गिनती थी। सर्दियों में डाक दो सप्ताह में एक बार आती थी, और तब सारा गाँव घाट पर"
        " इकट्ठा हो जाता था। बच्चे सभी नावों के नाम जानते थे और कोहरे से बाहर आने से बहुत पहले"
        " इंजन की आवाज से उन्हें पहचान लेते थे।"
    ),
    "th": (
        "เรือ ข้าม ฟาก ลำ เก่า ออก จาก ท่าเรือ เวลา หก โมง เช้า เหมือน ที่ เคย ทำ มา ตลอด"
        " สี่สิบ ปี ก่อน หน้า นั้น ลม พัด เบา ๆ มา จาก ทาง เหนือ และ กัปตัน บอก ว่า ลม จะ สงบ"
        " เมื่อ ออก สู่ ทะเล เปิด ไม่ มี ใคร บน ดาดฟ้า เชื่อ เขา เพราะ เขา พูด ผิด เรื่อง ลม"
        " ทุก วัน ใน สัปดาห์ นั้น ขนมปัง ของ หมู่เกาะ ทำ ด้วย น้ำ ที่ ใช้ ต้ม สาหร่าย และ ไม่"
        " ใส่ เกลือ เลย แป้ง ถูก พัก ไว้ ใต้ ผ้า ใน มุม ที่ อุ่น ที่สุด ของ บ้าน จน พอง เป็น"
        " สอง เท่า เมื่อ เตา ร้อน พอ ที่ จะ ทำ ให้ กระดาษ หนังสือพิมพ์ เป็น สี น้ำตาล จึง ใส่"
        " ขนมปัง เข้าไป หนึ่ง ชั่วโมง คน เฝ้า ประภาคาร เขียน สภาพ อากาศ ลง ใน สมุด เล่ม หนา"
        " ส่วน ภรรยา นับ เรือ ที่ แล่น ผ่าน โขดหิน ใน ฤดู หนาว ไปรษณีย์ มา ทุก สอง สัปดาห์"
        " แล้ว คน ทั้ง หมู่บ้าน ก็ มา รวม กัน ที่ ท่า เด็ก ๆ รู้จัก ชื่อ เรือ ทุก ลำ และ จำ"
        " เสียง เครื่องยนต์ ได้ นาน ก่อน ที่ เรือ จะ โผล่ ออก มา จาก หมอก"
    ),
}


class TextSet(NamedTuple):
    """Texts of one language and length."""

    name: str
    short: str
    """For the head of a column."""
    texts: list[str]
    is_real: bool


def text_sets(documents: Iterable[Document]) -> list[TextSet]:
    """Return every set that is measured; *documents* are what the real ones are made of."""
    by_language: dict[str, list[str]] = {}
    for document in documents:
        by_language.setdefault(document.language or "", []).append(document.text)
    if mostly := [text for text in by_language.get("zh", ()) if _is_mostly_han(text)]:
        by_language["zh"] = mostly
    names = {"en": "English", "es": "Spanish", "zh": "Chinese"}
    wanted = [("en", WORDS, 1000), ("en", WORDS, 5000), ("zh", CHARACTERS, 2000), ("es", WORDS, 1000)]
    sets = [
        TextSet(
            f"{names[code]}, {size:,} {unit}",
            f"{code} {size}",
            list(islice(cut(by_language[code], unit, size), COUNT)),
            True,
        )
        for code, unit, size in wanted
        if any(map(str.strip, by_language.get(code, ())))
    ]
    drawn = [
        ("ru", "Russian", WORDS),
        ("ar", "Arabic", WORDS),
        ("hi", "Hindi", WORDS),
        ("th", "Thai", CHARACTERS),
    ]
    for code, name, unit in drawn:
        size = 1000 if unit == WORDS else 2000
        texts = list(islice(cut(_draw(code), unit, size), COUNT))
        sets.append(TextSet(f"{name}, {size:,} {unit}, drawn", f"{code} {size}", texts, False))
    return sets


def cut(texts: Sequence[str] | Iterator[str], unit: str, size: int) -> Iterator[str]:
    r"""Yield texts of *size* words or characters without end, cut from *texts* one after another.

    When a sequence is used up it begins again, its sentences shuffled; an iterator is taken to be endless.

    Raises ValueError for a sequence without a word.

    >>> list(islice(cut(["one two three", "four five"], WORDS, 2), 2))
    ['one two', 'three\n\nfour']
    """
    stream = iter(_again(texts)) if isinstance(texts, Sequence) else texts
    rest = ""
    while True:
        end = _end(rest, unit, size)
        while end is None:
            more = next(stream)
            rest = f"{rest}\n\n{more}" if rest else more
            end = _end(rest, unit, size)
        yield rest[:end]
        rest = rest[end:].lstrip()


def _end(text: str, unit: str, size: int) -> int | None:
    """Return where *text* has *size* units, None if it is shorter."""
    if unit == CHARACTERS:
        return size if len(text) >= size else None
    last = next(islice(_WORD.finditer(text), size - 1, None), None)
    return last and last.end()


def _is_mostly_han(text: str) -> bool:
    characters = "".join(text.split())
    return 2 * len(_HAN.findall(characters)) > len(characters)


def _again(texts: Sequence[str]) -> Iterator[str]:
    draw = random.Random(SEED)
    yield from texts
    sentences = [sentence for text in texts for sentence in _SENTENCE.findall(text) if sentence.strip()]
    if not sentences:
        raise ValueError("there is no text to cut")
    while True:
        draw.shuffle(sentences)
        yield "".join(sentences)


def _draw(code: str) -> Iterator[str]:
    """Yield paragraphs of random words, without end."""
    draw = random.Random(SEED)
    words = _DRAWN[code].split()
    between = "" if code == "th" else " "
    while True:
        yield between.join(draw.choices(words, k=80))
