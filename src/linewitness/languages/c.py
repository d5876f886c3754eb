"""C."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

#: What C++ shares.
COMMON: Final = """
(comment) @comment
[(string_literal) (char_literal)] @text
[(translation_unit) (compound_statement)] @block
(declaration_list) @members
(linkage_specification) @namespace

(preproc_include) @declaration
(compound_statement (preproc_include) @statement)
(preproc_def name: (_) @bound !value) @import
(preproc_def name: (_) @bound value: (_) @value) @data @constant
(preproc_function_def name: (_) @bound) @data @constant
(preproc_function_def value: (_) @value)
(preproc_function_def !value) @declaration
((preproc_call directive: (_) @_d argument: (_) @_a) @declaration
  (#eq? @_d "#pragma") (#match? @_a "^\\\\s*(once|message|region|endregion|GCC diagnostic|clang diagnostic)"))
[(preproc_if) (preproc_ifdef) (preproc_elif) (preproc_elifdef) (preproc_else)] @conditional @block
(preproc_if condition: (_) @label)
(preproc_elif condition: (_) @label)
(preproc_ifdef name: (_) @label)
(preproc_elifdef name: (_) @label)

(function_definition body: (_) @body) @function
(function_definition declarator: (function_declarator declarator: (_) @name))
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)))
(type_definition) @declaration
(enum_specifier body: (_)) @declaration
(enumerator name: (_) @bound value: (_) @value) @data @constant
(union_specifier body: (_)) @declaration
(declaration) @data
(init_declarator) @value
[
  (translation_unit [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @declaration)
  (declaration_list [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @declaration)
  (preproc_ifdef [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @declaration)
  (preproc_if [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @declaration)
  (preproc_else [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @declaration)
  (preproc_elif [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @declaration)
  (preproc_elifdef [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)] @declaration)
]
; a macro with a suite of its own (a loop, most often), which looks like the definition of a function
(compound_statement (function_definition) @statement)
((attributed_statement (attribute_declaration) (expression_statement) @_e) @declaration (#eq? @_e ";"))
((expression_statement (call_expression function: (identifier) @_f)) @declaration (#eq? @_f "_Static_assert"))

(if_statement consequence: (_) @body) @branch
(else_clause (_) @body) @clause
(else_clause (if_statement) @clause @branch)
(for_statement body: (_) @body) @branch
(for_statement update: (_) @operand)
(while_statement body: (_) @body) @branch
(do_statement body: (_) @body) @branch
(labeled_statement (_) @body .)
(switch_statement body: (_) @body) @branch
(case_statement) @clause @block @branch
(case_statement value: (_) @label)

(conditional_expression consequence: (_) @operand alternative: (_) @operand) @branch
(binary_expression operator: ["&&" "||"] right: (_) @operand) @branch
"""
CLAUSES: Final = frozenset({"else", "do", "default"})

TABLE: Final = Table(
    name="c",
    title="C",
    extra="c",
    grammars=(("", Grammar("tree_sitter_c")),),
    query=COMMON
    + """
(struct_specifier body: (_)) @declaration
""",
    clauses=CLAUSES,
)
