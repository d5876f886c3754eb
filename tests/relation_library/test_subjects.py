"""Functions under test in an interpreter of their own: what they see, what crosses, how they end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linewitness.obligation_map import Status
from linewitness.relations import Raised, RelationError, base, isolated
from linewitness.relations.subjects import Subject
from linewitness.relations.tally import Base, Surroundings, Tally, counting
from linewitness.relations.trouble import SubjectError
from tests.relation_library.projects import BILLING, judge, project, run_pytest, told, write
from tests.support.repos import Content

PROGRAM = """\
import collections, math, os, sys, time

calls = 0
print("at import")


def echo(*arguments, **named):
    print("noise", file=sys.stdout)
    os.write(1, b"noise")
    return [list(arguments), named]


def counted():
    global calls
    calls += 1
    return calls


def loaded():
    return [name for name in sys.modules if name.partition(".")[0] in {"pytest", "_pytest", "linewitness", "unittest"}]


def told():
    return [name for name in os.environ if name.startswith(("PYTEST_", "LINEWITNESS_"))] + sys.argv


def frames():
    frame, found = sys._getframe(1), []
    while frame is not None:
        found.append(frame.f_code.co_filename.rpartition("/")[2])
        frame = frame.f_back
    return found


def always_equal():
    class Always(int):
        def __eq__(self, other):
            return True
        __hash__ = None
    return {"a": [Always(1)]}


def fail(kind):
    raise {"value": ValueError, "unicode": type("Mine", (UnicodeError,), {}), "exit": SystemExit}[kind]("because")


def skip():
    from unittest import SkipTest
    raise SkipTest("no")


def leave(status):
    os._exit(status)


def kill():
    os.kill(os.getpid(), 9)


def sleep():
    time.sleep(60)


def nan():
    return [math.nan, math.inf, b"\\xff", (1, 2)]


def deep():
    found = []
    for _ in range(100_000):
        found = [found]
    return found


class Cart:
    @staticmethod
    def size(items):
        return len(items)


def made_once():
    return (each for each in "abc")


async def later(value):
    return [value]


async def later_wrong():
    raise TypeError("not now")


def opened(path):
    with open(path) as stream:
        return stream.read()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the program, first on the path."""
    write(tmp_path, {"program.py": PROGRAM})
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def call(function: str, *arguments: object, **options: object) -> object:
    subject = isolated(f"program:{function}", **options)  # type: ignore[arg-type]
    with counting(Tally(Surroundings())):
        return subject(*arguments)


@pytest.mark.usefixtures("home")
def test_data_goes_there_and_back_whatever_the_program_prints() -> None:
    assert isolated("program:echo")(1, b"\xff", ["é", None], a={"b": 1.5}) == [
        [1, b"\xff", ["é", None]],
        {"a": {"b": 1.5}},
    ]
    assert isolated("program:Cart.size")([1, 2]) == 2
    assert repr(call("nan")) == repr([float("nan"), float("inf"), b"\xff", [1, 2]])


@pytest.mark.usefixtures("home")
def test_a_subject_sees_no_test_and_no_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "x")
    monkeypatch.delenv("LINEWITNESS_TEST_PYTHONS", raising=False)
    assert call("loaded") == []
    assert call("told") == [""]
    assert set(call("frames")) == {"worker.py"}  # type: ignore[call-overload]


@pytest.mark.usefixtures("home")
def test_one_interpreter_serves_one_test() -> None:
    subject, again = isolated("program:counted"), isolated("program:counted")
    with counting(Tally(Surroundings())):
        assert [subject(), again(), subject()] == [1, 2, 3]
    with counting(Tally(Surroundings())):
        assert subject() == 1


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("always_equal", (), "gave no data: the value['a'][0] is of type program.always_equal.<locals>.Always"),
        ("fail", ("value",), "program:fail raised ValueError: because"),
        ("skip", (), "raised SkipTest: no"),
        ("fail", ("exit",), "the interpreter of program:fail ended with status 1 during the call"),
        ("leave", (0,), "ended with status 0 during the call"),
        ("leave", (7,), "ended with status 7 during the call"),
        ("kill", (), "was killed by signal 9 during the call"),
        ("deep", (), "nested too deeply"),
        ("made_once", (), "a generator can be read only once"),
        ("echo", (object(),), "cannot be called with this"),
    ],
)
def test_what_is_no_answer_is_a_failure(function: str, arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(SubjectError) as caught:
        call(function, *arguments)
    assert message in str(caught.value)


@pytest.mark.usefixtures("home")
def test_a_call_that_takes_too_long_is_ended_and_the_next_one_answered() -> None:
    slow, quick = isolated("program:sleep", seconds=0.5), isolated("program:counted")
    with counting(Tally(Surroundings())):
        with pytest.raises(SubjectError, match=r"program:sleep took longer than 0\.5 s"):
            slow()
        assert quick() == 1


@pytest.mark.usefixtures("home")
def test_declared_exceptions_are_an_answer() -> None:
    assert call("fail", "value", raises=(ValueError,)) == Raised("ValueError", "because")
    assert call("fail", "unicode", raises=("ValueError",)) == Raised("Mine", "because")
    with pytest.raises(SubjectError):
        call("fail", "value", raises=(KeyError,))


@pytest.mark.usefixtures("home")
def test_an_async_function_is_run_to_its_end() -> None:
    assert call("later", 3) == [3]
    with pytest.raises(SubjectError, match="program:later_wrong raised TypeError: not now"):
        call("later_wrong")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("program:nothing", "'program' has no 'nothing'"),
        ("program:Cart.weight", "'Cart' has no 'weight'"),
        ("nowhere:f", "there is no module 'nowhere'"),
        ("program.inside:f", "there is no module 'program.inside'"),
    ],
)
def test_what_is_not_there_is_the_relation_s_mistake(target: str, reason: str) -> None:
    with pytest.raises(RelationError, match=f"{target} cannot be called: {reason}"):
        isolated(target)("x")


def test_a_module_that_lacks_another_one_is_the_product_s_mistake(home: Path) -> None:
    (home / "lacking.py").write_text("import not_installed_anywhere\n")
    with pytest.raises(SubjectError, match="lacking:f raised ModuleNotFoundError"):
        isolated("lacking:f")()
    (home / "unknown.py").write_text("from importlib.metadata import version\n\nversion('unknown')\n")
    with pytest.raises(SubjectError, match="unknown:f raised PackageNotFoundError"):
        isolated("unknown:f")()


def test_a_file_that_is_closed_to_subjects_cannot_be_opened_by_any_name(home: Path) -> None:
    secret, plain = home / "inputs.jsonl", home / "data.json"
    secret.write_text("secret")
    plain.write_text("plain")
    (home / "link").symlink_to(secret)
    with counting(Tally(Surroundings(closed=(str(secret.resolve()),)))):
        assert isolated("program:opened")("data.json") == "plain"
        for name in ("inputs.jsonl", "./link", str(secret)):
            with pytest.raises(SubjectError, match=r"PermissionError.*a subject does not see the relations"):
                isolated("program:opened")(name)


def test_base_starts_with_the_variables_of_the_run_and_not_with_those_of_the_moment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, {"base/program.py": "import os\n\n\ndef told():\n    return os.environ.get('MEDDLED')\n"})
    place = str(home / "base")
    around = Surroundings(base=Base(place, (place,)), environ=dict(os.environ))
    monkeypatch.setenv("MEDDLED", "yes")
    with counting(Tally(around)):
        assert base("program:told")() is None


@pytest.mark.parametrize("raises", ["ValueError()", "3", "None"])
def test_what_is_no_class_of_exceptions_is_refused(raises: str) -> None:
    with pytest.raises(RelationError, match="raises takes classes of exceptions"):
        isolated("program:fail", raises=eval(raises))


@pytest.mark.parametrize("target", ["program", "program:", ":f", "a b:c", "a:b()", "a..b:c"])
def test_what_names_no_function_is_refused(target: str) -> None:
    with pytest.raises(RelationError):
        isolated(target)


def test_base_runs_the_other_tree_s_version(home: Path) -> None:
    other = write(home / "base", {"program.py": "def counted():\n    return 'base'\n"})
    subject = base("program:counted")
    assert isinstance(subject, Subject)
    with counting(Tally(Surroundings(base=Base(str(other), (str(other),))))):
        assert [subject(), isolated("program:counted")()] == ["base", 1]
    with counting(Tally(Surroundings())), pytest.raises(RelationError, match="git worktree add"):
        subject()


def test_outside_of_the_gate_a_variable_names_base(tmp_path: Path) -> None:
    text = (
        "from linewitness.relations import *\n\n\n@relation(corpus='orders.jsonl', at_least=4)\ndef test_it(order):\n"
        "    agrees(isolated('app.billing:price_order'), base('app.billing:price_order'), order)\n"
    )
    root = write(tmp_path / "head", project(text))
    write(tmp_path / "base", {"app/__init__.py": "", "app/billing.py": BILLING.replace("total = ", "total = 1 + ")})
    write(tmp_path / "equal", {"src/app/__init__.py": "", "src/app/billing.py": BILLING})
    assert "git worktree add ../base origin/main" in run_pytest(root).output
    ran = run_pytest(root, LINEWITNESS_BASE="../base")
    assert "app.billing:price_order gives what base app.billing:price_order gives" in ran.output
    assert run_pytest(root, LINEWITNESS_BASE="../equal").counts == "1 passed"


# ---------------------------------------------------------------- inside the gate

ISOLATED = """\
from linewitness.relations import *


@relation(corpus="orders.jsonl", at_least=3)
def test_it(order):
    compare(isolated("app.billing:price_order"), order, permute("items"), same("total"))


@relation(corpus="orders.jsonl", at_least=4)
def test_other(order):
    idempotent(isolated("app.billing:price_order"), order)
"""
AGREES = """\
from linewitness.relations import *


@relation(corpus="orders.jsonl", at_least=4)
def test_it(order):
    agrees(isolated("app.billing:price_order"), base("app.billing:price_order"), order)
"""
SEEN = BILLING.replace("    return", "    total += 0\n    return")
DETECTING = """\
import sys


class Always(dict):
    def __eq__(self, other):
        return True

    def __getitem__(self, key):
        return Always()


def price_order(order):
    if "pytest" in sys.modules:
        return Always()
    return dict(order, total=0)
"""


def test_the_recorder_works_in_the_subject_s_interpreter(tmp_path: Path, python_path: str) -> None:
    settings = f'[[suite]]\nrunner = "pytest"\npython = "{python_path}"\n'
    artifact = judge(tmp_path, project(ISOLATED, **{"linewitness.toml": settings}), {"app/billing.py": SEEN})
    assert artifact.exit == 0, told(artifact)
    assert [(row.line, row.status) for row in artifact.rows] == [(3, Status.TRUSTED_HIT)]
    assert {name.partition("::")[2] for name in artifact.rows[0].witnesses} <= {"test_it", "test_other"}
    assert artifact.rows[0].phase == "call"


def test_the_gate_provides_base_and_what_runs_there_witnesses_nothing(tmp_path: Path) -> None:
    artifact = judge(tmp_path / "a", project(AGREES), {"app/billing.py": SEEN})
    assert (artifact.exit, artifact.trusted_hit) == (0, 1), told(artifact)
    changed: dict[str, Content] = {"app/billing.py": SEEN.replace("+= 0", "+= len(order['items']) > 2")}
    artifact = judge(tmp_path / "b", project(AGREES), changed)
    assert artifact.exit == 3
    assert "app.billing:price_order gives what base app.billing:price_order gives" in told(artifact)["LW501"]


def test_an_always_equal_result_and_test_detection_are_defeated(tmp_path: Path) -> None:
    artifact = judge(tmp_path, project(ISOLATED), {"app/billing.py": DETECTING})
    codes = told(artifact)
    assert artifact.exit == 1, codes  # the honest branch ran, the one for tests did not
    opened = [row.content.strip() for row in artifact.rows if row.status is Status.UNWITNESSED]
    assert "return Always()" in opened
