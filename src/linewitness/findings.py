"""Every finding code with its texts, its severity and the exit status of its family.

One string serves everywhere: the code in a map is the argument of ``linewitness explain``, the anchor in the
documentation and the rule id of other formats. The families follow section 9 of the gate's rules:

* LW001 is status 2 and LW002 status 4: nothing could be judged;
* LW1 lines and LW2 waivers close the gate with status 1;
* LW3 trust, and LW401 and LW402 (a corpus that is not the one people froze), with status 5;
* LW403 and LW404 with status 1: nothing was tampered with, a relation merely witnesses nothing, so lines stay open;
* LW5 evidence with status 3;
* LW6 is advice. Should a policy ever raise a warning to an error, it closes the gate with the status given here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from linewitness.errors import Exit, LinewitnessError
from linewitness.model import Finding, Severity
from linewitness.values import NamedTuple


class Code(NamedTuple):
    """One finding code. ``title`` is a phrase; ``what``, ``why`` and ``todo`` are one paragraph of plain text each.

    ``severity`` is the default of findings with this code and ``exit`` the status of one that is an error.
    """

    code: str
    title: str
    severity: Severity
    exit: Exit
    what: str
    why: str
    todo: str


_ERROR: Final = Severity.ERROR
_WARNING: Final = Severity.WARNING

_REFUSALS: Final = (
    Code(
        "LW001",
        "usage or settings error",
        _ERROR,
        Exit.USAGE,
        "An option, a file named by an option, or the settings in the base tree cannot be understood, so nothing "
        "was judged.",
        "A gate that guesses what its settings mean would sometimes open on a guess. Settings are read from base, "
        "so a mistake there has to be mended on the target branch.",
        "The message names the file, the line and the key, or the option. Mend it and run again; `linewitness "
        "schema settings` prints what the settings file may hold.",
    ),
    Code(
        "LW002",
        "the patch cannot be trusted",
        _ERROR,
        Exit.PATCH,
        "The two trees, or the lines in which they differ, could not be established beyond doubt: a base that is "
        "not in this clone, an ambiguous name, replaced or grafted history, a damaged or missing object, a diff "
        "that does not match the files.",
        "Every later step rests on knowing which lines changed. Where that is in doubt, `no changes` would be the "
        "most dangerous answer.",
        "The message names what is in doubt. In CI fetch the whole history (`fetch-depth: 0`); name the base by its "
        "full commit id with `--base`; make the diff again from the tree that is judged.",
    ),
)

_LINES: Final = (
    Code(
        "LW101",
        "unwitnessed line",
        _ERROR,
        Exit.CLOSED,
        "A changed line that the interpreter can execute was not run, during a test's call, by any trusted check or "
        "accepted relation that passed. Runs by generated tests, by tests that failed, were skipped or were "
        "expected to fail, and runs at import of lines that a call could run, do not count.",
        "A green suite says nothing about a line that it never reached, and tests written together with the line "
        "only repeat what the line does. The line needs a witness that the author of the patch could not edit.",
        "Write or extend a check in the trusted tests so that it runs the line and asserts its effect, and land it "
        "through the people who own those tests. When the line's oracle lies outside the test runner, ask an owner "
        "for a waiver: `linewitness waive PATH:LINE --reason REASON --owner OWNER`. `linewitness explain PATH:LINE` "
        "shows what is missing.",
    ),
    Code(
        "LW102",
        "branch arm not taken",
        _ERROR,
        Exit.CLOSED,
        'The line ran, but some way out of its branch was never taken by a witness. With `branches = "arms"` in the '
        "settings every arm of a changed branch is owed; with the default, `line`, this is a warning.",
        "A condition that was only ever true has been run and has not been tested: the patch could have inverted "
        "what happens otherwise and nothing would have noticed.",
        "Add a trusted check whose input takes the arm that the message names. When that arm cannot be taken, the "
        "condition is probably redundant: remove it.",
    ),
    Code(
        "LW103",
        "executed but not checked",
        _ERROR,
        Exit.CLOSED,
        "A witness ran the line, but no witness failed when the line's behaviour was altered, so the line was "
        "executed and its effect was not checked.",
        "Running a line without looking at the result is the weakest sort of test. The gate can tell only by "
        "changing the line and running the witnesses again.",
        "Make a trusted check that runs the line also assert what the line is for: its result, its side effect or "
        "its error.",
    ),
    Code(
        "LW104",
        "opaque change",
        _ERROR,
        Exit.CLOSED,
        "A changed file cannot be read by any line rule: a binary or native module, a symbolic link, a submodule, a "
        "language without a rule, text that cannot be decoded, or text in which git and the compiler would count "
        "lines differently or a reader would see something else than runs.",
        "What cannot be read cannot be judged line by line, and leaving it out would let code through unseen. The "
        "whole file is one obligation.",
        "Remove the file from the patch or turn it into plain UTF-8 source with ordinary line ends. When it belongs "
        "there, an owner may waive it by its blob id: `linewitness waive PATH:0 --reason REASON --owner OWNER`.",
    ),
    Code(
        "LW105",
        "hazard",
        _ERROR,
        Exit.CLOSED,
        "A changed line ran in a check that passed, and it can make checks pass by itself: a comparison that ignores "
        "what it is compared with, a question whether a test is running, or a look at callers or program text, where "
        "the expected value stands.",
        "A value that equals everything satisfies every assertion. Such a line may well be honest; that a check "
        "passed does not show it.",
        "Write the change without it. Where it belongs, as in a debugger or a test tool, the people who own the "
        'settings can put `hazards = "ignore"` there, or an owner may waive the line: `linewitness waive PATH:LINE '
        "--reason REASON --owner OWNER`.",
    ),
)

_WAIVERS: Final = (
    Code(
        "LW201",
        "invalid waiver",
        _ERROR,
        Exit.CLOSED,
        "A record of the waiver file breaks a rule: a missing, unknown or repeated key, a reason other than the "
        "four, a date that is no date, or YAML features (anchors, aliases, tags, several documents) that the file "
        "may not use.",
        "A waiver is the only way past the gate without a witness, so a record that can be read in two ways is read "
        "in none, and it closes the gate even when no line of this patch needs it.",
        "Mend or remove the record at the line that the message names. `linewitness waivers check` repeats the test "
        "without running the gate.",
    ),
    Code(
        "LW202",
        "expired waiver",
        _ERROR,
        Exit.CLOSED,
        "The last day on which a waiver held (in UTC, that day included) has passed.",
        "A waiver is a loan with a date. If an expired one were merely ignored nobody would notice; closing the "
        "gate brings it back to its owner.",
        "Write the check that was put off and remove the record, or have its owner renew it for another term. "
        "`linewitness waivers list` shows every record with its state.",
    ),
    Code(
        "LW203",
        "waiver reason not allowed here",
        _ERROR,
        Exit.CLOSED,
        "A live waiver matches the line, but the line is a branch, and a branch may be waived with `codegen` or "
        "`vendor` only.",
        "Branches are where behaviour is decided. Only when somebody else's artefact decides it (a schema, an "
        "upstream release) is there an oracle outside the tests that can stand in.",
        "Take each arm in a trusted check. If the line really is generated or vendored, have the owner correct the "
        "reason.",
    ),
    Code(
        "LW204",
        "ambiguous waiver",
        _ERROR,
        Exit.CLOSED,
        "One waiver matches more than one owed line, so it discharges none of them.",
        "A waiver stands for one decision about one line. Equal lines in several places are several decisions.",
        "Add `scope` (the dotted name of the enclosing definition) to the record, or write one record for each "
        "line: `linewitness waive PATH:LINE --reason REASON --owner OWNER` fills in what tells them apart.",
    ),
    Code(
        "LW205",
        "waiver lives too long",
        _ERROR,
        Exit.CLOSED,
        "The date of a waiver lies further ahead than its reason allows: 180 days for codegen and vendor, 30 for "
        "pure-refactor, 14 for experiment, or less where the settings say so.",
        "A waiver without a near end is a permanent hole with a friendly name.",
        "Choose a date within the limit that the message names; a waiver can be renewed by its owner when the day "
        "comes.",
    ),
    Code(
        "LW206",
        "stale waiver",
        _WARNING,
        Exit.CLOSED,
        "No line of the tree answers to a waiver any more: its line was changed again, moved to another scope or "
        "removed.",
        "Records that discharge nothing hide the ones that do.",
        "Run `linewitness waivers prune` once the record is no longer needed.",
    ),
    Code(
        "LW207",
        "unknown waiver owner",
        _ERROR,
        Exit.CLOSED,
        "The owner named in a waiver is neither in the settings' list of owners nor an owner of the path.",
        "Somebody has to answer for each line that goes without a witness. A name that nobody answers to is none.",
        "Have one of the listed owners take the record over and put their handle into `owner`.",
    ),
)

_TRUST: Final = (
    Code(
        "LW301",
        "protected content changed",
        _ERROR,
        Exit.PROTECTED,
        "The patch adds, changes, moves or removes something that decides what the gate sees: trusted tests, "
        "relations, corpora, waivers, gate settings, CI definitions, or a file that can influence the trusted run. "
        "Nothing of the patch was run.",
        "A gate whose inputs the author can edit proves nothing. This holds for improvements too, since the gate "
        "cannot tell them from sabotage.",
        "Take the files that the message names out of the patch. If the change is wanted, let somebody from the base's "
        "approvers file look at it and run `linewitness approve`, or let the owners land it on the target branch on "
        "its own, then rebase the patch.",
    ),
    Code(
        "LW302",
        "trusted run loaded an unprotected changed file",
        _ERROR,
        Exit.PROTECTED,
        "While the trusted tests ran they loaded or read a file of the repository that the patch changed and that is "
        "neither protected nor subject to obligations. Or they loaded code that lies among the tests and is not "
        "protected. Or the code under test executed text of such a file, or opened a file of the checks by itself.",
        "Whoever writes a helper of a check writes the check. Such a file is a way to change verdicts without "
        "touching a protected path, behaviour in it owes no line, and answers that are looked up prove nothing.",
        "Add the file to `protected` in the settings on the target branch, or move the helper beside the trusted "
        "tests, or stop the trusted tests from using it. Move behaviour into a module, and have the code under test "
        "compute its answers.",
    ),
    Code(
        "LW303",
        "new file shadows a module",
        _ERROR,
        Exit.PROTECTED,
        "The patch adds a file or folder that Python would import instead of a standard-library module, an "
        "installed distribution or a trusted helper of the same name.",
        "With a module of its own under a well-known name a patch can replace the test runner, the assertion "
        "library or a helper without touching any of them.",
        "Give the new module another name, or move it into the project's own package. An approver may also vouch for "
        "it, with `linewitness approve`.",
    ),
    Code(
        "LW304",
        "invalid approval",
        _ERROR,
        Exit.PROTECTED,
        "A commit of the patch is offered as approval of protected changes, but its signature is missing, is not "
        "valid, was made by a key that the base's approvers file does not list, or vouches for other content than "
        "head has.",
        "An approval counts only when it can be traced to somebody whom the target branch already trusted before "
        "the patch.",
        "Have somebody from the base's approvers file review the protected changes of the present head and sign "
        "them again with `linewitness approve`. Any later edit needs a new approval. A line of the approvers file "
        "that lists nobody is mended on the target branch.",
    ),
)

_CORPORA: Final = (
    Code(
        "LW401",
        "corpus drift",
        _ERROR,
        Exit.PROTECTED,
        "A file of a frozen corpus is missing or its SHA-256 is not the one in `MANIFEST.sha256`, or the manifest "
        "itself cannot be read.",
        "A relation holds over the inputs that people chose. Inputs that can be swapped for easier ones turn it "
        "into decoration.",
        "Restore the file. If the corpus was meant to change, its owners run `linewitness corpus freeze` and land "
        "both files together; `linewitness corpus verify` and `sha256sum -c MANIFEST.sha256` show the difference.",
    ),
    Code(
        "LW402",
        "corpus file not in the manifest",
        _ERROR,
        Exit.PROTECTED,
        "A file lies in a corpus folder, or in a corpus without a manifest, and no digest vouches for it.",
        "A relation that reads its whole folder would take an unlisted file as input, so the manifest must list "
        "exactly what is there.",
        "Remove the file, or have the corpus's owners add it with `linewitness corpus freeze`.",
    ),
    Code(
        "LW403",
        "vacuous relation",
        _ERROR,
        Exit.CLOSED,
        "A relation ended without having compared anything: it skipped its cases, saw fewer distinct ones than it "
        "declares, or its assertion was never reached. It witnesses nothing.",
        "A relation over no cases is true of every program.",
        "Give the corpus cases that the relation does not skip, or correct the condition by which it skips them.",
    ),
    Code(
        "LW404",
        "relation not accepted",
        _ERROR,
        Exit.CLOSED,
        "A relation that the patch brings along is a draft. It may run, and it discharges nothing.",
        "Anyone may propose a relation. It becomes evidence when a reviewer has accepted that it states something "
        "true of the product.",
        "Let a reviewer land the relation on the target branch, then rebase the patch.",
    ),
)

_EVIDENCE: Final = (
    Code(
        "LW501",
        "trusted check failed",
        _ERROR,
        Exit.EVIDENCE,
        "A trusted check or relation failed, or raised an error in its setup or teardown, on the patch's head. Or it "
        "gave no answer there (skipped, expected to fail, gone), and with base's code it applies and passes.",
        "A failing check contradicts the patch, and a run with failures says nothing complete about the rest. A patch "
        "that decides which checks apply to it could leave out the one that would fail.",
        "Read the failure shown with the message and mend the patch, or keep the check applying. When the check itself "
        "is wrong, its owners change it on the target branch.",
    ),
    Code(
        "LW502",
        "no trusted check collected",
        _ERROR,
        Exit.EVIDENCE,
        "The trusted run found no test at all, or none that passed. Or the command of a suite wrote no coverage "
        "export, an empty one, or one into whose place the tree had put something before.",
        "Without a single check that people own there is nothing to judge a patch by, and an empty run must not "
        "look like a clean one. A file that was there before the run may tell of other tests.",
        "With pytest: move a few existing tests into the trusted folder (`tests/trusted/` unless the settings say "
        "otherwise) on the target branch, or point `trusted` at them; `linewitness doctor` shows what would be "
        "collected. With a command: let it write the file that `export` names, in a folder of its own which git "
        "ignores.",
    ),
    Code(
        "LW503",
        "trusted run ended early",
        _ERROR,
        Exit.EVIDENCE,
        "The trusted run did not reach its own end: it crashed, was killed, ran out of time, lost a worker, ended "
        "through an exit call, or collected tests that have no outcome.",
        "Tests that never ran cannot fail. A run counts only when it is complete.",
        "Find what ended the run in its last output; raise `timeout` in the suite's settings if it was merely slow. "
        "Code that ends the interpreter must not do so under test.",
    ),
    Code(
        "LW504",
        "export does not match head",
        _ERROR,
        Exit.EVIDENCE,
        "A coverage export disagrees with the sources at head: it names a line past the end of a file, or says that "
        "a blank line or a comment was executed.",
        "Such an export was collected on another version of the file, and its line numbers speak about other lines.",
        "Collect the export again from a clean checkout of head, with only the trusted tests, and pass the new file.",
    ),
    Code(
        "LW505",
        "tampering seen",
        _ERROR,
        Exit.EVIDENCE,
        "The recorder's hooks were removed, replaced or fed during the trusted run, or its records contain "
        "something that no event explains.",
        "Evidence from a process whose instruments were touched is evidence of nothing.",
        "Read the message for the place where it was noticed. A tracer or a monitoring tool of the tests' own is no "
        "tampering; to take the recorder's away is. A project that is a plugin of pytest and has hooks is left out of "
        "the suite's `plugins`: the runs of pytest that its checks start load it.",
    ),
    Code(
        "LW506",
        "source imported from outside the checkout",
        _ERROR,
        Exit.EVIDENCE,
        "During the trusted run a module of the project came from somewhere other than the exported head: an "
        "installed copy, an editable install of another checkout, or cached byte code.",
        "The tests then passed on other code than the patch's.",
        "Remove the installed copy from the interpreter that runs the tests. `linewitness doctor` names the places "
        "that win.",
    ),
    Code(
        "LW507",
        "path in the export has no single match",
        _ERROR,
        Exit.EVIDENCE,
        "A path in a coverage export fits no file of the repository, or fits several.",
        "Evidence that is credited to the wrong file opens the gate for code that never ran.",
        "Tell the mapper where the export's paths start with `--path-map FROM=TO` (or `path-map` in the suite's "
        "settings), or collect the export with paths relative to the repository's root.",
    ),
    Code(
        "LW508",
        "evidence missing or unreadable",
        _ERROR,
        Exit.EVIDENCE,
        "There is no evidence to judge by: an export is missing, empty, damaged or of an unknown format, or the "
        "trusted checks could not be started at all.",
        "Evidence that cannot be read is not evidence that nothing ran, and even less that everything did.",
        "The message names the file or the interpreter and what is wrong with it. Write the export again, or mend "
        "the interpreter of the tests; `linewitness doctor` looks at both.",
    ),
)

_ADVICE: Final = (
    Code(
        "LW601",
        "security-sensitive path",
        _WARNING,
        Exit.CLOSED,
        "The patch touches a path that the settings call sensitive.",
        "Zero open obligations means that every changed line was run by a check the author cannot edit. It is not a "
        "security audit.",
        "Have the change reviewed by somebody responsible for that area, whatever the gate says.",
    ),
    Code(
        "LW602",
        "formatting mixed with behaviour",
        _WARNING,
        Exit.CLOSED,
        "The patch changes behaviour and, besides, the formatting of code that it does not otherwise alter.",
        "Reviewers overlook the few lines that matter among many that do not.",
        "Split the patch: the formatting in one commit, the behaviour in another.",
    ),
    Code(
        "LW603",
        "no human-owned check yet",
        _WARNING,
        Exit.CLOSED,
        "The repository has no trusted check and no relation.",
        "The gate compares a patch with what people own. As long as they own nothing it can only stay closed.",
        "Start small: move three existing tests into `tests/trusted/` on the target branch and protect the folder. "
        "`linewitness init` prepares the folders and the settings, and says which of your tests are good first ones.",
    ),
    Code(
        "LW604",
        "exclusion marker added",
        _WARNING,
        Exit.CLOSED,
        "The patch adds a comment or an attribute that tells a coverage tool to leave code out.",
        "It has no effect here: the lines it covers owe as all others do. Coverage tools obey it, though: they drop "
        "such lines from their exports, or report them as run; such an export cannot witness them.",
        "Remove the marker. If the lines cannot be tested, ask for a waiver that names an owner and a reason.",
    ),
)

CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {code.code: code for code in _REFUSALS + _LINES + _WAIVERS + _TRUST + _CORPORA + _EVIDENCE + _ADVICE}
)


def exit_of(findings: Iterable[Finding]) -> Exit:
    """The exit status that findings imply: the highest of 5, 4, 3, 2, 1 among the errors, 0 when there is none.

    A code that this version does not know (from a map that another version wrote) counts as closed.
    """
    errors = (finding.code for finding in findings if finding.severity is Severity.ERROR)
    return max((CODES[code].exit if code in CODES else Exit.CLOSED for code in errors), default=Exit.OPEN)


def finding_of(error: LinewitnessError) -> Finding:
    """The finding that a failure amounts to in a map: under its own code, else under the general one of its family.

    The exit status of a map follows from its findings, so a code that would lead to another status is not used.
    """
    own = CODES.get(error.code)
    code = error.code if own and own.exit is error.exit and own.severity is Severity.ERROR else _GENERAL[error.exit]
    return Finding(code, error.path, error.line, error.message)


_GENERAL: Final[Mapping[Exit, str]] = MappingProxyType(
    {Exit.USAGE: "LW001", Exit.PATCH: "LW002", Exit.EVIDENCE: "LW508", Exit.PROTECTED: "LW301"}
)

EXIT_MEANING: Final[Mapping[Exit, str]] = MappingProxyType(
    {
        Exit.OPEN: "gate open: every obligation is discharged, or nothing is owed",
        Exit.CLOSED: "gate closed: an obligation is open, or a waiver is invalid or expired",
        Exit.USAGE: "usage or settings error",
        Exit.EVIDENCE: "evidence missing, failing, incomplete, stale or tampered with",
        Exit.PATCH: "the patch cannot be trusted",
        Exit.PROTECTED: "protected content or a corpus changed without approval",
        Exit.INTERNAL: "internal error",
        Exit.INTERRUPTED: "interrupted",
    }
)
"""What each exit status means, for screens and help texts."""
