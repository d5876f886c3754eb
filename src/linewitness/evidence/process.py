"""Sets a process of the trusted run up: imports, observer, reports at its end.

Runs in the *tested* interpreter (3.9 and later, standard library only): in the controlling process, in pytest-xdist's
workers, and in every other Python that inherits the run's environment.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from .imports import ExportFinder, survey
from .lent import LentFinder
from .recorder import Observer, Recorder, See
from .seal import take_key

KIT_VARIABLE = "LINEWITNESS_KIT"
EXPORT_VARIABLE = "LINEWITNESS_EXPORT"


def state_path(kit: str) -> str:
    """Where the run's configuration lies in the form that this very interpreter reads fastest."""
    return os.path.join(kit, f"run.{sys.implementation.cache_tag}.{sys.hexversion:x}.bin")


def save(kit: str, config: dict[str, Any]) -> None:
    """Leave the configuration for children and workers of the same interpreter version."""
    with open(state_path(kit), "wb") as stream:
        marshal.dump(config, stream)


def load(kit: str) -> dict[str, Any]:
    """The configuration. Errors: OSError when there is none for this interpreter, ValueError when it is damaged."""
    with open(state_path(kit), "rb") as stream:
        config: dict[str, Any] = marshal.load(stream)  # noqa: S302 - written by our own process
    return config


def start(config: dict[str, Any], role: str, key: bytes = b"") -> Recorder:
    """Install everything in this process."""
    finder = ExportFinder.install(config)
    LentFinder.install(config)
    recorder = Recorder(config["records"], role, keep_all=config["keep_all"], key=key)
    recorder.config = config
    recorder.finder = finder
    recorder.attach(partial(_observer, config, recorder))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.after_fork)
    Recorder.start(recorder)
    return recorder


def start_main(config: dict[str, Any]) -> Callable[[int], None]:
    """Start the recorder of the controlling process. The result writes the end marker, given pytest's status.

    Errors: OSError when the key of the record is gone: somebody else read it.
    """
    recorder = start(config, "main", take_key(config["records"]))
    recorder.announce()

    def end(status: int) -> None:
        if recorder.owns_process and recorder.role == "main":
            recorder.end(status)

    return end


def _observer(config: dict[str, Any], recorder: Recorder, see: See) -> Observer:
    if config["mode"] == "monitoring":
        from .monitor import Monitor

        return Monitor(recorder, see, config["export"], config["plan"])
    from .probes import Probes

    probes = Probes(recorder, see, config["export"], config["plan"])
    probes.start()
    return probes


def start_child(kit: str) -> None:
    """In a Python that inherited the environment of the run: observe, and report each first hit at once."""
    import atexit

    recorder = start(load(kit), "child")
    recorder.wake()

    def at_exit() -> None:
        # A worker of pytest-xdist starts as a child and turns out to be more.
        if recorder.role == "child" and recorder.owns_process:
            recorder.close_child(*survey(recorder.config))

    atexit.register(at_exit)


def environment(kit: str, export: str) -> dict[str, str]:
    """What children have to inherit so that they report. User's PYTHONPATH entries stay behind ours."""
    site = os.path.join(kit, "site")
    inherited = os.environ.get("PYTHONPATH", "")
    path = site + os.pathsep + inherited if inherited else site
    return {KIT_VARIABLE: kit, EXPORT_VARIABLE: export, "PYTHONPATH": path}
