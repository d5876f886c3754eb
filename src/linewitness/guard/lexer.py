"""The text of a POSIX or bash command line as commands, as far as they can be seen without running it.

Control flow is not interpreted: the commands of both arms of an ``if``, of a loop's body and of a function are simply
commands, one after the other. What is kept is what decides about files: words with their expansions, redirections,
here-documents, pipelines, and which commands run in a shell of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from linewitness.values import NamedTuple

_BLANK: Final = " \t\r"
_ENDS_WORD: Final = frozenset(" \t\r\n;&|<>()")
_KEYWORDS: Final = frozenset(
    {"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "esac", "coproc"}
)
_REDIRECTS: Final = ("<<<", "<<-", "&>>", "<<", ">>", ">|", "<>", ">&", "<&", "&>", ">", "<")
_SEPARATORS: Final = (";;&", ";;", ";&", "||", "&&", "|&", ";", "|", "\n", "&")
_DEPTH: Final = 40


class UnclearError(Exception):
    """The text is no complete command line, or goes deeper than anybody writes by hand."""


class Part(NamedTuple):
    """A piece of a word: ``text`` (quoted or not), ``variable`` (what the braces hold) or ``command`` (its text)."""

    kind: str
    text: str
    quoted: bool = False


Word = tuple[Part, ...]


class Redirect(NamedTuple):
    """A redirection; ``body`` is the text of a here-document or a here-string."""

    operator: str
    target: Word
    body: Word | None = None


class Command(NamedTuple):
    """A simple command. ``inner`` holds the commands of a subshell that stands in its place."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    assigned: tuple[tuple[str, Word], ...]
    inner: tuple[Pipeline, ...] | None = None


Pipeline = tuple[Command, ...]


def parse(text: str, depth: int = 0) -> tuple[Pipeline, ...]:
    """The pipelines of a script, in order. Errors: :class:`UnclearError`."""
    lexer = _Lexer(text, depth)
    found = tuple(lexer.pipelines(closing=False))
    # The body of a here-document stands after the line that asks for it, so it is put in at the end.
    return tuple(lexer.filled(pipeline) for pipeline in found)


class _Lexer:
    def __init__(self, text: str, depth: int) -> None:
        if depth > _DEPTH:
            raise UnclearError
        self.text = text
        self.at = 0
        self.depth = depth
        self._waiting: list[tuple[int, str, bool, bool]] = []
        self._bodies: dict[int, Word] = {}

    # ------------------------------------------------------------ commands

    def pipelines(self, *, closing: bool) -> Iterator[Pipeline]:
        """Pipelines up to the end of the text, or up to the closing parenthesis, which is left standing."""
        line: list[Command] = []
        open_pipe = False
        while True:
            self._blanks()
            if self.at >= len(self.text):
                if closing:
                    raise UnclearError
                break
            if self.text[self.at] == ")":
                if closing:
                    break
                self.at += 1  # the end of a pattern in a case statement
                yield from self._finished(line)
                line = []
            elif operator := self._separator():
                open_pipe = operator in {"|", "|&"} or (open_pipe and operator == "\n")
                if not open_pipe:
                    yield from self._finished(line)
                    line = []
            else:
                line.append(self._command())
                open_pipe = False
        yield from self._finished(line)

    @staticmethod
    def _finished(line: list[Command]) -> Iterator[Pipeline]:
        if line:
            yield tuple(line)

    def filled(self, pipeline: Pipeline) -> Pipeline:
        """The pipeline with the bodies of its here-documents. Errors: :class:`UnclearError` when one is missing."""
        return tuple(self._filled(command) for command in pipeline)

    def _filled(self, command: Command) -> Command:
        redirects = tuple(map(self._with_body, command.redirects))
        inner = None if command.inner is None else tuple(map(self.filled, command.inner))
        return command._replace(redirects=redirects, inner=inner)

    def _with_body(self, redirect: Redirect) -> Redirect:
        if redirect.operator not in {"<<", "<<-"}:
            return redirect
        number = int(redirect.target[0].text)
        if number not in self._bodies:
            raise UnclearError
        return redirect._replace(body=self._bodies[number])

    def _separator(self) -> str:
        for operator in _SEPARATORS:
            if self.text.startswith(operator, self.at):
                if operator == "&" and self.text.startswith("&>", self.at):
                    return ""
                self.at += len(operator)
                if operator == "\n":
                    self._read_bodies()
                return operator
        return ""

    def _command(self) -> Command:
        words: list[Word] = []
        redirects: list[Redirect] = []
        assigned: list[tuple[str, Word]] = []
        inner: tuple[Pipeline, ...] | None = None
        start = self.at
        while True:
            self._blanks()
            if self.at >= len(self.text):
                break
            if redirect := self._redirect():
                redirects.append(redirect)
                continue
            char = self.text[self.at]
            if char == "(":
                if self._arithmetic():
                    continue
                inner = self._subshell()
                if inner is None:
                    break  # the head of a function; its body are commands like others
                continue
            if char in _ENDS_WORD and not self.text.startswith(("<(", ">("), self.at):
                break
            word = self._word()
            if words or not self._is_start(word, assigned):
                words.append(word)
        if self.at == start:
            raise UnclearError
        return Command(tuple(words), tuple(redirects), tuple(assigned), inner)

    def _is_start(self, word: Word, assigned: list[tuple[str, Word]]) -> bool:
        """Whether a word stands before the command's name: an assignment, a keyword, a whole condition."""
        if name := _assignment(word):
            assigned.append((name, self._value(word)))
        elif _bare(word) == "[[":
            self._condition()
        elif _bare(word) not in _KEYWORDS:
            return False
        return True

    def _subshell(self) -> tuple[Pipeline, ...] | None:
        """The commands in parentheses; ``None`` for the empty ones of a function's definition."""
        self.at += 1
        self.depth += 1
        if self.depth > _DEPTH:
            raise UnclearError
        found = tuple(self.pipelines(closing=True))
        self.depth -= 1
        self.at += 1
        return found or None

    def _arithmetic(self) -> bool:
        if not self.text.startswith("((", self.at):
            return False
        end = self.text.find("))", self.at)
        # "((" may also open two subshells: then what is inside is read as commands.
        if end < 0 or any(char in self.text[self.at : end] for char in "\n;'\""):
            return False
        self.at = end + 2
        return True

    def _condition(self) -> None:
        end = self.text.find("]]", self.at)
        if end < 0:
            raise UnclearError
        self.at = end + 2

    def _value(self, word: Word) -> Word:
        """The value of an assignment; an array's values are one text with blanks between."""
        first = word[0].text.partition("=")[2]
        rest = (Part("text", first), *word[1:]) if first else word[1:]
        if rest or not self.text.startswith("(", self.at):
            return rest
        self.at += 1
        values: list[Part] = []
        while True:
            self._skip()
            if self.at >= len(self.text):
                raise UnclearError
            if self.text[self.at] == ")":
                self.at += 1
                return tuple(values)
            if self.text[self.at] in _ENDS_WORD:
                raise UnclearError
            values += (*self._word(), Part("text", " "))

    # ------------------------------------------------------------ redirections

    def _redirect(self) -> Redirect | None:
        start = self.at
        while self.at < len(self.text) and self.text[self.at].isdigit():
            self.at += 1
        if self.text.startswith("{", self.at) and start == self.at:  # {fd}> chooses a free descriptor
            end = self.text.find("}", self.at)
            if end > 0 and self.text[self.at + 1 : end].isidentifier() and self.text[end + 1 : end + 2] in {"<", ">"}:
                self.at = end + 1
        if self.text.startswith(("<(", ">("), self.at):
            self.at = start
            return None
        operator = next((each for each in _REDIRECTS if self.text.startswith(each, self.at)), None)
        if operator is None or (operator.startswith("&") and start != self.at):
            self.at = start
            return None
        self.at += len(operator)
        self._blanks()
        if operator in {"<<", "<<-"}:
            return self._here_document(operator)
        target = self._word()
        return Redirect(operator, target, target if operator == "<<<" else None)

    def _here_document(self, operator: str) -> Redirect:
        word = self._word()
        number = len(self._waiting) + len(self._bodies)
        literal = any(part.quoted for part in word)
        self._waiting.append((number, "".join(part.text for part in word), literal, operator == "<<-"))
        return Redirect(operator, (Part("text", str(number)),))

    def _read_bodies(self) -> None:
        for number, end, literal, tabs in self._waiting:
            lines = []
            while True:
                if self.at >= len(self.text):
                    break  # a shell takes the end of the text for the end of the document
                stop = self.text.find("\n", self.at)
                stop = len(self.text) if stop < 0 else stop
                line = self.text[self.at : stop]
                self.at = min(stop + 1, len(self.text))
                line = line.lstrip("\t") if tabs else line
                if line == end:
                    break
                lines.append(line + "\n")
            body = "".join(lines)
            self._bodies[number] = (Part("text", body, True),) if literal else _Lexer(body, self.depth + 1).expanded()
        self._waiting = []

    def expanded(self) -> Word:
        """The whole text as if it stood between double quotes."""
        return tuple(self._double(""))

    # ------------------------------------------------------------ words

    def _word(self) -> Word:
        parts: list[Part] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if self.text.startswith(("<(", ">("), self.at):
                self.at += 1
                parts.append(Part("command", self._parenthesis(), True))
            elif char in _ENDS_WORD:
                break
            else:
                parts += self._piece(char)
        if not parts:
            raise UnclearError
        return tuple(parts)

    def _piece(self, char: str) -> Iterator[Part]:
        self.at += 1
        if char == "'":
            yield Part("text", self._until("'"), True)
        elif char == '"':
            yield Part("text", "", True)
            yield from self._double('"')
        elif char == "\\":
            following = self.text[self.at : self.at + 1]
            self.at += 1
            if following != "\n":
                yield Part("text", following, True)
        elif char == "$":
            yield from self._dollar(quoted=False)
        elif char == "`":
            yield Part("command", self._until("`").replace("\\`", "`"))
        else:
            start = self.at - 1
            while (
                self.at < len(self.text)
                and self.text[self.at] not in _ENDS_WORD
                and self.text[self.at] not in "'\"\\$`"
            ):
                self.at += 1
            yield Part("text", self.text[start : self.at])

    def _double(self, end: str) -> Iterator[Part]:
        text: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == end:
                yield Part("text", "".join(text), True)
                return
            if char == "\\" and self.text[self.at : self.at + 1] in {"$", "`", '"', "\\", "\n"}:
                text.append(self.text[self.at].replace("\n", ""))
                self.at += 1
            elif char in "$`":
                yield Part("text", "".join(text), True)
                text = []
                yield from self._dollar(quoted=True) if char == "$" else [Part("command", self._until("`"), True)]
            else:
                text.append(char)
        if end:
            raise UnclearError
        yield Part("text", "".join(text), True)

    def _dollar(self, *, quoted: bool) -> Iterator[Part]:
        following = self.text[self.at : self.at + 1]
        if self.text.startswith("((", self.at):
            end = self.text.find("))", self.at)
            if end < 0:
                raise UnclearError
            self.at = end + 2
            yield Part("variable", "#", quoted)
        elif following == "(":
            yield Part("command", self._parenthesis(), quoted)
        elif following == "{":
            yield Part("variable", self._brace(), quoted)
        elif following == "'" and not quoted:
            self.at += 1
            yield Part("text", self._ansi(), True)
        elif following == '"' and not quoted:
            self.at += 1
            yield from self._double('"')
        elif following and (following.isalnum() or following in "_@*#?-$!"):
            start = self.at
            self.at += 1
            while (
                following.isidentifier() and self.at < len(self.text) and self.text[start : self.at + 1].isidentifier()
            ):
                self.at += 1
            yield Part("variable", self.text[start : self.at], quoted)
        else:
            yield Part("text", "$", quoted)

    def _parenthesis(self) -> str:
        """The text between parentheses, read as commands so that quotes and comments in it are understood."""
        start = self.at + 1
        inner = _Lexer(self.text[start:], self.depth + 1)
        for _ in inner.pipelines(closing=True):
            pass
        # The inner text may have been rewritten, its length never.
        self.at = start + inner.at + 1
        return self.text[start : self.at - 1]

    def _brace(self) -> str:
        start, level = self.at + 1, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "\\":
                self.at += 1
            elif char == "{":
                level += 1
            elif char == "}":
                level -= 1
                if level == 0:
                    return self.text[start : self.at - 1]
        raise UnclearError

    def _ansi(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += 2 if self.text[self.at] == "\\" else 1
        if self.at >= len(self.text):
            raise UnclearError
        raw = self.text[start : self.at]
        self.at += 1
        try:
            return raw.encode("latin-1", "backslashreplace").decode("unicode_escape")
        except UnicodeDecodeError:
            raise UnclearError from None

    def _until(self, end: str) -> str:
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == end:
                self.at += 1
                return self.text[start : self.at - 1]
            self.at += 2 if char == "\\" and end == "`" else 1
        raise UnclearError

    # ------------------------------------------------------------ between words

    def _blanks(self) -> None:
        while self.at < len(self.text):
            if self.text[self.at] in _BLANK:
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            else:
                break
        if self.text.startswith("#", self.at) and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|("):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def _skip(self) -> None:
        """Blanks, and the ends of lines before a command."""
        self._blanks()
        while self.text.startswith("\n", self.at):
            self.at += 1
            self._read_bodies()
            self._blanks()


def _bare(word: Word) -> str:
    """The word's text when it is nothing but unquoted text."""
    return word[0].text if len(word) == 1 and word[0].kind == "text" and not word[0].quoted else ""


def _assignment(word: Word) -> str:
    """The name that a word assigns to, or nothing."""
    first = word[0]
    name, equals, _ = first.text.partition("=")
    if first.kind != "text" or first.quoted or not equals:
        return ""
    name = name.removesuffix("+").partition("[")[0]
    return name if name.isidentifier() else ""
