"""The tests that ``init`` and ``doctor`` propose first are those that run the product and say what should come out."""

from __future__ import annotations

import pytest

from linewitness.model import RepoPath
from linewitness.onboarding.first_checks import Candidate, rank
from linewitness.onboarding.scaffold import plan
from linewitness.onboarding.survey import product_names
from linewitness.patch.repository import Repository
from tests.onboarding.conftest import Shell
from tests.support.repos import Repo

ASSERTING = "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n    assert total([]) == 0\n"
SILENT = "from shop import total\n\n\ndef test_total():\n    total([1])\n"
FOREIGN = "import os\n\n\ndef test_os():\n    assert os.name\n    assert os.sep\n    assert os.curdir\n"
MOCKED = "from shop import total\n\n\ndef test_total(mocker):\n    mocker.patch('shop.sum')\n    assert total([1])\n"


def order(**texts: str) -> list[str]:
    return [candidate.path for candidate in rank({RepoPath(name): text for name, text in texts.items()}, {"shop"})]


def one(text: str) -> Candidate:
    (candidate,) = rank({RepoPath("test_a.py"): text}, {"shop"})
    return candidate


def test_tests_that_run_the_product_and_assert_go_first() -> None:
    assert order(a=SILENT, b=FOREIGN, c=MOCKED, d=ASSERTING)[:2] == ["d", "c"]


def test_more_assertions_go_before_fewer() -> None:
    less = ASSERTING.replace("    assert total([]) == 0\n", "")

    assert order(a=less, b=ASSERTING) == ["b", "a"]


def test_tests_of_replaced_parts_go_after_tests_of_the_product() -> None:
    many = MOCKED.replace(
        "assert total([1])", "m = mocker.Mock(); m2 = mocker.Mock(); assert m; assert m2; assert total"
    )

    assert order(a=many, b=ASSERTING) == ["b", "a"]


def test_the_reason_can_be_read() -> None:
    assert one(ASSERTING).why == "imports shop, 2 assertions in 1 test"
    assert one(FOREIGN).why == "imports nothing of the product, 3 assertions in 1 test"


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("assert x", 1),
        ("assert True", 0),
        ("self.assertEqual(x, 1)", 1),
        ("with pytest.raises(ValueError): x()", 1),
        ("x.assert_called_once_with(1)", 1),
        ("x()", 0),
    ],
)
def test_what_counts_as_an_assertion(line: str, count: int) -> None:
    assert one(f"def test_a(self):\n    {line}\n").assertions == count


@pytest.mark.parametrize("line", ["import shop", "import shop.cart as c", "from shop.cart import x", "import src.shop"])
def test_imports_of_the_product_are_seen(line: str) -> None:
    assert one(f"{line}\n\n\ndef test_a():\n    assert x\n").imports == ("shop",)


@pytest.mark.parametrize("text", ["def (", "\0", "(" * 5000])
def test_a_test_that_does_not_parse_is_no_candidate(text: str) -> None:
    assert rank({RepoPath("test_a.py"): text}, {"shop"}) == ()


def test_helpers_of_tests_are_not_the_product() -> None:
    paths = map(RepoPath, ("shop.py", "src/cart/__init__.py", "tests/__init__.py", "tests/helper.py", "test_shop.py"))

    assert product_names(paths) == {"shop", "cart"}


def todo(repo: Repo, *, ci: str = "none") -> list[tuple[str, str]]:
    with Repository(repo.root) as repository:
        return list(plan(repository, ci=ci).by_hand)


def test_init_says_which_adopted_tests_to_read_first_and_which_say_nothing(repo: Repo) -> None:
    tests = {"tests/test_a.py": SILENT, "tests/test_b.py": ASSERTING, "tests/conftest.py": "x = 1\n"}
    repo.commit("base", tests | {"shop.py": "x = 1\n"})

    text = "\n".join(text for text, _ in todo(repo))

    start = "Start with tests/test_b.py (imports shop, 2 assertions in 1 test)."
    assert f"Read what becomes trusted, 2 test modules. {start}" in text
    assert "Mend tests that assert nothing" in text
    assert "tests/test_a.py." in text


def test_init_proposes_to_move_loose_tests_that_assert(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {"test_a.py": SILENT, "test_b.py": ASSERTING, "shop.py": "def total(p):\n    return sum(p)\n"})
    done = shell(repo.root, "linewitness init")
    commands = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("git ")]

    assert [shell(repo.root, command).returncode for command in commands] == [0, 0]

    assert repo.git("ls-files", "tests/trusted").split() == ["tests/trusted/README.md", "tests/trusted/test_b.py"]
    assert repo.git("status", "--porcelain") == ""


def test_init_asks_for_no_first_check_where_there_is_one(repo: Repo) -> None:
    repo.commit("base", {"tests/trusted/test_a.py": ASSERTING, "shop.py": "x = 1\n"})
    assert not [text for text, _ in todo(repo) if "first check" in text]

    repo.git("mv", "tests/trusted/test_a.py", "tests/trusted/conftest.py")

    assert [text for text, _ in todo(repo) if "first check" in text]


def test_init_offers_what_it_was_not_asked_for(repo: Repo) -> None:
    repo.commit("base", {"a.py": "", ".claude/settings.json": "{}\n"})

    commands = [command for _, command in todo(repo)]

    assert "linewitness init --ci github" in commands
    assert "linewitness init --agent claude" in commands


def test_init_offers_nothing_that_is_there(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {"a.py": "", ".claude/settings.json": "{}\n"})
    assert shell(repo.root, "linewitness init --ci github --agent claude").returncode == 0

    commands = [command for _, command in todo(repo)]

    assert not [command for command in commands if "--ci" in command or "--agent" in command]


@pytest.mark.parametrize(("file", "offered"), [(".gitlab-ci.yml", "linewitness init --ci gitlab"), ("Jenkinsfile", "")])
def test_the_job_that_is_offered_is_for_the_service_at_hand(repo: Repo, file: str, offered: str) -> None:
    repo.commit("base", {"a.py": "", file: "x\n"})

    assert ("Have CI run the gate.", offered) in todo(repo)


@pytest.mark.parametrize(
    ("ci", "word"), [("github", "ruleset"), ("gitlab", "Pipelines must succeed"), ("none", "forge")]
)
def test_the_forge_is_told_in_its_own_words(repo: Repo, ci: str, word: str) -> None:
    repo.commit("base", {"a.py": ""})

    assert [text for text, _ in todo(repo, ci=ci) if word in text and "main" in text]
