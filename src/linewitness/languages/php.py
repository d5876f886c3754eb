"""PHP, with inline HTML."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="php",
    title="PHP",
    extra="php",
    grammars=(("", Grammar("tree_sitter_php", "language_php")),),
    query="""
(comment) @comment
(heredoc (comment) @text)
[(string) (nowdoc)] @text
[(program) (compound_statement) (colon_block)] @block
(text_interpolation) @plain
[(php_tag) (php_end_tag)] @declaration
[(declaration_list) (enum_declaration_list)] @members
(namespace_definition !body) @declaration
(namespace_definition body: (_)) @namespace
(namespace_use_declaration) @import
(namespace_use_clause) @bound
(namespace_use_declaration (namespace_name) @source)
(declare_statement) @conditional
(attribute_list) @type
[(class_declaration) (interface_declaration) (trait_declaration) (enum_declaration)] @class
(use_declaration) @heritage
(empty_statement) @declaration

(const_declaration) @data @constant
(const_element (name) @bound)
(const_element "=" (_) @value)
(property_declaration) @data @constant
(property_hook_list) @members
(property_hook body: (_) @body) @function
(property_hook !body) @declaration
(property_element name: (variable_name (name) @bound))
(property_element default_value: (_)) @value
(enum_case name: (_) @bound value: (_) @value) @data @constant
(enum_case !value) @declaration

(function_definition body: (_) @body) @function
(method_declaration body: (_) @body) @function
(method_declaration !body) @declaration
(anonymous_function body: (_) @expression) @closure
(arrow_function body: (_) @expression) @closure
(simple_parameter default_value: (_) @default @branch)
(property_promotion_parameter default_value: (_) @default @branch)

(if_statement body: (_) @body) @branch
(else_if_clause body: (_) @body) @clause @branch
(else_clause body: (_) @body) @clause
(foreach_statement body: (_) @body) @branch
(for_statement body: (_) @body) @branch
(for_statement update: (_) @operand)
(while_statement body: (_) @body) @branch
(do_statement body: (_) @body) @branch
(switch_statement) @branch
(case_statement value: (_) @label) @clause @block @branch
(default_statement) @clause @block @branch
(match_expression) @branch
(match_conditional_expression return_expression: (_) @body) @clause @branch
(match_default_expression return_expression: (_) @body) @clause @branch
(try_statement body: (_) @body)
(catch_clause body: (_) @body) @clause @branch
(finally_clause body: (_) @body) @clause
(conditional_expression body: (_) @operand) @branch
(conditional_expression alternative: (_) @operand) @branch
(binary_expression operator: ["&&" "||" "??" "and" "or"] right: (_) @operand) @branch
(augmented_assignment_expression operator: "??=" right: (_) @assigned) @branch
(nullsafe_member_call_expression arguments: (_) @chain)
""",
    clauses=frozenset(
        {"else", "try", "finally", "do", "default", "endif", "endforeach", "endfor", "endwhile", "endswitch"}
    ),
    closers=frozenset({"endif", "endforeach", "endfor", "endwhile", "endswitch"}),
)
