"""What kind of file a path names: code of a language, data, prose, or something nobody here can read."""

from __future__ import annotations

import re

from linewitness.patterns import late

# Files that nothing executes. A vector image can carry scripts, so it is not among them.
_INERT_SUFFIXES = frozenset(
    {
        ".md",
        ".markdown",
        ".rst",
        ".txt",
        ".adoc",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".webp",
        ".bmp",
        ".ico",
        ".tif",
        ".tiff",
        ".avif",
        ".lock",
        ".pyi",
    }
)
_INERT_NAMES = frozenset(
    {
        "license",
        "licence",
        "copying",
        "notice",
        "authors",
        "contributors",
        "changelog",
        "changes",
        "news",
        "readme",
        "history",
        "thanks",
        "todo",
        "py.typed",
        ".gitignore",
        ".gitkeep",
        ".mailmap",
        "go.sum",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
    }
)
_DATA_SUFFIXES = frozenset({".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".csv", ".tsv", ".po", ".pot"})
_DATA_NAMES = frozenset({".gitattributes", ".editorconfig", "manifest.in"})
_PYTHON_SUFFIXES = frozenset({".py", ".pyw"})
_PYTHON_SHEBANG = late(
    rb"#![ \t]*(?:/\S+/)?(?:env[ \t]+(?:-S[ \t]+)?(?:/\S+/)?)?"
    rb"(?:python|pypy)(?:3(?:\.\d+)?)?t?(?:[ \t]+-\S+)*[ \t]*\r?(?:\n|\Z)"
)
_INTERPRETER = late(rb"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-S[ \t]+)?(?:\w+=\S*[ \t]+)*(?:\S*/)?)?([A-Za-z]+)[\d.]*")
_INTERPRETERS = {
    b"sh": "bash",
    b"bash": "bash",
    b"dash": "bash",
    b"ash": "bash",
    b"ksh": "bash",
    b"zsh": "zsh",
    b"node": "javascript",
    b"nodejs": "javascript",
    b"deno": "typescript",
    b"bun": "typescript",
    b"tsx": "typescript",
    b"ruby": "ruby",
    b"php": "php",
    b"kotlin": "kotlin",
    b"kotlinc": "kotlin",
    b"scala": "scala",
    b"swift": "swift",
    b"perl": "perl",
    b"lua": "lua",
}
# Headers of both languages are called .h; these words begin a line in C++ only.
_CPP_HEADER = late(
    rb"^[ \t]*(?:namespace\b|template[ \t]*<|class[ \t]+\w|using[ \t]+\w+[ \t]*=|(?:public|private|protected)[ \t]*:)",
    re.MULTILINE,
)
# Suffixes of code for which a rule may come: the note names the rule that is missing.
_OTHER_LANGUAGES = {
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescript",
    ".go": "go",
    ".java": "java",
    ".rs": "rust",
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".c++": "cpp",
    ".hpp": "cpp",
    ".hh": "cpp",
    ".hxx": "cpp",
    ".h++": "cpp",
    ".ipp": "cpp",
    ".tpp": "cpp",
    ".inl": "cpp",
    ".cu": "cuda",
    ".cs": "c-sharp",
    ".csx": "c-sharp",
    ".rb": "ruby",
    ".rake": "ruby",
    ".gemspec": "ruby",
    ".ru": "ruby",
    ".php": "php",
    ".phtml": "php",
    ".inc": "php",
    ".kt": "kotlin",
    ".kts": "kotlin",
    ".scala": "scala",
    ".sc": "scala",
    ".swift": "swift",
    ".sh": "bash",
    ".bash": "bash",
    ".ksh": "bash",
    ".bats": "bats",
    ".zsh": "zsh",
    ".ps1": "powershell",
    ".pl": "perl",
    ".pm": "perl",
    ".lua": "lua",
    ".r": "r",
    ".jl": "julia",
    ".sql": "sql",
    ".pyx": "cython",
    ".pxd": "cython",
    ".pxi": "cython",
    ".ipynb": "notebook",
    ".vue": "vue",
    ".svelte": "svelte",
    ".html": "html",
    ".htm": "html",
    ".css": "css",
    ".ex": "elixir",
    ".exs": "elixir",
    ".erl": "erlang",
    ".hs": "haskell",
    ".ml": "ocaml",
    ".clj": "clojure",
    ".dart": "dart",
    ".m": "objective-c",
    ".mm": "objective-c",
    ".f90": "fortran",
    ".s": "assembly",
    ".asm": "assembly",
    ".bat": "batch",
    ".cmd": "batch",
    ".tf": "terraform",
    ".proto": "protobuf",
    ".jinja": "jinja",
    ".jinja2": "jinja",
    ".j2": "jinja",
    ".xml": "xml",
    ".svg": "svg",
    ".mk": "make",
    ".cmake": "cmake",
    ".gradle": "gradle",
    ".groovy": "groovy",
    ".pth": "path file",
}
_BINARIES = frozenset(
    {
        ".pyc",
        ".pyo",
        ".so",
        ".pyd",
        ".dll",
        ".dylib",
        ".exe",
        ".o",
        ".a",
        ".lib",
        ".class",
        ".jar",
        ".war",
        ".whl",
        ".egg",
        ".wasm",
    }
)


def suffix(path: str) -> str:
    """The last suffix of a path, lower case, with its dot; empty for ``name`` and ``.name``."""
    name = path.rpartition("/")[2]
    stem, dot, tail = name.rpartition(".")
    return dot + tail.lower() if stem and dot else ""


def is_inert(path: str) -> bool:
    """Whether nothing executes files of this name: prose, bitmap images, lock files, type stubs, well-known notes.

    Type stubs (``.pyi``) are inert because no import system loads them; a program that reads one reads a text file.
    """
    name = path.rpartition("/")[2].lower()
    return suffix(path) in _INERT_SUFFIXES or name in _INERT_NAMES


def is_data(path: str) -> bool:
    """Whether the file is data or settings, which ``data = "owe"`` makes owe."""
    return suffix(path) in _DATA_SUFFIXES or path.rpartition("/")[2].lower() in _DATA_NAMES


def is_binary_code(path: str) -> bool:
    """Whether the name is that of byte code, a native module or an archive of code."""
    return suffix(path) in _BINARIES or "/__pycache__/" in f"/{path}"


def has_foreign_shebang(head: bytes) -> bool:
    """Whether the first line hands the file to another program than Python, whatever its name says."""
    return head.startswith(b"#!") and not _PYTHON_SHEBANG.match(head)


def language(path: str, head: bytes) -> str:
    """The language that has to judge a file: by suffix, else by shebang; empty when nothing tells.

    Names a language whether or not there is a rule for it.
    """
    end = suffix(path)
    if end in _PYTHON_SUFFIXES:
        return "python"
    if end == ".h" and _CPP_HEADER.search(head):
        return "cpp"
    if end in _OTHER_LANGUAGES:
        return _OTHER_LANGUAGES[end]
    return "" if end else shebang_language(head)


def shebang_language(head: bytes) -> str:
    """The language of the program that the first line hands a file to; empty when it names none that is known."""
    if _PYTHON_SHEBANG.match(head):
        return "python"
    found = _INTERPRETER.match(head)
    return _INTERPRETERS.get(found[1], "") if found else ""


def related(language: str) -> str:
    """A language whose programs run files of this one, too."""
    return {"javascript": "typescript", "typescript": "javascript"}.get(language, "")
