"""Swift."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="swift",
    title="Swift",
    extra="swift",
    grammars=(("", Grammar("tree_sitter_swift")),),
    query="""
[(comment) (multiline_comment) (shebang_line)] @comment
(line_string_literal . "\\"" . (line_str_text)? . "\\"" .) @text
[(multi_line_string_literal) (raw_string_literal)] @text
[(source_file) (statements) (function_body)] @block
[(class_body) (enum_class_body)] @members
(import_declaration) @declaration
[(typealias_declaration) (associatedtype_declaration) (protocol_declaration) (operator_declaration)] @declaration
[(precedence_group_declaration) (macro_declaration)] @declaration
[(attribute) (type_parameters) (type_annotation) (type_constraints)] @type
(class_declaration) @class
(directive) @conditional
(enum_entry) @declaration
(enum_entry name: (_) @bound raw_value: (_) @value) @data @constant

(function_declaration body: (_) @body) @function
(init_declaration body: (_) @body) @function
(deinit_declaration body: (_) @body) @function
(function_declaration default_value: (_) @default @branch)
(init_declaration default_value: (_) @default @branch)
(lambda_literal (statements) @expression) @closure
(property_declaration) @data
(property_declaration value: (_)) @statement
(property_declaration computed_value: (computed_property (statements) @body)) @function
(computed_getter (statements) @body) @function
(computed_setter (statements) @body) @function
(computed_modify (statements) @body) @function
(willset_clause (statements) @body) @function
(didset_clause (statements) @body) @function
(subscript_declaration (computed_property (statements) @body)) @function
(subscript_declaration (computed_property)) @data

(if_statement (statements) @body) @branch
(if_statement (else) . (if_statement) @clause)
(guard_statement (statements) @body) @branch
(for_statement (statements) @body) @branch
(while_statement (statements) @body) @branch
(repeat_while_statement (statements) @body) @branch
(switch_statement) @branch
(switch_entry (statements) @body) @clause @branch
(do_statement (statements) @body)
(catch_block (statements) @body) @clause @branch
(ternary_expression if_true: (_) @operand if_false: (_) @operand) @branch
(nil_coalescing_expression if_nil: (_) @operand) @branch
(conjunction_expression rhs: (_) @operand) @branch
(disjunction_expression rhs: (_) @operand) @branch
""",
    clauses=frozenset({
        "else", "do", "repeat", "default_keyword", "catch_keyword", "getter_specifier", "setter_specifier", "didSet",
        "willSet",
    }),
    flat_conditionals=True,
)  # fmt: skip
