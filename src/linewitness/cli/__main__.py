"""The console entry point. Importing this module costs next to nothing; see :func:`run`."""

import sys


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


if __name__ == "__main__":
    sys.exit(run())
