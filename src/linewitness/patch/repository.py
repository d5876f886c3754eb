"""The only caller of git.

git is asked for facts only (ids, trees, blobs, line diffs of blobs), and in a way that neither the user's settings, nor
the clone's, nor the environment of a hook can bend the answer or start a program: the environment is built from
nothing, settings that run programs or hide changes are overridden, replace refs are ignored, names go in as full ids
or on standard input, and every blob that is read is hashed again and compared with its id.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Self, cast

from linewitness.errors import PatchError
from linewitness.model import Blob, Commit, ObjectId, RepoPath
from linewitness.patch.objects import LARGEST_BLOB, blob_id, path_bytes, repo_path, tree_id
from linewitness.patterns import late

_OVERRIDES = {
    "safe.directory": "*",  # a container's user is rarely the owner of the mounted checkout
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.untrackedCache": "false",  # kept in the index, where it can claim that a folder holds nothing new
    "core.commitGraph": "false",  # a second copy of parents and trees that git believes without checking
    "core.bigFileThreshold": "1g",
    "core.quotePath": "true",
    "color.ui": "false",
    "advice.graftFileDeprecated": "false",  # said of the empty file that stands in for grafts
    "gc.auto": "0",
}
_FIXED = [part for key, value in _OVERRIDES.items() for part in ("-c", f"{key}={value}")]

_FULL_ID = late(r"[0-9a-f]{40}|[0-9a-f]{64}")
_STEM = late(r"(?:(?!@\{)[^~^:])*")
_PLACES = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_SECONDS = 600
_FATAL = 128
_FACTS = 6
_ASKED_AT_ONCE = 200  # ids of either kind, as many as any pipe holds

_PARTIAL = "The clone is partial or damaged: use one without --filter, for nothing is fetched while judging"


class Repository:
    """One git repository, bare or with a work tree. ``root`` may be any folder inside of it.

    Attributes: ``root`` is the top of the work tree (the git directory when bare), ``git_dir`` this work tree's git
    directory, ``common_dir`` the one that linked work trees share, ``algorithm`` the object format, ``shallow`` whether
    history was cut off. Close it, or use it in a ``with`` statement; a forgotten one cleans up when collected.
    Not for use by several threads at once. Errors, everywhere: :class:`PatchError`.
    """

    def __init__(self, root: Path) -> None:
        start = Path(os.path.abspath(root))
        self._git = _find_git(start)
        self._environment = _environment()
        self._blobs: _BlobSession | None = None
        self._scratch: Path | None = None
        self._remove_scratch: Callable[[], object] | None = None
        self.root = start
        self._discover(start)

    def _discover(self, start: Path) -> None:
        if not start.is_dir():
            raise PatchError(f"{start} is not a folder")
        questions = ("--is-bare-repository", "--is-shallow-repository", "--show-object-format", "--absolute-git-dir")
        places = ("--git-common-dir", "--git-path", "objects", "--show-toplevel")
        done = self._ended(("rev-parse", *questions, *places))
        answers = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
        # the last question is a failure in a bare repository
        if done.returncode and not (done.returncode == _FATAL and answers[0] == "true"):
            raise self._failure("rev-parse", done.returncode, done.stderr)
        if len(answers) != _FACTS + (answers[0] != "true"):
            raise PatchError(f"{start}: git is older than 2.29, or a folder's name holds a line break")
        bare, shallow, algorithm, git_dir, common_dir, objects, *top = answers
        self.git_dir = Path(git_dir)
        self.common_dir = Path(os.path.normpath(start / common_dir))
        self.objects = Path(os.path.normpath(start / objects))
        self.shallow = shallow == "true"
        self.algorithm = algorithm
        self.bare = bare == "true"
        self.root = self.git_dir if self.bare else self._checked_top(start, Path(top[0]))
        # from here on git looks for nothing: a repository that appears below the root later is not picked up
        self._environment["GIT_DIR"] = git_dir
        if not self.bare:
            self._environment["GIT_WORK_TREE"] = os.fspath(self.root)
        self._look_into_quarantine()

    def _checked_top(self, start: Path, top: Path) -> Path:
        if not start.resolve().is_relative_to(top.resolve()):
            raise PatchError(f"{start} is not inside of {top}, the repository's work tree")
        if Path(self._git).resolve().is_relative_to(top.resolve()):
            raise PatchError(f"the git on PATH is a file of the repository itself: {self._git}")
        return top

    def _look_into_quarantine(self) -> None:
        # receive-pack keeps pushed objects apart until its hooks agree; believed only for a folder of this repository
        quarantine = os.environ.get("GIT_QUARANTINE_PATH", "")
        if quarantine and Path(quarantine).resolve().is_relative_to(self.objects.resolve()):
            self._add_objects(Path(quarantine))

    def _add_objects(self, directory: Path) -> None:
        known = self._environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
        added = _quoted(directory)
        self._environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f"{known}{os.pathsep}{added}" if known else added

    # ------------------------------------------------------------ life

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End git's helper process and remove temporary objects. Trees made from the work tree are gone afterwards."""
        if self._blobs:
            self._blobs.close()
            self._blobs = None
        if self._remove_scratch:
            self._remove_scratch()
            self._scratch = self._remove_scratch = None

    def scratch(self) -> Path:
        """A temporary folder whose ``objects`` folder git reads like the repository's own, until :meth:`close`."""
        if self._scratch is None:
            import shutil
            import tempfile

            self._scratch = Path(tempfile.mkdtemp(prefix="linewitness-"))
            self._remove_scratch = weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
            (self._scratch / "objects").mkdir()
            self._add_objects(self._scratch / "objects")
            if self._blobs:
                self._blobs.close()
                self._blobs = None
        return self._scratch

    def storing_in(self, directory: Path) -> dict[str, str]:
        """Environment for :meth:`run` that makes git write new objects into ``directory`` and still find all others."""
        others = self._environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
        everything = os.pathsep.join([_quoted(self.objects), *([others] if others else [])])
        return {"GIT_OBJECT_DIRECTORY": os.fspath(directory), "GIT_ALTERNATE_OBJECT_DIRECTORIES": everything}

    # ------------------------------------------------------------ processes

    def run(
        self, *arguments: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,), env: Mapping[str, str] | None = None
    ) -> bytes:
        """What git wrote to standard output. Any other exit status than those of ``ok`` is an error."""
        done = self._ended(arguments, stdin, env)
        if done.returncode not in ok:
            raise self._failure(arguments[0], done.returncode, done.stderr)
        return done.stdout

    def _ended(
        self, arguments: tuple[str, ...], stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                [self._git, *_FIXED, *_as_arguments(arguments)],
                check=False,
                cwd=self.root,
                env=self._environment | dict(env or {}),
                input=stdin,
                capture_output=True,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise PatchError(f"git {arguments[0]} did not end within {_SECONDS} seconds") from None
        except OSError as error:
            raise PatchError(f"git cannot be started: {error.strerror or error}") from None

    @contextmanager
    def stream(self, *arguments: str) -> Iterator[IO[bytes]]:
        """Standard output of git while it is written. Leaving early ends git; at the end its status counts."""
        process = self._start(*arguments)
        output = cast("IO[bytes]", process.stdout)
        alarm = threading.Timer(_SECONDS, process.kill)
        alarm.daemon = True
        alarm.start()
        try:
            with output:
                yield output
            status = process.wait()
        finally:
            alarm.cancel()
            process.kill()
            process.wait()
        if status:
            self.run(*arguments)  # says why
            raise PatchError(f"git {arguments[0]} was interrupted (status {status}) after at most {_SECONDS} seconds")

    def _start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [self._git, *_FIXED, *_as_arguments(arguments)],
                cwd=self.root,
                env=self._environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise PatchError(f"git cannot be started: {error.strerror or error}") from None

    def _failure(self, command: str, status: int, stderr: bytes) -> PatchError:
        said = stderr.decode("utf-8", "replace").strip()
        if "not a git repository" in said:
            return PatchError(f"{self.root} is not inside of a git repository")
        last = said.split("\n")[-1].removeprefix("fatal: ") or f"status {status}"
        hint = f". {_PARTIAL}" if "promisor" in said or "unable to read" in said else ""
        return PatchError(f"git {command}: {last}{hint}")

    # ------------------------------------------------------------ commits

    def check_trustworthy(self) -> None:
        """Refuse a clone with grafts or replace refs. They are ignored here, but other tools see another history."""
        replaced = self._first_replacement() if self._may_replace() else ""
        if replaced:
            oid = replaced.removeprefix("refs/replace/")
            raise PatchError(f"{replaced} replaces an object of this history: remove it with `git replace -d {oid}`")
        grafts = self.common_dir / "info" / "grafts"
        if grafts.is_file() and grafts.stat().st_size:
            raise PatchError(f"{grafts} rewrites the parents of commits: remove the file")

    def _may_replace(self) -> bool:
        """Whether there may be replace refs. Git is asked only then: starting it takes longer than looking."""
        folder, packed = self.common_dir / "refs" / "replace", self.common_dir / "packed-refs"
        return (
            (self.common_dir / "reftable").exists()
            or (folder.is_dir() and any(folder.iterdir()))
            or (packed.exists() and b" refs/replace/" in packed.read_bytes())
        )

    def _first_replacement(self) -> str:
        return self.run("for-each-ref", "--count=1", "--format=%(refname)", "refs/replace/").decode().strip()

    def resolve(self, name: str) -> Commit:
        """The commit that a name stands for: a full id, a branch, a tag, ``HEAD``, also with ``~2``, ``^`` and so on.

        A name that means different commits (a branch and a tag, say) is refused; a full name such as
        ``refs/heads/main`` never is.
        """
        return self.resolve_all(name)[0]

    def resolve_all(self, *names: str) -> list[Commit]:
        """The commits of several names, asked for at once; see :meth:`resolve`."""
        stems = list(map(_stem, names))
        places = {stem: [place.format(stem) for place in _PLACES] for stem in stems if stem}
        wanted = sorted({ref for refs in places.values() for ref in refs})
        listed = self.run("for-each-ref", "--format=%(refname)", "--", *wanted) if wanted else b""
        known = listed.decode("utf-8", "surrogateescape").split("\n")
        called = [[stem, *filter(places[stem].__contains__, known)] if stem else [] for stem in stems]
        asked = [
            expression
            for name, meanings in zip(names, called, strict=True)
            for expression in (f"{name}^{{commit}}", f"{name}^{{tree}}", *(f"{each}^{{commit}}" for each in meanings))
        ]
        answers = iter(self._objects(*asked))
        return [
            self._resolved(name, next(answers), next(answers), {each: next(answers) for each in meanings})
            for name, meanings in zip(names, called, strict=True)
        ]

    def _resolved(
        self, name: str, commit: ObjectId | None, tree: ObjectId | None, meanings: dict[str, ObjectId | None]
    ) -> Commit:
        if len(meanings) > 1:
            self._refuse_ambiguous(meanings)
        if commit is None or tree is None:
            if name == "HEAD":
                raise PatchError("nothing has been committed on this branch yet, so there is no patch")
            cut = ". The clone is shallow: run `git fetch --unshallow` (in CI: fetch-depth: 0)" if self.shallow else ""
            raise PatchError(f"'{name}' names no commit of this repository, or more than one{cut}")
        return Commit(commit, tree)

    def _refuse_ambiguous(self, meanings: dict[str, ObjectId | None]) -> None:
        stem = next(iter(meanings))
        if re.fullmatch(r"[0-9a-f]{4,}", stem):
            prefixed = self.run("rev-parse", f"--disambiguate={stem}").decode().split()
            meanings |= dict(zip(prefixed, self._objects(*(f"{oid}^{{commit}}" for oid in prefixed)), strict=True))
        if len({oid for oid in meanings.values() if oid}) > 1:
            shown = ", ".join(f"{ref} is {oid[:12]}" for ref, oid in meanings.items() if oid and ref != stem)
            raise PatchError(f"'{stem}' is ambiguous: {shown}. Pass the full name or the full id")

    def _objects(self, *expressions: str) -> list[ObjectId | None]:
        # on standard input nothing can be taken for an option
        asked = "".join(expression + "\n" for expression in expressions)
        answers = self.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=path_bytes(asked))
        found = [line.split(b" ") for line in answers.split(b"\n")[:-1]]
        if len(found) != len(expressions):
            raise PatchError("git cat-file did not answer every question")
        return [ObjectId(words[0].decode()) if _is_found(words) else None for words in found]

    def merge_base(self, ours: Commit, theirs: Commit) -> Commit:
        """The newest common ancestor of two commits.

        A criss-cross history has several. The first that git lists is taken, as ``git diff A...B`` does: each of them
        is part of the target branch, so whichever is taken, no line is skipped that the target does not have.
        """
        found = self._merge_bases(ours, theirs)
        if not found:
            why = (
                "the clone is shallow, run `git fetch --unshallow` (in CI: fetch-depth: 0)"
                if self.shallow
                else "their histories are unrelated, name the base with --base"
            )
            raise PatchError(f"{(ours.commit or '')[:12]} and {(theirs.commit or '')[:12]} have no merge base: {why}")
        return next((known for known in (ours, theirs) if known.commit == found[0]), None) or self.resolve(found[0])

    def merge_bases(self, ours: Commit, theirs: Commit) -> tuple[Commit, ...]:
        """All newest common ancestors of two commits; none when their histories are unrelated."""
        return tuple(map(self.resolve, self._merge_bases(ours, theirs)))

    def _merge_bases(self, ours: Commit, theirs: Commit) -> list[str]:
        if ours.commit is None or theirs.commit is None:
            raise PatchError("a tree that was never committed has no merge base")
        return self.run("merge-base", "--all", ours.commit, theirs.commit, ok=(0, 1)).decode().split()

    def default_base(self, target_branch: str = "") -> str:
        """The full ref name of the branch that patches are for.

        ``target_branch`` when it is given (of the remote, else local), else the default branch of the remote, else
        ``main`` or ``master`` of the remote, else the local ones. The remote is ``origin``, or the only one there is.
        """
        refs = self.run("for-each-ref", "--format=%(refname)", "refs/remotes/", "refs/heads/")
        known = frozenset(refs.decode("utf-8", "surrogateescape").split("\n"))
        remotes = self.run("remote").decode("utf-8", "surrogateescape").split("\n")[:-1]
        remote = remotes[0] if len(remotes) == 1 else "origin"
        names = [target_branch] if target_branch else ["HEAD", "main", "master"]
        tried = [f"refs/remotes/{remote}/{name}" for name in names]
        tried += [f"refs/heads/{name}" for name in names if name != "HEAD"]
        for ref in tried:
            if ref in known:
                return ref
        if known == {""}:
            raise PatchError("nothing has been committed here yet, so there is no patch and nothing to compare it with")
        raise PatchError(
            f"no branch to compare with: none of {', '.join(tried)} exists. Pass --base with a branch or a commit id"
        )

    def commits(self, base: ObjectId, head: ObjectId) -> tuple[Commit, ...]:
        """The commits of ``base..head``, newest first, head included. Both are full commit ids."""
        lines = self.run("rev-list", "--format=%H %T", f"^{base}", head).decode().split("\n")[:-1]
        return tuple(Commit(*map(ObjectId, line.split())) for line in lines if not line.startswith("commit "))

    # ------------------------------------------------------------ trees and blobs

    def ls_tree(self, tree: ObjectId, path: RepoPath | None = None) -> dict[RepoPath, Blob]:
        """Every file, link and submodule of a tree, in git's order. With ``path`` only what lies there or below.

        A whole tree is checked against its id: git believes the folders that a prepared clone holds without hashing
        them. Errors: :class:`PatchError` when it is another one.
        """
        below = ["--", path] if path is not None else []
        listed = self.run("ls-tree", "-r", "-z", "--full-tree", tree, *below, env={"GIT_LITERAL_PATHSPECS": "1"})
        entries = {}
        for record in listed.split(b"\0")[:-1]:
            facts, _, name = record.partition(b"\t")
            mode, _, oid = facts.split(b" ")
            entries[repo_path(name)] = Blob(int(mode, 8), ObjectId(oid.decode()))
        if path is None and tree_id(entries, self.algorithm) != tree:
            raise PatchError(f"tree {tree} is damaged, or holds folders or modes that git does not write any more")
        return entries

    def find(self, tree: ObjectId, path: RepoPath) -> Blob | None:
        """The entry at exactly this path, or ``None`` when there is none or it is a folder."""
        return self.ls_tree(tree, path).get(path)

    def read(self, oid: ObjectId) -> bytes:
        """The bytes of a blob, checked against its id. One git process serves all calls."""
        session = self._session()
        session.ask([oid])
        return self._checked(session.read(oid), oid)

    def read_all(self, oids: Iterable[ObjectId]) -> Generator[bytes, None, None]:
        """The bytes of blobs, in their order, each checked against its id. Questions go ahead of the answers."""
        waiting = iter(oids)
        while group := tuple(islice(waiting, _ASKED_AT_ONCE)):
            session, left = self._session(), len(group)
            session.ask(group)
            try:
                for oid in group:
                    content = self._checked(session.read(oid), oid)
                    left -= 1
                    yield content
            finally:
                if left:
                    session.close()  # answers that nobody waits for are still on their way

    def _session(self) -> _BlobSession:
        if self._blobs is None or not self._blobs.close.alive:
            self._blobs = _BlobSession(self._start("cat-file", "--batch", stdin=subprocess.PIPE))
        return self._blobs

    def _checked(self, content: bytes, oid: ObjectId) -> bytes:
        if blob_id(content, self.algorithm) != oid:
            raise PatchError(f"object {oid} is damaged: its bytes do not have this id")
        return content


class _BlobSession:
    """A running ``git cat-file --batch``."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._ask, self._answer = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        self.close = weakref.finalize(self, _end, process, self._ask, self._answer)

    def ask(self, oids: Iterable[str]) -> None:
        """Ask for some blobs, few enough for a pipe. Their answers have to be read, all of them, in their order."""
        questions = b""
        for oid in oids:
            if not _FULL_ID.fullmatch(oid):
                raise PatchError(f"{oid!r} is not a full object id")
            questions += oid.encode() + b"\n"
        with suppress(OSError):  # a process that is gone gives no answer either
            self._ask.write(questions)
            self._ask.flush()

    def read(self, oid: str) -> bytes:
        """The answer to the next question, which was about ``oid``."""
        try:
            header = self._answer.readline().split()
        except OSError:
            header = []
        if len(header) != 3:
            if header != [oid.encode(), b"missing"]:
                self.close()
            raise PatchError(f"object {oid} is not in this repository. {_PARTIAL}")
        kind, size = header[1], int(header[2])
        if kind != b"blob" or size > LARGEST_BLOB:
            # what follows on the pipe is not wanted, so this process is of no more use
            self.close()
            raise PatchError(
                f"object {oid} is a {kind.decode()} of {size} bytes: only files up to {LARGEST_BLOB} are read"
            )
        content, end = self._answer.read(size), self._answer.read(1)  # in two, so that nothing large is copied
        if len(content) != size or not end:
            raise PatchError(f"object {oid} is damaged: git stopped in the middle of it")
        return content


def _end(process: subprocess.Popen[bytes], *pipes: IO[bytes]) -> None:
    process.kill()
    for pipe in pipes:
        with suppress(OSError):  # bytes still to be flushed have no reader any more, and nobody waits for an answer
            pipe.close()
    process.wait()


def _stem(name: str) -> str:
    """The part of a name before any ``~2`` or the like, for which there may be several refs; else nothing."""
    if not name or any(ord(character) < 32 or ord(character) == 127 for character in name):
        raise PatchError(f"{name!r} cannot be the name of a commit")
    match = None if _FULL_ID.fullmatch(name) else _STEM.match(name)
    stem = match.group() if match else ""
    return "" if stem == "@" or stem.startswith("refs/") else stem


def _is_found(words: list[bytes]) -> bool:
    return len(words) == 2 and _FULL_ID.fullmatch(words[0].decode("ascii", "replace")) is not None


def _find_git(start: Path) -> str:
    # an empty or relative part of PATH would find a program inside the folder that is judged
    folders = [part for part in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(part)]
    for folder in folders:
        found = os.path.join(folder, "git.exe" if os.name == "nt" else "git")
        if os.path.isfile(found) and os.access(found, os.X_OK):
            return found
    raise PatchError(f"{start}: git was not found on PATH; install git 2.29 or later")


def _environment() -> dict[str, str]:
    kept = ("PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",  # before 2.45 this is what keeps a partial clone from fetching
        "GIT_PAGER": "cat",
    }


def _as_arguments(texts: tuple[str, ...]) -> list[str]:
    """Arguments whose bytes are those git holds, whatever the locale's encoding is."""
    return [os.fsdecode(path_bytes(text)) for text in texts]


def _quoted(directory: Path) -> str:
    """A path as ``GIT_ALTERNATE_OBJECT_DIRECTORIES`` wants it: git unquotes parts that begin with a quotation mark."""
    text = os.fspath(directory)
    if os.pathsep not in text and not text.startswith('"'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
