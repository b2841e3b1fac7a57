"""The ruling on items, one after another: what repeats what, and what can be dropped without a loss."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_simhash import NearDuplicateDetector, Reason, Status
from scrapy_simhash.config import Config
from scrapy_simhash.crawl.items.checker import ItemChecker, Ruling
from scrapy_simhash.crawl.items.fingerprint import item_header
from scrapy_simhash.store import Claim, Posting, Store
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.waiting import finished
from tests.crawl.items.test_fingerprint import config_of, item
from tests.store.remote import RemoteStore

UNKEYED = config_of()
KEYED = config_of(item_key="url")


def item_of(url: str, number: int = 0, *, more: str = "") -> dict[str, Any]:
    made = item(number, url=url)
    return {**made, "body": f"{made['body']} {more}".strip()}


#: Nearly the same, and short ones.
A, NEAR_A = item_of("/a"), item_of("/near", more="and more")
SAME_AS_A, OTHER = item_of("/same"), item_of("/other", 1)
SHORT, SAME_SHORT = ({"title": "Kettle", "url": url} for url in ("/short", "/same-short"))


class Run:
    """One run of a crawl over a store."""

    def __init__(
        self,
        config: Config,
        store: Any,
        *,
        drops: bool = True,
        remembers: bool = True,
        clock: Callable[[], float] = lambda: 1_000,
    ) -> None:
        self.store = store
        detector = NearDuplicateDetector(config, store)
        self.checker = ItemChecker(detector, drops=drops, remembers=remembers, clock=clock)

    def ask(self, item: dict[str, Any]) -> Ruling:
        checking = self.checker.check(item)
        return asyncio.run(checking) if self.store.is_remote else finished(checking)

    def lose(self, item: dict[str, Any]) -> None:
        """Lose *item* on its way."""
        key = self.checker.key_of(item)
        assert key is not None
        self.checker.lose(key)

    def __call__(self, *items: dict[str, Any]) -> list[str]:
        """Return what becomes of *items*: ``new``, ``dropped as a copy of /a``, ..."""
        return [told(self.ask(item)) for item in items]


def told(ruling: Ruling) -> str:
    verdict = ruling.verdict
    if not verdict.is_duplicate:
        return verdict.status.value
    return (
        f"{'dropped' if ruling.is_dispensable else 'kept'}, {verdict.status.value} of {verdict.duplicate_of}"
    )


Runs = Callable[..., Run]


@pytest.fixture(params=["waiting", "at once"])
def fresh(request: pytest.FixtureRequest) -> Runs:
    """Make a run over an empty store in memory, of either kind."""

    def make(config: Config = UNKEYED, **arguments: Any) -> Run:
        header = item_header(config)
        store = RemoteStore(header) if request.param == "waiting" else SqliteStore(header=header)
        return Run(config, store, **arguments)

    return make


class Folder:
    """Runs over one file, each of which is ended, or killed, by the next."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store: SqliteStore | None = None

    def run(self, config: Config = UNKEYED, seed: int | None = None) -> Run:
        """Begin a run; with a *seed* over a store that answers by coroutines, out of order."""
        assert self._store is None, "end it, or kill it"
        self._store = SqliteStore(self._path, item_header(config))
        return Run(config, self._store if seed is None else Unruly(self._store, seed))

    def end(self, run: Run) -> None:
        asyncio.run(run.checker._detector.flush_async())
        assert self._store is not None
        self._store.close("finished")
        self._store = None

    def kill(self, run: Run) -> None:
        """Take from *run* what a kill takes: the end."""
        assert self._store is not None
        self._store._release()
        self._store = None

    def forget(self) -> None:
        """Begin anew."""
        self._path.unlink(missing_ok=True)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    folder = Folder(tmp_path / "items.sqlite")
    yield folder
    if folder._store is not None:
        folder._store.close()


# --- One run.


def test_the_first_of_its_kind_is_new_and_what_repeats_it_is_dispensable(fresh: Runs) -> None:
    run = fresh()
    assert run(A, NEAR_A, SAME_AS_A, OTHER) == [
        "new",
        "dropped, near_duplicate of /a",
        "dropped, near_duplicate of /a",
        "new",
    ]


def test_a_ruling_comes_with_its_evidence(fresh: Runs) -> None:
    run = fresh()
    first, near, same = (run.ask(one).verdict for one in (A, NEAR_A, SAME_AS_A))
    assert first.fingerprint is not None
    assert (first.cluster, near.cluster, same.cluster) == (0, 0, 0)
    assert near.distance is not None
    assert near.similarity is not None
    assert 0.8 <= near.similarity < 1
    assert (near.is_exact, same.is_exact) == (False, True)
    assert (same.distance, same.similarity) == (0, 1.0)


def test_within_one_run_an_identical_item_is_a_duplicate_of_itself(fresh: Runs) -> None:
    run = fresh()
    assert run(A, A, A) == ["new"] + ["dropped, near_duplicate of /a"] * 2
    verdict = run.ask(A).verdict
    assert (verdict.is_exact, verdict.distance, verdict.similarity) == (True, 0, 1.0)


def test_with_a_key_the_same_item_again_is_the_same_item(fresh: Runs) -> None:
    run = fresh(KEYED)
    changed = item_of("/a", 2)
    assert run(A, A, changed, changed, A) == ["new"] + ["revisit"] * 4
    assert run(NEAR_A, NEAR_A) == [
        "dropped, near_duplicate of /a",
        "dropped, revisit of /a",
    ]


def test_an_item_without_its_key_has_none(fresh: Runs) -> None:
    run = fresh(KEYED)
    nameless = {name: value for name, value in A.items() if name != "url"}
    assert run(nameless)[0] == "new"
    assert run(nameless)[0].startswith("dropped, near_duplicate of ")


def test_short_items_are_equal_or_nothing(fresh: Runs) -> None:
    run = fresh()
    other = {"title": "Kettles", "url": "/x"}
    assert run(SHORT, SAME_SHORT, other, SHORT) == [
        "new",
        "dropped, near_duplicate of /short",
        "new",
        "dropped, near_duplicate of /short",
    ]
    verdict = run.ask(SAME_SHORT).verdict
    assert (verdict.fingerprint, verdict.reason, verdict.is_exact) == (None, Reason.SHORT_TEXT, True)
    assert (verdict.distance, verdict.similarity) == (0, 1.0)


def test_a_short_item_with_a_key_comes_again(fresh: Runs) -> None:
    run = fresh(KEYED)
    assert run(SHORT, SHORT, {**SHORT, "title": "Pot"}) == ["new", "revisit", "revisit"]
    assert run.ask(SHORT).verdict.reason is Reason.CHANGED
    assert run(SAME_SHORT) == ["dropped, near_duplicate of /short"]


def test_items_that_say_nothing_are_skipped_and_never_duplicates(fresh: Runs) -> None:
    run = fresh()
    for nothing in ({}, {"title": None, "url": "/a"}, {"title": "", "body": []}):
        ruling = run.ask(nothing)
        assert (ruling.verdict.status, ruling.verdict.reason) == (Status.SKIPPED, Reason.SHORT_TEXT)
    assert len(run.store) == 0


def test_items_too_large_are_skipped(fresh: Runs) -> None:
    ring: list[Any] = []
    ring.append(ring)
    ruling = fresh().ask({"title": ring})
    assert (ruling.verdict.status, ruling.verdict.reason) == (Status.SKIPPED, Reason.TOO_LARGE)


def test_what_repeats_an_item_that_was_lost_takes_its_place(fresh: Runs) -> None:
    run = fresh()
    run(A)
    run.lose(A)
    assert run(NEAR_A, SAME_AS_A) == ["kept, near_duplicate of /a", "dropped, near_duplicate of /a"]
    run.lose(NEAR_A)
    assert run(SAME_AS_A, A) == ["kept, near_duplicate of /a", "revisit"]
    assert run(A, NEAR_A) == ["dropped, near_duplicate of /a"] * 2


def test_an_item_that_was_lost_and_comes_again_is_kept(fresh: Runs) -> None:
    run = fresh()
    run(A)
    run.lose(A)
    assert run(A, A) == ["revisit", "dropped, near_duplicate of /a"]


def test_who_only_marks_drops_nothing_and_says_the_same(fresh: Runs) -> None:
    run = fresh(drops=False)
    rulings = [run.ask(one).verdict for one in (A, NEAR_A, A)]
    assert [(verdict.status.value, verdict.duplicate_of) for verdict in rulings] == [
        ("new", None),
        ("near_duplicate", "/a"),
        ("near_duplicate", "/a"),
    ]


def test_who_only_looks_leaves_no_trace(fresh: Runs) -> None:
    run = fresh(remembers=False)
    assert run(A, NEAR_A) == ["new", "new"]
    assert len(run.store) == 0


class Unruly(RemoteStore):
    """Takes its time on both ways, and for each claim another."""

    def __init__(self, store: Store, seed: int) -> None:
        super().__init__(store.header)
        self.store = store  # type: ignore[assignment]
        self._random = Random(seed)

    async def claim(self, posting: Posting) -> Claim:
        for _ in range(self._random.randrange(9)):
            await asyncio.sleep(0)
        claim = self.store.claim(posting)
        for _ in range(self._random.randrange(9)):
            await asyncio.sleep(0)
        return claim


@pytest.mark.parametrize("config", [UNKEYED, KEYED])
@pytest.mark.parametrize("has_history", [False, True])
def test_whatever_order_answers_come_in_an_item_of_each_kind_is_kept(
    folder: Folder, config: Config, has_history: bool
) -> None:
    def shuffled(seed: int) -> list[dict[str, Any]]:
        items = [A, NEAR_A, SAME_AS_A, OTHER, SHORT, SAME_SHORT] * 3
        Random(seed).shuffle(items)
        return items

    for seed in range(8):
        folder.forget()
        if has_history:
            killed = folder.run(config)
            killed(*shuffled(seed + 1_000))
            folder.kill(killed)
        run = folder.run(config, seed=seed)

        async def all_at_once(run: Run = run, seed: int = seed) -> list[tuple[str, Ruling]]:
            items = shuffled(seed)
            rulings = await asyncio.gather(*map(run.checker.check, items))
            return [(one["url"], ruling) for one, ruling in zip(items, rulings, strict=True)]

        kept = Counter(url for url, ruling in asyncio.run(all_at_once()) if not ruling.is_dispensable)
        kinds = [
            kept["/a"] + kept["/near"] + kept["/same"],
            kept["/other"],
            kept["/short"] + kept["/same-short"],
        ]
        assert min(kinds) >= 1
        if config is UNKEYED:
            assert max(kept.values()) == 1
        if not has_history:
            # Each time it comes, if it has an identity.
            assert kinds == [1 if config is UNKEYED else 3] * 3
        folder.end(run)


# --- A store that crawlers share.


@pytest.fixture
def crawler() -> Callable[[Config], Run]:
    """Begin a run beside the others, over one store; each question takes a second."""
    clock, store = count(1_000), RemoteStore(item_header(UNKEYED))
    return lambda config: Run(config, store, clock=clock.__next__)


def test_what_one_crawler_has_another_drops(crawler: Callable[[Config], Run]) -> None:
    one, other = crawler(UNKEYED), crawler(UNKEYED)
    assert one(A, SHORT) == ["new", "new"]
    assert other(NEAR_A, A, SHORT, SAME_SHORT) == [
        "dropped, near_duplicate of /a",
        "dropped, near_duplicate of /a",
        "dropped, near_duplicate of /short",
        "dropped, near_duplicate of /short",
    ]


def test_of_what_came_before_a_crawler_began_it_cannot_tell(crawler: Callable[[Config], Run]) -> None:
    crawler(UNKEYED)(A, SHORT)
    assert crawler(UNKEYED)(NEAR_A, A, SHORT) == ["kept, near_duplicate of /a", "revisit", "revisit"]


def test_what_a_crawler_with_a_wrong_clock_found_is_not_taken_for_what_another_has() -> None:
    store = RemoteStore(item_header(UNKEYED))
    Run(UNKEYED, store, clock=lambda: 9_000)(A, SHORT)
    now = Run(UNKEYED, store, clock=count(1_000).__next__)
    assert now(NEAR_A, A, SHORT) == ["kept, near_duplicate of /a", "revisit", "revisit"]


def test_what_a_crawler_lost_itself_no_other_crawler_has(crawler: Callable[[Config], Run]) -> None:
    run = crawler(UNKEYED)
    assert run(A, NEAR_A) == ["new", "dropped, near_duplicate of /a"]
    run.lose(A)
    assert run(NEAR_A, A) == ["kept, near_duplicate of /a", "revisit"]


# --- A store that outlives the run.


def test_what_a_run_that_ended_in_order_delivered_need_not_come_again(folder: Folder) -> None:
    first = folder.run()
    assert first(A, NEAR_A, SHORT) == ["new", "dropped, near_duplicate of /a", "new"]
    folder.end(first)
    second = folder.run()
    assert second(SAME_AS_A, A, NEAR_A, SHORT, SAME_SHORT, OTHER) == [
        "dropped, near_duplicate of /a",
        "dropped, near_duplicate of /a",
        "dropped, near_duplicate of /a",
        "dropped, near_duplicate of /short",
        "dropped, near_duplicate of /short",
        "new",
    ]


def test_with_a_key_items_come_again_with_every_run(folder: Folder) -> None:
    first = folder.run(KEYED)
    first(A, NEAR_A)
    folder.end(first)
    second = folder.run(KEYED)
    assert second(NEAR_A, A, SAME_AS_A) == [
        "dropped, revisit of /a",
        "revisit",
        "dropped, near_duplicate of /a",
    ]
    verdict = second.ask(A).verdict
    assert (verdict.reason, verdict.last_seen) == (Reason.UNCHANGED, 1_000)


def test_items_of_a_run_that_was_killed_come_once_more_and_only_once(folder: Folder) -> None:
    killed = folder.run()
    killed(A, SHORT)
    folder.kill(killed)
    resumed = folder.run()
    assert resumed(A, A, NEAR_A, SHORT, SHORT, SAME_SHORT) == [
        "revisit",
        "dropped, near_duplicate of /a",
        "dropped, near_duplicate of /a",
        "revisit",
        "dropped, near_duplicate of /short",
        "dropped, near_duplicate of /short",
    ]
    folder.end(resumed)
    assert folder.run()(A, SHORT) == ["dropped, near_duplicate of /a", "dropped, near_duplicate of /short"]


@pytest.mark.parametrize("config", [UNKEYED, KEYED])
def test_one_copy_takes_the_place_of_an_item_whose_run_was_killed(folder: Folder, config: Config) -> None:
    killed = folder.run(config)
    killed(A)
    folder.kill(killed)
    resumed = folder.run(config)
    assert resumed(NEAR_A, SAME_AS_A) == ["kept, near_duplicate of /a", "dropped, near_duplicate of /a"]
    # It may be another than its copy: nobody has seen it.
    assert resumed(A) == ["revisit"]


@pytest.mark.parametrize("is_ended", [True, False])
def test_what_an_item_said_in_a_run_that_was_killed_is_not_delivered_when_it_says_something_else(
    folder: Folder, is_ended: bool
) -> None:
    killed = folder.run(KEYED)
    killed(A)
    folder.kill(killed)
    later = folder.run(KEYED)
    assert later(item_of("/a", 2)) == ["revisit"]
    if is_ended:
        folder.end(later)
        later = folder.run(KEYED)
    # Nothing is known of a text that was replaced.
    assert later(SAME_AS_A, NEAR_A) == ["new", "dropped, near_duplicate of /same"]


def test_the_copy_that_took_its_place_is_known_to_have_been_delivered(folder: Folder) -> None:
    killed = folder.run()
    killed(A)
    folder.kill(killed)
    resumed = folder.run()
    assert resumed(NEAR_A) == ["kept, near_duplicate of /a"]
    folder.end(resumed)
    later = folder.run()
    assert later(NEAR_A, SAME_AS_A) == ["dropped, near_duplicate of /a", "kept, near_duplicate of /a"]


def test_with_a_key_the_copy_that_took_its_place_comes_again_as_itself(folder: Folder) -> None:
    killed = folder.run(KEYED)
    killed(A)
    folder.kill(killed)
    resumed = folder.run(KEYED)
    assert resumed(NEAR_A, NEAR_A) == ["kept, near_duplicate of /a", "kept, revisit of /a"]


def test_a_copy_dropped_in_a_run_that_was_killed_is_not_taken_for_delivered(folder: Folder) -> None:
    killed = folder.run()
    killed(A, NEAR_A)
    folder.kill(killed)
    assert folder.run()(NEAR_A, A) == ["kept, near_duplicate of /a", "revisit"]


def test_what_was_lost_in_a_run_that_ended_in_order_comes_again(folder: Folder) -> None:
    first = folder.run()
    first(A, SHORT, OTHER)
    for lost in (A, SHORT):
        first.lose(lost)
    folder.end(first)
    second = folder.run()
    assert second(NEAR_A, A, SHORT, OTHER) == [
        "kept, near_duplicate of /a",
        "revisit",
        "revisit",
        "dropped, near_duplicate of /other",
    ]


def test_what_is_lost_this_time_but_was_delivered_before_stays_settled(folder: Folder) -> None:
    first = folder.run()
    first(A)
    folder.end(first)
    second = folder.run()
    assert second(NEAR_A) == ["dropped, near_duplicate of /a"]
    second.lose(A)
    assert second(SAME_AS_A) == ["dropped, near_duplicate of /a"]


def test_a_copy_that_was_dropped_before_its_original_was_lost_comes_next_time(folder: Folder) -> None:
    first = folder.run()
    assert first(A, NEAR_A) == ["new", "dropped, near_duplicate of /a"]
    first.lose(A)
    folder.end(first)
    assert folder.run()(NEAR_A) == ["kept, near_duplicate of /a"]
