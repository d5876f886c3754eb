"""TypeScript, with TSX."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table
from linewitness.languages.javascript import COMMON

_MODULE: Final = "tree_sitter_typescript"

TABLE: Final = Table(
    name="typescript",
    title="TypeScript",
    extra="typescript",
    grammars=((".tsx", Grammar(_MODULE, "language_tsx")), ("", Grammar(_MODULE, "language_typescript"))),
    query=COMMON
    + """
(import_statement "type") @declaration
(import_statement (import_require_clause (identifier) @bound source: (_) @source)) @import
(import_alias) @import
(export_statement "type") @declaration
(export_statement "namespace") @declaration
(abstract_class_declaration) @class
(internal_module) @statement @class
(internal_module body: (_) @members)
[
  (interface_declaration) (type_alias_declaration) (ambient_declaration) (function_signature)
  (abstract_method_signature) (method_signature) (index_signature)
] @declaration
[(type_annotation) (type_arguments) (type_parameters) (implements_clause) (accessibility_modifier)] @type
(as_expression (_) . (_) @type)
(satisfies_expression (_) . (_) @type)
(required_parameter value: (_) @default @branch)
(optional_parameter value: (_) @default @branch)
(public_field_definition) @data
(public_field_definition value: (_)) @value
(enum_declaration) @class
(enum_body) @members
(enum_assignment) @statement
""",
    clauses=frozenset({"else", "try", "finally", "do", "default", "catch", "as", "satisfies"}),
    directives=rb"^<!--|^-->|@jsx(?:Frag|Runtime|ImportSource)?\b|\bwebpack\w+:|@vite-ignore|[#@]__\w+__",
    class_runs=True,
)
