"""Threads that live longer than the test which started them: what runs there later is nobody's, and that is said."""

from __future__ import annotations

from pathlib import Path

from tests.attacks.shop import HONEST, TRUSTED, judge
from tests.support.repos import Content

POOL = "from concurrent.futures import ThreadPoolExecutor\n\nPOOL = ThreadPoolExecutor(1)\n\n\n"
STARTS = "from app.shop import POOL\n\n\ndef test_starts():\n    assert POOL.submit(int, 3).result() == 3\n"
IN_POOL = TRUSTED.replace("import total", "import POOL, total").replace(
    "total([1, 2]) == 3", "POOL.submit(total, [1, 2]).result() == 3"
)
PATCH = {"app/shop.py": f"{POOL}def total(prices):\n    found = sum(prices)\n    return found\n"}


def base(**files: str) -> dict[str, Content]:
    smoke = "def test_smoke():\n    import app.shop\n"
    return {"app/shop.py": f"{POOL}{HONEST}", "tests/trusted/test_smoke.py": smoke, **files}


def test_a_pool_that_an_earlier_check_has_started_witnesses_nothing_and_that_is_the_reason(tmp_path: Path) -> None:
    artifact = judge(
        tmp_path, PATCH, base(**{"tests/trusted/test_a.py": STARTS, "tests/trusted/test_shop.py": IN_POOL})
    )
    assert artifact.exit == 1
    assert {row.note.partition(" which")[0] for row in artifact.rows} == {
        "it ran only on a thread that outlived the test"
    }


def test_a_pool_that_the_check_itself_starts_witnesses(tmp_path: Path) -> None:
    artifact = judge(tmp_path, PATCH, base(**{"tests/trusted/test_shop.py": IN_POOL}))
    assert (artifact.exit, artifact.findings) == (0, ())


def test_what_the_check_runs_itself_counts_beside_the_pool(tmp_path: Path) -> None:
    both = IN_POOL + "    assert total([4]) == 4\n"
    artifact = judge(tmp_path, PATCH, base(**{"tests/trusted/test_a.py": STARTS, "tests/trusted/test_shop.py": both}))
    assert (artifact.exit, artifact.findings) == (0, ())
