"""Laboratories for the tests of isolation."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from linewitness.settings import Suite
from tests.sandbox.rooms import HAS_BUBBLEWRAP, Lab, sandboxes

MakeLab = Callable[..., Lab]
needs_bubblewrap = pytest.mark.skipif(not HAS_BUBBLEWRAP, reason="bubblewrap is not installed")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``kind`` is every sandbox that can be tried here, ``namespaced`` those of bubblewrap."""
    for name, left_out in (("kind", set[str]()), ("namespaced", {"landlock"})):
        if name in metafunc.fixturenames:
            kinds = [kind for kind in sandboxes() if kind not in left_out]
            marked = [kind if kind == "landlock" else pytest.param(kind, marks=needs_bubblewrap) for kind in kinds]
            metafunc.parametrize(name, marked)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users get through. pytest keeps its own closed, and some laboratories are another user's."""
    shared = Path(tempfile.mkdtemp(prefix="linewitness-lab-"))
    shared.chmod(0o711)
    yield shared
    shutil.rmtree(shared)


@pytest.fixture
def make_lab(tmp_path: Path, open_folder: Path) -> MakeLab:
    """Builds laboratories of a kind; keywords are settings of the suite."""

    def make(kind: str, borrowed: tuple[object, ...] = (), **settings: object) -> Lab:
        values = {"timeout": 60, **settings}
        folder = open_folder if kind == "user" else tmp_path
        return Lab(folder / "lab", kind, Suite(**values), borrowed=borrowed)  # type: ignore[arg-type]

    return make
