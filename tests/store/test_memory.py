from __future__ import annotations

import pytest
from hypothesis import settings

from scrapy_simhash.index import LinearScan, ProbingIndex, SimhashIndex
from scrapy_simhash.rule import Rule
from scrapy_simhash.store import MemoryStore, Store, memory
from tests.store.contract import CLASSIC, SECOND_LOOK, StoreContract, StoreMachine, content, posting

SETTINGS = settings(max_examples=150, stateful_step_count=30, deadline=None)


class TestMemoryStore(StoreContract):
    def make(self, rule: Rule) -> Store:
        return MemoryStore(rule, blocks=rule.max_distance + 3)


class TestMemoryStoreBeyondTheScan(TestMemoryStore):
    """The same with an index from the second content on."""

    @pytest.fixture(autouse=True)
    def _small_scans(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "SCANNED", 1)


class MemoryStoreMachine(StoreMachine):
    def make(self, rule: Rule) -> Store:
        return MemoryStore(rule, blocks=rule.max_distance + 2)


class PromotedStoreMachine(MemoryStoreMachine):
    """Scopes leave the scan after three contents, in the middle of their lives."""

    def __init__(self) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(memory, "SCANNED", 3)
        super().__init__()

    def teardown(self) -> None:
        self.patch.undo()


TestMemoryStoreMachine = MemoryStoreMachine.TestCase
TestMemoryStoreMachine.settings = SETTINGS
TestPromotedStoreMachine = PromotedStoreMachine.TestCase
TestPromotedStoreMachine.settings = SETTINGS


@pytest.mark.parametrize(("rule", "grown"), [(CLASSIC, SimhashIndex), (SECOND_LOOK, ProbingIndex)])
def test_a_scope_is_scanned_until_it_is_large_and_then_has_the_index_of_the_rule(
    rule: Rule, grown: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "SCANNED", 4)
    store = MemoryStore(rule)
    kinds = []
    for number in range(6):
        store.claim(posting(str(number), content(0xFFFF << 8 * number, text=str(number)), "large"))
        kinds.append(type(store._indexes["large"]))
    store.claim(posting("small", content(0), "small"))
    assert kinds == [LinearScan] * 4 + [grown] * 2
    assert type(store._indexes["small"]) is LinearScan
    assert store.index_size == 7
    # What was scanned is found in the index, and nothing of the other scope.
    for number in range(6):
        again = content(0xFFFF << 8 * number, text=str(number))
        assert store.claim(posting(f"{number} again", again, "large")).cluster == number
        assert store.claim(posting(f"{number} elsewhere", again, "small")).cluster == 7 + 2 * number + 1


def test_a_store_has_the_default_rule_unless_told() -> None:
    assert MemoryStore()._rule == Rule()


def test_the_scan_ends_where_an_index_is_said_to_pay() -> None:
    assert memory.SCANNED == 500
