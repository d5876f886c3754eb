"""Programs that run a text: one-liners of languages, editors of streams, shells."""

from __future__ import annotations

import re
from typing import Final

from linewitness.guard.fence import UNKNOWN, WRITE
from linewitness.guard.options import Parsed, split
from linewitness.guard.shell import NOTHING, Call, Given

# For each language: the options with source in their value, and further options that take a value.
_LANGUAGES: Final = {
    "Python": (("-c",), ("-W", "-X", "-m")),
    "JavaScript": (("-e", "--eval", "-p", "--print", "-pe"), ("-r", "--require", "--import")),
    "Ruby": (("-e",), ("-r", "-I", "-C")),
    "Perl": (("-e", "-E"), ("-I", "-m", "-M")),
    "PHP": (("-r", "-R", "-B", "-E"), ("-d", "-c")),
    "Lua": (("-e",), ("-l",)),
    "R": (("-e",), ("-f",)),
    "AppleScript": (("-e",), ("-l",)),
    "PowerShell": (("-c", "-Command", "-command"), ("-File",)),
    "awk": (("-e", "--source"), ("-F", "-v", "-f", "-i")),
}
_NAMES: Final = (
    (re.compile(r"(?:python|pypy|ipython)[\d.]*w?|py"), "Python"),
    (re.compile(r"node(?:js)?\d*|deno|bun|tsx|ts-node|qjs"), "JavaScript"),
    (re.compile(r"j?ruby[\d.]*"), "Ruby"),
    (re.compile(r"perl[\d.]*|raku"), "Perl"),
    (re.compile(r"php[\d.]*"), "PHP"),
    (re.compile(r"lua(?:jit)?[\d.]*"), "Lua"),
    (re.compile(r"R(?:script)?"), "R"),
    (re.compile(r"osascript"), "AppleScript"),
    (re.compile(r"pwsh|powershell"), "PowerShell"),
    (re.compile(r"[gmn]?awk"), "awk"),
    (re.compile(r"g?sed"), "sed"),
)
_WROTE: Final = re.compile(r"(?:^|[\s;{}/0-9$,])[wW]\s+([^\s;}]+)")


def language(name: str) -> str | None:
    """The language of a program's name, or ``None``."""
    return next((found for pattern, found in _NAMES if pattern.fullmatch(name)), None)


def judge(call: Call, spoken: str) -> Given:
    """Judge what the texts in the command line say, and the files that are edited in place."""
    if spoken == "sed":
        return _sed(call)
    source, plus = _LANGUAGES[spoken]
    texts, operands, in_place = _parted(call, source, plus, spoken)
    if spoken == "awk" and not texts and operands:
        texts, operands = [operands[0]], operands[1:]
    if not texts and (not operands or operands[0] == "-") and call.given.text:
        texts = [call.given.text]
    for text in texts:
        call.shell.source_code(text, spoken)
        _arguments(call, text, operands, spoken)
    for operand in operands if in_place else ():
        call.shell.do(WRITE, operand)
    if spoken == "Python":
        _module(call)
    return NOTHING


def _parted(
    call: Call, source: tuple[str, ...], plus: tuple[str, ...], spoken: str
) -> tuple[list[str], list[str], bool]:
    """Sources, operands, and whether files are edited in place. Perl and Ruby join letters before ``e``: ``-pie``."""
    if spoken in {"Python", "PHP"}:
        parsed = split(call.words, (*source, *plus), until_operand=True)
        return parsed.values(*source), list(parsed.operands), False
    words = list(call.words)
    if spoken == "JavaScript" and words[:1] == ["eval"]:
        return words[1:2], words[2:], False
    parsed = split(words, (*source, *plus))
    in_place = spoken in {"Perl", "Ruby"} and any(
        re.match(r"-[a-zA-Z0-9]*i", word) and not word.startswith(("-I", "-e", "-M"))
        for word in words
        if word[:2] != "--"
    )
    texts = parsed.values(*source)
    if in_place and not texts:  # "-i.bake": everything after the letter was taken for the backup's suffix
        texts = [each for each in parsed.operands[:1] if any(char in each for char in " ;/(")]
        return texts, list(parsed.operands[len(texts) :]), True
    in_place = in_place or (spoken == "awk" and "inplace" in parsed.values("-i"))
    return texts, list(parsed.operands), in_place


def _arguments(call: Call, text: str, operands: list[str], spoken: str) -> None:
    """A text that writes to what its arguments name is judged by these."""
    from linewitness.guard.mentions import may_write

    reads_arguments = re.search(r"argv|ARGV|\$ARGV|\$1\b|args\b|<>", text)
    if spoken != "awk" and reads_arguments and may_write(text):
        for operand in operands:
            call.shell.do(WRITE, operand)


def _module(call: Call) -> None:
    parsed = split(call.words, ("-m", "-W", "-X", "-c"), until_operand=True)
    modules = parsed.values("-m")
    if modules and not parsed.has("-c"):
        words = list(call.words)
        at = words.index("-m") if "-m" in words else -1
        if at >= 0:
            call.shell.program([words[at + 1].partition(".")[0], *words[at + 2 :]], call.given)


def _sed(call: Call) -> Given:
    parsed = split(call.words, ("-e", "-f", "-l", "--expression", "--file", "--line-length"))
    scripts = parsed.values("-e", "--expression")
    operands = parsed.operands
    if not scripts and not parsed.has("-f", "--file"):
        scripts, operands = list(operands[:1]), operands[1:]
    for script in scripts:
        for name in _WROTE.findall(script):
            call.shell.do(WRITE, name)
    if _edits(parsed):
        for operand in operands:
            call.shell.do(WRITE, operand)
    return NOTHING


def _edits(parsed: Parsed) -> bool:
    return parsed.has("-i", "--in-place") or any(
        name == "-i" or name.startswith("--in-place") for name, _ in parsed.options
    )


def shell_words(call: Call) -> Given:
    """``bash -c TEXT``, and a shell that reads its commands from standard input."""
    valued = ("-c", "-o", "-O", "--rcfile", "--init-file")
    parsed = split(_plain(call.words), valued, until_operand=True)
    inner = call.shell.copy()
    for number, value in enumerate(parsed.operands[1:] if parsed.has("-c") else (), 1):
        inner.values[str(number)] = (value,)
    texts = parsed.values("-c")
    if not texts and not parsed.operands and call.given.text:
        texts = [call.given.text]
    for text in texts:
        if text == UNKNOWN:
            continue
        inner.script(text)
    return NOTHING


def _plain(words: tuple[str, ...]) -> list[str]:
    """``-lc`` and ``-euxo pipefail -c`` are common; the letter ``c`` takes the first operand, wherever it stands."""
    return [word if word == "-c" or not re.fullmatch(r"-[a-z]*c[a-z]*", word) else "-c" for word in words]


def busybox(call: Call) -> Given:
    """``busybox rm``, ``toybox rm``."""
    return call.shell.program(call.words, call.given) if call.words else NOTHING


def trap(call: Call) -> Given:
    """``trap TEXT SIGNAL``."""
    for text in call.words[:1]:
        call.shell.script(text)
    return NOTHING
