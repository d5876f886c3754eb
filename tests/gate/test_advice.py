"""Warnings that close nothing say what is the case, and only that."""

from __future__ import annotations

import pytest

from linewitness import advice
from linewitness.model import Exempt, Exemption, FileClasses, Kind, Obligation, RepoPath, Severity
from linewitness.settings import Settings

AUTH = RepoPath("auth/login.py")
SENSITIVE = Settings(sensitive=("auth/**",))


def owing(path: RepoPath) -> FileClasses:
    return FileClasses((Obligation(path, 1, "", "x = 1", Kind.STATEMENT, "", 1, (1, 1)),), ())


def exempt(path: RepoPath, *reasons: Exemption) -> FileClasses:
    return FileClasses((), tuple(Exempt(path, line, reason) for line, reason in enumerate(reasons, 1)))


def codes(settings: Settings, *files: FileClasses) -> list[str]:
    return [finding.code for finding in advice.for_patch(settings, files, has_checks=True)]


def test_a_sensitive_file_that_owes_is_pointed_out() -> None:
    assert codes(SENSITIVE, owing(AUTH)) == ["LW601"]
    assert codes(SENSITIVE, owing(RepoPath("shop.py"))) == []


@pytest.mark.parametrize("reason", [Exemption.DELETED, Exemption.RENAMED, Exemption.COMMENT])
def test_so_is_one_that_owes_nothing(reason: Exemption) -> None:
    assert codes(SENSITIVE, exempt(AUTH, reason)) == ["LW601"]


def test_a_file_without_a_changed_line_is_not() -> None:
    assert codes(SENSITIVE, FileClasses((), ())) == []


@pytest.mark.parametrize(("count", "said"), [(1, "1 reformatted line travels"), (3, "3 reformatted lines travel")])
def test_formatting_beside_behaviour_is_counted(count: int, said: str) -> None:
    mixed = (owing(AUTH), exempt(RepoPath("shop.py"), *[Exemption.REFORMATTED] * count))

    (finding,) = advice.for_patch(Settings(), mixed, has_checks=True)

    assert (finding.code, finding.path, finding.severity) == ("LW602", "shop.py", Severity.WARNING)
    assert finding.message.startswith(f"{said} with changes of behaviour")


@pytest.mark.parametrize(
    ("path", "is_check"),
    [
        ("tests/trusted/test_shop.py", True),
        ("tests/trusted/shop.test.ts", True),
        ("tests/trusted/README.md", False),
        ("tests/trusted/conftest.py", False),
        ("tests/trusted/__init__.py", False),
        ("tests/relations/corpus/orders.jsonl", False),
    ],
)
def test_what_people_own_is_a_check_only_when_it_can_be_run(path: str, is_check: bool) -> None:
    assert advice.has_checks([RepoPath(path)]) is is_check
