from __future__ import annotations

import os
from pathlib import Path

import pytest

from linewitness.evidence.formats.paths import Checkout, Matches, match, normalised
from linewitness.model import RepoPath, Severity

ROOT = Path("/checkout/head")


def found(
    names: list[str],
    known: list[str],
    *,
    bases: tuple[str, ...] = (),
    maps: tuple[tuple[str, str], ...] = (),
    root: Path = ROOT,
    wanted: list[str] | None = None,
) -> Matches:
    files = tuple(RepoPath(path) for path in known)
    owed = files if wanted is None else tuple(RepoPath(path) for path in wanted)
    return match(names, bases, Checkout(root, files, owed), maps, "cov.xml")


def pairs(matches: Matches) -> dict[str, tuple[str, ...]]:
    return {str(path): names for path, names in matches.found.items()}


def test_a_relative_path_is_the_file_of_that_path() -> None:
    assert pairs(found(["src/a.py"], ["src/a.py", "b.py"])) == {"src/a.py": ("src/a.py",)}


@pytest.mark.parametrize("name", ["./src/a.py", "src//a.py", "src/x/../a.py", "src\\a.py", ".\\src\\a.py"])
def test_spellings_of_a_relative_path_are_one(name: str) -> None:
    assert pairs(found([name], ["src/a.py"])) == {"src/a.py": (name,)}


def test_an_absolute_path_under_the_root_is_taken_at_its_word() -> None:
    known = ["src/a.py", "build/src/a.py"]
    assert pairs(found(["/checkout/head/src/a.py"], known)) == {"src/a.py": ("/checkout/head/src/a.py",)}


def test_an_absolute_path_under_the_root_that_is_no_file_is_never_moved() -> None:
    matches = found(["/checkout/head/build/lib/src/a.py"], ["src/a.py"])
    assert pairs(matches) == {}
    assert [finding.code for finding in matches.findings] == ["LW507"]


def test_the_root_may_be_named_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    name = os.fspath(tmp_path / "real" / "a.py")
    assert pairs(found([name], ["a.py"], root=tmp_path / "link")) == {"a.py": (name,)}


def test_a_foreign_root_is_found_from_all_paths_together() -> None:
    names = ["/repo/src/a.py", "/repo/setup.py", "/repo/src/setup.py"]
    assert pairs(found(names, ["src/a.py", "setup.py", "src/setup.py"])) == {
        "src/a.py": ("/repo/src/a.py",),
        "setup.py": ("/repo/setup.py",),
        "src/setup.py": ("/repo/src/setup.py",),
    }


def test_an_installed_copy_is_no_file_of_the_repository() -> None:
    names = ["/repo/src/shop/a.py", "/repo/src/shop/b.py", "/usr/lib/python3/site-packages/setup.py"]
    assert "setup.py" not in pairs(found(names, ["src/shop/a.py", "src/shop/b.py", "setup.py"]))
    assert pairs(found(["/venv/site-packages/shop/a.py"], ["src/shop/a.py"])) == {}


@pytest.mark.parametrize("name", ["/repo/src/shop/a.py", "C:\\repo\\src\\shop\\a.py", "c:/repo/src/shop/a.py"])
def test_a_path_that_fits_two_files_is_evidence_for_neither(name: str) -> None:
    matches = found([name], ["src/shop/a.py", "shop/a.py"])
    assert pairs(matches) == {}
    (finding,) = matches.findings
    assert (finding.code, finding.severity) == ("LW507", Severity.ERROR)
    assert all(each in finding.message for each in ("src/shop/a.py", "'shop/a.py'", "cov.xml", "--path-map"))


def test_a_report_that_was_made_in_a_subfolder_is_not_credited_to_the_root() -> None:
    known = ["mod.py", "pkg/mod.py", "pkg/util.py"]
    assert pairs(found(["mod.py", "util.py"], known)) == {"pkg/mod.py": ("mod.py",), "pkg/util.py": ("util.py",)}


def test_a_bare_name_that_two_services_have_is_ambiguous() -> None:
    matches = found(["core.py"], ["svc_a/core.py", "svc_b/core.py"], wanted=["svc_b/core.py"])
    assert pairs(matches) == {}
    assert [finding.code for finding in matches.findings] == ["LW507"]


def test_ambiguity_among_files_without_obligations_is_nobodys_concern() -> None:
    matches = found(["core.py", "x/a.py"], ["svc_a/core.py", "svc_b/core.py", "x/a.py"], wanted=["x/a.py"])
    assert pairs(matches) == {"x/a.py": ("x/a.py",)}
    assert matches.findings == ()


@pytest.mark.parametrize("base", ["/repo/src", "/repo/src/", "src", "./src", "C:\\repo\\src", "/checkout/head/src"])
def test_a_source_root_is_put_in_front_of_the_name(base: str) -> None:
    assert pairs(found(["shop/a.py"], ["src/shop/a.py"], bases=(base,))) == {"src/shop/a.py": ("shop/a.py",)}


@pytest.mark.parametrize("root", ["/repo", "/checkout/head"])
def test_a_name_below_two_source_roots_is_ambiguous_when_both_files_exist(root: str) -> None:
    known = ["svc_a/core.py", "svc_b/core.py", "svc_b/only.py"]
    matches = found(["core.py", "only.py"], known, bases=(f"{root}/svc_a", f"{root}/svc_b"))
    assert pairs(matches) == {"svc_b/only.py": ("only.py",)}
    assert [finding.code for finding in matches.findings] == ["LW507"]


def test_the_source_root_wins_over_a_namesake_at_the_top() -> None:
    matches = found(["mod.py"], ["mod.py", "pkg/mod.py"], bases=("/checkout/head/pkg",))
    assert pairs(matches) == {"pkg/mod.py": ("mod.py",)}


def test_several_spellings_of_one_file_belong_together() -> None:
    names = ["/checkout/head/a.py", "a.py"]
    assert pairs(found(names, ["a.py"])) == {"a.py": tuple(names)}


def test_an_absolute_path_among_relative_ones_is_outside_of_the_repository() -> None:
    assert pairs(found(["src/a.py", "/venv/lib/b.py"], ["src/a.py", "b.py"])) == {"src/a.py": ("src/a.py",)}


@pytest.mark.parametrize(
    ("name", "mapping"),
    [
        ("/build/x1/a.py", ("/build/x1", "src")),
        ("/build/x1/a.py", ("/build/x1/", "/checkout/head/src")),
        ("D:\\w\\a.py", ("d:\\w", "src")),
        ("gen/a.py", ("gen", "src/")),
    ],
)
def test_a_path_map_settles_where_a_path_starts(name: str, mapping: tuple[str, str]) -> None:
    assert pairs(found([name], ["src/a.py", "a.py"], maps=(mapping,))) == {"src/a.py": (name,)}


def test_a_path_map_to_the_root_settles_an_ambiguity() -> None:
    known = ["src/shop/a.py", "shop/a.py"]
    assert pairs(found(["/repo/src/shop/a.py"], known, maps=(("/repo/src", "."),))) == {
        "shop/a.py": ("/repo/src/shop/a.py",)
    }


def test_a_path_map_matches_whole_folders_only() -> None:
    assert pairs(found(["/build/x12/a.py"], ["src/a.py"], maps=(("/build/x1", "src"),))) == {}


def test_an_export_that_fits_nothing_is_an_error_that_shows_both_sides() -> None:
    (finding,) = found(["/app/x.py", "/app/y.py"], ["src/a.py"]).findings
    assert (finding.code, finding.severity, finding.path) == ("LW507", Severity.ERROR, "")
    assert "/app/x.py" in finding.message
    assert "src/a.py" in finding.message


def test_an_empty_export_is_an_error_when_something_is_owed() -> None:
    assert [finding.severity for finding in found([], ["src/a.py"]).findings] == [Severity.ERROR]
    assert found([], ["src/a.py"], wanted=[]).findings == ()


def test_a_file_whose_name_the_export_knows_from_elsewhere_is_pointed_out() -> None:
    (finding,) = found(["src/b.py", "/site-packages/shop/a.py"], ["src/a.py", "src/b.py"]).findings
    assert (finding.code, finding.severity, finding.path) == ("LW507", Severity.WARNING, "src/a.py")
    assert "/site-packages/shop/a.py" in finding.message


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "", "/", "..", "//host/share/a.py", "\\\\host\\x"])
def test_a_path_outside_is_no_file(name: str) -> None:
    assert pairs(found([name], ["etc/x", "b.py"])) == {}


def test_names_that_are_no_utf8_are_matched_as_they_are() -> None:
    assert pairs(found(["caf\udce9.py"], ["caf\udce9.py"])) == {"caf\udce9.py": ("caf\udce9.py",)}


def test_a_backslash_in_a_posix_name_stays() -> None:
    assert normalised("src/a\\b.py") == "src/a\\b.py"
    assert normalised("C:\\src/a.py") == "C:/src/a.py"
