"""What the programs that people start in a shell do to the files that their arguments name.

A program that is not in these tables is taken for one that only reads: whatever it does, nothing of it can be seen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from linewitness.guard import interpreters, searches, starters
from linewitness.guard.agents import DeniedError
from linewitness.guard.fence import MODE, STYLE, TAKE, UNKNOWN, WRITE
from linewitness.guard.git import git
from linewitness.guard.options import split
from linewitness.guard.shell import NOTHING, Call, Given
from linewitness.values import NamedTuple

Judge = Callable[[Call], Given]


class _Row(NamedTuple):
    """A program that does one thing to all of its operands but the first few."""

    act: str
    skip: int = 0
    with_value: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()


_EDIT: Final = _Row(WRITE)
_OPERANDS: Final[Mapping[str, _Row]] = {
    "rm": _Row(TAKE),
    "rmdir": _Row(TAKE),
    "unlink": _Row(TAKE),
    "shred": _Row(TAKE, 0, ("-n", "-s")),
    "srm": _Row(TAKE),
    "trash": _Row(TAKE),
    "trash-put": _Row(TAKE),
    "rename": _Row(TAKE, 1),
    "tee": _EDIT,
    "sponge": _EDIT,
    "touch": _Row(WRITE, 0, ("-d", "-r", "-t", "--date", "--reference")),
    "truncate": _Row(WRITE, 0, ("-s", "-r", "--size", "--reference")),
    "fallocate": _Row(WRITE, 0, ("-l", "-o", "--length", "--offset")),
    "mkdir": _Row(WRITE, 0, ("-m", "--mode")),
    "mkfifo": _Row(WRITE, 0, ("-m",)),
    "mknod": _Row(WRITE, 0, ("-m",)),
    "chmod": _Row(MODE, 1, ("--reference",)),
    "chown": _Row(MODE, 1, ("--reference", "--from")),
    "chgrp": _Row(MODE, 1, ("--reference",)),
    "chattr": _Row(MODE),
    "setfacl": _Row(MODE, 0, ("-m", "-x", "-M", "-X")),
    "setfattr": _Row(WRITE, 0, ("-n", "-v", "-x")),
    "gzip": _Row(TAKE, 0, ("-S",), ("-c", "-l", "-t", "--stdout", "--list", "--test", "-k")),
    "gunzip": _Row(TAKE, 0, ("-S",), ("-c", "-l", "-t", "--stdout", "--list", "--test")),
    "bzip2": _Row(TAKE, 0, (), ("-c", "-t", "-k")),
    "xz": _Row(TAKE, 0, (), ("-c", "-l", "-t", "-k")),
    "zstd": _Row(WRITE, 0, ("-o",), ("-c", "-l", "-t")),
    "dos2unix": _EDIT,
    "unix2dos": _EDIT,
    "mount": _Row(WRITE, 0, ("-t", "-o")),
    "umount": _EDIT,
    **dict.fromkeys(("ed", "ex", "red", "emacs", "nano", "pico", "joe", "micro", "code"), _EDIT),
    **dict.fromkeys(("vi", "vim", "nvim"), _Row(WRITE, 0, ("-c", "-S", "-u", "--cmd"), ("-R",))),
}


class _Styler(NamedTuple):
    """A program that puts files in order: with one of ``needs`` (always, when empty), never with one of ``never``."""

    needs: tuple[str, ...] = ()
    never: tuple[str, ...] = ("--check", "--diff", "-c", "--check-only", "--dry-run", "--version", "--help")


_STYLERS: Final[Mapping[str, _Styler]] = {
    **dict.fromkeys(("black", "isort", "pyupgrade", "docformatter", "add-trailing-comma", "unify"), _Styler()),
    **dict.fromkeys(("autopep8", "autoflake", "clang-format", "yapf"), _Styler(("-i", "--in-place"), ())),
    **dict.fromkeys(("prettier", "gofmt", "goimports", "biome", "shfmt", "2to3"), _Styler(("--write", "-w"), ())),
    **dict.fromkeys(("eslint", "stylelint", "rubocop", "codespell"), _Styler(("--fix", "-a", "-A", "-w"), ())),
    "ruff": _Styler(("--fix", "format", "--add-noqa", "--fix-only"), ("--check", "--diff")),
    "rustfmt": _Styler(),
}


def judge(call: Call) -> Given:
    """Judge one program by its name; what it may print. Errors: :class:`DeniedError`."""
    if found := _JUDGES.get(call.name):
        return found(call)
    if row := _OPERANDS.get(call.name):
        return _operands(call, row)
    if styler := _STYLERS.get(call.name):
        return _style(call, styler)
    if language := interpreters.language(call.name):
        return interpreters.judge(call, language)
    return NOTHING


def _operands(call: Call, row: _Row) -> Given:
    parsed = split(call.words, row.with_value)
    skip = 0 if parsed.has("--reference") else row.skip
    if not parsed.has(*row.harmless):
        for operand in (*parsed.operands[skip:], *_from_input(call)):
            call.shell.do(row.act, operand)
    return call.given


def _from_input(call: Call) -> tuple[str, ...]:
    """Commands of line editors come from standard input and may name further files."""
    return call.given.names or () if call.name in {"ed", "ex", "red"} else ()


def _style(call: Call, styler: _Styler) -> Given:
    words = set(call.words) | {
        f"-{letter}" for word in call.words if word[:1] == "-" != word[1:2] for letter in word[1:]
    }
    if not words & set(styler.never) and (not styler.needs or words & set(styler.needs)):
        for operand in split(call.words).operands:
            call.shell.do(STYLE, operand)
    return NOTHING


# ---------------------------------------------------------------- copying


def _copy(call: Call) -> Given:
    valued = (
        "-t",
        "--target-directory",
        "-S",
        "--suffix",
        "-m",
        "-o",
        "-g",
        "--mode",
        "--owner",
        "--group",
        "-e",
        "--rsh",
    )
    parsed = split(
        call.words, (*valued, "--exclude", "--include", "-P", "-i") if call.name in {"rsync", "scp"} else valued
    )
    into = parsed.values("-t", "--target-directory")
    sources = parsed.operands if into else parsed.operands[:-1]
    targets = into or parsed.operands[-1:]
    shell = call.shell
    if call.name == "install" and parsed.has("-d", "--directory"):
        sources, targets = (), list(parsed.operands)
    for source in sources if call.name == "mv" or parsed.has("--remove-source-files") else ():
        shell.do(TAKE, source)
    for target in targets:
        for source in sources or ("",):
            _put(call, source, target)
        if parsed.has("--delete", "--delete-after", "--delete-before", "--del"):
            shell.do(TAKE, target)
    return NOTHING


def _put(call: Call, source: str, target: str) -> None:
    # "src/" in rsync, and "src/." in cp, is the content of a folder and not the folder.
    content = source.endswith(("/.", "/..")) or (call.name == "rsync" and source.endswith("/"))
    if content:
        call.shell.do("plant", target, source)
    elif source:
        call.shell.put(source, target)
    else:
        call.shell.do(WRITE, target)


def _link(call: Call) -> Given:
    parsed = split(call.words, ("-t", "--target-directory", "-S", "--suffix"))
    into = parsed.values("-t", "--target-directory")
    targets = parsed.operands if into or len(parsed.operands) == 1 else parsed.operands[:-1]
    names = into or (list(parsed.operands[-1:]) if len(parsed.operands) > 1 else ["."])
    for target in targets:
        for name in names:
            call.shell.put(target, name, link=True)
            beside = os.path.join(os.path.dirname(name), target) if parsed.has("-s", "--symbolic") else target
            for seen in {target, beside}:
                try:
                    # Whoever has another name for a protected file, or for a folder of them, can write through it.
                    call.shell.do(TAKE, seen)
                except DeniedError as denied:
                    raise DeniedError(f"a link to it would be another way to write: {denied.message}") from None
    return NOTHING


def _dd(call: Call) -> Given:
    for word in call.words:
        if word.startswith("of="):
            call.shell.do(WRITE, word[3:])
    return NOTHING


def _outputs(*names: str, plus: str = "") -> Judge:
    """A program that writes where an option says; ``plus`` are further options with a value."""

    def judge_outputs(call: Call) -> Given:
        parsed = split(call.words, (*names, *plus.split()))
        for value in parsed.values(*names):
            call.shell.do(WRITE, value)
        return NOTHING

    return judge_outputs


def _curl(call: Call) -> Given:
    valued = (
        "-o",
        "--output",
        "--output-dir",
        "-H",
        "-d",
        "-X",
        "-u",
        "-A",
        "-e",
        "-b",
        "-F",
        "-T",
        "-K",
        "-w",
        "-m",
        "-c",
    )
    parsed = split(call.words, (*valued, "-D", "--header", "--data", "--request"))
    folder = (parsed.values("--output-dir") or [""])[-1]
    for value in parsed.values("-o", "--output", "-c", "-D"):
        call.shell.do(WRITE, os.path.join(folder, value))
    if parsed.has("-O", "--remote-name", "-J"):
        for operand in parsed.operands:
            call.shell.do(WRITE, os.path.join(folder, os.path.basename(operand.partition("?")[0])))
    return NOTHING


def _wget(call: Call) -> Given:
    parsed = split(call.words, ("-O", "--output-document", "-P", "--directory-prefix", "-o", "-a", "-U", "--header"))
    folder = (parsed.values("-P", "--directory-prefix") or [""])[-1]
    named = parsed.values("-O", "--output-document")
    for value in (*named, *parsed.values("-o", "-a")):
        call.shell.do(WRITE, value)
    for operand in () if named else parsed.operands:
        call.shell.do(WRITE, os.path.join(folder, os.path.basename(operand.partition("?")[0])))
    return NOTHING


# ---------------------------------------------------------------- archives and patches


def _tar(call: Call) -> Given:
    words = list(call.words)
    if words and not words[0].startswith("-"):
        words[0] = f"-{words[0]}"
    parsed = split(
        words, ("-f", "--file", "-C", "--directory", "-X", "-T", "--exclude", "--transform", "--strip-components")
    )
    archive = (parsed.values("-f", "--file") or [""])[-1]
    folder = (parsed.values("-C", "--directory") or ["."])[-1]
    if parsed.has("-x", "--extract", "--get"):
        _unpacked(call, archive, folder)
    elif parsed.has("-c", "--create", "-r", "-u", "-A", "--append", "--update", "--delete") and archive not in {
        "",
        "-",
    }:
        call.shell.do(WRITE, archive)
        for operand in parsed.operands if parsed.has("--remove-files") else ():
            call.shell.do(TAKE, operand)
    return NOTHING


def _unzip(call: Call) -> Given:
    parsed = split(call.words, ("-d", "-x", "-P"))
    if parsed.operands and not parsed.has("-l", "-t", "-p", "-v", "-Z"):
        _unpacked(call, parsed.operands[0], (parsed.values("-d") or ["."])[-1])
    return NOTHING


def _unpacked(call: Call, archive: str, folder: str) -> None:
    """Judge the names in an archive, where it can be opened; without, only the folder that it goes to."""
    from linewitness.guard.archives import names

    call.shell.do(WRITE, os.path.join(folder, "x"))
    for start in call.shell.folders if archive and UNKNOWN not in archive else ():
        for name in names(os.path.join(start, archive)):
            call.shell.do(WRITE, os.path.join(folder, name))


def _patch(call: Call) -> Given:
    parsed = split(
        call.words, ("-i", "--input", "-d", "--directory", "-o", "--output", "-p", "--strip", "-r", "-B", "-D")
    )
    below = (parsed.values("-d", "--directory") or [""])[-1]
    strip = (parsed.values("-p", "--strip") or [""])[-1]
    texts = [call.shell.content(value) for value in parsed.values("-i", "--input") + list(parsed.operands[1:2])]
    for value in (*parsed.values("-o", "--output"), *parsed.operands[:1]):
        call.shell.do(WRITE, value)
    for text in (*texts, call.given.text):
        if text and not parsed.has("--dry-run"):
            call.shell.patch(text, int(strip) if strip.isdigit() else None, below)
    return NOTHING


def _apply_patch(call: Call) -> Given:
    for text in (*call.words, call.given.text or ""):
        call.shell.patch(text)
    return NOTHING


_JUDGES: Final[Mapping[str, Judge]] = {
    "git": git,
    "find": searches.find,
    "fd": searches.listing,
    "fdfind": searches.listing,
    **dict.fromkeys(("ls", "grep", "egrep", "rg", "ag", "ack"), searches.listing),
    **searches.PRINTERS,
    **starters.STARTERS,
    **dict.fromkeys(("cp", "mv", "install", "rsync", "scp", "gcp", "gmv"), _copy),
    "ln": _link,
    "dd": _dd,
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
    "unzip": _unzip,
    "patch": _patch,
    "apply_patch": _apply_patch,
    "applypatch": _apply_patch,
    "curl": _curl,
    "wget": _wget,
    "sort": _outputs("-o", "--output", plus="-k -t -S -T"),
    "uniq": _outputs("-o"),
    "gcc": _outputs("-o"),
    "cc": _outputs("-o"),
    "openssl": _outputs("-out", "-keyout"),
    "ssh-keygen": _outputs("-f", plus="-t -N -C -b"),
    "iconv": _outputs("-o", "--output", plus="-f -t"),
    "pandoc": _outputs("-o", "--output"),
    "objcopy": _outputs("-o"),
    "coverage": _outputs("-o", "--data-file"),
}
