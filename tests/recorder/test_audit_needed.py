"""When a run has to have an audit hook, which slows every audited event down, and when it need not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from linewitness.evidence.influence import could_matter
from linewitness.evidence.relation_request import request_of
from linewitness.model import Blob, FileChange, ObjectId, RepoPath
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
