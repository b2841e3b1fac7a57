"""Characters with special rules in Unicode. ``tests/page/compiled/test_alike.py`` also reads all other characters."""

from __future__ import annotations

import random


def _span(first: int, last: int) -> str:
    return "".join(map(chr, range(first, last + 1)))


#: Characters by kind; within a kind, all are equally likely.
ALPHABETS: dict[str, str] = {
    "ascii": "abcdeXYZ 0123.,;:-_'/|()",
    "spaces": " \t\n\r\f\v\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
    "latin": "éèßñøŁıİŉǰſﬀﬁﬃﬅẞÅÅK",
    "greek": "ΐΰᾳᾼὈσςΣΆάϊ\u0345ͺ΅᾿῀",
    "cyrillic": "йЙёЁѐїЃҐѶѷ\u0483\u0489",
    "marks": "\u0300\u0301\u0307\u0308\u030a\u0315\u0316\u031b\u0323\u0327\u0328\u0334\u0338\u0340\u0341\u0343\u0344"
    "\u0345\u035c\u0360\u05b0\u05b4\u05bc\u0651\u0654\u093c\u0e38\u0e48\u0f71\u0f72\u0f74\u0f80\u1dce\u20dd\u302a\u3099\u309a",
    "jamo": _span(0x1100, 0x1112) + _span(0x1161, 0x1175) + _span(0x11A7, 0x11C3) + "가각힣꥟ힰㄱㅏﾡ",
    "thai and lao": "กขคงำิีึืุ่้๊๋์ะาเแไๆ๐๑ກຂຄຳິີຸ່້໊ໍໆໜໝ",
    "khmer and myanmar": "កខគាិីុេៃោះំ្៉។៛ကခဂဃာိီုူေဲံ့း္်ျြ",
    "indic": "कखगािीुूेैोौंः़्ऀक़ख़ड़ঀঅা়োৌਅ਼ਖ਼ଅାୋୌଡ଼கொோௌకాెైകൊോൌකෙොෞ",
    "arabic": "ابتثجحخدذرزآأؤإئًٌٍَُِّْٰٔٓ۰۱ﷺﻻﺍ",
    "hebrew": "אבגדהִַָֹּׁׂיִשׁשּׁﬡ",
    "han and kana": "近似网页漢字々〆〇かがカガｶﾞｶﾟパハ\u3099ー豈更㈱㌔丽\U00020000\U0002f800",
    "invisible": "\xad\u034f\u061c\u115f\u17b4\u180b\u180e\u200b\u200c\u200d\u200e\u2060\u2064\u3164\ufe0f\ufeff"
    "\U000e0020\U000e0100",
    "forms": "①²½ⅣⅷＡｂ３％｜：ﬄ㎏℡™℃Ωªº…‥．。！؟।៕።",
    "digits": "0123456789٠١۲३৪๕៦᠗０９𝟘𝟿𑁦²①Ⅳ",
    "prices": "$€£¥₹元円원圆旦0123456789.,'’ krFtzłKčlv",
    "separators": "|-–—·•:»«/｜： ",
    "planes": "𐀀𝐀𝒞𝓐𝕬😀👩\u200d🚀🇪🇺𑄮𑄧𑂚𑍋𞤀𞤢\U0001d15e\U0001d165\U000e0001\U0010ffff\uffff\ufffd\uffef\ue000",
    "controls": "\x01\x02\x08\x0e\x7f\x80\x9f",
}
#: Characters of plain text that a page cannot have.
UNENCODABLE = "\x00\ud800\udbff\udc00\udfff"


def character(dice: random.Random) -> str:
    """Return a character."""
    return dice.choice(dice.choice(list(ALPHABETS.values())))


def text(dice: random.Random, most: int = 40) -> str:
    """Return up to *most* characters, mostly of one or two kinds, because neighbours affect each other."""
    kinds = [dice.choice(list(ALPHABETS.values())) for _ in range(dice.randint(1, 2))]
    if dice.random() < 0.5:
        kinds.append(ALPHABETS["ascii"])
    return "".join(dice.choice(dice.choice(kinds)) for _ in range(dice.randint(0, most)))
