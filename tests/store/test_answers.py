"""What stores keep of the answers of pages; of the store in Redis, see test_conditional.py in tests/crawls."""

from pathlib import Path

from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store import Answered, KeepsAnswers, MemoryStore, Posting
from scrapy_simhash.store.redis.layout import answer_of, read_answer
from scrapy_simhash.store.sqlite import SqliteStore

PAGE = Posting(b"a" * 20, "https://example.com/a", "", Fingerprint(5), text_hash=2**63 + 1, seen=100)
COPY = PAGE._replace(key=b"b" * 20, url="https://example.com/b")


def test_an_answer_is_kept_with_its_page_and_forgotten_with_it(tmp_path: Path) -> None:
    assert not isinstance(MemoryStore(), KeepsAnswers)
    store = SqliteStore(tmp_path / "store.sqlite")
    assert isinstance(store, KeepsAnswers)
    assert store.answer(PAGE.key) is None
    store.claim(PAGE)
    store.claim(COPY)
    store.keep_answers([(PAGE.key, 200, b"about", b"requests"), (b"unknown", 200, b"x", b"")])
    store.keep_answers([(COPY.key, 300, b"about b", b"")])
    known = Answered(200, False, 2**63 + 1, 5, False, 0, None, b"about", b"requests")
    assert store.answer(PAGE.key) == known
    assert store.answer(b"unknown") is None
    store.close()
    store = SqliteStore(tmp_path / "store.sqlite")
    # The run has ended in order.
    assert store.answer(PAGE.key) == known._replace(is_settled=True)
    assert store.answer(COPY.key) == Answered(300, True, 2**63 + 1, 5, False, 0, PAGE.url, b"about b", b"")
    store.keep_answers([(PAGE.key, 400, b"new", b"")])
    assert store.answer(PAGE.key) == known._replace(seen=400, is_settled=True, about=b"new", requests=b"")
    assert store.remove(PAGE.key)
    store.claim(PAGE)
    assert store.answer(PAGE.key) is None
    store.close()


def test_the_record_of_an_answer_in_redis() -> None:
    assert read_answer(answer_of(b"about", b"requests")) == (b"about", b"requests")
