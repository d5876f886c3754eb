"""The command line.

One module per command, each with ``NAME``, ``HELP``, ``configure(parser)`` and ``run(args) -> int``. Commands parse,
call the library and return a status. They see a :class:`linewitness.console.Console` as ``args.console``. Only
:mod:`linewitness.cli.main` turns failures into text and a status.
"""
