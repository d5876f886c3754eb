"""Rust."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="rust",
    title="Rust",
    extra="rust",
    grammars=(("", Grammar("tree_sitter_rust")),),
    query="""
[(line_comment) (block_comment)] @comment
[(string_literal) (raw_string_literal) (char_literal)] @text
[(source_file) (block)] @block
(declaration_list) @members
(use_declaration) @import
(use_declaration (use_wildcard)) @declaration
(use_list (_) @bound)
(use_declaration (use_as_clause) @bound)
(extern_crate_declaration) @declaration
(mod_item !body) @declaration
(mod_item body: (_)) @namespace
[
  (struct_item) (union_item) (type_item) (function_signature_item) (associated_type) (foreign_mod_item)
  (attribute_item) (inner_attribute_item) (empty_statement)
] @declaration
((attribute_item) @conditional (#match? @conditional "^#\\\\[\\\\s*cfg(_attr)?\\\\b"))
((inner_attribute_item) @statement (#match? @statement "^#!\\\\[\\\\s*cfg(_attr)?\\\\b"))
(enum_item) @declaration
(enum_variant name: (_) @bound value: (_) @value) @data @constant
(trait_item) @class
(impl_item type: (_) @name) @class
((attribute_item) @_a . (attribute_item)* . [(mod_item) (function_item)] @test
  (#match? @_a "^#\\\\[\\\\s*(cfg\\\\s*\\\\(\\\\s*test\\\\s*\\\\)|test\\\\s*\\\\]|([a-z_]+::)+test\\\\b)"))

(function_item body: (_) @body) @function
(closure_expression body: (_) @expression) @closure
(const_item name: (_) @bound value: (_) @value) @data @constant
(static_item name: (_) @bound value: (_) @value) @data @constant
[(const_item !value) (static_item !value)] @declaration
(macro_definition name: (_) @bound) @data @constant
(macro_rule right: (_) @value)
(let_declaration !value) @declaration
(let_declaration alternative: (_) @operand)
(let_declaration alternative: (_)) @branch
(let_declaration type: (_) @type)
[(type_arguments) (type_parameters) (where_clause)] @type

(if_expression consequence: (_) @body) @branch
(else_clause (_) @body) @clause
(else_clause (if_expression) @clause @branch)
(for_expression body: (_) @body) @branch
(while_expression body: (_) @body) @branch
(loop_expression body: (_) @body) @branch
(unsafe_block (block) @body)
(match_expression) @branch
(match_arm value: (_) @body) @clause @branch
(binary_expression operator: ["&&" "||"] right: (_) @operand) @branch
(let_chain (_) (_) @operand)
(try_expression) @branch
""",
    clauses=frozenset({"else", "loop", "unsafe"}),
)
