"""Options and operands of programs, in the manner of getopt."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from linewitness.values import NamedTuple


class Parsed(NamedTuple):
    """The options with their values (empty for a flag), as they stand, and everything else."""

    options: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]

    def values(self, *names: str) -> list[str]:
        """The values of all options with one of these names."""
        return [value for name, value in self.options if name in names]

    def has(self, *names: str) -> bool:
        """Whether one of these options is there."""
        return any(name in names for name, _ in self.options)


def split(words: Sequence[str], with_value: Collection[str] = (), *, until_operand: bool = False) -> Parsed:
    """Part options from operands. ``with_value`` are those that take the next word, or the rest of theirs.

    With ``until_operand`` everything from the first operand on is operands: the command that a program starts.
    """
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            options.append((name, value if equals else rest.pop(0) if name in with_value and rest else ""))
        elif word.startswith("-") and len(word) > 1:
            _short(word, with_value, rest, options)
        else:
            operands.append(word)
            if until_operand:
                operands += rest
                break
    return Parsed(tuple(options), tuple(operands))


def _short(word: str, with_value: Collection[str], rest: list[str], options: list[tuple[str, str]]) -> None:
    if word in with_value:
        options.append((word, rest.pop(0) if rest else ""))
        return
    for at, letter in enumerate(word[1:], 1):
        name = f"-{letter}"
        if name in with_value:
            value = word[at + 1 :]
            options.append((name, value or (rest.pop(0) if rest else "")))
            return
        options.append((name, word[at + 1 :] if letter == "i" else ""))
