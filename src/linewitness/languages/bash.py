"""Shell scripts: POSIX shell and Bash."""

from __future__ import annotations

from typing import Final

from linewitness.languages.grammar.table import Grammar, Table

TABLE: Final = Table(
    name="bash",
    title="shell",
    extra="shell",
    grammars=(("", Grammar("tree_sitter_bash")),),
    query="""
(comment) @comment
[(raw_string) (ansi_c_string) (heredoc_body)] @text
(string . "\\"" . (string_content)? . "\\"" .) @text
[(program) (compound_statement) (subshell) (do_group)] @block
(function_definition body: (_) @body) @function

(if_statement) @clause @block @branch
(if_statement condition: (_) @label)
(elif_clause . (_) @label) @clause @block @branch
(else_clause) @clause @block
(for_statement body: (_) @body) @branch
(c_style_for_statement body: (_) @body) @branch
(c_style_for_statement update: (_) @operand)
(while_statement body: (_) @body) @branch
(case_statement) @branch
(case_item value: (_) @label) @clause @block @branch
(list ["&&" "||"] . (_) @operand) @branch
(ternary_expression consequence: (_) @operand alternative: (_) @operand) @branch
""",
    clauses=frozenset({"then", "else", "do"}),
    closers=frozenset({"fi", "done", "esac"}),
    empty_functions=True,
    # tree-sitter-bash 0.25.1 asks isdigit() about any character in a brace range, which reads beyond the table of the
    # C library (src/scanner.c, BRACE_START)
    unsafe=rb"\{[0-9]*(?:\.\.[0-9]*)?[^\x00-\x7f]+",
)
