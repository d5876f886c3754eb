"""Judge hostile texts in every language, and list those that end a process, take seconds, or fail.

A text that the gate calls opaque because its grammar crashed is listed, and is no failure.

    python benchmarks/fuzz_grammars.py [--count 400] [--seed 1] [--seconds 30] [LANGUAGE ...]

Each text is a new file and the base of a changed one. It is judged in a child process that writes down how far it
came: one that dies, or is stopped, has named its text. The texts are the same for the same seed. Failing ones are
written to the folder of ``--keep``.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from linewitness.languages import classify, demands, tables
from linewitness.model import Blob, FileChange, FileText, Hunk, LineOptions, ObjectId, RepoPath

SAMPLES: Final = Path(__file__).parent.parent / "tests"
SUFFIXES: Final = {
    "bash": ("sh",), "c": ("c", "h"), "c-sharp": ("cs",), "cpp": ("cpp", "hpp"), "go": ("go",), "java": ("java",),
    "javascript": ("js",), "kotlin": ("kt",), "php": ("php",), "ruby": ("rb",), "rust": ("rs",), "scala": ("scala",),
    "swift": ("swift",), "typescript": ("ts", "tsx"), "python": ("py",),
}  # fmt: skip
#: Begin and end of what can be nested, in some language.
NESTS: Final = (
    ("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("a(", ")"), ("{ a: ", "}"), ("[a, ", "]"), ("if (a) {", "}"),
    ("if a; then ", "; fi"), ("${", "}"), ("$(", ")"), ('"${', '}"'), ('"#{', '}"'), ('"\\(', ')"'), ("`${", "}`"),
    ('$"{', '}"'), ('s"${', '}"'), ("/*", "*/"), ("<<A\n", "\nA\n"), ("f(<<~A)\n", "\nA\n"), ("#if A\n", "#endif\n"),
    ("a ? ", " : b"), ("a = ", ""), ("!", ""), ("-", ""), ("a + ", "b"), ("a.", "b"), ("a && ", "b"), ("() => ", "a"),
    ("\\", ""), ("'", "'"), ('"', '"'), ("<a>", "</a>"), ("class A { ", "}"), ("def f\n", "end\n"),
    ("begin\n", "end\n"),
    ("fn f() {", "}"), ("func f() {", "}"), ("do ", " done"), ("case a in b) ", ";; esac"), ("match a { b => ", "}"),
    ("when (a) { b -> ", "}"), ('r#"', '"#'), ("%w(", ")"), ("%Q{#{", "}}"), ("<?php ", "?>"), ("@a(", ")"),
    ("#[a(", ")]"), ("a<", ">"), ("[[", "]]"), ("((", "))"), ("<<<A\n", "\nA;\n"), ("(*", "*)"), ("else ", ""),
)  # fmt: skip
#: What the scanners of grammars look at: ends of strings, here-documents, indentation, raw strings. In the notation of
#: Python's bytes, between blanks.
_PIECES: Final = r"""
<<A <<-A <<~A <<'A' <<"A" <<<A <<<'A' \nA\n \nA;\n #{ ${ \\( \x22\x22\x22 \x27\x27\x27 ` " ' r#" r##" "# R"a(
)a" /* */ // # /** <!-- --> ?> <?php <?= %w[ %q( %r{ % ] ) } { ( [ : ; \\ \\\n \n \n\n \n\x20\x20 \n\t
\n\x20\x20\x20\x20\x20\x20\x20\x20 \r\n \r \x00 \xff \xc3 \xf0\x9f\x98\x80 \xef\xbb\xbf \xe2\x80\xa8 =begin\n
\n=end\n __END__\n #if\x20A\n #else\n #endif\n @" $" $@"{ $$\x22\x22\x22 {{ }} <a> </a> </ /> & && || ?? ?. =>
-> .. ... :: ! ? = == ~ ^ | < > >> <- @ @a #! #[a] if else end do done fi then case esac in match catch
finally def\x20f fn\x20f func\x20f fun\x20f class\x20A extends with given using enum\x20A val\x20a var\x20a
let\x20a 1 0x 1e 1. .1 1_000 'a a A \x20 \t \x0b \x0c async await async\n throws where try! as?
#sourceLocation( ##" "## /a/ #/a/# $( $(( `a` [[
"""
PIECES: Final = tuple(each.encode("ascii").decode("unicode_escape").encode("latin-1") for each in _PIECES.split())
_ENDS: Final = ("", "opaque", "exception")


class Case(NamedTuple):
    """One text and what it is."""

    name: str
    data: bytes


class Result(NamedTuple):
    """How the judgement of a text ended: after how many seconds of the processor, and with what."""

    case: Case
    seconds: float
    end: str


def sources(language: str) -> list[bytes]:
    """The real files of a language among the tests' fixtures."""
    found = [path for suffix in SUFFIXES[language] for path in sorted(SAMPLES.rglob(f"*.{suffix}"))]
    return [path.read_bytes() for path in found][:40] or [b"a\n"]


def cases(language: str, count: int, seed: int) -> Iterator[Case]:
    """All texts for a language: nests and huge tokens first, then ``count`` of each kind of random text."""
    draw = random.Random(f"{language}:{seed}")
    texts = sources(language)
    start = b"<?php\n" if language == "php" else b""
    yield from _nests(start)
    yield from _huge(start)
    for number in range(count):
        yield Case(f"bytes {number}", draw.randbytes(draw.randrange(1, 400)))
        yield Case(f"pieces {number}", start + b"".join(draw.choices(PIECES, k=draw.randrange(1, 60))))
        text = draw.choice(texts)
        yield Case(f"cut {number}", text[: draw.randrange(len(text) + 1)])
        yield Case(f"mutated {number}", _mutated(text, draw))
        yield Case(f"ends {number}", draw.choice((_carriage_returns, _marks))(text, draw))


def _nests(start: bytes) -> Iterator[Case]:
    for opening, closing in NESTS:
        for depth in (60, 1000, 5000):
            inner = opening.encode() * depth
            yield Case(f"{depth} open {opening!r}", start + inner)
            yield Case(f"{depth} nested {opening!r}", start + inner + b"a" + closing.encode() * depth)
            if depth == 1000:
                lines = b"".join(b" " * (n % 300) + opening.encode() + b"\n" for n in range(depth))
                yield Case(f"{depth} lines of {opening!r}", start + lines)


def _huge(start: bytes) -> Iterator[Case]:
    for token in (
        b"a",
        b"1",
        b" ",
        b"\n",
        b"\t\n",
        b"\\",
        b"#",
        b"/",
        b"*",
        b"\0",
        b"\xff",
        b"\xc3\xa9",
        b"\r",
        b"<",
        b"=",
        b";",
    ):
        yield Case(f"huge {token!r}", start + token * (200_000 // len(token)))
    for opening in (
        b"'",
        b'"',
        b"`",
        b"<<",
        b"<<<",
        b'r#"',
        b'R"',
        b"%q",
        b"/*",
        b"//",
        b"#",
        b"@",
        b"$",
        b"'''",
        b'"""',
        b"<",
    ):
        yield Case(f"huge after {opening!r}", start + opening + b"a" * 200_000)
    for delimiter in (b"<<%s\n%s\n", b"<<-%s\n%s\n", b"<<~%s\n%s\n", b"<<<%s\n%s;\n", b'R"%s()%s"', b"<%s></%s>"):
        for size in (15, 16, 17, 255, 256, 257, 1023, 1024, 1025, 5000, 70_000):
            name = b"A" * size
            yield Case(
                f"delimiter of {size} in {delimiter!r}",
                start + delimiter % (name, name) + b"\n" + delimiter % (name, name),
            )
    for number in (10, 255, 256, 257, 2000):
        heads = b" ".join(b"<<A%d" % n for n in range(number))
        yield Case(
            f"{number} here-documents", start + b"cat " + heads + b"\n" + b"".join(b"A%d\n" % n for n in range(number))
        )
        yield Case(f"raw string of {number}", start + b"r" + b"#" * number + b'"a"' + b"#" * number)
        yield Case(f"{number} indents", start + b"".join(b" " * n + b"if a:\n" for n in range(number)) + b"a\n")
        yield Case(f"{number} quotes", start + b'"' * number + b"a" + b'"' * number)


def _mutated(text: bytes, draw: random.Random) -> bytes:
    parts = bytearray(text)
    for _ in range(draw.randrange(1, 12)):
        at = draw.randrange(len(parts) + 1)
        length = draw.choice((0, 0, 1, 2, 8, 60))
        choice = draw.randrange(4)
        if choice == 0:
            parts[at : at + length] = draw.choice(PIECES) * draw.choice((1, 1, 1, 2, 30))
        elif choice == 1:
            parts[at : at + length] = b""
        elif choice == 2:
            other = draw.randrange(len(parts) + 1)
            parts[at:at] = parts[other : other + draw.randrange(200)]
        else:
            parts[at : at + 1] = draw.randbytes(1)
    return bytes(parts)


def _carriage_returns(text: bytes, draw: random.Random) -> bytes:
    return b"".join(line + draw.choice((b"\n", b"\r\n", b"\r", b"\n\r")) for line in text.split(b"\n"))


def _marks(text: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(text) + 1)
    mark = draw.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0"))
    return mark * draw.choice((1, 2)) + text[:at] + mark + text[at:]


def judge(language: str, data: bytes) -> bool:
    """All questions that the gate asks about a text, as a new file and as the base of a changed one.

    Tells whether the grammar crashed or came to no end, which the gate answers with an opaque change.
    """
    path = RepoPath(f"a.{SUFFIXES[language][0]}")
    blob, other = Blob(0o100644, ObjectId("0" * 40)), Blob(0o100644, ObjectId("1" * 40))
    lines = _lines(data)
    added = FileText(FileChange(path, path, None, blob), None, data, (Hunk(1, 0, 1, lines),))
    head = b"<?php\nf();\n" if language == "php" else b"f();\n"
    changed = FileText(FileChange(path, path, other, blob), data, head, (Hunk(1, lines, 1, _lines(head)),))
    refused = False
    for text in (added, changed):
        found = classify(text, LineOptions(), lambda _: False).obligations
        if found and found[0].line:
            demands(text, found)
        refused = refused or any("the grammar" in each.note for each in found)
    return refused


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))


def run(todo: Sequence[Case], question: Callable[[bytes], bool], seconds: float, memory: int) -> Iterator[Result]:
    """The results of all cases. A child that ends early has failed at the case it was at; another one goes on."""
    at = 0
    while at < len(todo):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            _work(todo, at, question, (seconds, memory), writing)
        os.close(writing)
        began = time.perf_counter()
        with os.fdopen(reading, "rb") as stream:
            while record := stream.read(9):
                spent, end = struct.unpack("<db", record)
                yield Result(todo[at], spent, _ENDS[end])
                at += 1
                began = time.perf_counter()
        _, status = os.waitpid(child, 0)
        if at < len(todo):
            yield Result(todo[at], time.perf_counter() - began, _why(status))
            at += 1


def _why(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit {os.waitstatus_to_exitcode(status)}"


def _work(
    todo: Sequence[Case], at: int, question: Callable[[bytes], bool], limits: tuple[float, int], out: int
) -> None:
    seconds, memory = limits
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with suppress(BaseException):
        for case in todo[at:]:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            began, end = time.process_time(), 0
            try:
                end = int(question(case.data))
            except Exception:  # noqa: BLE001 - whatever it is, the text that causes it is what we look for
                end = 2
                print(f"{case.name}:", traceback.format_exc().strip().splitlines()[-1][:300], file=sys.stderr)
            os.write(out, struct.pack("<db", time.process_time() - began, end))
    os._exit(0)


def main() -> int:
    """Print each text that failed or was slow; the exit status is 1 when there was one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("languages", nargs="*", default=[*sorted(tables.MODULES), "python"])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--memory", type=int, default=3 << 30, metavar="BYTES")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    bad = 0
    for language in args.languages:
        todo = list(cases(language, args.count, args.seed))
        worst = Result(todo[0], 0.0, "")
        for result in run(todo, lambda data, name=language: judge(name, data), args.seconds, args.memory):  # type: ignore[misc]
            worst = max(worst, result, key=lambda each: each.seconds)
            if result.end or result.seconds > args.seconds / 2:
                bad += result.end != "opaque"
                print(
                    f"{language}: {result.case.name}: {result.end or 'slow'} after {result.seconds:.1f} s", flush=True
                )
                if args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    (args.keep / f"{language}-{result.case.name[:40].replace('/', '_')}").write_bytes(result.case.data)
        print(f"{language}: {len(todo)} texts, the slowest {worst.seconds:.2f} s: {worst.case.name}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
