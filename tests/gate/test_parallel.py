"""Work that is dealt out to several processes: what comes back, and what happens when a process does not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness import obligations
from linewitness.case import Question, open_case
from linewitness.parallel import Fork, spread
from linewitness.patch.diff import GitPatch
from linewitness.patch.repository import Repository
from tests.support.repos import Repo


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_results_come_in_the_order_of_the_items_whoever_made_them(workers: int) -> None:
    assert spread(lambda item: item * item, range(11), workers) == [at * at for at in range(11)]


def test_several_processes_do_the_work() -> None:
    assert len(set(spread(lambda _: os.getpid(), range(6), 3))) == 3


def test_nothing_to_do_gives_nothing() -> None:
    assert spread(str, [], 2) == []


def test_what_a_lost_child_did_not_deliver_is_done_by_the_parent() -> None:
    parent = os.getpid()

    def fatal_elsewhere(item: int) -> int:
        if os.getpid() != parent:
            os._exit(0)
        return item

    assert spread(fatal_elsewhere, range(5), 2) == list(range(5))


def test_an_error_in_a_child_is_raised_in_the_parent() -> None:
    def refuse_odd(item: int) -> int:
        if item % 2:
            raise ValueError(f"{item} is odd")
        return item

    with pytest.raises(ValueError, match="1 is odd"):
        spread(refuse_odd, range(4), 2)


def children() -> set[str]:
    """The process ids of this process's children, other tests' included."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split())


def test_no_child_is_left_behind_when_the_parent_fails() -> None:
    def refuse_even(item: int) -> int:
        if item % 2 == 0:
            raise ValueError(f"{item} is even")
        return item

    before = children()
    with pytest.raises(ValueError, match="0 is even"):
        spread(refuse_even, range(4), 2)
    assert children() <= before


def test_a_patch_that_is_dealt_out_gets_the_same_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {f"pkg/m{at}.py": f"def f(x):\n    return x + {at}\n" for at in range(5)})
    repo.tag("base")
    changed = {f"pkg/m{at}.py": f"import os\n\n\ndef f(x):\n    return os.sep * {at}\n" for at in range(4)}
    repo.commit("head", {**changed, "pkg/new.py": "y = 1\n", "picture.bin": b"\0\1"})
    monkeypatch.setattr(obligations, "_WORTH_SPREADING", 1)
    monkeypatch.setattr(obligations, "cores", lambda: 3)
    with Repository(repo.root) as repository:
        case = open_case(repository, Question("base", "HEAD"))
        patch = GitPatch(repository, case.base, case.head, case.jurisdiction.owes)
        alone = tuple(obligations.collect(patch, case.jurisdiction))
        assert obligations.collect_all(patch, case.jurisdiction) == alone
    assert sum(len(ledger.classes.obligations) for ledger in alone) == 10


def test_a_copy_of_this_process_hands_bytes_over_and_leaves_no_trace() -> None:
    seen: list[int] = []

    def work() -> bytes:
        seen.append(1)
        return b"x" * 300_000

    before = children()
    assert Fork(work).result() == b"x" * 300_000
    assert (seen, children() <= before) == ([], True)


@pytest.mark.parametrize("crash", [os.abort, lambda: os._exit(0), lambda: 1 // 0])
def test_a_copy_that_comes_to_no_end_hands_nothing_over(crash: Callable[[], object]) -> None:
    assert Fork(lambda: b"x" if crash() else b"y").result() is None


def test_a_copy_that_takes_too_long_is_ended() -> None:
    before = children()
    fork = Fork(lambda: time.sleep(60) or b"late")  # type: ignore[func-returns-value]
    assert fork.result(0.05) is None
    assert children() <= before


def test_a_copy_that_nobody_waits_for_can_be_ended_more_than_once() -> None:
    fork = Fork(lambda: time.sleep(60) or b"late")  # type: ignore[func-returns-value]
    assert (fork.end(kill=True), fork.end(kill=True)) == (False, False)
