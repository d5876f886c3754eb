"""C++."""

from __future__ import annotations

from typing import Final

from linewitness.languages.c import CLAUSES, COMMON
from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="cpp",
    title="C++",
    extra="cpp",
    grammars=(("", Grammar("tree_sitter_cpp")),),
    query=COMMON
    + """
(raw_string_literal) @text
(namespace_definition) @namespace
[(class_specifier body: (_)) (struct_specifier body: (_))] @class
(field_declaration_list) @members
(template_declaration) @plain
(template_parameter_list) @type
(template_parameter_list (optional_parameter_declaration default_value: (_) @type))
[
  (translation_unit (class_specifier !body) @declaration)
  (declaration_list (class_specifier !body) @declaration)
  (preproc_ifdef (class_specifier !body) @declaration)
  (preproc_if (class_specifier !body) @declaration)
  (preproc_else (class_specifier !body) @declaration)
  (preproc_elif (class_specifier !body) @declaration)
  (preproc_elifdef (class_specifier !body) @declaration)
  (template_declaration [(class_specifier !body) (struct_specifier !body)] @declaration)
]
[
  (alias_declaration) (using_declaration) (friend_declaration) (static_assert_declaration) (concept_definition)
  (access_specifier) (namespace_alias_definition) (template_instantiation)
] @declaration
(function_definition [(default_method_clause) (delete_method_clause) (pure_virtual_clause)]) @declaration
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name)))
(field_initializer_list) @value
(optional_parameter_declaration default_value: (_) @default @branch)
(field_declaration) @data
(field_declaration
  declarator: [(field_identifier) (pointer_declarator) (array_declarator) (reference_declarator)]
  default_value: (_)) @value
(lambda_expression body: (_) @expression) @closure
(lambda_capture_specifier) @value
((declaration
  type: [(type_identifier) (qualified_identifier) (template_type)]
  declarator: [(identifier) (array_declarator)]) @statement
  (#not-match? @statement "^\\\\s*extern\\\\b"))
; an object with arguments for its constructor, which looks like a function that is declared
(compound_statement (declaration declarator: (function_declarator)) @statement)
(case_statement (declaration declarator: (function_declarator)) @statement)
(for_range_loop body: (_) @body) @branch
(try_statement body: (_) @body)
(catch_clause body: (_) @body) @clause @branch
""",
    clauses=CLAUSES | {"try"},
    declared_defaults=True,
)
