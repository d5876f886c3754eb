"""Line rules as data: what a language calls executable, written as queries over its tree-sitter grammar.

:mod:`table` says what a table holds, one module per language in :mod:`linewitness.languages` fills one in, and the
engine in this package turns a table into a :class:`linewitness.model.LineRule`: ``outline`` walks the tree once,
``classify`` puts changed lines into classes, ``demands`` says what evidence has to show for them.
"""
