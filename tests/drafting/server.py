"""A local HTTP server that answers as told, and remembers every byte that it was sent."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Answer = Callable[[socket.socket], None]


class Server:
    """Answers the n-th connection with the n-th answer, later ones with the last. ``requests`` are raw bytes.

    ``secure`` is how it speaks TLS, if it does. A ``tunnel`` is a proxy first: it takes a request in the clear, allows
    what it asks for, and is then itself the server at the other end.
    """

    def __init__(
        self, answers: Sequence[Answer], secure: ssl.SSLContext | None = None, *, tunnel: bool = False
    ) -> None:
        self._answers = answers
        self._secure = secure
        self._tunnel = tunnel
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._workers: list[threading.Thread] = []
        self.requests: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http{'s' if self._secure and not self._tunnel else ''}://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        with socket.create_connection(self._socket.getsockname()):
            pass  # wakes the thread that waits for somebody
        self._thread.join()
        self._socket.close()
        for worker in self._workers:
            worker.join(5)

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            if self._over.is_set():
                connection.close()
                return
            answer = self._answers[min(len(self._workers), len(self._answers) - 1)]
            worker = threading.Thread(target=self._one, args=(connection, answer), daemon=True)
            self._workers.append(worker)
            worker.start()

    def _one(self, connection: socket.socket, answer: Answer) -> None:
        try:
            if self._tunnel:
                self.requests.append(_read(connection))
                connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            if self._secure is not None:
                connection = self._secure.wrap_socket(connection, server_side=True)
            self.requests.append(_read(connection))
            answer(connection)
        except OSError:
            pass  # the client left, which is what some answers are for
        finally:
            connection.close()


def _read(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536) or b"\r\n\r\n"
    head, _, rest = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    while len(rest) < int(fields.get(b"content-length", b"0")):
        piece = connection.recv(65536)
        if not piece:
            break
        rest += piece
    return head + b"\r\n\r\n" + rest


@contextmanager
def serving(*answers: Answer, secure: ssl.SSLContext | None = None, tunnel: bool = False) -> Iterator[Server]:
    server = Server(answers, secure, tunnel=tunnel)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def raw(data: bytes) -> Answer:
    """These bytes, and the end of the connection."""
    return lambda connection: connection.sendall(data)


def status(code: int, body: bytes = b"{}", *headers: str) -> Answer:
    """A whole answer with a status."""
    lines = [f"HTTP/1.1 {code} Said", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return raw("\r\n".join(lines).encode() + body)


def chat(text: str) -> Answer:
    """An answer as a model gives it."""
    return status(200, json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode())


def dripping(head: bytes, seconds: float = 0.05) -> Answer:
    """The head, and then a byte now and then for as long as somebody listens."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(head)
        nap = threading.Event()
        for _ in range(400):
            connection.sendall(b"x")
            nap.wait(seconds)

    return answer


def silent(seconds: float = 3.0) -> Answer:
    """Nothing at all, for a while."""

    def answer(_: socket.socket) -> None:
        threading.Event().wait(seconds)

    return answer
