"""Prices: which texts hold one. What follows from a price stands in :mod:`~scrapy_simhash.page.text.main_text`."""

from __future__ import annotations

import re

_SIGNS = "$€£¥₹₽₩₺₫฿₴₪₦"
_CODES = tuple("USD EUR GBP CHF JPY CNY RMB INR RUB BRL CAD AUD PLN SEK NOK DKK CZK HUF".split())
# These stand behind an amount only. Case matters: 20 Ft are forints, 20 ft are feet.
_WORDS = tuple("zł kr Kč Ft lei лв".split())
_BEGINNINGS = ("円", "원", "руб", "грн")
_YUAN = "元"
#: Every price has one of them.
CURRENCIES = (*_SIGNS, *_CODES, *_WORDS, *_BEGINNINGS, _YUAN)

_CURRENCY = rf"(?:[{_SIGNS}]|\b(?:{'|'.join(_CODES)})\b)"
_AMOUNT = r"\d[\d.,'’ ]*"
PRICE = re.compile(
    rf"{_CURRENCY}\s?{_AMOUNT}"
    rf"|{_AMOUNT}(?:{_CURRENCY}|{_YUAN}(?!旦)|{'|'.join(_BEGINNINGS)}|(?:{'|'.join(_WORDS)})\b)"
)
# No price is without one, and most short blocks are.
_DIGIT = re.compile(r"\d")


def has_price(text: str) -> bool:
    """Tell whether *text* holds an amount with a currency. O(characters).

    >>> has_price("only 20 €"), has_price("20 years"), has_price("20 ft"), has_price("20 Ft")
    (True, False, False, True)
    """
    return _DIGIT.search(text) is not None and PRICE.search(text) is not None
