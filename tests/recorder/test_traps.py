"""Each way in which a recorder loses, keeps too long or misattributes a hit, on every interpreter at hand.

One project per interpreter, one run, one assertion per trap: every trap has a function of its own in the product.
"""

from __future__ import annotations

import pytest

from linewitness.evidence.interpreter import Interpreter
from linewitness.settings import Suite
from tests.recorder.runs import TESTS, Ran, trusted_run

PRODUCT = """\
import threading


def plain():
    return "plain"


def twice():
    return "twice"


def in_xfail():
    return "xfail"


def in_xpass():
    return "xpass"


def before_skip():
    return "skip"


def in_setup():
    return "setup"


def in_teardown():
    return "teardown"


def in_module_fixture():
    return "module fixture"


def with_bad_teardown():
    return "bad teardown"


def with_bad_setup():
    return "bad setup"


def in_parametrize():
    return "parametrize"


def in_thread():
    return "thread"


def in_old_thread():
    return "old thread"


def in_grandchild_thread():
    return "thread of an old thread"


async def in_coroutine(value):
    import asyncio
    await asyncio.sleep(0)
    return "coroutine", value


def in_generator():
    yield "first"
    yield "second"


def under_settrace():
    return "settrace"


def after_settrace():
    return "after settrace"


def in_fork():
    return "fork"


def in_killed_fork():
    return "killed fork"


def in_fork_of_process():
    return "multiprocessing fork"


def in_spawn():
    return "spawn"


def in_forkserver():
    return "forkserver"


def in_stale_server():
    return "stale server"


def in_subprocess():
    return "subprocess"


def in_bare_subprocess():
    return "bare subprocess"


def under_clean_environment():
    return "clean environment"


def with_closed_descriptors():
    return "closed descriptors"


def before_raise():
    raise KeyError("raised")


def shared():
    return "shared"


def in_failing_subtest():
    return "failing subtest"


def in_subtest():
    return "subtest"


def after_chdir():
    return "chdir"


def under_frozen_time():
    return "frozen time"


def never():
    return "never"


class Held:
    @property
    def doubled(self):
        return [
            item * 2
            for item in range(3)
            if item
        ]
"""

QUIET = """\
AT_IMPORT = 1


class Plain:
    attribute = "class body"
"""

CHECKS = """\
import asyncio, multiprocessing, os, signal, subprocess, sys, threading, time, unittest
import pytest
import product, quiet

def test_plain():
    assert product.plain()

def test_twice_first():
    product.twice()
    assert 1

def test_twice_second():
    product.twice()

def test_twice_third():
    product.twice()

@pytest.mark.xfail
def test_xfail():
    product.in_xfail()
    assert 0

@pytest.mark.xfail
def test_xpass():
    product.in_xpass()

def test_late_skip():
    product.before_skip()
    pytest.skip("late")

@pytest.fixture
def around():
    yield product.in_setup()
    product.in_teardown()

def test_fixture(around):
    assert around == "setup"

@pytest.fixture(scope="module")
def wide():
    return product.in_module_fixture()

def test_wide_first(wide):
    assert wide

def test_wide_second(wide):
    assert wide

@pytest.mark.parametrize("value", [product.in_parametrize()])
def test_parametrized(value):
    assert value

def test_parametrized_in_call():
    assert product.in_parametrize()

def test_thread():
    thread = threading.Thread(target=product.in_thread)
    thread.start()
    thread.join()

stop, go = threading.Event(), threading.Event()

def old():
    go.wait(20)
    product.in_old_thread()
    young = threading.Thread(target=product.in_grandchild_thread)
    young.start()
    young.join()
    stop.set()

def test_leaves_a_thread():
    threading.Thread(target=old, daemon=True).start()

def test_while_the_old_thread_runs():
    go.set()
    assert stop.wait(20)

def test_old_thread_again():
    product.in_grandchild_thread()

def test_asyncio():
    async def main():
        return await asyncio.gather(product.in_coroutine(1), product.in_coroutine(2))
    assert len(asyncio.run(main())) == 2

def test_generator():
    generator = product.in_generator()
    assert next(generator) == "first"

def test_settrace():
    sys.settrace(lambda *arguments: None)
    try:
        assert product.under_settrace()
    finally:
        sys.settrace(None)

def test_after_settrace():
    assert product.after_settrace()

def test_fork():
    pid = os.fork()
    if not pid:
        product.in_fork()
        os._exit(0)
    os.waitpid(pid, 0)

def test_killed_fork():
    pid = os.fork()
    if not pid:
        product.in_killed_fork()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)

def run_with(method, target):
    process = multiprocessing.get_context(method).Process(target=target)
    process.start()
    process.join()
    assert process.exitcode == 0

def test_multiprocessing_fork():
    run_with("fork", product.in_fork_of_process)

def test_spawn():
    run_with("spawn", product.in_spawn)

def test_forkserver():
    run_with("forkserver", product.in_forkserver)

def test_stale_forkserver():
    run_with("forkserver", product.in_stale_server)

def test_subprocess():
    subprocess.run([sys.executable, "-c", "import product; product.in_subprocess()"], check=True)

def test_bare_subprocess():
    code = "import sys; sys.path.insert(0, 'src'); import product; product.in_bare_subprocess()"
    subprocess.run([sys.executable, "-c", code], env={}, check=True)

def test_clean_environment(monkeypatch):
    for name in list(os.environ):
        monkeypatch.delenv(name)
    assert product.under_clean_environment()

def test_closed_descriptors(tmp_path):
    pid = os.fork()
    if not pid:
        os.closerange(3, 1024)
        with open(tmp_path / "own", "w") as stream:
            product.with_closed_descriptors()
            stream.write("mine")
        os._exit(0)
    os.waitpid(pid, 0)
    assert (tmp_path / "own").read_text() == "mine"

def test_raises():
    with pytest.raises(KeyError):
        product.before_raise()

class TestCase(unittest.TestCase):
    def test_unittest(self):
        self.assertTrue(product.shared())

    @unittest.expectedFailure
    def test_expected_failure(self):
        product.never()
        self.fail()

    def test_subtests(self):
        for value in range(2):
            with self.subTest(value=value):
                product.in_subtest()

def test_chdir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert product.after_chdir()

def test_frozen_time(monkeypatch):
    monkeypatch.setattr(time, "monotonic_ns", lambda: 0)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    pid = os.fork()
    if not pid:
        product.under_frozen_time()
        os._exit(0)
    os.waitpid(pid, 0)

def test_held():
    assert product.Held().doubled == [2, 4]
"""

FILES = {"src/product.py": PRODUCT, "src/quiet.py": QUIET, TESTS: CHECKS}


@pytest.fixture(scope="session")
def ran(python: Interpreter, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The traps' project after its run."""
    return trusted_run(tmp_path_factory.mktemp("traps"), python, FILES)


def test_a_run_with_all_traps_is_complete(ran: Ran) -> None:
    assert ran.messages == ""
    assert ran.record.source.tests is not None
    assert (ran.record.source.tests.failed, ran.record.source.tests.skipped, ran.record.source.tests.xfailed) == (
        0,
        1,
        3,
    )


def test_one_passing_test_witnesses_a_line(ran: Ran) -> None:
    assert ran.saw('return "plain"') == {"test_plain"}


def test_a_witnessed_line_is_switched_off(ran: Ran) -> None:
    # CPython shows the first pass through a code object that is being armed only in part; the second ends it.
    assert ran.saw('return "twice"') - {"test_twice_second"} == {"test_twice_first"}


@pytest.mark.parametrize("word", ["xfail", "xpass", "skip", "never"])
def test_tests_that_did_not_pass_witness_nothing(ran: Ran, word: str) -> None:
    assert ran.saw(f'return "{word}"') == set()


@pytest.mark.parametrize("word", ["setup", "teardown"])
def test_fixtures_of_a_test_belong_to_it(ran: Ran, word: str) -> None:
    assert ran.saw(f'return "{word}"') == {"test_fixture"}


def test_a_wider_fixture_belongs_to_the_test_that_set_it_up(ran: Ran) -> None:
    assert ran.saw('return "module fixture"') == {"test_wide_first"}


def test_what_ran_at_collection_is_seen_again_in_a_test(ran: Ran) -> None:
    assert ran.saw('return "parametrize"') == {"test_parametrized_in_call"}


def test_module_and_class_bodies_are_seen_at_import(ran: Ran) -> None:
    assert ran.saw("AT_IMPORT = 1") == {"import"}
    assert ran.saw('attribute = "class body"') == {"import"}


def test_a_thread_of_the_test_counts(ran: Ran) -> None:
    assert ran.saw('return "thread"') == {"test_thread"}


def test_a_thread_that_outlived_its_test_is_nobodys(ran: Ran) -> None:
    assert ran.saw('return "old thread"') == set()


def test_a_thread_of_an_old_thread_is_nobodys_and_leaves_the_line_armed(ran: Ran) -> None:
    assert ran.saw('return "thread of an old thread"') == {"test_old_thread_again"}


def test_coroutines_and_generators_count_as_far_as_they_ran(ran: Ran) -> None:
    assert ran.saw('return "coroutine", value') == {"test_asyncio"}
    assert ran.saw('yield "first"') == {"test_generator"}
    assert ran.saw('yield "second"') == set()


@pytest.mark.parametrize("word", ["settrace", "after settrace"])
def test_a_trace_function_of_the_tests_loses_nothing(ran: Ran, word: str) -> None:
    assert ran.saw(f'return "{word}"') == {f"test_{word.replace(' ', '_')}"}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("fork", "test_fork"),
        ("killed fork", "test_killed_fork"),
        ("multiprocessing fork", "test_multiprocessing_fork"),
        ("spawn", "test_spawn"),
        ("forkserver", "test_forkserver"),
        ("subprocess", "test_subprocess"),
        ("closed descriptors", "test_closed_descriptors"),
        ("frozen time", "test_frozen_time"),
    ],
)
def test_child_processes_report_for_the_test_that_started_them(ran: Ran, word: str, name: str) -> None:
    assert ran.saw(f'return "{word}"') == {name}


def test_a_server_that_bears_the_name_of_an_older_test_witnesses_nothing(ran: Ran) -> None:
    assert ran.saw('return "stale server"') == set()


def test_a_child_without_our_environment_witnesses_nothing(ran: Ran) -> None:
    assert ran.saw('return "bare subprocess"') == set()


def test_a_test_that_empties_the_environment_is_still_known(ran: Ran) -> None:
    assert ran.saw('return "clean environment"') == {"test_clean_environment"}


def test_a_raised_exception_is_no_obstacle(ran: Ran) -> None:
    assert ran.saw('raise KeyError("raised")') == {"test_raises"}


def test_unittest_and_its_subtests_count(ran: Ran) -> None:
    assert ran.saw('return "shared"') == {"TestCase::test_unittest"}
    assert ran.saw('return "subtest"') == {"TestCase::test_subtests"}


def test_the_working_directory_does_not_matter(ran: Ran) -> None:
    assert ran.saw('return "chdir"') == {"test_chdir"}


def test_comprehensions_and_properties_count(ran: Ran) -> None:
    assert ran.saw("item * 2") == {"test_held"}
    assert ran.saw("if item") == {"test_held"}


def test_functions_are_entered_by_the_tests_that_call_them(ran: Ran) -> None:
    assert ran.entered("plain") == {"test_plain"}
    assert ran.entered("never") == set()


def test_files_of_the_export_that_took_part_are_listed(ran: Ran) -> None:
    assert ran.record.loaded == {"src/product.py", "src/quiet.py", TESTS}


def test_the_same_tree_gives_the_same_digest(
    ran: Ran, python: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> None:
    again = trusted_run(tmp_path_factory.mktemp("again"), python, FILES)
    assert again.record.source.digest == ran.record.source.digest


def test_in_full_mode_every_test_that_ran_a_line_is_known(
    python: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("full")
    full = trusted_run(folder, python, FILES, Suite(), all_witnesses=True)
    assert full.saw('return "twice"') == {"test_twice_first", "test_twice_second", "test_twice_third"}
    assert full.saw('return "xfail"') == set()
