"""A call that goes on beside the caller: for waiting until another program has answered."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


class Later(Generic[_Result]):
    """A function that runs in a thread of its own from now on. It must share nothing that changes with the caller."""

    def __init__(
        self, function: Callable[_Arguments, _Result], *arguments: _Arguments.args, **options: _Arguments.kwargs
    ) -> None:
        self._results: list[_Result] = []
        self._error: BaseException | None = None

        def call() -> None:
            try:
                self._results.append(function(*arguments, **options))
            except BaseException as error:  # noqa: BLE001 - whatever it is, the one who asked is told
                self._error = error

        # nobody who leaves early has to wait for an answer
        self._thread = threading.Thread(target=call, daemon=True)
        self._thread.start()

    def result(self) -> _Result:
        """What the function returned, once it has. Errors: what it raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._results[0]
