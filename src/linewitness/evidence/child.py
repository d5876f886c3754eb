"""Becomes ``sitecustomize`` in every Python that inherits the environment of a trusted run.

Standard library only, and careful: it runs before the program, in whatever version the program is started with.
"""

import os
import sys


def _start_recorder() -> None:
    kit = os.environ.get("LINEWITNESS_KIT")
    if not kit or sys.version_info < (3, 9) or "_linewitness" in sys.modules:
        return
    # As ``process.state_path``. A Python of another version than the tests' cannot read what is there.
    if not os.path.exists(os.path.join(kit, f"run.{sys.implementation.cache_tag}.{sys.hexversion:x}.bin")):
        return
    from importlib.util import module_from_spec, spec_from_file_location

    folder = os.path.join(kit, "_linewitness")
    spec = spec_from_file_location(
        "_linewitness", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        return
    package = module_from_spec(spec)
    sys.modules["_linewitness"] = package
    spec.loader.exec_module(package)
    from _linewitness.process import start_child  # type: ignore[import-not-found]

    try:
        start_child(kit)
    except (OSError, ValueError, EOFError, RuntimeError):
        # Another version of Python than the tests', or no free monitoring tool: nothing can be observed here, so
        # nothing counts, and the program runs as it would have.
        return


def _chain() -> None:
    """Run the environment's own ``sitecustomize``, which ours hides, unless it lies in the tree under judgement."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    export = os.environ.get("LINEWITNESS_EXPORT", "")
    if export and os.path.realpath(spec.origin or "").startswith(export + os.sep):
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_chain()
_start_recorder()
