"""A small builder of projects and of trusted runs over them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from linewitness.evidence.hits import RunRecord
from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.pytest_run import RunRequest, run_pytest
from linewitness.evidence.reasons import may_compile
from linewitness.model import Phase, RepoPath
from linewitness.settings import Suite

TESTS = "tests/trusted/test_it.py"


class Ran(NamedTuple):
    """A finished run and the tree it ran in."""

    record: RunRecord
    export: Path

    def saw(self, snippet: str, path: str = "") -> set[str]:
        """Short names of the tests that hit a site on the line with ``snippet``; ``import`` for import alone."""
        for candidate in (RepoPath(path),) if path else tuple(self.record.sites):
            lines = (self.export / candidate).read_text(encoding="utf-8").splitlines()
            numbers = [number for number, line in enumerate(lines, 1) if snippet in line]
            if numbers:
                assert len(numbers) == 1, f"{snippet!r} is not unique in {candidate}"
                return self._on(candidate, numbers[0])
        raise AssertionError(f"no observed file has a line with {snippet!r}")

    def _on(self, path: RepoPath, line: int) -> set[str]:
        hits = self.record.hits.get(path, {})
        found: set[str] = set()
        for site in self.record.sites[path].sites:
            hit = hits.get(site.ident)
            if site.span.start.line == line and hit is not None:
                found |= {name.partition("::")[2] for name in hit.witnesses} or {str(hit.phase)}
        return found

    def entered(self, name: str) -> set[str]:
        """Short names of the tests that entered the function ``name`` first."""
        found: set[str] = set()
        for path, listed in self.record.sites.items():
            for entry in listed.entries:
                hit = self.record.hits.get(path, {}).get(entry.ident)
                if entry.name == name and hit is not None:
                    found |= {test.partition("::")[2] for test in hit.witnesses}
                    assert hit.witnesses or hit.phase is Phase.IMPORT
        return found

    @property
    def codes(self) -> list[str]:
        """Codes of the error findings, each once, sorted."""
        return sorted({f.code for f in self.record.findings if f.severity == "error"})

    @property
    def messages(self) -> str:
        """All findings as text."""
        return "\n".join(f"{f.code} {f.path}:{f.line} {f.message}" for f in self.record.findings)


def write(root: Path, files: dict[str, str]) -> None:
    """Write a tree of text files."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def trusted_run(
    folder: Path,
    python: Interpreter,
    files: dict[str, str],
    suite: Suite | None = None,
    **options: object,
) -> Ran:
    """Run the trusted tests of a project of these files; every line of the files under ``src`` is observed."""
    export, results = folder / "export", folder / "results"
    results.mkdir(parents=True)
    write(export, files)
    changed = {
        RepoPath(path): ((1, text.count("\n") + 1),)
        for path, text in files.items()
        if path.endswith(".py") and not path.startswith("tests/") and not path.endswith("conftest.py")
    }
    # As the gate decides it.
    owned = (text.encode() for path, text in files.items() if path.startswith("tests/"))
    options.setdefault("watches_starts", may_compile(owned))
    request = RunRequest(
        export=export,
        python=python,
        suite=suite or Suite(),
        paths=tuple(RepoPath(path) for path in files if path.startswith("tests/trusted/")),
        changed=changed,
        results=results,
        **options,  # type: ignore[arg-type]
    )
    return Ran(run_pytest(request), Path(export))
