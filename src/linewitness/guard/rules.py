"""Which paths are protected, for programs that see one path and must answer within milliseconds.

The rule is the one of the gate, as far as names tell (:mod:`linewitness.trust.names`). What surrounds it is told apart
because the typed settings and their decoder take longer to import than a hook may take in all. Where only trees can
tell (a package file that may belong to the product), ``guard.trees`` asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from linewitness.errors import UsageError
from linewitness.globs import fixed_part, fold
from linewitness.trust.builtin import ON_THE_WAY
from linewitness.trust.names import Names, is_shared, on_the_way
from linewitness.values import NamedTuple

SETTINGS_FILE: Final = "linewitness.toml"
PYPROJECT: Final = "pyproject.toml"
# Windows drops what follows a colon, takes a backslash for a slash, and gives short names with a tilde.
_WINDOWS: Final = frozenset("~:\\")
_TEST_FOLDERS: Final = frozenset({"test", "tests", "testing"})


class Chosen(NamedTuple):
    """The settings that say what is protected, with the defaults of :class:`linewitness.settings.Settings`."""

    trusted: tuple[str, ...] = ("tests/trusted/**",)
    relations: tuple[str, ...] = ("tests/relations/**",)
    generated: tuple[str, ...] = ("tests/generated/**",)
    protected: tuple[str, ...] = ()
    waivers: str = "tests/waivers.yaml"
    approvers: str = ".linewitness/approvers"
    target_branch: str = ""
    steered: bool = False
    """Whether suites may name files, which are protected then; only the typed settings tell which."""


def parse(own: bytes | None, project: bytes | None) -> Chosen:
    """The choice in the bytes of ``linewitness.toml`` and ``pyproject.toml`` of one tree.

    Errors: :class:`UsageError` for files that are no TOML, both at once, and values of another type.
    """
    table = _table(PYPROJECT, project, "tool", "linewitness") if project and b"linewitness" in project else None
    if own is None:
        return _chosen(PYPROJECT, table or {})
    if table is not None:
        raise UsageError(f"[tool.linewitness] and a {SETTINGS_FILE} are both there", path=PYPROJECT)
    return _chosen(SETTINGS_FILE, _table(SETTINGS_FILE, own) or {})


def _table(path: str, data: bytes, *keys: str) -> Mapping[str, Any] | None:
    import tomllib

    try:
        found: Any = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not valid TOML: {error}", path=path) from error
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise UsageError("the settings are not a table", path=path)
    return found


def _chosen(path: str, table: Mapping[str, Any]) -> Chosen:
    values: dict[str, Any] = {}
    for field, default in Chosen._field_defaults.items():
        key = field.replace("_", "-")
        if key not in table or field == "steered":
            continue
        value = table[key]
        if isinstance(default, str) and isinstance(value, str):
            values[field] = value
        elif isinstance(default, tuple) and isinstance(value, list) and all(isinstance(each, str) for each in value):
            values[field] = tuple(value)
        else:
            raise UsageError(f"{key}: has the wrong type", path=path)
    return Chosen(**values, steered=_names_files(table.get("suite", [])))


def _names_files(suites: object) -> bool:
    """Whether suites have anything in them that can name a file of the tree."""
    if not isinstance(suites, list) or not all(isinstance(suite, dict) for suite in suites):
        return True
    plugins = [name for suite in suites for name in suite.get("plugins", ())]
    local = any(_TEST_FOLDERS & set(str(name).split(".")[:-1]) for name in plugins)
    return local or any(suite.keys() & {"setup", "run", "args", "python"} for suite in suites)


class Rules:
    """What one choice of settings protects. Paths are relative to the root, with slashes."""

    def __init__(self, chosen: Chosen) -> None:
        self.chosen = chosen
        self._names = Names(chosen)
        self._sieve = _sieve(glob for glob in (*self.globs(), *ON_THE_WAY) if not glob.startswith("!"))

    def reason(self, path: str) -> str | None:
        """What kind of protected content ``path`` is, in words for people, or ``None``."""
        if self._sieve and not self._sieve.search(fold(path)):
            return None
        if reason := self._names.reason(path):
            return reason
        folder, name = on_the_way(path)
        return ON_THE_WAY[name] if name in ON_THE_WAY and folder in self._names.way else None

    def only_trees_tell(self, path: str) -> bool:
        """Whether :meth:`reason` may be wrong about ``path`` without the trees and the typed settings."""
        if self.chosen.steered or not path.isascii() or _WINDOWS & set(path):
            return True
        folder, name = on_the_way(path)
        if name not in ON_THE_WAY:
            return False
        may_be_product = name == "__init__.py" and bool(folder) and not _TEST_FOLDERS & set(folder.split("/"))
        return not self._names.way_is_known or (folder in self._names.way and may_be_product)

    def shares(self, path: str) -> bool:
        """Whether ``path`` is a settings file of which some tables are protected."""
        folder, shared = is_shared(path)
        return shared and folder in self._names.way

    def places(self) -> tuple[str, ...]:
        """The files and folders that are protected whole and have a fixed place, as the settings write them, sorted."""
        pairs = ((glob.strip("/"), fixed_part(glob)) for glob in self.globs() if not glob.startswith("!"))
        return tuple(sorted({fixed for glob, fixed in pairs if fixed and glob in {fixed, f"{fixed}/**"}}))

    def exceptions(self) -> tuple[str, ...]:
        """The folders inside of protected ones that agents may write to, where they have a fixed place."""
        back = (glob for glob in (*self.chosen.trusted, *self.chosen.relations) if glob.startswith("!"))
        return tuple(sorted({fixed_part(glob) for glob in (*self.chosen.generated, *back)} - {""}))

    def globs(self) -> tuple[str, ...]:
        """The git-style globs of protected content; those of files that suites name are not among them."""
        return self._names.globs()


def _sieve(globs: Iterable[str]) -> re.Pattern[str] | None:
    """One expression that finds all folded paths which any of the globs takes, and a few more.

    Whole trees are looked through where a folder is to be removed, and asking each glob about each path takes seconds.
    ``None`` when a glob is of a shape that is not worth understanding here.
    """
    anchored: list[str] = []
    names: list[str] = []
    for glob in globs:
        core = fold(glob.strip("/").removesuffix("/**").removeprefix("**/"))
        if "**" in core or any(char in core for char in "[]\\"):
            return None
        body = re.escape(core).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
        (anchored if "/" in glob.rstrip("/") and not glob.startswith("**/") else names).append(body)
    return re.compile(f"(?:^(?:{'|'.join(anchored) or '/'})|(?:^|/)(?:{'|'.join(names) or '/'}))(?:/|$)")
