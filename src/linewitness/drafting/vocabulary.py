"""The words that a drafted relation may use: names of the relations library, of pure functions, and builtins.

Modules are listed name by name, because a module is also a way to what it imports: ``statistics`` has a ``sys``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LIBRARY: Final = "linewitness.relations"

DECORATOR: Final = "relation"
SUBJECTS: Final = frozenset({"base", "isolated"})
# Laws at work, and how many of their first arguments have to be the product's own functions.
LAWS_AT_WORK: Final[Mapping[str, int]] = {
    "additive": 1, "agrees": 2, "commutes": 1, "compare": 1, "idempotent": 1, "round_trip": 2,
}  # fmt: skip
LAWS: Final = frozenset({"at_least", "at_most", "close", "multiple", "permutation", "same", "subset", "superset"})
TRANSFORMATIONS: Final = frozenset({
    "change", "drop", "duplicate", "permute", "prefix", "reverse", "rotate", "scale", "seeded", "shift", "sort",
})  # fmt: skip
LIBRARY_NAMES: Final = frozenset(
    {DECORATOR, "not_applicable", "outcome", "Raised", *SUBJECTS, *LAWS_AT_WORK, *LAWS, *TRANSFORMATIONS}
)

PURE: Final[Mapping[str, frozenset[str]]] = {
    "__future__": frozenset({"annotations"}),
    "base64": frozenset({"b64encode", "b64decode"}),
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque"}),
    "collections.abc": frozenset({"Callable", "Iterable", "Iterator", "Mapping", "Sequence"}),
    "copy": frozenset({"copy", "deepcopy"}),
    "decimal": frozenset({"Decimal"}),
    "fractions": frozenset({"Fraction"}),
    "functools": frozenset({"partial", "reduce"}),
    "itertools": frozenset({
        "accumulate", "chain", "combinations", "groupby", "islice", "pairwise", "permutations", "product", "repeat",
        "starmap", "takewhile", "dropwhile", "zip_longest",
    }),
    "json": frozenset({"dumps", "loads"}),
    "math": frozenset({"ceil", "floor", "fsum", "gcd", "inf", "isclose", "isfinite", "isnan", "prod", "sqrt", "trunc"}),
    "re": frozenset({"escape", "findall", "fullmatch", "match", "search", "split", "sub"}),
    "statistics": frozenset({"fmean", "mean", "median"}),
    "string": frozenset({"ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "punctuation", "whitespace"}),
    "textwrap": frozenset({"dedent", "indent"}),
    "typing": frozenset({"Any", "Callable", "Dict", "Iterable", "List", "Mapping", "Sequence", "Tuple"}),
    "unicodedata": frozenset({"normalize"}),
}  # fmt: skip

BUILTINS: Final = frozenset({
    "abs", "all", "any", "bool", "bytes", "chr", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int",
    "isinstance", "len", "list", "map", "max", "min", "ord", "pow", "range", "repr", "reversed", "round", "set",
    "sorted", "str", "sum", "tuple", "zip", "object",
    "ArithmeticError", "AttributeError", "Exception", "IndexError", "KeyError", "LookupError", "OverflowError",
    "RecursionError", "TypeError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "ValueError",
    "ZeroDivisionError",
})  # fmt: skip

# Methods and attributes that lead out of plain data: to code, frames, files, or to any attribute by its name.
FORBIDDEN_ATTRIBUTES: Final = frozenset({
    "ag_code", "ag_frame", "builtins", "cr_code", "cr_frame", "environ", "exec_module", "f_back", "f_builtins",
    "f_code", "f_globals", "f_locals", "format", "format_map", "func_globals", "gi_code", "gi_frame", "load_module",
    "mkdir", "modules", "mro", "open", "popen", "read_bytes", "read_text", "rmdir", "subprocess", "system", "tb_frame",
    "tb_next", "unlink", "write_bytes", "write_text",
})  # fmt: skip
