"""Ruby."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="ruby",
    title="Ruby",
    extra="ruby",
    grammars=(("", Grammar("tree_sitter_ruby")),),
    query="""
[(comment) (uninterpreted)] @comment
(string . "\\"" . (string_content)? . "\\"" .) @text
[(simple_symbol) (delimited_symbol)] @text
(heredoc_beginning) @heredoc
(heredoc_body) @continued
[(program) (body_statement) (block_body) (then) (do) (begin) (begin_block) (end_block)] @block
(else) @clause @block
(ensure) @clause @block
[(class) (module) (singleton_class)] @class
(class body: (_) @members)
(module body: (_) @members)
(singleton_class body: (_) @members)

(method body: (_) @expression) @function
(method !body) @function
(singleton_method body: (_) @expression) @function
(singleton_method !body) @function
(optional_parameter value: (_) @default @branch)
(keyword_parameter value: (_) @default @branch)
(block body: (_) @expression) @closure
(do_block body: (_) @expression) @closure
(lambda body: [(block) (do_block)])
[(block_parameters) (lambda_parameters)] @type

(if consequence: (_) @body) @branch
(unless consequence: (_) @body) @branch
(elsif consequence: (_) @body) @clause @branch
(while body: (_) @body) @branch
(until body: (_) @body) @branch
(for body: (_) @body) @branch
(case) @branch
(case_match) @branch
(when body: (_) @body) @clause @branch
(when !body) @clause @branch
(in_clause body: (_) @body) @clause @branch
(rescue body: (_) @body) @clause @branch
(rescue !body) @clause @branch
(if_modifier body: (_) @operand) @branch
(unless_modifier body: (_) @operand) @branch
(while_modifier body: (_) @operand) @branch
(until_modifier body: (_) @operand) @branch
(rescue_modifier handler: (_) @operand) @branch
(conditional consequence: (_) @operand alternative: (_) @operand) @branch
(binary operator: ["&&" "||" "and" "or"] right: (_) @operand) @branch
(operator_assignment operator: ["||=" "&&="] right: (_) @assigned) @branch
(call operator: "&." arguments: (_) @chain)
""",
    clauses=frozenset({"else", "begin", "ensure", "then", "do", "rescue"}),
    closers=frozenset({"end", "|"}),
    class_runs=True,
    empty_functions=True,
)
