"""Programs and builtins that start other commands, or change where and with which values they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from linewitness.guard import interpreters
from linewitness.guard.fence import UNKNOWN
from linewitness.guard.options import split
from linewitness.guard.shell import NOTHING, Call, Given
from linewitness.guard.words import literal

_VALUED: Final[Mapping[str, tuple[str, ...]]] = {
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-r", "-t", "--user", "--group", "--chdir"),
    "doas": ("-u", "-C"),
    "env": ("-u", "-C", "-S", "--unset", "--chdir", "--split-string"),
    "nice": ("-n", "--adjustment"),
    "ionice": ("-c", "-n", "-p"),
    "timeout": ("-k", "-s", "--kill-after", "--signal"),
    "stdbuf": ("-i", "-o", "-e"),
    "time": ("-f", "-o"),
    "watch": ("-n", "-d"),
    "flock": ("-w", "-E", "-c"),
    "strace": ("-e", "-o", "-p", "-s"),
    "exec": ("-a",),
    "chrt": ("-p",),
    "taskset": ("-c", "-p"),
    "unshare": ("-S", "-G", "-R"),
    "uvx": ("--from", "--with", "--python"),
    "npx": ("-p", "--package", "-c"),
}
# How many operands stand before the command.
_BEFORE: Final = {"timeout": 1, "flock": 1, "taskset": 1, "chrt": 1}
_PLAIN: Final = (
    *(
        "sudo",
        "doas",
        "env",
        "nice",
        "ionice",
        "timeout",
        "stdbuf",
        "time",
        "nohup",
        "setsid",
        "command",
        "builtin",
        "exec",
    ),
    *("watch", "flock", "strace", "ltrace", "chrt", "taskset", "unshare", "catchsegv", "xvfb-run", "dbus-run-session"),
    *("uvx", "npx", "bunx", "pipx", "rtk", "proxychains", "gosu", "fakeroot", "caffeinate", "unbuffer", "chronic"),
)
# "uv run COMMAND": the word after which the command stands.
_RUNNERS: Final = {
    **dict.fromkeys(
        ("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "micromamba", "pixi"), ("run",)
    ),
    **dict.fromkeys(("pnpm", "yarn", "npm", "mise", "direnv", "bundle", "nix"), ("exec", "x", "dlx")),
}
_RUNNER_VALUES: Final = (
    "-n",
    "-p",
    "-e",
    "--name",
    "--prefix",
    "--python",
    "--with",
    "--extra",
    "--group",
    "--directory",
)


def _plain(call: Call) -> Given:
    parsed = split(call.words, _VALUED.get(call.name, ()), until_operand=True)
    shell = call.shell
    for text in parsed.values("-S", "--split-string") if call.name == "env" else ():
        shell.script(text)
    for folder in parsed.values("-C", "--chdir", "-D") if call.name in {"env", "sudo"} else ():
        shell = shell.copy()
        shell.enter(folder)
    words = list(parsed.operands[_BEFORE.get(call.name, 0) :])
    for text in parsed.values("-c") if call.name in {"flock", "npx"} else ():
        shell.script(text)
    while (
        words and call.name in {"env", "sudo", "doas"} and words[0].partition("=")[0].isidentifier() and "=" in words[0]
    ):
        name, _, value = words.pop(0).partition("=")
        shell.values[name] = (value,)
    if call.name == "pipx" and words[:1] == ["run"]:
        words = words[1:]
    if len(words) == 1 and " " in words[0]:  # watch and strace -f run a whole text
        shell.script(literal(words[0]))
        return NOTHING
    return shell.program(words, call.given) if words else NOTHING


def _runner(call: Call) -> Given:
    words = list(call.words)
    verbs = _RUNNERS[call.name]
    at = next((at for at, word in enumerate(words) if word in verbs), -1)
    if at < 0:
        return NOTHING
    parsed = split(words[at + 1 :], _RUNNER_VALUES, until_operand=True)
    return call.shell.program(parsed.operands, call.given) if parsed.operands else NOTHING


def _xargs(call: Call) -> Given:
    valued = (
        "-I",
        "-n",
        "-L",
        "-P",
        "-d",
        "-E",
        "-s",
        "-a",
        "--replace",
        "--max-args",
        "--delimiter",
        "--arg-file",
        "-i",
    )
    parsed = split(call.words, valued, until_operand=True)
    command = list(parsed.operands) or ["echo"]
    names: tuple[str, ...] = call.given.names or (UNKNOWN,)
    for file in parsed.values("-a", "--arg-file"):
        names = tuple((call.shell.content(file) or "").split()) or (UNKNOWN,)
    marks = parsed.values("-I", "--replace", "-i")
    mark = (marks[0] or "{}") if marks else ""
    if mark:
        for name in names:
            call.shell.program([word.replace(mark, name) for word in command])
    else:
        call.shell.program([*command, *names], NOTHING)
    return NOTHING


def _parallel(call: Call) -> Given:
    words = list(call.words)
    at = words.index(":::") if ":::" in words else len(words)
    names: Sequence[str] = words[at + 1 :] or call.given.names or (UNKNOWN,)
    command = list(split(words[:at], ("-j", "--jobs", "-a", "-S", "--colsep"), until_operand=True).operands)
    for name in names if command else ():
        with_mark = any("{}" in word for word in command)
        filled = [word.replace("{}", name) for word in command] if with_mark else [*command, name]
        if len(filled) == 1 or " " in filled[0]:
            call.shell.script(" ".join(map(literal, filled)))
        else:
            call.shell.program(filled)
    return NOTHING


def _eval(call: Call) -> Given:
    text = " ".join(call.words)
    if UNKNOWN not in text:
        call.shell.script(literal(text))
    elif why := call.shell.names(literal(text)):
        from linewitness.guard.agents import DeniedError

        raise DeniedError(f"what eval runs cannot be seen whole, and {why}")
    return NOTHING


def _cd(call: Call) -> Given:
    shell = call.shell
    operands = [word for word in call.words if word == "-" or not word.startswith("-")]
    target = operands[0] if operands else shell.environ.get("HOME", UNKNOWN)
    if call.name == "pushd":
        shell.stack.append(shell.folders)
    before = shell.folders
    if target == "-":
        target = UNKNOWN if "OLDPWD" not in shell.values else shell.values["OLDPWD"][0]
    shell.enter(target)
    shell.values["OLDPWD"] = before[:1]
    return NOTHING


def _popd(call: Call) -> Given:
    if call.shell.stack:
        call.shell.folders = call.shell.stack.pop()
    return NOTHING


def _declare(call: Call) -> Given:
    for word in call.words:
        name, equals, value = word.partition("=")
        if equals and name.isidentifier():
            call.shell.values[name] = (value,)
    return NOTHING


def _for(call: Call) -> Given:
    """``for NAME in WORDS``: inside of the loop the name has all of these values."""
    words = list(call.words)
    if len(words) > 1 and words[1] == "in":
        call.shell.values[words[0]] = tuple(words[2:]) or ("",)
    elif words:
        call.shell.values[words[0]] = (UNKNOWN,)
    return NOTHING


def _read(call: Call) -> Given:
    names = [word for word in call.words if not word.startswith("-")]
    for name in names:
        call.shell.values[name] = call.given.names or (UNKNOWN,)
    return call.given


def _su(call: Call) -> Given:
    parsed = split(call.words, ("-c", "--command", "-s", "-g"))
    for text in parsed.values("-c", "--command"):
        call.shell.script(text)
    return NOTHING


STARTERS: Final[Mapping[str, Callable[[Call], Given]]] = {
    **dict.fromkeys(_PLAIN, _plain),
    **dict.fromkeys(_RUNNERS, _runner),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh", "ash", "rbash", "fish", "mksh"), interpreters.shell_words),
    **dict.fromkeys(("busybox", "toybox"), interpreters.busybox),
    **dict.fromkeys(("export", "declare", "local", "readonly", "typeset"), _declare),
    **dict.fromkeys(("for", "select"), _for),
    **dict.fromkeys(("cd", "pushd", "chdir"), _cd),
    **dict.fromkeys(("read", "mapfile", "readarray"), _read),
    "popd": _popd,
    "xargs": _xargs,
    "parallel": _parallel,
    "eval": _eval,
    "trap": interpreters.trap,
    "su": _su,
}
