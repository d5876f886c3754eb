"""C#."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="c-sharp",
    title="C#",
    extra="csharp",
    grammars=(("", Grammar("tree_sitter_c_sharp")),),
    # `this` and `base` are nodes without a name: `_` finds them, `(_)` does not
    query="""
(comment) @comment
[(string_literal) (verbatim_string_literal) (raw_string_literal) (character_literal) (default_expression)] @text
[(compilation_unit) (block)] @block
(declaration_list) @members
(global_statement) @plain
(using_directive !name) @declaration
(using_directive name: (_) @bound) @import
(using_directive name: (_) (_) @source)
(extern_alias_directive) @declaration
(namespace_declaration) @namespace
(file_scoped_namespace_declaration) @namespace
[(attribute_list) (type_parameter_list) (type_argument_list) (type_parameter_constraints_clause)] @type
[(delegate_declaration) (empty_statement) (global_attribute)] @declaration
[(class_declaration) (struct_declaration) (record_declaration) (interface_declaration)] @class
(enum_declaration) @declaration
(enum_member_declaration name: (_) @bound value: (_) @value) @data @constant

[(preproc_if) (preproc_elif) (preproc_else)] @conditional @block
(preproc_if condition: (_) @label)
(preproc_elif condition: (_) @label)
[(preproc_region) (preproc_endregion) (preproc_pragma) (preproc_nullable) (preproc_line)] @declaration

[(field_declaration) (event_field_declaration) (local_declaration_statement)] @data
(variable_declarator "=") @value
((field_declaration (modifier) @_m (variable_declaration (variable_declarator name: (_) @bound))) @constant
  (#eq? @_m "const"))
(property_declaration) @data
(property_declaration "=" value: (_) @value)
(property_declaration value: (arrow_expression_clause "=>" . _ @body)) @function
(indexer_declaration) @data
(indexer_declaration value: (arrow_expression_clause "=>" . _ @body)) @function
(event_declaration) @data
(accessor_declaration !body) @declaration
(accessor_declaration body: (block) @body) @function
(accessor_declaration body: (arrow_expression_clause "=>" . _ @body)) @function
(method_declaration !body) @declaration
(method_declaration body: (block) @body) @function
(method_declaration body: (arrow_expression_clause "=>" . _ @body)) @function
(constructor_declaration body: (block) @body) @function
(constructor_declaration body: (arrow_expression_clause "=>" . _ @body)) @function
(constructor_initializer) @value
(destructor_declaration body: (block) @body) @function
(operator_declaration body: (block) @body) @function
(operator_declaration body: (arrow_expression_clause "=>" . _ @body)) @function
(conversion_operator_declaration body: (block) @body) @function
(conversion_operator_declaration body: (arrow_expression_clause "=>" . _ @body)) @function
(local_function_statement body: (block) @body) @function
(local_function_statement body: (arrow_expression_clause "=>" . _ @body)) @function
(lambda_expression body: _ @expression) @closure
(anonymous_method_expression (block) @expression) @closure
(parameter "=" . _ @default @branch)

(if_statement consequence: _ @body) @branch
(if_statement alternative: _ @body)
(if_statement alternative: (if_statement) @clause)
(for_statement body: _ @body) @branch
(for_statement update: _ @operand)
(foreach_statement body: _ @body) @branch
(while_statement body: _ @body) @branch
(do_statement body: _ @body) @branch
(using_statement body: _ @body)
(lock_statement (block) @body)
(checked_statement (block) @body)
(unsafe_statement (block) @body)
(fixed_statement (block) @body)
(labeled_statement (_) @body .)
(switch_statement) @branch
(switch_section) @clause @block @branch
(switch_section "case" . _ @label)
(switch_section (when_clause) @label)
(switch_expression) @branch
(switch_expression_arm "=>" . _ @body) @clause @branch
(try_statement body: _ @body)
(catch_clause body: _ @body) @clause @branch
(finally_clause (block) @body) @clause
(conditional_expression consequence: _ @operand alternative: _ @operand) @branch
(binary_expression operator: ["&&" "||" "??"] right: _ @operand) @branch
(assignment_expression operator: "??=" right: _ @assigned) @branch
""",
    clauses=frozenset(
        {"else", "try", "finally", "do", "default", "checked", "unchecked", "unsafe", "get", "set", "init"}
    ),
)
