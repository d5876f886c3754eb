"""The line rule for Python 3.9 to 3.14."""

from __future__ import annotations

from linewitness.languages.python import plain
from linewitness.languages.python.classify import classify
from linewitness.languages.python.demands import demands
from linewitness.model import Demand, FileClasses, FileText, LineOptions, Obligation


class PythonRule:
    """What Python calls executable. Implements :class:`linewitness.model.LineRule`."""

    name = "python"

    def classify(self, text: FileText, options: LineOptions) -> FileClasses:
        """Each changed line of a readable file that head holds, in exactly one class, and the deletion points."""
        settled = plain.classify(text)
        return classify(text, options) if settled is None else settled

    def demands(self, head: bytes, obligations: tuple[Obligation, ...]) -> tuple[Demand, ...]:
        """What evidence has to show for the obligations of one file (none of them opaque), in their order."""
        return demands(head, obligations)
