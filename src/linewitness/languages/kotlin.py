"""Kotlin."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="kotlin",
    title="Kotlin",
    extra="kotlin",
    grammars=(("", Grammar("tree_sitter_kotlin")),),
    query="""
[(line_comment) (block_comment) (shebang)] @comment
(string_literal . "\\"" . (string_content)? . "\\"" .) @text
(character_literal) @text
[(source_file) (block)] @block
[(class_body) (enum_class_body)] @members
(package_header) @declaration
(import) @import
(import "*") @declaration
(type_alias) @declaration
[(annotation) (file_annotation) (type_parameters) (type_arguments) (type_constraints)] @type
((annotated_expression (annotation (user_type) .) . (parenthesized_expression) @type) @_a
  (#match? @_a "^@([a-z]+:)?[\\\\w.]+[(]"))
[(class_declaration) (object_declaration) (companion_object)] @class
(enum_entry) @statement

(function_declaration) @function
(getter) @function
(setter) @function
(secondary_constructor (block) @body) @function
(constructor_delegation_call) @value
(function_body (block) @body)
(function_body "=" (_) @body)
(anonymous_function) @closure
(lambda_literal) @closure @block
(lambda_parameters) @label
(anonymous_initializer (block) @body) @statement
(property_declaration) @data
(property_declaration "=") @statement
(property_declaration (property_delegate)) @statement
((property_declaration (modifiers) @_m (variable_declaration (identifier) @bound)) @constant
  (#match? @_m "\\\\bconst\\\\b"))
(class_parameter "=" (_) @default @branch)
((class_declaration (modifiers (class_modifier) @_m)
  (primary_constructor (class_parameters (class_parameter "=" (_) @type)))) (#eq? @_m "annotation"))
(function_value_parameters "=" . (_) @default @branch)

(if_expression condition: (_) . (_) @body) @branch
(if_expression condition: (_) . (_) . (_) @body)
(if_expression condition: (_) . (_) . (if_expression) @clause)
(for_statement (_) @body .) @branch
(while_statement condition: (_) . (_) @body) @branch
(do_while_statement . (block) @body) @branch
(when_expression) @branch
(when_entry (_) @body .) @clause @branch
(try_expression . (block) @body)
(catch_block (block) @body) @clause @branch
(finally_block (block) @body) @clause
(binary_expression operator: ["&&" "||" "?:"] right: (_) @operand) @branch
(navigation_expression "?." . (_) @chain)
(call_expression (navigation_expression "?.") . (value_arguments) @chain)
(call_expression (navigation_expression "?.") (annotated_lambda) @chain)
(call_expression (call_expression (navigation_expression "?.")) (annotated_lambda) @chain)

[(if_expression (block (_) @arm . [(line_comment) (block_comment)]* .))
 (when_entry (block (_) @arm . [(line_comment) (block_comment)]* .))
 (try_expression (block (_) @arm . [(line_comment) (block_comment)]* .))
 (catch_block (block (_) @arm . [(line_comment) (block_comment)]* .))
 (for_statement (block (_) @arm . [(line_comment) (block_comment)]* .))
 (while_statement (block (_) @arm . [(line_comment) (block_comment)]* .))
 (do_while_statement (block (_) @arm . [(line_comment) (block_comment)]* .))]
(lambda_literal (_) @arm . [(line_comment) (block_comment)]* .)
(if_expression condition: (_) . (_) @arm)
(if_expression condition: (_) . (_) . (_) @arm)
(when_entry (_) @arm .)
""",
    clauses=frozenset({"else", "try", "finally", "do", "init", "get", "set", "->"}),
)
