"""What a language is made of: characters, tokens, stopwords. The ground that text/ and features/ stand on."""

from scrapy_simhash.page.language.detect import detect, languages, primary_subtag, stopwords
from scrapy_simhash.page.language.tokens import normalize, tokenize

__all__ = ["detect", "languages", "normalize", "primary_subtag", "stopwords", "tokenize"]
