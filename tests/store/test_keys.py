from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from scrapy_simhash.store import columns as keys_module
from scrapy_simhash.store.columns import LEAST_SLOTS, WIDTH, Keys
from tests.examples import examples

#: Few, so that they meet again; of the width of the rows and of others, empty and all zeros among them.
KEYS = st.sampled_from(
    [b"", bytes(WIDTH), bytes(WIDTH - 1), b"https://example.com/"]
    + [bytes([number]) * WIDTH for number in range(1, 20)]
    + [b"short " + bytes([number]) * WIDTH for number in range(9)]
)


class KeysMachine(RuleBasedStateMachine):
    """Keys beside a dictionary, in one table so that it fills and is made anew."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(keys_module, "TABLES", 1)
        self.keys = Keys()
        self.model: dict[bytes, int] = {}
        self.added = 0

    def teardown(self) -> None:
        self.patch.undo()

    @initialize(many=st.integers(0, 3 * LEAST_SLOTS))
    def begin(self, many: int) -> None:
        for number in range(many):
            self.add(b"%020d" % number)

    @rule(key=KEYS | st.binary(max_size=24))
    def add(self, key: bytes) -> None:
        if key not in self.model:
            assert self.keys.add(key) == self.added
            self.model[key] = self.added
            self.added += 1

    @rule(key=KEYS)
    def remove(self, key: bytes) -> None:
        if key in self.model:
            self.keys.remove(key)
            del self.model[key]
        else:
            with pytest.raises(KeyError):
                self.keys.remove(key)

    @rule(key=KEYS)
    def find(self, key: bytes) -> None:
        assert self.keys.find(key) == self.model.get(key)

    @invariant()
    def holds_what_the_dictionary_holds(self) -> None:
        assert len(self.keys) == len(self.model)
        assert list(self.keys) == list(self.model.items())


TestKeysMachine = KeysMachine.TestCase
TestKeysMachine.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)


def test_a_key_takes_no_more_than_45_bytes() -> None:
    keys = Keys()
    count = 100_000
    for number in range(count):
        keys.add(b"%020d" % number)
    nbytes = len(keys._rows) + sum(table.itemsize * len(table) for table in keys._tables)
    assert 26 * count < nbytes < 45 * count
    assert all(keys.find(b"%020d" % number) == number for number in range(0, count, 997))
