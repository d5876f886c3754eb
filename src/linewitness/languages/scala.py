"""Scala 2 and 3."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="scala",
    title="Scala",
    extra="scala",
    grammars=(("", Grammar("tree_sitter_scala")),),
    query="""
[(comment) (block_comment)] @comment
[(string) (interpolated_string_expression) (character_literal)] @text
[(compilation_unit) (block) (indented_block)] @block
[(template_body) (enum_body) (with_template_body)] @members
(package_clause) @declaration
(package_clause body: (_)) @namespace
(import_declaration) @import
(namespace_selectors [(identifier) (operator_identifier) (arrow_renamed_identifier) (as_renamed_identifier)] @bound)
(import_declaration (namespace_wildcard)) @declaration
[(function_declaration) (type_definition) (end_marker) (val_declaration) (var_declaration)] @declaration
(self_type) @declaration
(annotation) @type
[(class_definition) (trait_definition) (object_definition) (enum_definition) (extension_definition)] @class
[(package_object) (given_definition body: (with_template_body))] @class
(extends_clause arguments: (_) @value)

(function_definition body: (_) @body) @function
(lambda_expression (_) @expression .) @closure
(class_parameter default_value: (_) @default @branch)
(parameter default_value: (_) @default @branch)

(if_expression consequence: (_) @body) @branch
(if_expression alternative: (_) @body)
(if_expression alternative: (if_expression) @clause)
(for_expression body: (_) @body) @branch
(while_expression body: (_) @body) @branch
(do_while_expression body: (_) @body) @branch
(match_expression) @branch
(case_clause) @clause @branch
(case_clause body: (_) @body)
(try_expression body: (_) @body)
(catch_clause) @clause @branch
(finally_clause (_) @body) @clause
((infix_expression operator: (_) @_o right: (_) @operand) @branch (#any-of? @_o "&&" "||"))

(if_expression consequence: (_) @arm)
(if_expression alternative: (_) @arm)
(try_expression body: (_) @arm)
(case_clause body: (_) @arm)
[(if_expression [(block (_) @arm . [(comment) (block_comment)]* .) (indented_block (_) @arm . (comment)* .)])
 (try_expression [(block (_) @arm . [(comment) (block_comment)]* .) (indented_block (_) @arm . (comment)* .)])
 (while_expression [(block (_) @arm . [(comment) (block_comment)]* .) (indented_block (_) @arm . (comment)* .)])]
[(arguments (_) @arm) (infix_expression right: (_) @arm) ((postfix_expression) . (_) @arm)]
(call_expression arguments: [(block (_) @arm) (indented_block (_) @arm) (colon_argument (_) @arm)])
""",
    directives=rb"^//>\s*using\b",
    clauses=frozenset({"else", "try", "finally", "do", "then", "catch", "yield"}),
    declared_defaults=True,
)
