"""Characters, tokens, stopwords and language detection, used by text/ and features/."""

from scrapy_simhash.page.language.detect import detect, languages, primary_subtag, stopwords
from scrapy_simhash.page.language.tokens import normalize, tokenize

__all__ = ["detect", "languages", "normalize", "primary_subtag", "stopwords", "tokenize"]
