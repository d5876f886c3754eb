"""Filters for system calls: small programs that refuse a call for the sake of one of its arguments.

See seccomp(2), "struct seccomp_data", and linux/bpf_common.h for the numbers. A filter sees arguments that are numbers
and not what they point to.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from typing import Final

from linewitness.values import NamedTuple

X86_64, I386, AARCH64, ARM = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028
"""Architectures in the audit numbering (linux/audit.h)."""
X32: Final = 0x40000000
"""Added to the numbers of calls that 64-bit programs with 32-bit pointers make on x86-64."""

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO, to which the error is added
_Step = tuple[int, int, int, int]


class Rule(NamedTuple):
    """Calls with one of the ``numbers`` fail with ``error``, by their ``argument`` (counted from 0, 32 bits of it).

    ``refused`` are the values with which they do; without any, all values do that are not ``allowed``.
    """

    numbers: tuple[int, ...]
    argument: int
    error: int
    refused: tuple[int, ...] = ()
    allowed: tuple[int, ...] = ()


def program(machines: Mapping[str, Mapping[int, Iterable[Rule]]]) -> bytes | None:
    """The filter for this machine, as bubblewrap and seccomp(2) take it; ``None`` for one that is not listed.

    ``machines`` gives, by the name that ``uname`` has, the rules of each architecture whose programs it runs.
    """
    rules = machines.get(os.uname().machine)
    if rules is None:
        return None
    steps: list[_Step] = []
    for architecture, wanted in rules.items():
        block = [(_LOAD, 0, 0, _NUMBER), *(step for rule in wanted for step in _steps(rule)), (_RETURN, 0, 0, _ALLOW)]
        steps += [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 0, len(block), architecture), *block]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def _steps(rule: Rule) -> Iterable[_Step]:
    """For each number the way to an answer, which is jumped over by calls of another number."""
    listed, otherwise = (_REFUSE + rule.error, _ALLOW) if rule.refused else (_ALLOW, _REFUSE + rule.error)
    answer: list[_Step] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument)]
    for value in rule.refused or rule.allowed:
        answer += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, listed)]
    answer.append((_RETURN, 0, 0, otherwise))
    for number in rule.numbers:
        yield from [(_EQUAL, 0, len(answer), number), *answer]
