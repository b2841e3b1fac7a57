"""Prices: which texts hold one. What follows from a price stands in :mod:`~scrapy_simhash.page.text.main_text`."""

from __future__ import annotations

import re

_CURRENCY = (
    r"(?:[$€£¥₹₽₩₺₫฿₴₪₦]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|RUB|BRL|CAD|AUD|PLN|SEK|NOK|DKK|CZK|HUF)\b)"
)
_AMOUNT = r"\d[\d.,'’ ]*"
# Case matters: 20 Ft are forints, 20 ft are feet.
PRICE = re.compile(
    rf"{_CURRENCY}\s?{_AMOUNT}|{_AMOUNT}(?:{_CURRENCY}|元(?!旦)|円|원|zł\b|kr\b|Kč\b|Ft\b|lei\b|лв\b|руб|грн)"
)
# No price is without one, and most short blocks are.
_DIGIT = re.compile(r"\d")


def has_price(text: str) -> bool:
    """Tell whether *text* holds an amount with a currency. O(characters).

    >>> has_price("only 20 €"), has_price("20 years"), has_price("20 ft"), has_price("20 Ft")
    (True, False, False, True)
    """
    return _DIGIT.search(text) is not None and PRICE.search(text) is not None
