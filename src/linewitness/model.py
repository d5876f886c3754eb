r"""The values that the steps of the gate hand to each other.

Everything here is frozen, does no I/O and knows no tool. Conventions, everywhere in the package:

* line numbers are 1-based and ranges are inclusive;
* columns are 0-based and count UTF-8 bytes, as compilers and tree-sitter count them;
* a line is what ``\n`` ends; a carriage return before it belongs to the terminator;
* paths are POSIX, relative to the repository's root; bytes of a name that are not UTF-8 survive as
  surrogate escapes, so that a path can always be turned back into the bytes git holds.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NewType, Protocol

from linewitness.values import NamedTuple

RepoPath = NewType("RepoPath", str)
ObjectId = NewType("ObjectId", str)


# ---------------------------------------------------------------- what changed


class Commit(NamedTuple):
    """A commit and its tree, both full hexadecimal object ids. A tree that was never committed has no commit."""

    commit: ObjectId | None
    tree: ObjectId


class Blob(NamedTuple):
    """One side of a changed path as git's tree holds it."""

    mode: int
    oid: ObjectId

    @property
    def is_regular(self) -> bool:
        """Whether this is an ordinary file, and neither a symbolic link nor a submodule."""
        return self.mode & 0o170000 == 0o100000


class FileChange(NamedTuple):
    """One path that differs between base and head. At least one side is present.

    ``base_path`` differs from ``path`` only for a rename that the patch reader has proved to come from a
    file that base held; the lines of such a file are compared with the old file's.
    """

    path: RepoPath
    base_path: RepoPath
    base: Blob | None
    head: Blob | None


class Hunk(NamedTuple):
    """Lines ``base_start .. base_start+base_count-1`` of base became ``head_start .. +head_count-1`` of head.

    With a count of zero the start names the first line *after* the gap (so 1 means "before the first line").
    """

    base_start: int
    base_count: int
    head_start: int
    head_count: int


class FileText(NamedTuple):
    """The bytes of both sides (``None`` where a side is absent) and the line diff that leads from one to the other."""

    change: FileChange
    base: bytes | None
    head: bytes | None
    hunks: tuple[Hunk, ...]


class Patch(NamedTuple):
    """A pair of trees and the paths in which they differ, sorted by path."""

    base: Commit
    head: Commit
    changes: tuple[FileChange, ...]


class PatchSource(Protocol):
    """Where a patch and its texts come from: git objects, or a diff file beside a checkout."""

    @property
    def patch(self) -> Patch:
        """The pair of trees and what differs between them."""
        ...

    def text(self, change: FileChange) -> FileText:
        """Both sides of a change. Errors: :class:`linewitness.errors.PatchError` when they are missing or disagree."""
        ...


# ---------------------------------------------------------------- what is owed


class Kind(StrEnum):
    """What sort of executable line an obligation is: this decides which waivers may discharge it."""

    STATEMENT = "statement"
    BRANCH = "branch"
    DEFINITION = "definition"
    DELETION = "deletion"
    OPAQUE = "opaque"


class Exemption(StrEnum):
    """Why a changed line owes nothing."""

    BLANK = "blank"
    COMMENT = "comment"
    DOCSTRING = "docstring"
    TYPE_COMMENT = "type-comment"
    IMPORT_RESHUFFLE = "import-reshuffle"
    REFORMATTED = "reformatted"
    TYPING_ONLY = "typing-only"
    DECLARATION = "declaration"
    PUNCTUATION = "punctuation"
    KEYWORD = "keyword"
    INERT = "inert"
    GENERATED = "generated"
    PROTECTED = "protected"
    NOT_A_SOURCE = "not-a-source"
    RENAMED = "renamed"
    MODE_ONLY = "mode-only"
    DELETED = "deleted"


class Obligation(NamedTuple):
    """One changed line that owes a witness.

    ``hash`` is the line's identity (see :mod:`linewitness.patch.identity`), ``content`` its text without the
    terminator. ``scope`` is the dotted name of the enclosing definition (empty at module level) and
    ``occurrence`` counts equal lines inside that scope from 1, over the *whole* head file. ``statement`` is
    the first and last line of the innermost statement that holds the line. An opaque obligation has line 0,
    the file's blob id as ``hash`` and the reason in ``note``.
    """

    path: RepoPath
    line: int
    hash: str
    content: str
    kind: Kind
    scope: str
    occurrence: int
    statement: tuple[int, int]
    note: str = ""


class Exempt(NamedTuple):
    """One changed line that owes nothing, with the reason. Line 0 stands for the whole file."""

    path: RepoPath
    line: int
    reason: Exemption


class FileClasses(NamedTuple):
    """All changed lines of one file, each in exactly one of the two lists, both in line order."""

    obligations: tuple[Obligation, ...]
    exempt: tuple[Exempt, ...]


class LineOptions(NamedTuple):
    """The settings that bear on the classification of lines."""

    reformatted: str = "prove"
    deletions: str = "owe"
    data: str = "inert"
    inline_tests: str = "owe"


# ---------------------------------------------------------------- what evidence has to show


class Pos(NamedTuple):
    """A place in a file: 1-based line, 0-based byte column."""

    line: int
    col: int


class Span(NamedTuple):
    """A half-open range of text: ``end`` is the place after the last byte."""

    start: Pos
    end: Pos


class Weight(StrEnum):
    """How much a token says about the code around it, strongest first."""

    STRONG = "strong"
    KEYWORD = "keyword"
    OPENER = "opener"
    CLOSER = "closer"


class Token(NamedTuple):
    """One significant token of a changed line, with the bounds inside which its witness may be looked for.

    ``header`` reaches from a statement's first token (decorators included) to the first statement of its
    suite, or to its end; ``statement`` is the statement whole. ``region`` is the innermost part of the header
    around the token that the statement may skip while it runs (an arm of a conditional expression, a later
    operand of ``and``/``or``, a lambda's body, the element and the conditions of a comprehension, the message
    of an ``assert``), or ``None``. ``pivot`` is the next strong token of the same header, which answers for
    keywords and openers. ``leads`` marks the statement's own first token, ``deferred`` a token of a lambda's body,
    which no import can witness. ``part`` is the sort of the ``region``, where the line rule tells sorts apart: one of
    :class:`linewitness.evidence.formats.regions.Part`, or ``late`` for code that runs at another time.
    """

    text: str
    span: Span
    weight: Weight
    header: Span
    statement: Span
    region: Span | None
    pivot: Span | None
    leads: bool
    deferred: bool = False
    part: str = ""


class Function(NamedTuple):
    """A definition whose entry can be observed: name and the line of its ``def``, ``lambda`` or first decorator.

    ``line`` is the line that the compiler calls the first of the code object (the first decorator's when
    there are decorators), ``body`` the span of its suite or expression. Lambdas and generator expressions have no name
    of their own, and several may begin on one line: their ``text`` is shown, and they are known by their ``body``, the
    part of them that is the first to run when they are entered. ``whole`` is the definition with its header, where the
    line rule knows it. ``shared`` tells that another function begins on the lines on which this one does, so that an
    entry that an export counts there may be the other's.
    """

    name: str
    line: int
    body: Span
    text: str = ""
    whole: Span | None = None
    shared: bool = False


class Demand(NamedTuple):
    """What must have happened for an obligation to count as witnessed.

    Exactly one of these is the question:

    * ``functions`` not empty and ``any_function`` false: every one of them was entered in a test's call;
    * ``functions`` not empty and ``any_function`` true: one of them was entered in a test's call (a class);
    * ``functions`` empty: the ``tokens`` ran.

    ``at_import`` tells that the code of the tokens can run only while the module is imported (module level and class
    bodies). ``substitute`` is the line whose tokens these are when it is not the changed line itself (a deletion
    point, ``else:``, ``finally:``); otherwise ``None``. ``arms`` names the ways out of a branch: the text to show, and
    the code that shows the arm was taken, ``None`` for an arm without code of its own.

    Whatever the question, everything in ``inner`` has to be entered besides: the lambdas, in a test's call, and the
    generator expressions on the line (``gate.md`` 4.3).
    """

    tokens: tuple[Token, ...]
    functions: tuple[Function, ...] = ()
    any_function: bool = False
    at_import: bool = False
    substitute: int | None = None
    arms: tuple[tuple[str, Span | None], ...] = ()
    inner: tuple[Function, ...] = ()


class LineRule(Protocol):
    """What one language calls executable. Rules read source text only, never an export."""

    name: str

    def classify(self, text: FileText, options: LineOptions) -> FileClasses:
        """Put every changed line of head, and every deletion point, into its class."""
        ...

    def demands(self, head: bytes, obligations: tuple[Obligation, ...]) -> tuple[Demand, ...]:
        """For obligations of one file (not opaque ones), in their order, what evidence has to show."""
        ...


# ---------------------------------------------------------------- who saw it run


class Phase(StrEnum):
    """When a line ran: in a test's call, or only while its module was imported. Some exports cannot tell."""

    CALL = "call"
    IMPORT = "import"
    UNKNOWN = "unknown"


class Precision(StrEnum):
    """The finest unit that the evidence could name."""

    EXPRESSION = "expression"
    LINE = "line"
    STATEMENT = "statement"


class Answer(StrEnum):
    """What evidence says of an obligation. Only ``RUN`` and ``PARTIAL`` are witnesses."""

    RUN = "run"
    PARTIAL = "partial"
    NOT_RUN = "not-run"
    NOT_PROVABLE = "not-provable"
    REMOVED = "removed"


class Arm(NamedTuple):
    """One way out of a branch, as text (``"else 0"``) and whether a witness took it; ``None`` is unknown."""

    text: str
    taken: bool | None


class Sighting(NamedTuple):
    """Everything the evidence knows of one obligation.

    ``witnesses`` are node ids of checks and relations that passed and ran the line, sorted; empty for exports
    without contexts. ``note`` is one sentence for people: what did not run, or why the export cannot tell. ``hazard``
    says why a run vouches for nothing here, and is empty for nearly all lines.
    """

    answer: Answer
    witnesses: tuple[str, ...] = ()
    phase: Phase = Phase.UNKNOWN
    precision: Precision = Precision.EXPRESSION
    arms: tuple[Arm, ...] = ()
    note: str = ""
    hazard: str = ""


class Tests(NamedTuple):
    """How the tests of a trusted run ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    xfailed: int = 0


class Confinement(NamedTuple):
    """What a run of ours was kept from.

    ``kind`` is ``bubblewrap``, ``landlock`` or ``none``, ``reason`` says why it is not the first. ``network`` is
    ``none``, ``loopback`` or ``all``. ``limits`` are names and values, sorted; sizes are MiB. ``borrowed`` are folders
    of the checkout, not of head's tree, that the run saw.
    """

    kind: str
    limits: tuple[tuple[str, int], ...]
    network: str
    reason: str = ""
    borrowed: tuple[str, ...] = ()


class RelationCounts(NamedTuple):
    """How many distinct cases a relation of the library tried, checked and left out, and how many it declared."""

    tried: int
    checked: int
    skipped: int
    at_least: int


class RelationRun(NamedTuple):
    """One relation of a trusted run.

    ``corpora`` are the files or folders that it read, with their SHA-256; ``counts`` is ``None`` for a plain test,
    whose cases nobody counts; ``assertions`` tells how often an assertion was reached and held. ``seed`` is there when
    something was drawn with it. ``vacuous`` says why the relation witnesses nothing, and is empty when it does.
    """

    node: str
    corpora: tuple[tuple[RepoPath, str], ...]
    counts: RelationCounts | None
    assertions: int
    seed: int | None = None
    vacuous: str = ""


class EvidenceSource(NamedTuple):
    """One export or one trusted run, as the map names it. ``digest`` is SHA-256 over what was read.

    ``confinement`` is what was in force while it was collected, ``None`` when somebody else did. ``left_out`` are
    trusted files that were not collected, each with who left it out: conftest files, ``options``, or an empty text.
    """

    suite: str
    kind: str
    provenance: str
    digest: str
    tests: Tests | None = None
    confinement: Confinement | None = None
    relations: tuple[RelationRun, ...] = ()
    left_out: tuple[tuple[RepoPath, str], ...] = ()


class Evidence(Protocol):
    """Who saw what run."""

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        """The exports and runs that answer, in the order in which they were given."""
        ...

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the evidence as a whole."""
        ...

    def sightings(self, text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Sighting, ...]:
        """One answer per obligation of one file, in their order."""
        ...


# ---------------------------------------------------------------- waivers


class Reason(StrEnum):
    """The only four reasons for which a line may go without a witness."""

    CODEGEN = "codegen"
    VENDOR = "vendor"
    PURE_REFACTOR = "pure-refactor"
    EXPERIMENT = "experiment"


class Waiver(NamedTuple):
    """One valid record of the waiver file. ``line_hash`` or ``blob`` is set, never both.

    ``expires`` is an ISO date, the last day (UTC) on which the waiver holds. ``at`` is the record's line in the file.
    ``occurrence`` tells equal lines of one scope apart, as :attr:`Obligation.occurrence` does.
    """

    path: RepoPath
    line_hash: str | None
    blob: str | None
    scope: str | None
    reason: Reason
    owner: str
    expires: str
    note: str
    at: int
    occurrence: int | None = None


# ---------------------------------------------------------------- findings


class Severity(StrEnum):
    """Errors keep the gate closed, warnings inform."""

    ERROR = "error"
    WARNING = "warning"


class Finding(NamedTuple):
    """One reason why the gate is closed, or one warning. ``code`` is a key of :data:`linewitness.findings.CODES`.

    ``path`` is empty and ``line`` 0 when the finding is about no place in particular. ``message`` is one or two
    sentences that name the trouble and what to do.
    """

    code: str
    path: str
    line: int
    message: str
    severity: Severity = Severity.ERROR
