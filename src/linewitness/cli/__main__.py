"""The console entry point. Importing this module costs next to nothing; see :func:`run`."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Never


def run() -> int:
    """Run the command line of this process; the exit status.

    ``--version`` is answered before anything else is imported: editors and CI scripts ask often, and a test lists the
    modules that this path may load.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):
        from linewitness._version import __version__

        sys.stdout.write(f"linewitness {__version__}\n")
        return 0
    if sys.argv[1:3] == ["guard", "hook"] and sys.argv[3:] not in (["--help"], ["-h"]):
        # Agents wait for this answer before each of their steps, and whatever fails on the way must refuse.
        from linewitness.guard.hook import main_of_process as answer

        return answer(sys.argv[3:])
    from linewitness.cli.main import main_of_process

    return main_of_process()


def main() -> "Never":
    """Run the command line of this process, and end it."""
    leave(run())


def leave(status: int) -> "Never":
    """End this process with a status, as the interpreter would, but without taking each module apart before.

    The kernel takes it all back at once; that saves a tenth of what a small check costs.
    """
    import atexit
    import os

    try:
        atexit._run_exitfuncs()  # noqa: SLF001 - what measures a process reports from there
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        status = status or 70
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
