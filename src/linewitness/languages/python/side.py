"""One side of a changed file, parsed, with the places of its definitions."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from tree_sitter import Node

from linewitness.languages.python.excerpt import excerpt
from linewitness.languages.python.imports import Imports
from linewitness.languages.python.lines import Lines
from linewitness.languages.python.outline import Outline, outline
from linewitness.languages.python.places import Places
from linewitness.languages.python.scopes import Scopes, all_extents
from linewitness.languages.python.tree import parse
from linewitness.languages.python.typing_only import TypingNames, mentions_typing, proved_names, typing_names
from linewitness.languages.source import Source, read


class Side:
    """Base or head. Everything is worked out when first asked for: most patches need little of it."""

    def __init__(self, raw: bytes) -> None:
        self.source: Source = read(raw)

    @cached_property
    def root(self) -> Node:
        """The root of the syntax tree."""
        return parse(self.source.data).root_node

    def root_for(self, lines: Collection[int]) -> Node:
        """The root of a tree that holds at least the top-level statements of the lines, at their places in the file.

        A file that is broken elsewhere cannot run, whatever these statements are taken for.
        """
        if "root" not in self.__dict__:
            kept = excerpt(self.source, lines)
            if kept is not None:
                root = parse(kept).root_node
                if not root.has_error:
                    return root
        return self.root

    @cached_property
    def scopes(self) -> Scopes:
        """The definitions by line, over the whole file."""
        return Scopes(all_extents(self.source, self.root))

    @property
    def broken(self) -> bool:
        """Whether the text is not valid Python as far as the grammar can tell."""
        return self.root.has_error

    @cached_property
    def outline(self) -> Outline:
        """All statements of the file: for the rare questions that look beyond the changed lines."""
        return outline(self.source, self.root)

    @cached_property
    def names(self) -> TypingNames:
        """What is proved to mean ``typing``'s names here."""
        return typing_names(self.source, self.root) if mentions_typing(self.source) else TypingNames()

    @cached_property
    def protocols(self) -> frozenset[bytes]:
        """What is proved to mean ``typing.Protocol`` here, as text."""
        return proved_names(b"Protocol", self.source, self.root)

    @cached_property
    def lines(self) -> Lines:
        """A look at any line of the file, over the full outline."""
        return Lines(self.outline, self.root, self.names)

    @cached_property
    def places(self) -> Places:
        """Where the nodes of the tree stand."""
        return Places(self.root)

    @cached_property
    def imports(self) -> Imports:
        """All imports of the file."""
        return Imports(self.source, self.root, self.places)
