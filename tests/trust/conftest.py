"""Keys that the tests of this folder share: making one takes longer than using it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.signing import Key

Keys = Callable[[str], Key]


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """A key by name, made when it is first asked for. The name may say the type: ``ecdsa``, ``rsa``."""
    folder: Path = tmp_path_factory.mktemp("keys")
    made: dict[str, Key] = {}

    def key(name: str) -> Key:
        if name not in made:
            made[name] = Key.make(folder, name, name if name in {"ecdsa", "rsa"} else "ed25519")
        return made[name]

    return key
