"""JavaScript, with JSX."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

#: What TypeScript shares.
COMMON: Final = """
[(comment) (html_comment) (hash_bang_line)] @comment
[(string)] @text
(jsx_text) @loose
(template_string . "`" . (string_fragment)? . "`" .) @text
[(program) (statement_block)] @block
(class_body) @members
(import_statement) @import
(import_statement !source) @import
(import_statement source: (_) @source)
(import_specifier) @bound
(namespace_import) @bound
(import_clause (identifier) @bound)
(import_statement . "import" . source: (_)) @effect
(export_statement declaration: (_)) @plain
(export_statement source: (_) @source) @import
(export_specifier) @bound
(decorator) @statement

(function_declaration body: (_) @body) @function
(generator_function_declaration body: (_) @body) @function
(method_definition body: (_) @body) @function
(function_expression body: (_) @expression) @closure
(generator_function body: (_) @expression) @closure
(arrow_function body: (_) @expression) @closure
(class_declaration) @class
(class) @class
(class_static_block body: (_) @body) @statement
(assignment_pattern right: (_) @default @branch)
(object_assignment_pattern right: (_) @default @branch)

(variable_declaration) @data
(lexical_declaration) @data
(variable_declarator value: (_)) @value
(for_in_statement left: (_) @value)
(program . (comment)* . (expression_statement . (string) .) @declaration)
(statement_block . (comment)* . (expression_statement . (string) .) @declaration)

(if_statement consequence: (_) @body) @branch
(else_clause (_) @body) @clause
(else_clause (if_statement) @clause @branch)
(for_statement body: (_) @body) @branch
(for_statement increment: (_) @operand)
(for_in_statement body: (_) @body) @branch
(while_statement body: (_) @body) @branch
(do_statement body: (_) @body) @branch
(with_statement body: (_) @body) @branch
(labeled_statement body: (_) @body)
(switch_statement) @branch
(switch_case value: (_) @label) @clause @block @branch
(switch_default) @clause @block @branch
(try_statement body: (_) @body)
(catch_clause body: (_) @body) @clause @branch
(catch_clause parameter: (_) @value)
(finally_clause body: (_) @body) @clause

(ternary_expression consequence: (_) @operand alternative: (_) @operand) @branch
(binary_expression operator: ["&&" "||" "??"] right: (_) @operand) @branch
(augmented_assignment_expression operator: ["&&=" "||=" "??="] right: (_) @assigned) @branch
(call_expression function: (member_expression (optional_chain)) arguments: (_) @chain)
"""

TABLE: Final = Table(
    name="javascript",
    title="JavaScript",
    extra="javascript",
    grammars=(("", Grammar("tree_sitter_javascript")),),
    query=COMMON
    + """
(call_expression (optional_chain) arguments: (_) @chain)
(subscript_expression (optional_chain) index: (_) @chain)
(field_definition) @data
(field_definition value: (_)) @value
""",
    clauses=frozenset({"else", "try", "finally", "do", "default", "catch"}),
    directives=rb"^<!--|^-->|@jsx(?:Frag|Runtime|ImportSource)?\b|\bwebpack\w+:|@vite-ignore|[#@]__\w+__",
    class_runs=True,
)
