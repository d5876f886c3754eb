from __future__ import annotations

import os
import sys
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


# ---------------------------------------------------------------- conventions of other languages


@pytest.mark.parametrize(
    "name",
    [
        "file:///repo/src/caf%C3%A9%20a.js",
        "file:///repo/src/caf%C3%A9%20a.js?t=17",
        "file:///C:/repo/src/caf%C3%A9%20a.js",
        "file://localhost/repo/src/café a.js",
        "webpack://shop/./src/café a.js",
        "https://raw.example.org/owner/shop/0123abc/src/café a.js",
        "/_/src/café a.js",
    ],
)
def test_urls_are_the_paths_that_they_spell(name: str) -> None:
    assert pairs(found([name], ["src/café a.js"])) == {"src/café a.js": (name,)}


def test_a_file_url_below_the_root_is_taken_at_its_word() -> None:
    name = "file:///checkout/head/a.js"
    assert pairs(found([name], ["a.js", "b/a.js"])) == {"a.js": (name,)}


def test_only_a_file_url_is_percent_encoded() -> None:
    assert pairs(found(["/repo/src/a%20b.js"], ["src/a b.js", "x"])) == {}
    assert pairs(found(["/repo/src/a%20b.js"], ["src/a%20b.js"])) == {"src/a%20b.js": ("/repo/src/a%20b.js",)}


def test_capitals_mean_nothing_on_a_drive_and_something_elsewhere() -> None:
    assert pairs(found(["d:\\A\\Src\\Cart.CS"], ["src/Cart.cs"])) == {"src/Cart.cs": ("d:\\A\\Src\\Cart.CS",)}
    assert pairs(found(["/a/Src/Cart.CS"], ["src/Cart.cs"])) == {}
    exact = found(["D:\\a\\src\\cart.cs"], ["src/Cart.cs", "src/cart.cs"])
    assert pairs(exact) == {"src/cart.cs": ("D:\\a\\src\\cart.cs",)}
    either = found(["D:\\a\\src\\CART.cs"], ["src/Cart.cs", "src/cart.cs"])
    assert (pairs(either), [each.code for each in either.findings]) == ({}, ["LW507"])


def test_a_package_is_found_below_whatever_folder_holds_it() -> None:
    known = ["core/src/main/java/shop/Price.java", "README.md"]
    assert pairs(found(["shop/Price.java"], known)) == {known[0]: ("shop/Price.java",)}


def test_a_package_in_two_modules_is_ambiguous_without_their_names_and_clear_with_them() -> None:
    known = ["core/src/main/java/shop/Price.java", "web/src/main/java/shop/Price.java"]
    unclear = found(["shop/Price.java"], known)
    assert pairs(unclear) == {}
    assert {each.code for each in unclear.findings} == {"LW507"}
    names = ["all/core/**/shop/Price.java", "all/web/**/shop/Price.java"]
    assert pairs(found(names, known)) == {known[0]: (names[0],), known[1]: (names[1],)}


def test_a_module_that_is_called_as_no_folder_is_does_not_choose_among_files() -> None:
    known = ["core/src/shop/Price.java", "web/src/shop/Price.java"]
    matches = found(["Shop core/**/shop/Price.java"], known)
    assert (pairs(matches), {each.code for each in matches.findings}) == ({}, {"LW507"})


def modules(root: Path, **texts: str) -> list[str]:
    for folder, text in texts.items():
        place = root / folder.replace("_", ".")
        place.mkdir(exist_ok=True)
        (place / "go.mod").write_text(text)
    return ["go.mod" if folder == "_" else f"{folder}/go.mod" for folder in texts]


def test_an_import_path_is_a_file_of_the_module_that_go_mod_names(tmp_path: Path) -> None:
    mods = modules(
        tmp_path, _="// shop\nmodule example.org/shop // the shop\n\ngo 1.22\n", tools="module example.org/shop/tools\n"
    )
    known = [*mods, "cart/cart.go", "tools/cart/cart.go", "main.go"]
    names = ["example.org/shop/cart/cart.go", "example.org/shop/tools/cart/cart.go", "example.org/shop/main.go"]
    assert pairs(found(names, known, root=tmp_path, wanted=known[2:])) == dict(
        zip(known[2:], [(n,) for n in names], strict=True)
    )


@pytest.mark.parametrize(
    "spelled", ['module "example.org/shop"', "module `example.org/shop`", "\tmodule  example.org/shop\r"]
)
def test_a_module_may_be_spelled_in_several_ways(tmp_path: Path, spelled: str) -> None:
    known = [*modules(tmp_path, _=f"{spelled}\n"), "a.go", "b/a.go"]
    assert pairs(found(["example.org/shop/a.go"], known, root=tmp_path, wanted=["a.go"])) == {
        "a.go": ("example.org/shop/a.go",)
    }


def test_an_import_path_of_another_module_is_no_file_of_the_repository(tmp_path: Path) -> None:
    known = [*modules(tmp_path, _="module example.org/shop\n"), "cart/cart.go"]
    matches = found(["example.org/other/cart/cart.go"], known, root=tmp_path, wanted=["cart/cart.go"])
    assert (pairs(matches), [each.code for each in matches.findings]) == ({}, ["LW507"])


def test_what_the_user_says_comes_before_what_go_mod_says(tmp_path: Path) -> None:
    known = [*modules(tmp_path, _="module example.org/shop\n"), "cart/a.go", "new/a.go"]
    maps = (("example.org/shop/cart", "new"),)
    assert pairs(found(["example.org/shop/cart/a.go"], known, root=tmp_path, maps=maps, wanted=["new/a.go"])) == {
        "new/a.go": ("example.org/shop/cart/a.go",)
    }


def test_a_vendored_file_is_the_one_below_vendor(tmp_path: Path) -> None:
    known = [*modules(tmp_path, _="module example.org/shop\n"), "vendor/example.org/dep/d.go", "d.go"]
    matches = found(["example.org/dep/d.go"], known, root=tmp_path, wanted=known[1:])
    assert pairs(matches) == {"vendor/example.org/dep/d.go": ("example.org/dep/d.go",)}


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "missing", "outside"])
def test_a_go_mod_that_is_no_ordinary_file_of_the_repository_is_not_read(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_text("module example.org/shop\n")
    root = tmp_path / "root"
    root.mkdir()
    place = root / "go.mod"
    if kind == "link":
        place.symlink_to(tmp_path / "secret")
    elif kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "outside":
        (tmp_path / "go.mod").write_text("module example.org/shop\n")
        (root / "up").symlink_to(tmp_path)
    mod = "up/go.mod" if kind == "outside" else "go.mod"
    matches = found(["example.org/shop/a.go"], [mod, "a.go", "up/a.go"], root=root, wanted=["a.go", "up/a.go"])
    assert pairs(matches) == {}


HOSTILE = [
    "/etc/passwd",
    "../../etc/passwd",
    "src/../../../etc/passwd",
    "..\\..\\etc\\passwd",
    "file:///etc/passwd",
    "file:///repo/%2e%2e/%2e%2e/etc/passwd",
    "link/passwd",
    "https://example.org/etc/passwd",
    "\0",
    "",
    ".",
    "/",
    "~/.ssh/id_rsa",
]


def test_no_path_of_an_export_is_ever_opened_or_looked_at(tmp_path: Path) -> None:
    """Every access to the file system raises an audit event; matching names must raise none outside the root."""
    (tmp_path / "link").symlink_to("/etc")
    touched: list[str] = []
    watching = [True]

    def watch(event: str, args: tuple[object, ...]) -> None:
        if watching[0] and event in ("open", "os.scandir", "os.listdir"):
            touched.append(str(args[0]))

    sys.addaudithook(watch)
    try:
        matches = found(HOSTILE, ["src/a.py", "go.mod", "x/go.mod", "a.go"], root=tmp_path)
        by_go = found(["example.org/etc/passwd.go", *HOSTILE], ["go.mod", "etc/passwd.go"], root=tmp_path)
    finally:
        watching[0] = False
    assert pairs(matches) == {}
    assert pairs(by_go) == {}
    assert [path for path in touched if not path.startswith(str(tmp_path))] == []


@pytest.mark.parametrize(
    "copy",
    [
        "/repo/node_modules/shop/src/a.js",
        "/repo/packages/x/node_modules/shop/src/a.js",
        "/usr/lib/python3/dist-packages/src/a.js",
        "/venv/lib/python3.12/site-packages/src/a.js",
        "/repo/dist/src/a.js",
        "/repo/build/lib/src/a.js",
        "C:\\repo\\node_modules\\shop\\src\\a.js",
    ],
)
@pytest.mark.parametrize("others", [[], ["/repo/src/b.js"], ["/repo/src/a.js", "/repo/src/b.js"]])
def test_a_copy_in_a_folder_of_packages_or_of_a_build_is_no_file_of_the_repository(
    copy: str, others: list[str]
) -> None:
    matches = found([copy, *others], ["src/a.js", "src/b.js"])
    assert copy not in {name for names in pairs(matches).values() for name in names}
    assert len(pairs(matches)) == len(others)


def test_a_copy_below_the_root_that_most_paths_tell_of_is_no_file_of_the_repository() -> None:
    names = ["/repo/src/a.js", "/repo/src/b.js", "/repo/src/c.js", "/repo/third/src/a.js", "/repo/third/src/b.js"]
    matches = found(names, ["src/a.js", "src/b.js", "src/c.js"])
    assert pairs(matches) == {f"src/{each}.js": (f"/repo/src/{each}.js",) for each in "abc"}


def test_a_namesake_above_the_root_that_most_paths_tell_of_is_no_file_of_the_repository() -> None:
    matches = found(["/m/src/a.js", "/m/x/src/a.js", "/m/x/src/b.js"], ["src/a.js", "src/b.js"])
    assert pairs(matches) == {"src/a.js": ("/m/x/src/a.js",), "src/b.js": ("/m/x/src/b.js",)}


def test_a_file_and_its_copy_that_nothing_tells_apart_are_both_no_evidence() -> None:
    matches = found(["/repo/src/a.js", "/repo/third/src/a.js"], ["src/a.js", "src/b.js"])
    assert pairs(matches) == {}
    assert [(each.code, each.path, each.severity) for each in matches.findings[:1]] == [
        ("LW507", "src/a.js", Severity.ERROR)
    ]
    assert "/repo/third/src/a.js" in matches.findings[0].message


def test_shards_from_two_machines_are_one_file() -> None:
    names = ["/home/one/work/src/a.js", "/home/two/work/src/a.js"]
    assert pairs(found(names, ["src/a.js"])) == {"src/a.js": tuple(names)}


def test_what_was_loaded_from_elsewhere_is_no_file_beside_what_was_loaded_from_disk() -> None:
    names = ["file:///repo/src/b.js", "https://deno.example.org/x/shop@v1/src/a.js"]
    assert pairs(found(names, ["src/a.js", "src/b.js"])) == {"src/b.js": (names[0],)}
