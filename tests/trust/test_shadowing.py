"""New modules that would be imported in place of others, and the many new modules that would not."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from linewitness.case import Question, open_case
from linewitness.patch.repository import Repository
from linewitness.settings import Settings, Suite
from linewitness.trust.installed import Environment
from linewitness.trust.shadowing import Installed, module_name, newcomers, shadows
from tests.support.repos import Files, Link, Repo

BASE: Files = {
    "src/shop/__init__.py": "",
    "src/shop/prices.py": "",
    "tests/trusted/test_a.py": "",
    "README.md": "",
}
SITE = {
    "requests": "the installed `requests`",
    "google": "the installed `google`",
    "google.protobuf": "the installed `google.protobuf`",
    "google.protobuf.json": "the installed `google.protobuf.json`",
}


def installed(names: Collection[str]) -> Mapping[str, str]:
    return {name: what for name, what in SITE.items() if name in names}


def found(folder: Path, head: Files, base: Files = BASE, asked: Installed = installed) -> dict[str, str]:
    """The paths that shadow something, and what is said of each."""
    repo = Repo(folder / "repo")
    repo.commit("base", base)
    repo.branch("patch")
    repo.commit("head", head)
    with Repository(repo.root) as repository:
        told = shadows(newcomers(open_case(repository, Question("main"))), asked)
    assert {finding.code for finding in told} <= {"LW303"}
    return {finding.path: finding.message for finding in told}


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("pytest.py", "a part of the test runner"),
        ("_pytest/__init__.py", "a part of the test runner"),
        ("src/coverage/__init__.py", "a part of the test runner"),
        ("json.py", "the standard library's `json`"),
        ("json/__init__.py", "the standard library's `json`"),
        ("json/__init__.pyc", "the standard library's `json`"),
        ("lib/typing.py", "the standard library's `typing`"),
        ("src/_json.cpython-311-x86_64-linux-gnu.so", "the standard library's `_json`"),
        ("json.abi3.so", "the standard library's `json`"),
        ("json.pyd", "the standard library's `json`"),
        ("json.pyc", "the standard library's `json`"),
        ("src/requests.py", "the installed `requests`"),
        ("src/requests/__init__.py", "the installed `requests`"),
        ("google/__init__.py", "the installed `google`"),
        ("google/protobuf/__init__.py", "the installed `google.protobuf`"),
        ("google/protobuf/json.py", "the installed `google.protobuf.json`"),
    ],
)
def test_a_new_module_at_a_root_of_imports_takes_the_place_of_another(tmp_path: Path, path: str, what: str) -> None:
    told = found(tmp_path, {path: b""})

    assert list(told) == [path]
    assert what in told[path]
    assert "Give it another name" in told[path]


@pytest.mark.parametrize(
    "path",
    [
        "src/shop/json.py",
        "src/shop/json/__init__.py",
        "src/shop/pytest.py",
        "src/shop/deep/requests.py",
        "json/schema.json",
        "json/tables.py",
        "platform/linux/a.py",
        "src/orders.py",
        "orders/__init__.py",
        "json.pyi",
        "json.txt",
        "requests.md",
        "tools/json.py",
        "docs/conf.py",
        "src/shop/_speedups.so",
        "my-json.py",
        "json.test.py",
        "test_json.py",
        "tests/generated/json.py",
        "google/mine.py",
        "conftest/x.py",
    ],
)
def test_a_new_module_elsewhere_takes_nobodys_place(tmp_path: Path, path: str) -> None:
    assert found(tmp_path, {path: b""}) == {}


@pytest.mark.parametrize("old", ["json.py", "json/__init__.py", "json.so"])
def test_a_module_that_base_has_is_nobodys_shadow_when_it_changes_shape(tmp_path: Path, old: str) -> None:
    base = {**BASE, old: b""}

    assert found(tmp_path, {old: b"x = 1", "json/more.py": b""}, base) == {}
    repo = tmp_path / "again"
    assert found(repo, {"json/__init__.py": b"x"} if old == "json.py" else {"json.py": b"x"}, base) == {}


def test_a_module_that_is_moved_to_a_root_is_new_there(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {**BASE, "src/shop/json.py": "x = 1\n" * 20})
    repo.branch("patch")
    repo.git("mv", "src/shop/json.py", "src/json.py")
    repo.commit("head")

    with Repository(repo.root) as repository:
        told = shadows(newcomers(open_case(repository, Question("main"))), installed)
    assert [finding.path for finding in told] == ["src/json.py"]


def test_a_link_may_be_a_module_or_a_package(tmp_path: Path) -> None:
    assert list(found(tmp_path, {"json": Link("src/shop"), "src/logging.py": Link("shop/x")})) == [
        "json",
        "src/logging.py",
    ]


def test_folders_that_pytest_puts_on_the_path_are_roots(tmp_path: Path) -> None:
    settings = 'trusted = ["**/checks/**"]\nrelations = []\n'
    base = {
        **BASE,
        "linewitness.toml": settings,
        "app/checks/__init__.py": "",
        "app/checks/test_b.py": "",
        "web/__init__.py": "",
        "web/checks/__init__.py": "",
        "web/checks/test_c.py": "",
    }

    assert list(found(tmp_path, {"app/json.py": b"", "web/json.py": b""}, base)) == ["app/json.py"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["app/python"]\n'),
        ("pytest.ini", "[pytest]\npythonpath = app/python\n"),
        ("setup.cfg", "[tool:pytest]\npythonpath = app/python other\n"),
    ],
)
def test_what_pythonpath_names_is_a_root(tmp_path: Path, file: str, text: str) -> None:
    base = {**BASE, file: text}

    assert list(found(tmp_path, {"app/python/json.py": b"", "app/json.py": b""}, base)) == ["app/python/json.py"]


def test_settings_of_pytest_that_lead_outside_or_cannot_be_read_add_no_root(tmp_path: Path) -> None:
    base = {**BASE, "pytest.ini": "[pytest]\npythonpath = ../.. /etc\n", "tox.ini": "[broken"}

    assert list(found(tmp_path, {"json.py": b""}, base)) == ["json.py"]
    assert list(found(tmp_path / "again", {"json.py": b""}, {**BASE, "pytest.ini": "broken"})) == ["json.py"]


def test_a_helper_of_the_trusted_tests_is_not_replaced(tmp_path: Path) -> None:
    base = {**BASE, "tests/trusted/helpers.py": "", "tests/trusted/kit/__init__.py": "", "tests/trusted/data/x.py": ""}
    head = {"src/helpers.py": b"", "kit.py": b"", "data.py": b"", "src/test_a.py": b""}

    told = found(tmp_path, head, base)

    assert list(told) == ["kit.py", "src/helpers.py"]
    assert "the protected tests/trusted/helpers.py" in told["src/helpers.py"]


def test_the_package_of_the_tests_is_not_replaced(tmp_path: Path) -> None:
    base = {**BASE, "tests/__init__.py": "", "tests/trusted/__init__.py": ""}

    assert list(found(tmp_path, {"src/tests/__init__.py": b"", "src/tests/trusted.py": b""}, base)) == [
        "src/tests/__init__.py"
    ]


def test_a_native_module_hides_the_source_beside_it(tmp_path: Path) -> None:
    told = found(tmp_path, {"src/shop/prices.cpython-311-x86_64-linux-gnu.so": b"", "src/shop/fast.so": b""})

    assert list(told) == ["src/shop/prices.cpython-311-x86_64-linux-gnu.so"]
    assert "the source src/shop/prices.py beside it" in "".join(told.values())


def test_protected_files_are_judged_as_such(tmp_path: Path) -> None:
    assert found(tmp_path, {"tests/trusted/json.py": b"", "tests/conftest.py": b""}) == {}


def test_names_that_only_some_versions_have_are_looked_up(tmp_path: Path) -> None:
    """``parser`` left the standard library with 3.10: it is a fine name for the projects that need no older one."""
    head = {"parser.py": b"", "src/annotationlib.py": b""}

    assert found(tmp_path, head) == {}
    told = found(tmp_path / "again", head, asked=lambda _: None)
    assert list(told) == ["parser.py", "src/annotationlib.py"]
    assert "which some versions of Python have" in told["parser.py"]


def test_nobody_is_asked_about_a_patch_without_new_modules(tmp_path: Path) -> None:
    def asked(names: Collection[str]) -> Mapping[str, str]:
        raise AssertionError(names)

    assert found(tmp_path, {"src/shop/prices.py": b"x", "src/shop/new.py": b"", "a.md": b""}, asked=asked) == {}


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a.py", "a"),
        ("a.cpython-313-darwin.so", "a"),
        ("a.pyc", "a"),
        ("a.pyi", ""),
        ("a", ""),
        ("a-b.py", ""),
        ("a.b.py", ""),
        (".py", ""),
        ("a.so", "a"),
    ],
)
def test_the_name_of_a_module_is_that_of_its_file(file: str, name: str) -> None:
    assert module_name(file) == name


# ---------------------------------------------------------------- asking a real interpreter


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with this one's pytest, a distribution, a project installed from a folder, and an editable one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    interpreter = folder / "bin" / "python"
    asked = [str(interpreter), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    import _pytest

    (site / "outside.pth").write_text(f"{Path(_pytest.__file__).parents[1]}\n{folder / 'checkout' / 'src'}\n")
    for name, url in (("Wheel", ""), ("From.Folder", '{"url": "file:///x", "dir_info": {}}'), ("Mine", "")):
        module = name.lower().replace(".", "_")
        (site / f"{module}.py").write_text("")
        info = site / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "RECORD").write_text(f"{module}.py,,\n{info.name}/METADATA,,\n")
        if url:
            (info / "direct_url.json").write_text(url)
    (site / "portions" / "one").mkdir(parents=True)
    (site / "portions" / "one" / "__init__.py").write_text("")
    (folder / "checkout" / "src").mkdir(parents=True)
    (folder / "checkout" / "src" / "editable.py").write_text("")
    return interpreter


def test_an_interpreter_tells_what_it_has_without_the_repository(python: Path) -> None:
    settings = Settings(suite=(Suite(runner="pytest", python=str(python)),))
    environment = Environment(python.parents[1] / "checkout", settings, "mine")
    names = {"wheel", "mine", "from_folder", "editable", "portions", "portions.one", "portions.two", "nothing.at.all"}

    answer = environment(names | {"json", "parser", "sys"})

    assert answer == {
        "wheel": "the installed `wheel`",
        "portions": "the installed `portions`",
        "portions.one": "the installed `portions.one`",
        "json": "the standard library's `json`",
        "sys": "the standard library's `sys`",
    } | ({} if sys.version_info >= (3, 10) else {"parser": "the standard library's `parser`"})


def test_when_no_interpreter_answers_nothing_is_known() -> None:
    settings = Settings(suite=(Suite(runner="pytest", python="/nowhere/python"),))

    assert Environment(Path("/nowhere"), settings)({"json"}) is None
