"""Java."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="java",
    title="Java",
    extra="java",
    grammars=(("", Grammar("tree_sitter_java")),),
    query="""
[(line_comment) (block_comment)] @comment
(string_literal) @text
[(program) (block) (constructor_body)] @block
[(class_body) (interface_body) (enum_body) (annotation_type_body) (enum_body_declarations)] @members
(package_declaration) @declaration
(import_declaration) @import
(import_declaration (asterisk)) @declaration
[(marker_annotation) (annotation)] @type
[(annotation_type_element_declaration)] @declaration
(module_declaration) @declaration

(method_declaration body: (_) @body) @function
(method_declaration !body) @declaration
(constructor_declaration body: (_) @body) @function
(compact_constructor_declaration body: (_) @body) @function
(lambda_expression body: (_) @expression) @closure
[(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)] @class
(annotation_type_declaration) @declaration
(record_declaration parameters: (_) @type)
(static_initializer (block) @body) @statement

[(field_declaration) (constant_declaration) (local_variable_declaration)] @data
(variable_declarator value: (_)) @value
(field_declaration (modifiers "final")) @constant
(constant_declaration) @constant
(variable_declarator name: (_) @bound)
(enum_constant) @statement

(if_statement consequence: (_) @body) @branch
(if_statement alternative: (_) @body)
(if_statement alternative: (if_statement) @clause)
(for_statement body: (_) @body) @branch
(for_statement update: (_) @operand)
(enhanced_for_statement body: (_) @body) @branch
(while_statement body: (_) @body) @branch
(do_statement body: (_) @body) @branch
(labeled_statement (_) @body .)
(synchronized_statement body: (_) @body)
(switch_expression) @branch
(switch_block_statement_group (switch_label) @label) @clause @block @branch
(switch_rule (switch_label) @label) @clause @block @branch
(switch_rule (expression_statement (_) @arm))
(yield_statement (_) @arm)
(try_statement body: (_) @body)
(try_with_resources_statement body: (_) @body)
(catch_clause body: (_) @body) @clause @branch
(finally_clause (block) @body) @clause
(assert_statement) @branch
(assert_statement (_) (_) @operand)

(ternary_expression consequence: (_) @operand alternative: (_) @operand) @branch
(binary_expression operator: ["&&" "||"] right: (_) @operand) @branch
""",
    # the compiler replaces such escapes before it looks for comments (JLS 3.3), so that they can end one
    directives=rb"\\u+00[0-7][0-9a-fA-F]",
    clauses=frozenset({"else", "try", "finally", "do", "default", "static"}),
)
