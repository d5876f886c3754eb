"""A table as a line rule."""

from __future__ import annotations

from linewitness.languages.grammar.classify import classify
from linewitness.languages.grammar.table import Table
from linewitness.model import Demand, FileClasses, FileText, LineOptions, Obligation, RepoPath


class TableRule:
    """What the language of a table calls executable. Implements :class:`linewitness.model.LineRule`."""

    def __init__(self, table: Table, path: RepoPath) -> None:
        self.name = table.name
        self._table, self._path = table, path

    def classify(self, text: FileText, options: LineOptions) -> FileClasses:
        """Each changed line of a readable file that head holds, in exactly one class, and the deletion points."""
        return classify(self._table, text, options)

    def demands(self, head: bytes, obligations: tuple[Obligation, ...]) -> tuple[Demand, ...]:
        """What evidence has to show for the obligations of one file (none of them opaque), in their order."""
        from linewitness.languages.grammar.demands import demands

        return demands(self._table, self._path, head, obligations)
