"""Go."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="go",
    title="Go",
    extra="go",
    grammars=(("", Grammar("tree_sitter_go")),),
    query="""
(comment) @comment
(source_file (comment) @text . (import_declaration (import_spec path: (_) @_p)) (#eq? @_p "\\"C\\""))
[(interpreted_string_literal) (raw_string_literal)] @text
[(source_file) (statement_list)] @block
(package_clause) @declaration
(import_declaration) @import
(import_spec) @bound
(import_spec name: [(blank_identifier) (dot)]) @effect
(type_declaration) @declaration

(function_declaration body: (_) @body) @function
(function_declaration !body) @declaration
(method_declaration body: (_) @body) @function
(func_literal body: (_) @expression) @closure
(block) @block

[(var_declaration) (const_declaration)] @data
(const_declaration) @constant
(var_spec value: (_)) @value
(const_spec name: (_) @bound) @value

(if_statement consequence: (_) @body) @branch
(if_statement alternative: (block) @body)
(if_statement alternative: (if_statement) @clause)
(for_statement body: (_) @body) @branch
(for_clause update: (_) @operand)
(labeled_statement (_) @body .)
[(expression_switch_statement) (type_switch_statement) (select_statement)] @branch
(expression_case value: (_) @label) @clause @block @branch
(type_case type: (_) @label) @clause @block @branch
(communication_case communication: (_) @label) @clause @block @branch
(default_case) @clause @block @branch

(binary_expression operator: ["&&" "||"] right: (_) @operand) @branch
""",
    directives=rb"^//go:|^//\s*\+build\b|^//export\b|^(?://|/\*)line ",
    clauses=frozenset({"else", "default"}),
)
