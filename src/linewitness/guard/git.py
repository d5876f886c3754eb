"""What git's commands do to protected files: by path, by patch, and by settings that would steer git elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from linewitness.guard.agents import DeniedError
from linewitness.guard.fence import TAKE, UNKNOWN, WRITE
from linewitness.guard.options import Parsed, split
from linewitness.guard.shell import NOTHING, Call, Given

_GLOBAL: Final = (
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--super-prefix",
)
# Settings that switch hooks off or swap them, change which files git sees, or choose whose signature counts.
_STEERING: Final = (
    "core.hookspath",
    "core.worktree",
    "core.attributesfile",
    "core.fsmonitor",
    "gpg.",
    "include.",
    "includeif.",
)
_READS: Final = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--get-color", "--show-origin")


def git(call: Call) -> Given:
    """Judge one call of git. Errors: :class:`DeniedError`."""
    parsed = split(call.words, _GLOBAL, until_operand=True)
    shell = call.shell
    for setting in parsed.values("-c", "--config-env"):
        _setting(call, *setting.split("=", 1))
    for folder in (*parsed.values("-C"), *parsed.values("--work-tree")):
        shell = shell.copy()
        shell.enter(folder)
    if not parsed.operands:
        return NOTHING
    command, *words = parsed.operands
    inner = Call(command, tuple(words), call.given, shell)
    if found := _COMMANDS.get(command):
        return found(inner) or NOTHING
    return NOTHING


def _setting(call: Call, name: str, value: str = "") -> None:
    if name.lower().startswith(_STEERING):
        raise DeniedError(
            f"the setting {name} of git decides which hooks run, which files count or whose signature does"
        )
    if name.lower().startswith("alias.") and value.startswith("!"):
        call.shell.script(value[1:])


def _config(call: Call) -> None:
    parsed = split(call.words, ("-f", "--file", "--blob", "--type", "--default", "--comment", "--value", "--url"))
    operands = list(parsed.operands)
    if operands[:1] in (["get"], ["list"]) or parsed.has(*_READS):
        return
    if operands[:1] in (["set"], ["unset"], ["edit"], ["rename-section"], ["remove-section"]):
        verb = operands.pop(0)
    else:
        verb = "set" if len(operands) > 1 or parsed.has("--unset", "--unset-all", "--add", "--replace-all") else "get"
    for file in parsed.values("-f", "--file"):
        call.shell.do(WRITE, file)
    if verb != "get" and operands:
        _setting(call, operands[0], operands[1] if len(operands) > 1 else "")


# ---------------------------------------------------------------- commands with paths


def _paths(parsed: Parsed, words: Sequence[str]) -> tuple[str, ...]:
    """What stands after ``--``; all operands where there is none."""
    return tuple(words[list(words).index("--") + 1 :]) if "--" in words else parsed.operands


def _pathspec(path: str) -> str:
    """A pathspec without the magic in front: what it names is judged all the same."""
    if path.startswith(":("):
        return path.partition(")")[2] or "."
    return path.lstrip(":/!^") or "." if path.startswith(":") else path


def _take(call: Call) -> None:
    parsed = split(call.words, ("--pathspec-from-file",))
    if parsed.has("-n", "--dry-run"):
        return
    for path in parsed.operands:
        call.shell.do(TAKE, _pathspec(path))


def _move(call: Call) -> None:
    parsed = split(call.words)
    for source in parsed.operands[:-1]:
        call.shell.do(TAKE, source)
        call.shell.put(source, parsed.operands[-1])


def _clean(call: Call) -> None:
    parsed = split(call.words, ("-e", "--exclude"))
    if parsed.has("-n", "--dry-run"):
        return
    for path in _paths(parsed, call.words):
        _unless_above(call, _pathspec(path))


def _checkout(call: Call) -> None:
    parsed = split(call.words, ("-b", "-B", "--orphan", "--conflict", "--pathspec-from-file", "-s", "--source"))
    words = list(call.words)
    if parsed.has("-b", "-B", "--orphan"):
        return
    source = (parsed.values("-s", "--source") or [""])[-1]
    if "--" in words:
        before = [word for word in words[: words.index("--")] if not word.startswith("-")]
        source = source or (before[0] if before and call.name == "checkout" else "")
        paths: tuple[str, ...] = tuple(words[words.index("--") + 1 :])
    elif call.name == "checkout":
        first, *rest = parsed.operands or ("",)
        source, paths = (first, tuple(rest)) if rest else ("", (first,))
    else:
        paths = parsed.operands
    for path in paths:
        _restore(call, source, _pathspec(path))


def _restore(call: Call, source: str, path: str) -> None:
    """Putting back what the target branch has is how a mistake is undone, and is never refused."""
    from linewitness.guard import trees

    folder = call.shell.folders[0]
    place = next((each for each in call.shell.fence.places if each.git_dir), None)
    if source and place and UNKNOWN not in source and trees.is_target(place.top, source):
        return
    if source in {"", "HEAD"} and place and (relative := _above(call, path, folder)) is not None:
        changed = trees.changed(place.top, relative)
        for name in changed:
            call.shell.do(WRITE, os.path.join(place.top, name))
        return
    call.shell.do(TAKE, path)


def _above(call: Call, path: str, folder: str) -> str | None:
    """A folder above protected content, relative to the root; ``None`` for anything else."""
    whole = os.path.realpath(os.path.join(folder, path))
    place = next((each for each in call.shell.fence.places if each.relative(whole) is not None), None)
    if place is None or not os.path.isdir(whole):
        return None
    relative = place.relative(whole)
    inside = f"{relative}/x" if relative else "x"
    try:
        call.shell.do(WRITE, os.path.join(place.top, inside))
    except DeniedError:
        return None
    return relative


def _unless_above(call: Call, path: str) -> None:
    """Judge a path that only matters where it is protected itself, as for untracked files."""
    if _above(call, path, call.shell.folders[0]) is None:
        call.shell.do(TAKE, path)


def _reset(call: Call) -> None:
    parsed = split(call.words, ("--pathspec-from-file",))
    paths = _paths(parsed, call.words)
    if parsed.has("--hard", "--soft", "--mixed", "--merge", "--keep"):
        return
    for path in paths:
        _unless_above(call, _pathspec(path))


def _stash(call: Call) -> None:
    words = list(call.words)
    if words[:1] in (["push"], ["save"]) or (words and words[0] == "--"):
        parsed = split(words, ("-m", "--message"))
        for path in _paths(parsed, words) if "--" in words else parsed.operands[1:]:
            call.shell.do(TAKE, _pathspec(path))


def _index(call: Call) -> None:
    words = list(call.words)
    parsed = split(words, ("--chmod",))
    for at, word in enumerate(words):
        if word.startswith("--cacheinfo"):
            inline = word.partition("=")[2] or (words[at + 1] if at + 1 < len(words) else "")
            name = inline.split(",", 2)[-1] if "," in inline else "".join(words[at + 3 : at + 4])
            call.shell.do(WRITE, name)
    for operand in parsed.operands:
        if "," not in operand:
            call.shell.do(TAKE, operand)
    for line in (call.given.text or "").splitlines() if parsed.has("--index-info", "--stdin") else ():
        call.shell.do(WRITE, line.rpartition("\t")[2])


# ---------------------------------------------------------------- the rest


def _apply(call: Call) -> None:
    parsed = split(call.words, ("-p", "--directory", "--exclude", "--include", "-C", "--whitespace"))
    if parsed.has("--check", "--stat", "--numstat", "--summary", "--abort", "--skip", "--quit"):
        return
    strip = (parsed.values("-p") or [""])[-1]
    below = (parsed.values("--directory") or [""])[-1]
    for text in (*(call.shell.content(operand) for operand in parsed.operands), call.given.text):
        if text:
            call.shell.patch(text, int(strip) if strip.isdigit() else None, below)


def _refs(call: Call) -> None:
    parsed = split(call.words, ("-m",))
    names = [operand for operand in parsed.operands if operand.startswith(("refs/remotes/", "refs/replace/"))]
    if call.name == "remote":
        names = ["refs/remotes/origin/HEAD"] if parsed.operands[:1] == ("set-head",) else []
    if call.name == "symbolic-ref" and len(parsed.operands) < 2 and not parsed.has("-d", "--delete"):
        return
    if names:
        raise DeniedError(f"{names[0]} says where the target branch is, and protection is read from there")


def _submodule(call: Call) -> None:
    parsed = split(call.words, ("-b", "--name", "--reference", "--depth"))
    if parsed.operands[:1] in (("add",), ("set-url",), ("set-branch",)):
        call.shell.do(WRITE, ".gitmodules")
        for path in parsed.operands[2:]:
            call.shell.do(WRITE, path)


def _clone(call: Call) -> None:
    parsed = split(call.words, ("-b", "--branch", "--depth", "-o", "-c", "--reference", "--template"))
    for path in parsed.operands[1:2]:
        call.shell.do("plant", path)


def _init(call: Call) -> None:
    # A repository inside of protected content would hide it from the one around.
    for path in split(call.words, ("-b", "--initial-branch", "--template", "--object-format")).operands or (".",):
        call.shell.do(WRITE, os.path.join(path, "x"))


def _output(call: Call) -> None:
    parsed = split(call.words, ("-o", "--output", "--output-directory", "--format"))
    for path in parsed.values("-o", "--output", "--output-directory"):
        call.shell.do(WRITE, path)


def _files(call: Call) -> Given:
    from linewitness.guard.searches import below

    operands = split(call.words, ("-x", "-X", "--format")).operands
    return Given(None, tuple(below(call, operands or (".",))))


def _grep(call: Call) -> Given:
    from linewitness.guard.searches import listing

    return listing(call._replace(name="grep"))


def _worktree_top(call: Call) -> Given:
    if call.words[:1] in (("--show-toplevel",), ("--show-cdup",)) and call.shell.fence.places:
        return Given(None, (call.shell.fence.places[0].top,))
    return NOTHING


def _filter_branch(call: Call) -> None:
    for word in call.words:
        if " " in word:
            call.shell.script(word)


_COMMANDS: Final[Mapping[str, Callable[[Call], Given | None]]] = {
    "rm": _take,
    "mv": _move,
    "clean": _clean,
    "checkout": _checkout,
    "restore": _checkout,
    "reset": _reset,
    "stash": _stash,
    "update-index": _index,
    "checkout-index": _take,
    "apply": _apply,
    "am": _apply,
    "config": _config,
    "update-ref": _refs,
    "symbolic-ref": _refs,
    "replace": lambda call: (
        _refs(call._replace(words=("refs/replace/",))) if call.words[:1] not in {(), ("-l",)} else None
    ),
    "remote": _refs,
    "submodule": _submodule,
    "clone": _clone,
    "init": _init,
    "archive": _output,
    "format-patch": _output,
    "diff": _output,
    "bundle": _output,
    "ls-files": _files,
    "grep": _grep,
    "rev-parse": _worktree_top,
    "filter-branch": _filter_branch,
}
