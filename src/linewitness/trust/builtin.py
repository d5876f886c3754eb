"""The protected paths that every repository has, whatever its settings say. Settings add to them and never remove."""

from __future__ import annotations

from typing import Final

from linewitness.values import NamedTuple


class Guarded(NamedTuple):
    """One kind of protected content: what people call it, and the git-style globs of its paths."""

    what: str
    globs: tuple[str, ...]


_CI: Final = (
    *("/.github", "/.gitlab", "/.gitlab-ci.yml", "/.ci", "/.circleci", "/.buildkite", "/.forgejo", "/.gitea"),
    *("/.azure-pipelines", "/azure-pipelines.yml", "/azure-pipelines.yaml", "/bitbucket-pipelines.yml"),
    *("/.jenkins", "/.tekton", "/.builds", "/.build.yml", "/.codebuild", "/buildspec.yml", "/buildspec.yaml"),
    *("/.zuul.yaml", "/.zuul.d", "/zuul.yaml", "/zuul.d", "/.harness", "/.azuredevops", "/.evergreen.yml"),
    *("/.travis.yml", "/.drone.yml", "/.cirrus.yml", "/.cirrus.star", "/.woodpecker", "/.woodpecker.yml"),
    *("/appveyor.yml", "/.appveyor.yml", "/.semaphore", "/.teamcity", "/Jenkinsfile", "/Jenkinsfile.*"),
    *("/cloudbuild.yaml", "/cloudbuild.yml", "/cloudbuild.json", "/wercker.yml", "/screwdriver.yaml", "/codefresh.yml"),
)

# Agents read their settings in the folder where they are started, so these count at any depth.
_AGENTS: Final = (
    *(".claude", ".codex", ".gemini", ".cursor", ".copilot", ".openhands", ".agents"),
    *(".windsurf", ".kiro", ".amazonq", ".opencode", "opencode.json", "opencode.jsonc", ".mcp.json"),
    *(".aider.conf.yml", ".aiderignore"),
)

# Read by the interpreter or by packaging tools wherever they lie, so no folder makes them harmless.
_AUTOLOADED: Final = (
    *("sitecustomize", "sitecustomize.*", "usercustomize", "usercustomize.*"),
    *("*.pth", "*.egg-info", "*.egg-link", "*.dist-info", "pyvenv.cfg", "*._pth"),
)

# Where an interpreter for the tests is looked for in the checkout: a committed one would judge its own patch.
_ENVIRONMENTS: Final = ("/.venv", "/venv")

BUILT_IN: Final = (
    Guarded("a settings file of the gate", ("/linewitness.toml", "/.linewitness")),
    Guarded("a code owners file", ("CODEOWNERS", "/docs/CODEOWNERS", "/.github/CODEOWNERS", "/.gitlab/CODEOWNERS")),
    Guarded("a settings file of git", (".gitattributes", ".gitmodules")),
    Guarded("a CI definition", _CI),
    Guarded("a settings file of an agent", _AGENTS),
    Guarded("a corpus manifest", ("MANIFEST.sha256",)),
    Guarded("a file that Python loads by itself", _AUTOLOADED),
    Guarded("an environment in which the tests run", _ENVIRONMENTS),
)

# These matter in every folder from the root to a trusted test, and nowhere else. A package file may be compiled.
ON_THE_WAY: Final = {
    "conftest.py": "a conftest above trusted tests",
    "__init__.py": "a package file above trusted tests",
    **dict.fromkeys(("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"), "a settings file of pytest"),
    **dict.fromkeys((".coveragerc", ".coveragerc.toml"), "a settings file of coverage"),
}

# Of these only the tables that steer a test run count: see :mod:`linewitness.trust.tables`.
SHARED_FILES: Final = frozenset({"pyproject.toml", "setup.cfg", "tox.ini"})

_VITE: Final = ("vite.config.ts", "vite.config.mts", "vite.config.js", "vite.config.mjs")
_NYC: Final = (
    ".nycrc",
    ".nycrc.json",
    ".nycrc.yml",
    ".nycrc.yaml",
    "nyc.config.js",
    "nyc.config.cjs",
    "nyc.config.mjs",
)

IMPLICIT: Final = {
    "uv": ("uv.lock", "uv.toml"),
    "poetry": ("poetry.lock", "poetry.toml"),
    "pdm": ("pdm.lock", "pdm.toml"),
    "pipenv": ("Pipfile", "Pipfile.lock"),
    "hatch": ("hatch.toml",),
    "nox": ("noxfile.py",),
    "invoke": ("tasks.py",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "npm": ("package.json", "package-lock.json", "npm-shrinkwrap.json", ".npmrc"),
    "npx": ("package.json", "package-lock.json", ".npmrc"),
    "pnpm": ("package.json", "pnpm-lock.yaml", ".npmrc"),
    "yarn": ("package.json", "yarn.lock", ".yarnrc.yml"),
    "vitest": (*_VITE, *(name.replace("vite", "vitest") for name in _VITE), "vitest.workspace.ts"),
    "jest": ("jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs", "jest.config.json"),
    "c8": (*_NYC, ".c8rc", ".c8rc.json"),
    "nyc": _NYC,
    "cargo": ("Cargo.toml", "Cargo.lock", "build.rs", ".cargo", "rust-toolchain", "rust-toolchain.toml"),
    "go": ("go.mod", "go.sum", "go.work", "go.work.sum"),
    "ant": ("build.xml",),
    "gcovr": ("gcovr.cfg", "gcovr.toml"),
    "phpunit": ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"),
    "ruby": (".simplecov", "Gemfile", "Gemfile.lock"),
    "bundle": (".simplecov", "Gemfile", "Gemfile.lock"),
    "rake": ("Rakefile", "rakefile", ".simplecov", "Gemfile", "Gemfile.lock"),
    "conda": ("environment.yml", "environment.yaml"),
    "mamba": ("environment.yml", "environment.yaml"),
    "mvn": ("pom.xml",),
    "gradle": ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.lockfile"),
}
"""Programs that read files which nobody names to them, from the folder where they are started.

A suite whose ``setup`` or ``run`` calls one of them is steered by these files."""


def revocations_beside(approvers: str) -> str:
    """Where the revocations of the approvers file at this path are."""
    folder, slash, _ = approvers.rpartition("/")
    return f"{folder}{slash}revoked"
