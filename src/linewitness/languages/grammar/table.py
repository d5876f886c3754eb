"""What one language has to say about its syntax: a table that the engine reads.

``query`` is a tree-sitter query (the `grammar's documentation`__ lists the node types; a pattern that names one that
does not exist fails as soon as the rule is used). It marks nodes with these names:

``@block``      holds statements: every named child that is not marked otherwise is one
``@members``    holds members of a class: as a block, and a child without a mark is a statement, too
``@statement``  is a statement wherever it stands; ``@clause`` likewise, for parts that are anchored at themselves
                (``else if``, ``catch``, ``case``)
``@body``       the suite of a statement or function: a block, or a single statement
``@expression`` the body of a closure: a block, or an expression that runs when the closure is called
``@function``   a definition with a body; ``@closure`` one without a name, inside an expression
``@class``      holds functions; ``@namespace`` names a scope and runs nothing itself
``@name``       the name of the definition around it, where the grammar has no field ``name`` for it
``@declaration`` has no code, whatever it holds; ``@data`` has none, save for the parts below that are ``@value``
``@value``      runs, inside of ``@data``, a header or a type
``@type``       is read by the compiler only (types, annotations), inside of code
``@import``     imports; ``@bound`` an item inside of it that binds a name, ``@source`` where from,
                ``@effect`` an import that runs something and binds nothing
``@label``      is the head of a ``@clause`` that is a ``@block`` as well, and no statement
``@branch``     chooses: a statement with its header, or an expression
``@operand``    may be skipped while its statement runs (arms of a conditional, right operands of ``&&``);
                ``@default`` the default of a parameter or pattern, with a place of its own; ``@chain`` what stands
                behind an optional chain; ``@assigned`` the value of a logical assignment; ``@late`` what runs at
                another time than the statement around it
``@arm``        ends one of several ways through its statement: the compiler may count on its line what all ways share
``@plain``      passes through: ``export`` before a declaration, say
``@text``       one token, whatever is inside: a string without interpolation
``@comment``    a comment; ``@test`` code that is compiled for tests only
``@constant``   a constant that the compiler may inline: the places that use its ``@bound`` name run in its stead
``@conditional`` decides at compile time whether what it holds, or what follows it, exists
``@heritage``   is a part of a class header that stands in its body
``@loose``      is text of which the white space at both ends is no part
``@heredoc``    where the text of a later ``@continued`` node belongs

__ https://tree-sitter.github.io/tree-sitter/using-parsers/queries/
"""

from __future__ import annotations

import re
from typing import Final

from linewitness.values import NamedTuple

MARKS: Final = frozenset({
    "block", "members", "statement", "clause", "body", "expression", "function", "closure", "class", "namespace",
    "name", "declaration", "data", "value", "type", "import", "bound", "source", "effect", "label", "branch", "operand",
    "default", "chain", "assigned", "late", "plain", "text", "comment", "test", "constant", "conditional", "heredoc",
    "continued", "heritage", "loose", "arm",
})  # fmt: skip


class Grammar(NamedTuple):
    """A tree-sitter grammar: the module of its wheel and the function in it that gives the language."""

    module: str
    entry: str = "language"


class Table(NamedTuple):
    """One language. ``grammars`` maps suffixes to grammars; the empty suffix stands for all others.

    ``extra`` is the name of the extra that installs the grammars. ``clauses`` are the words that introduce a suite and
    run nothing themselves (node types where a word is a node), ``closers`` the words that only end something.
    ``directives`` is a pattern of comments that the compiler, the runtime or a bundler obeys; such a comment is code.
    ``class_runs`` tells that a class definition is executed, ``empty_functions`` that a function may be without a body
    and run all the same, ``flat_conditionals`` that a condition of the compiler stands beside the code it is about.
    ``declared_defaults`` tells that the default of a parameter is evaluated where a function is called that is only
    declared here, and not written into the call by the compiler.
    ``unsafe`` is a pattern of text that makes the grammar's scanner crash: its characters beyond ASCII are shown to the
    grammar as underscores, of which there are as many as there were bytes.
    """

    name: str
    title: str
    extra: str
    grammars: tuple[tuple[str, Grammar], ...]
    query: str
    clauses: frozenset[str] = frozenset()
    closers: frozenset[str] = frozenset()
    directives: bytes = b""
    class_runs: bool = False
    empty_functions: bool = False
    flat_conditionals: bool = False
    declared_defaults: bool = False
    unsafe: bytes = b""

    def is_directive(self, comment: bytes) -> bool:
        """Whether a comment is code after all."""
        return bool(self.directives) and re.search(self.directives, comment) is not None

    def grammar(self, suffix: str) -> Grammar:
        """The grammar for files of a suffix."""
        known = dict(self.grammars)
        return known.get(suffix) or known[""]
