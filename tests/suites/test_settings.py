"""What the settings of a suite may say about its isolation, and what is refused with a place and a reason."""

from __future__ import annotations

import pytest

from linewitness.errors import UsageError
from linewitness.settings import Suite, load

HEAD = '[[suite]]\nname = "own"\nrun = "make check"\nexport = "lcov.info"\n'


def suite(text: str) -> Suite:
    (only,) = load(lambda path: text.encode() if path == "linewitness.toml" else None).settings.suite
    return only


def test_the_defaults_isolate() -> None:
    only = suite(HEAD)

    assert (only.network, only.processes, only.memory, only.file_size, only.open_files) == (
        "loopback",
        1024,
        8192,
        1024,
        4096,
    )
    assert (only.readable, only.borrow) == ((), ())


def test_both_kinds_of_suites_take_them() -> None:
    isolation = 'network = "none"\nprocesses = 50\nreadable = ["~/.m2", "/srv/sdk"]\nborrow = ["node_modules"]\n'

    for head in (HEAD, '[[suite]]\nrunner = "pytest"\n'):
        only = suite(head + isolation)
        assert (only.network, only.processes) == ("none", 50)
        assert (only.readable, only.borrow) == (("~/.m2", "/srv/sdk"), ("node_modules",))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('network = "some"', "must be one of `none`, `loopback`, `all`"),
        ("processes = 1", "suite[0].processes"),
        ("memory = 0", "suite[0].memory"),
        ("file-size = 0", "suite[0].file-size"),
        ("open-files = 10", "suite[0].open-files"),
        ('readable = [".m2"]', "neither absolute nor below `~/`"),
        ('readable = ["~"]', "neither absolute nor below `~/`"),
        ('readable = ["/"]', "neither absolute nor below `~/`"),
        ('readable = ["~/"]', "neither absolute nor below `~/`"),
        ('readable = ["/srv/../etc"]', "neither absolute nor below `~/`"),
        ('borrow = ["/opt"]', "is absolute"),
        ('borrow = ["../other"]', "leads out of the repository"),
        ('borrow = ["."]', "empty or `.` segment"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(line: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        suite(f"{HEAD}{line}\n")

    assert said in caught.value.message
    assert (caught.value.path, caught.value.line) == ("linewitness.toml", 5)
