"""Put before a command, runs it and writes what it cost: ``python stopwatch.py OUT COMMAND...``.

``OUT`` becomes a JSON object: the command with its folder and environment, as it was started, its exit status, and what
it took. Everything that is measured is measured by this program. It is as small as can be, because what the kernel
calls the peak memory of a process is never below the memory of the one that started it.
"""

import json
import os
import sys
import time

USAGE = "usage: stopwatch.py OUT COMMAND..."


def main(words: list[str]) -> int:
    if words[:1] in (["--help"], ["-h"]):
        print(f"{USAGE}\n\n{__doc__}")
        return 0
    if len(words) < 2:
        print(USAGE, file=sys.stderr)
        return 2
    out, *command = words
    started = time.monotonic()
    try:
        pid = os.posix_spawnp(command[0], command, os.environ)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - started
    status = os.waitstatus_to_exitcode(status)
    told = {
        "command": command,
        "cwd": os.getcwd(),
        "environment": dict(os.environ),
        "status": status,
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": wall,
        "mib": usage.ru_maxrss / 1024,
    }
    with open(out, "w", encoding="utf-8") as stream:
        json.dump(told, stream)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
