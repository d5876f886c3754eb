"""What lines prove about tokens. Events are those that CPython gives for a source, statements those of coverage.py."""

from __future__ import annotations

from textwrap import dedent

import pytest

from linewitness.evidence.contexts import Contexts
from linewitness.evidence.formats.facts import BranchArm, FileFacts, Grain
from linewitness.evidence.imported_lines import Known, Lines
from linewitness.evidence.imported_rule import ImportedRule
from linewitness.evidence.line_events import LineEvents
from linewitness.languages.python import PythonRule
from linewitness.model import Answer, Kind, Obligation, Phase, Precision, RepoPath, Sighting

RUN, NOT_RUN, NOT_PROVABLE = Answer.RUN, Answer.NOT_RUN, Answer.NOT_PROVABLE


def judge(source: str, line: int, *facts: FileFacts, contexts: Contexts | None = None) -> Sighting:
    head = dedent(source).encode()
    owed = Obligation(RepoPath("a.py"), line, "", "", Kind.STATEMENT, "", 1, (line, line))
    (demand,) = PythonRule().demands(head, (owed,))
    lines = Lines(facts[0].grain, [Known(each, contexts) for each in facts])
    return ImportedRule(LineEvents(head), lines).sight(demand, line)


def events(*ran: int) -> FileFacts:
    return FileFacts(Grain.EVENTS, dict.fromkeys(ran, 1))


def statements(*ran: int, missed: tuple[int, ...] = ()) -> FileFacts:
    return FileFacts(Grain.STATEMENTS, {**dict.fromkeys(ran, 1), **dict.fromkeys(missed, 0)})


def by_test(**ran: list[int]) -> FileFacts:
    """Lines by context; ``import_`` is the empty one."""
    contexts: dict[int, list[str]] = {}
    for name, lines in ran.items():
        for line in lines:
            contexts.setdefault(line, []).append("" if name == "import_" else name)
    found = {line: tuple(names) for line, names in contexts.items()}
    return FileFacts(Grain.EVENTS, dict.fromkeys(found, 1), contexts=found)


CALL = """\
    def f(a, b):
        return g(
            a,
            b,
            "constant",
        )
"""


def test_an_event_on_the_line_of_an_argument_is_its_witness() -> None:
    sighting = judge(CALL, 4, events(1, 2, 3, 4))
    assert (sighting.answer, sighting.precision, sighting.phase) == (RUN, Precision.LINE, Phase.UNKNOWN)


def test_an_argument_after_one_that_raised_is_not_witnessed() -> None:
    assert judge(CALL, 4, events(1, 2, 3)).answer is NOT_PROVABLE
    assert judge(CALL, 5, events(1, 2, 3)).answer is NOT_PROVABLE
    assert judge(CALL, 4, events(1)).answer is NOT_RUN


def test_statement_data_answer_for_the_whole_statement() -> None:
    sighting = judge(CALL, 4, statements(1, 2))
    assert (sighting.answer, sighting.precision) == (RUN, Precision.STATEMENT)
    assert judge(CALL, 4, statements(1, missed=(2,))).answer is NOT_RUN
    assert judge(CALL, 4, statements(1)).answer is NOT_RUN


@pytest.mark.parametrize(
    ("source", "line", "honest"),
    [
        ("x = (\n    a\n    if c else\n    b\n)\n", 2, False),
        ("x = (\n    a\n    if c else\n    b\n)\n", 4, True),
        ("x = (\n    a\n    if c\n    else b\n)\n", 4, True),
        ("x = (\n    a\n    if c\n    else b if d\n    else e\n)\n", 4, True),
        ("x = (\n    a if c else\n    b\n    if d\n    else e\n)\n", 3, False),
        ("x = (\n    a\n    or b\n)\n", 3, True),
        ("x = (\n    a\n    or b > 1\n)\n", 3, False),
        ("x = (\n    a\n    or not b\n)\n", 3, False),
        ("x = (\n    f(\n    a) or b\n)\n", 3, True),
        ("x = lambda: (\n    a\n    or b\n)\n", 3, False),
        ("x = lambda: (\n    a\n)\n", 2, True),
        ("x = [\n    a\n    for b in c\n    if b\n]\n", 2, False),
        ("x = [\n    a\n    for b in c\n    if b\n]\n", 3, True),
        ("x = [\n    a\n    for b in c\n    if b\n]\n", 4, True),
        ("x = [\n    a\n    for b in c\n    if b > 0\n]\n", 4, False),
        ("x = {\n    a:\n    b\n    for b in c\n}\n", 3, False),
        ("x = [\n    a\n    for b in c\n    for d in b\n]\n", 4, True),
        ("assert c, (\n    a\n)\n", 2, True),
        ("if (a\n    or b): c = 1\n", 2, False),
        ("x = (a <\n    b <\n    d\n)\n", 3, True),
        ("match a:\n    case (1 |\n        2 |\n        3):\n        b\n", 4, False),
        ("match a:\n    case 1 if (\n        b\n    ):\n        c\n", 3, True),
    ],
)
def test_an_event_is_believed_only_where_no_version_of_cpython_lies(source: str, line: int, honest: bool) -> None:
    """With an event on the line, and none that shows that the statement was completed."""
    sighting = judge(source, line, events(1, line))
    assert sighting.answer is (RUN if honest else NOT_PROVABLE)
    assert honest or "even when" in sighting.note


def test_code_of_another_statement_on_the_line_is_no_witness() -> None:
    source = "if (a\n    and b > 1): x = [\n    1]\n"
    assert judge("if a: f(\n    b)\n", 2, events(1)).answer is NOT_PROVABLE
    assert judge("if a: f(\n    b)\n", 2, statements(1)).answer is NOT_PROVABLE
    assert judge(source, 3, events(1, 2)).answer is NOT_PROVABLE


@pytest.mark.parametrize("clause", ["try", "else", "finally"])
def test_a_clause_in_front_of_a_statement_has_no_code_of_its_own(clause: str) -> None:
    before = "try: a\n" if clause == "finally" else "if a: b\n" if clause == "else" else ""
    after = "finally: c\n" if clause == "try" else ""
    source = f"{before}{clause}: f(b)\n{after}"
    assert judge(source, before.count("\n") + 1, events(before.count("\n") + 1)).answer is RUN


def test_a_part_that_may_be_skipped_and_has_no_event_did_not_run() -> None:
    sighting = judge("x = (\n    a\n    or b\n)\ny = 1\n", 3, events(1, 2, 5))
    assert sighting.answer is NOT_RUN
    assert "'b'" in sighting.note


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = (\n    a\n    if c else\n    b\n)\n", 4),
        ("x = f(\n    lambda: b,\n)\n", 2),
        ("x = (\n    a\n    or b\n)\n", 3),
        ("x = [\n    a\n    for b in c\n]\n", 2),
        ("assert c, (\n    a\n)\n", 2),
    ],
)
def test_statement_data_cannot_prove_a_part_that_may_be_skipped(source: str, line: int) -> None:
    sighting = judge(source, line, statements(1))
    assert sighting.answer is NOT_PROVABLE
    assert ".coverage" in sighting.note
    assert judge(source, line, statements(missed=(1,))).answer is NOT_RUN


# ---------------------------------------------------------------- lines without events of their own

TABLE = """\
    NAMES = frozenset({
        "a",
        "b",
    })
"""


def test_a_folded_literal_runs_with_the_line_on_which_it_begins() -> None:
    sighting = judge(TABLE, 3, events(1))
    assert (sighting.answer, sighting.phase) == (RUN, Phase.IMPORT)
    assert judge(TABLE, 3, events(7)).answer is NOT_RUN


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = f(g(), [", "])"),
        ("x = g()[", "]"),
        ("x = obj.attribute([", "])"),
        ("x = y and [", "]"),
        ("x = g() + [", "]"),
    ],
)
def test_a_literal_behind_code_that_can_raise_is_not_proved_by_that_code(before: str, after: str) -> None:
    assert judge(f"{before}\n    1,\n    2,\n{after}\n", 3, events(1)).answer in (NOT_RUN, NOT_PROVABLE)


def test_a_name_in_a_display_is_no_folded_literal() -> None:
    assert judge("x = [\n    a,\n    2,\n]\n", 3, events(1)).answer is NOT_PROVABLE


@pytest.mark.parametrize(
    ("source", "line", "proof"),
    [
        ("from a import (\n    b,\n    c,\n)\nd = 1\n", 3, 5),
        ("if self.kind in (\n    1,\n    2,\n):\n    a\nb\n", 3, 5),
        ("if self.kind in (\n    1,\n    2,\n):\n    a\nb\n", 3, 6),
        ("match a:\n    case [\n        b,\n        c,\n    ]:\n        d\n", 4, 6),
    ],
)
def test_what_runs_next_shows_that_the_statement_was_completed(source: str, line: int, proof: int) -> None:
    sighting = judge(source, line, events(1, 2, proof))
    assert (sighting.answer, sighting.precision) == (RUN, Precision.STATEMENT)
    assert judge(source, line, events(1, 2)).answer is NOT_PROVABLE


def test_completion_proves_nothing_about_parts_that_may_be_skipped() -> None:
    source = "x = (\n    a <\n    b <\n    d\n)\ny = 1\n"
    assert judge(source, 4, events(1, 2, 3, 6)).answer is NOT_RUN
    assert judge("match a:\n    case (1 |\n        2):\n        b\n", 3, events(1, 2, 4)).answer is NOT_PROVABLE


def test_a_clause_keyword_is_answered_by_what_follows_it() -> None:
    source = "x = (\n    a\n    or\n    b\n)\n"
    assert judge(source, 3, events(1, 2, 4)).answer is RUN
    assert judge(source, 3, events(1, 2)).answer is NOT_RUN
    assert judge("x = (\n    a\n    or\n    b > 1\n)\n", 3, events(1, 2, 4)).answer is NOT_PROVABLE


def test_a_line_inside_a_string_runs_with_the_string() -> None:
    source = 'TEXT = """\n# no comment\n"""\n'
    assert judge(source, 2, events(1)).answer is RUN
    assert judge(source, 2, events()).answer is NOT_RUN
    assert judge(source, 2, statements(1)).answer is RUN


def test_a_file_that_cannot_be_parsed_has_no_lines_that_are_proved() -> None:
    assert judge("x = (\n    a\n", 2, events(1, 2)).answer is NOT_PROVABLE


def test_code_that_the_compiler_drops_did_not_run() -> None:
    source = "def f():\n    if False:\n        a = 1\n    return 2\n    b = 3\n"
    for facts in (events(1, 2, 4), statements(1, 2, 4)):
        assert [judge(source, line, facts).answer for line in (3, 5)] == [NOT_RUN, NOT_RUN]


# ---------------------------------------------------------------- definitions

FUNCTION = """\
    @decorate(
        size=1,
    )
    def f(
        a,
        b=2,
    ):
        '''Text.'''
        return a
"""


@pytest.mark.parametrize("line", [1, 2, 4, 5, 6])
def test_a_definition_is_witnessed_by_its_body(line: int) -> None:
    assert judge(FUNCTION, line, events(1, 2, 4, 6, 9)).answer is RUN
    assert judge(FUNCTION, line, events(1, 2, 4, 6)).answer is NOT_RUN
    assert judge(FUNCTION, line, statements(1, 4, 9)).answer is RUN
    assert judge(FUNCTION, line, statements(1, 4, missed=(9,))).answer is NOT_RUN


def test_a_body_on_the_line_of_the_definition_cannot_be_told_from_the_definition() -> None:
    for facts in (events(1), statements(1)):
        assert judge("def f(): return 1\n", 1, facts).answer is NOT_PROVABLE


def test_a_body_that_the_export_leaves_out_is_not_provable() -> None:
    facts = statements(1)._replace(excluded=frozenset({1, 2}))
    assert judge("def f():\n    return 1\n", 1, facts).answer is NOT_PROVABLE


def test_a_class_is_witnessed_by_any_of_its_functions() -> None:
    source = "class A(B):\n    x = 1\n    def f(self):\n        return 1\n    def g(self):\n        return 2\n"
    assert judge(source, 1, events(1, 2, 3, 5, 6)).answer is RUN
    assert judge(source, 1, events(1, 2, 3, 5)).answer is NOT_RUN


def test_a_class_without_functions_is_witnessed_by_import_and_says_so() -> None:
    sighting = judge("class A(B):\n    x = 1\n", 1, events(1, 2))
    assert (sighting.answer, sighting.phase) == (RUN, Phase.IMPORT)


def test_a_lambda_is_not_entered_by_the_code_around_it() -> None:
    source = "x = sort(\n    a, key=lambda b: (\n        b.c\n    ), reverse=d)\n"
    assert judge(source, 3, events(1, 2, 4)).answer is NOT_RUN
    assert judge(source, 3, events(1, 2, 3, 4)).answer is RUN


def test_a_lambda_in_a_signature_has_to_be_entered_too() -> None:
    source = "def f(\n    key=lambda: a,\n    b=g()):\n    return key\n"
    made, entered = events(1, 2, 3, 4)._replace(entries={1: ()}), events(1, 2, 3, 4)._replace(entries={1: (), 2: ()})
    assert judge(source, 2, entered).answer is RUN
    assert judge(source, 2, made).answer is NOT_RUN
    assert judge(source, 2, events(1, 2, 3, 4)).answer is NOT_PROVABLE
    assert judge(source, 2, events(1, 2, 3)._replace(entries={2: ()})).answer is NOT_RUN


@pytest.mark.parametrize("part", ["lambda: a", "(a for a in b)"])
def test_code_within_a_line_has_to_be_entered_and_arcs_tell_whether_it_was(part: str) -> None:
    source = f"def f(b):\n    return g({part})\n"
    ran = events(1, 2)
    assert judge(source, 2, ran._replace(entries={1: (), 2: ()})).answer is RUN
    assert judge(source, 2, ran._replace(entries={1: ()})).answer is NOT_RUN
    assert judge(source, 2, ran).answer is NOT_PROVABLE
    assert judge(source, 2, statements(1, 2)).answer is NOT_PROVABLE


def test_arcs_do_not_tell_two_pieces_of_code_that_begin_on_one_line_apart() -> None:
    source = "\nx = f(lambda: 1, [a for a in b])\n"
    assert judge(source, 2, events(2)._replace(entries={2: ()})).answer is NOT_PROVABLE
    assert judge("x = lambda: 1\n", 1, events(1)._replace(entries={1: ()})).answer is NOT_PROVABLE


def test_a_lambda_on_lines_of_its_own_is_entered_when_these_run() -> None:
    source = "\nx = f(lambda: (\n    a\n))\n"
    assert judge(source, 3, events(2, 3)).answer is RUN
    assert judge(source, 3, events(2)).answer is NOT_RUN


def test_a_lambda_has_to_be_entered_in_a_test_and_a_generator_of_the_module_need_not() -> None:
    told = Contexts("")
    for source, answer in (("\nx = lambda: a\n", NOT_RUN), ("\nx = any(a for a in b)\n", RUN)):
        facts = by_test(import_=[2], t=[9])._replace(entries={2: ("",)})
        assert judge(source, 2, facts, contexts=told).answer is answer


# ---------------------------------------------------------------- contexts

MODULE = "import a\n\ndef f():\n    return g(\n        1)\n\nx = f()\n"


def test_a_body_that_ran_only_outside_of_tests_is_not_witnessed() -> None:
    facts = by_test(import_=[1, 3, 4, 5, 7])
    for line in (3, 4, 5):
        sighting = judge(MODULE, line, facts, contexts=Contexts(""))
        assert sighting.answer is NOT_RUN
        assert "outside of every test" in sighting.note


def test_code_that_runs_at_import_is_witnessed_by_import() -> None:
    sighting = judge(MODULE, 7, by_test(import_=[1, 3, 7], t_one=[4]), contexts=Contexts(""))
    assert (sighting.answer, sighting.phase, sighting.witnesses) == (RUN, Phase.IMPORT, ())


def test_tests_that_ran_the_line_are_named_and_sorted() -> None:
    facts = by_test(import_=[1, 3, 7], t_two=[4, 5], t_one=[4, 5], t_three=[4])
    sighting = judge(MODULE, 5, facts, contexts=Contexts(""))
    assert (sighting.phase, sighting.witnesses) == (Phase.CALL, ("t_one", "t_two"))


def test_the_body_of_a_lambda_is_not_witnessed_by_import() -> None:
    source = "x = lambda: (\n    a\n)\n"
    assert judge(source, 2, by_test(import_=[1, 2], t=[9]), contexts=Contexts("")).answer is NOT_RUN
    assert judge(source, 2, by_test(import_=[1], t=[2]), contexts=Contexts("")).phase is Phase.CALL


# ---------------------------------------------------------------- shards and arms


def test_a_hit_in_any_shard_is_a_hit() -> None:
    assert judge(CALL, 4, events(1), events(1, 2, 3, 4)).answer is RUN
    assert judge(CALL, 4, statements(missed=(2,)), statements(2)).answer is RUN


def test_an_exclusion_has_no_effect_on_a_line_that_ran_and_is_named_when_it_did_not() -> None:
    source = "def f():\n    a = 1  # pragma: no cover\n    return a\n"
    hidden = frozenset({2})
    assert judge(source, 2, events(1, 2, 3)._replace(excluded=hidden)).answer is RUN
    sighting = judge(source, 2, statements(1, 3)._replace(excluded=hidden))
    assert sighting.answer is NOT_PROVABLE
    assert "told to exclude" in sighting.note


BRANCH = "if a or b:\n    c = 1\nd = 2\n"


def test_arms_come_from_the_jumps_of_the_export() -> None:
    facts = statements(1, 3)._replace(branches=(BranchArm(1, "line 2", False), BranchArm(1, "line 3", True)))
    arms = dict(judge(BRANCH, 1, facts).arms)
    assert arms == {"c = 1": False, "else": True, "b": None}


def test_arms_come_from_the_lines_of_the_suites_when_there_are_no_jumps() -> None:
    assert dict(judge(BRANCH, 1, events(1, 3)).arms) == {"c = 1": False, "else": None, "b": None}
    assert dict(judge(BRANCH, 1, events(1, 2, 3)).arms)["c = 1"] is True


def test_an_arm_that_only_one_shard_took_is_taken() -> None:
    one = statements(1)._replace(branches=(BranchArm(1, "line 2", False), BranchArm(1, "line 3", True)))
    two = statements(1)._replace(branches=(BranchArm(1, "line 2", True), BranchArm(1, "line 3", False)))
    arms = dict(judge(BRANCH, 1, one, two).arms)
    assert (arms["c = 1"], arms["else"]) == (True, True)
