"""Parts of the harness that known plugins exchange while tests run, and put back.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

import os
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import _pytest

from .codekey import digest, walk

# Where plugins are installed: not where a module says that it lies, which is for anybody to say.
_INSTALLED = os.path.dirname(os.path.dirname(os.path.abspath(_pytest.__file__)))
# What is exchanged, by a function of which module, and what that function is called there.
_KNOWN = {
    # Otherwise pytest would not run what Django's TestCase does around a test (pytest-django's issue 824).
    "_pytest.unittest.TestCaseFunction.runtest": ("pytest_django.plugin", "non_debugging_runtest"),
}


def is_a_tools(name: str, value: Any) -> bool:
    """Whether ``value`` is what an installed plugin is known to put in the place of ``name``: that very code."""
    module, function = _KNOWN.get(name, ("", ""))
    if type(value) is not FunctionType or not module:
        return False
    file = os.path.join(_INSTALLED, *module.split(".")) + ".py"
    return digest(value.__code__) in _digests(file, function)


@lru_cache(maxsize=8)
def _digests(file: str, name: str) -> frozenset[str]:
    """Of all code of that name in a file, as it lies there."""
    try:
        with open(file, "rb") as stream:
            code: CodeType = compile(stream.read(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(digest(each) for each in walk(code) if each.co_name == name)
