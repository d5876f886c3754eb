"""The protected paths that every repository has, whatever its settings say. Settings add to them and never remove."""

from __future__ import annotations

from typing import Final, NamedTuple


class Guarded(NamedTuple):
    """One kind of protected content: what people call it, and the git-style globs of its paths."""

    what: str
    globs: tuple[str, ...]


_CI: Final = (
    *("/.github", "/.gitlab", "/.gitlab-ci.yml", "/.ci", "/.circleci", "/.buildkite", "/.forgejo", "/.gitea"),
    *("/.azure-pipelines", "/azure-pipelines.yml", "/azure-pipelines.yaml", "/bitbucket-pipelines.yml"),
    *("/.travis.yml", "/.drone.yml", "/.cirrus.yml", "/.cirrus.star", "/.woodpecker", "/.woodpecker.yml"),
    *("/appveyor.yml", "/.appveyor.yml", "/.semaphore", "/.teamcity", "/Jenkinsfile", "/cloudbuild.yaml"),
)

# Agents read their settings in the folder where they are started, so these count at any depth.
_AGENTS: Final = (
    *(".claude", ".codex", ".gemini", ".cursor", ".copilot", ".openhands", ".agents"),
    *(".aider.conf.yml", ".aiderignore"),
)

# Read by the interpreter or by packaging tools wherever they lie, so no folder makes them harmless.
_AUTOLOADED: Final = (
    *("sitecustomize", "sitecustomize.*", "usercustomize", "usercustomize.*"),
    *("*.pth", "*.egg-info", "*.egg-link", "*.dist-info"),
)

BUILT_IN: Final = (
    Guarded("a settings file of the gate", ("/linewitness.toml", "/.linewitness")),
    Guarded("a code owners file", ("/CODEOWNERS", "/docs/CODEOWNERS", "/.github/CODEOWNERS", "/.gitlab/CODEOWNERS")),
    Guarded("a settings file of git", (".gitattributes", ".gitmodules")),
    Guarded("a CI definition", _CI),
    Guarded("a settings file of an agent", _AGENTS),
    Guarded("a corpus manifest", ("MANIFEST.sha256",)),
    Guarded("a file that Python loads by itself", _AUTOLOADED),
)

# These matter in every folder from the root to a trusted test, and nowhere else.
ON_THE_WAY: Final = {
    "conftest.py": "a conftest above trusted tests",
    "__init__.py": "a package file above trusted tests",
    **dict.fromkeys(("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"), "a settings file of pytest"),
    **dict.fromkeys((".coveragerc", ".coveragerc.toml"), "a settings file of coverage"),
}
