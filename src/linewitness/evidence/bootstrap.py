"""The program of the trusted run: sets the process up, hands it to pytest, and signs the record at the very end.

Runs in the *tested* interpreter as ``python bootstrap.py CONFIG.json`` from the kit's folder.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import Any


def _load_kit(kit: str) -> None:
    folder = os.path.join(kit, "_linewitness")
    spec = importlib.util.spec_from_file_location(
        "_linewitness", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise SystemExit("the recorder's files are not where they were put")
    package = importlib.util.module_from_spec(spec)
    sys.modules["_linewitness"] = package
    spec.loader.exec_module(package)


def main(path: str) -> int:
    """Run the tests of one configuration. The result is pytest's exit status."""
    kit = os.path.dirname(os.path.abspath(path))
    with open(path, encoding="utf-8") as stream:
        config: dict[str, Any] = json.load(stream)
    # Before 3.11 there is no -P: the folder of the script would be first on the path.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != kit]
    _load_kit(kit)
    from _linewitness import process  # type: ignore[import-not-found]

    process.save(kit, config)
    end = process.start_main(config)
    os.environ.update(process.environment(kit, config["export"]))
    import pytest

    for part in getattr(sys.modules["_pytest.config"], "default_plugins", ()):
        # pytest loads its own plugins before ours, which have to find the whole harness there to remember it
        importlib.import_module(f"_pytest.{part}")
    arguments = list(config["args"])
    for option, name in zip(arguments, arguments[1:]):  # noqa: B905, RUF007 - Python 3.9 knows neither
        # pytest would look at the source of a plugin that it loads itself, to find that there is nothing to rewrite
        if option == "-p" and name.startswith("_linewitness."):
            importlib.import_module(name)
    sys.argv[:] = [os.path.join(os.path.dirname(pytest.__file__), "__main__.py"), *arguments]
    status = int(pytest.main(arguments))
    end(status)
    return status


if __name__ == "__main__":
    # With a guard, because multiprocessing's spawn runs the main file again under another name.
    sys.exit(main(sys.argv[1]))
