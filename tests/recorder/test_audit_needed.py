"""When a run has to have an audit hook, which slows every audited event down, and when it need not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from linewitness.evidence.influence import could_matter
from linewitness.evidence.reasons import lines_at_issue, may_compile, may_execute, may_look_up
from linewitness.evidence.relation_request import request_of
from linewitness.model import Blob, FileChange, FileText, Hunk, ObjectId, RepoPath
from linewitness.trust.manifest import MANIFEST

TREE = frozenset({RepoPath("src/app/__init__.py"), RepoPath("src/app/shop.py"), RepoPath("src/app/page.json")})


def needed(*paths: str, checks: str = "") -> bool:
    changes = [FileChange(RepoPath(path), RepoPath(path), None, None) for path in paths]

    def texts() -> Iterable[bytes]:
        yield checks.encode()

    return could_matter(changes, lambda path: path.endswith(".py"), TREE, texts)


def test_a_patch_of_code_that_owes_needs_none() -> None:
    assert not needed("src/app/shop.py", checks="open('src/app/shop.py')")


@pytest.mark.parametrize("path", ["corpus/a.json", "tests/data/README.md", "data.json"])
def test_a_file_that_owes_nothing_and_could_close_the_gate_needs_one(path: str) -> None:
    assert needed("src/app/shop.py", path)


@pytest.mark.parametrize("path", ["README.md", "docs/guide.json", "src/app/page.json"])
def test_a_file_that_checks_may_be_about_needs_one_where_a_check_names_it_or_its_folder(path: str) -> None:
    folder, _, name = path.rpartition("/")
    assert not needed(path, checks="def test_it(): pass")
    assert needed(path, checks=f"open({name!r})")
    if folder == "docs":
        assert needed(path, checks="Path('docs').glob('*')")


def test_the_name_of_a_package_says_nothing_of_the_data_in_it() -> None:
    assert not needed("src/app/page.json", checks="assert 'app' in sys.modules and Path('src/app/shop.py').is_file()")


@pytest.mark.parametrize(
    ("product", "is_needed"),
    [
        ("exec(TEXT)", True),
        ("value = eval(line)", True),
        ("CODE = compile(TEXT, 'x', 'exec')", True),
        ("getattr(builtins, 'ex' + 'ec')", True),
        ("runpy.run_path('a.txt')", True),
        ("from importlib.machinery import *", True),
        ("PATTERN = re.compile('a')\nmodel.eval()\n", False),
        ("def total(prices):\n    return sum(prices)\n", False),
    ],
)
def test_changed_data_matters_where_the_product_may_execute_text(product: str, *, is_needed: bool) -> None:
    assert may_execute([b"", product.encode()]) is is_needed


@pytest.mark.parametrize(
    ("text", "is_needed"),
    [
        ("import os, runpy\n", True),
        ("from runpy import run_path\n", True),
        ("    exec (CODE)\n", True),
        ("code = compile(TEXT, 'x', 'exec')\n", True),
        ("twin = code.replace(co_name='other')\n", True),
        ("value = marshal.loads(data)\n", True),
        ("PATTERN = re.compile('a')\nmodel.exec(1)\n", False),
        ("# Compile and exec the fields to marshal. Then ...\n", False),
        ("if code.co_name == 'other':\n    pass\n", False),
    ],
)
def test_a_file_can_run_without_an_import_where_a_text_compiles(text: str, *, is_needed: bool) -> None:
    assert may_compile([b"", text.encode()]) is is_needed


@pytest.mark.parametrize(
    ("line", "is_needed"),
    [
        ("text = open(place).read()", False),
        ("for place in os.walk('.'): pass", True),
        ("def walk(node):", False),
        ("from inspect import signature, stack", True),
        ("from inspect import signature", False),
        ("text = load('tests/trusted/test_shop.py')", True),
        ("text = load(ROOT / 'trusted' / name)", True),
        ("names = ROOT.glob('*')", True),
        ("trusted = total(prices)", False),
        ("return sum(prices)", False),
        ("text = open(place + '/answers').read()", True),
        ("text = open(join(place, 'answers')).read()", True),
        ("answers = sum(prices)  # of the answers", False),
    ],
)
def test_added_lines_matter_that_look_for_files_or_name_those_of_checks(line: str, *, is_needed: bool) -> None:
    path = RepoPath("app/shop.py")
    text = f"OLD = open('old').read()\n{line}\n".encode()
    changed = FileText(FileChange(path, path, None, None), b"OLD = open('old').read()\n", text, (Hunk(2, 0, 2, 1),))
    checks = [RepoPath("tests/trusted/test_shop.py"), RepoPath("tests/trusted/answers")]
    assert may_look_up([changed], checks) is is_needed


@pytest.mark.parametrize(
    ("base", "head", "numbers"),
    [
        (None, b"a\nb\n", [1, 2]),
        (b"a\nb\n", b"a\nc\n", [2]),
        (b"a\nb\nc\nd\n", b"a\nb\nd\n", [2, 3]),
        (b"a\nb\n", b"b\n", [1]),
        (b"a\n", b"a\n", []),
        (b"a\n", b"", []),
    ],
)
def test_the_lines_at_issue_are_the_new_ones_and_those_around_what_was_taken_away(
    base: bytes | None, head: bytes, numbers: list[int]
) -> None:
    assert lines_at_issue(base, head) == numbers


DECLARED = """\
from linewitness.relations import relation


def _helper():
    return 1


@relation(corpus="a", at_least=2)
def test_it(case):
    assert case
"""


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        (DECLARED, False),
        (DECLARED + "\n\ndef test_plain():\n    assert open('a').read()\n", True),
        (DECLARED + "\n\nclass TestIt:\n    def test_plain(self):\n        assert open('a').read()\n", True),
        (DECLARED + "\n\n@pytest.mark.slow\ndef check_plain():\n    assert open('a').read()\n", True),
        ("def broken(:\n", True),
    ],
)
def test_relations_that_do_not_declare_their_corpus_are_told_from_those_that_do(text: str, is_plain: bool) -> None:
    manifest = "%s  a.json\n" % ("0" * 64)
    texts = {"relations/test_r.py": text, f"relations/corpus/{MANIFEST}": manifest}
    tree = {RepoPath(path): Blob(0o100644, ObjectId(str(index))) for index, path in enumerate(texts)}
    contents = dict(zip(tree.values(), texts.values(), strict=True))
    request = request_of(tree, ["relations/**"], lambda blob: contents[blob].encode(), 1)
    assert request.plain is is_plain
