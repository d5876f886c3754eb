"""What one command of the trusted run may use, and how the operating system is told."""

from __future__ import annotations

from typing import Final

from linewitness.settings import Suite
from linewitness.values import NamedTuple

MEBIBYTE: Final = 1 << 20


class Limits(NamedTuple):
    """Limits of a suite: processes and threads together, memory and size of a file in MiB, open files.

    ``memory`` is private writable memory of each process (``RLIMIT_DATA``): what runtimes of Java, Node or Go only
    reserve does not count, which a limit of the address space would.
    """

    processes: int
    memory: int
    file_size: int
    open_files: int

    @classmethod
    def of(cls, suite: Suite) -> Limits:
        """The limits that a suite's settings give."""
        return cls(suite.processes, suite.memory, suite.file_size, suite.open_files)

    def orders(self) -> dict[str, int]:
        """Names of the ``resource`` module and values in its units, as the shim takes them. No core is ever dumped."""
        return {
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_DATA": self.memory * MEBIBYTE,
            "RLIMIT_FSIZE": self.file_size * MEBIBYTE,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_CORE": 0,
        }

    def in_force(self, *, processes: bool) -> tuple[tuple[str, int], ...]:
        """The limits as the map names them, sorted. ``processes``: whether the number of processes is really bound."""
        named = {"file-size": self.file_size, "memory": self.memory, "open-files": self.open_files}
        if processes:
            named["processes"] = self.processes
        return tuple(sorted(named.items()))
