"""What a run may not do, tried by programs that do it: as root, as root who has to pose, as an ordinary user."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.conftest import MakeLab
from tests.sandbox.rooms import NOBODY, Lab


def outcome(lab: Lab, *statements: str) -> list[str]:
    """For each statement ``done``, or the name of what it raised."""
    lines = ["import os, socket, sys"]
    for statement in statements:
        lines += ["try:", f"    {statement}", "    print('done')"]
        lines += ["except BaseException as error:", "    print(type(error).__name__)"]
    answer = lab.run("\n".join(lines))
    assert answer.ended.status == 0, answer.text
    return answer.text.split()


def test_it_writes_into_the_tree_its_results_and_temporary_files(kind: str, make_lab: MakeLab) -> None:
    lab = make_lab(kind)
    inside = ["open('made.txt', 'w')", "os.mkdir('folder')", f"open({str(lab.room.folder / 'r')!r}, 'w')"]
    temporary = ["import tempfile; tempfile.TemporaryFile()", "open(os.environ['HOME'] + '/h', 'w')"]

    assert outcome(lab, *inside, *temporary) == ["done"] * 5
    assert (lab.export / "made.txt").exists()


def test_it_writes_nowhere_else(kind: str, make_lab: MakeLab) -> None:
    lab = make_lab(kind)
    beside = str(lab.folder / "planted")
    places = [beside, "/etc/planted", "/usr/planted", "/usr/lib/planted", str(Path.home() / "planted"), "/planted"]
    outcome(lab, *(f"open({place!r}, 'w')" for place in places))

    assert [place for place in places if Path(place).exists()] == []


def test_what_it_puts_into_the_temporary_folder_is_its_own(namespaced: str, make_lab: MakeLab) -> None:
    lab = make_lab(namespaced)

    assert outcome(lab, "open('/tmp/linewitness-planted', 'w')", "open('/var/tmp/x', 'w')") == ["done", "done"]
    assert not Path("/tmp/linewitness-planted").exists()


def test_secrets_cannot_be_read(kind: str, make_lab: MakeLab) -> None:
    lab = make_lab(kind)
    home = [f"os.listdir({str(Path.home())!r}).index('.profile')", f"open({str(lab.secret)!r}).read()"]
    names = outcome(lab, *home, "os.listdir('/run')", "os.listdir('/var/run')", "open('/etc/shadow').read()")

    assert set(names[:-1]) <= {"FileNotFoundError", "PermissionError", "ValueError"}
    # Landlock takes nothing from root that lies in the system's own folders
    assert names[-1] == "PermissionError" or kind == "landlock"


def test_protected_files_stay_as_they_are(namespaced: str, make_lab: MakeLab) -> None:
    lab = make_lab(namespaced)
    tries = [
        "open('tests/test_it.py', 'a')",
        "open('tests/test_new.py', 'w')",
        "os.unlink('tests/test_it.py')",
        "os.rename('tests', 'elsewhere')",
        "os.chmod('tests/test_it.py', 0o777)",
    ]

    assert set(outcome(lab, *tries)) == {"OSError"}
    assert outcome(lab, "open('shop.py', 'a')") == ["done"]


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


CONNECT = "socket.create_connection(('127.0.0.1', {}), 5)"
SERVE = "s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname(), 5)"


@pytest.mark.parametrize(("network", "serves"), [("none", False), ("loopback", True)])
def test_nothing_outside_can_be_reached(
    namespaced: str, make_lab: MakeLab, listener: int, network: str, serves: bool
) -> None:
    lab = make_lab(namespaced, network=network)
    connected, served = outcome(lab, CONNECT.format(listener), SERVE)

    assert connected in {"ConnectionRefusedError", "OSError"}
    assert (served == "done") is serves


@pytest.fixture
def host() -> Iterator[dict[str, object]]:
    """What of this machine could be reached from a program that is not kept away."""
    abstract = "\0linewitness-test-" + secrets.token_hex(8)
    with contextlib.ExitStack() as stack:
        four = stack.enter_context(socket.create_server(("0.0.0.0", 0)))
        name = stack.enter_context(socket.socket(socket.AF_UNIX))
        name.bind(abstract)
        name.listen()
        found: dict[str, object] = {"port": four.getsockname()[1], "abstract": abstract, "six": 0}
        if socket.has_ipv6:
            with contextlib.suppress(OSError):
                six = stack.enter_context(socket.create_server(("::1", 0), family=socket.AF_INET6))
                found["six"] = six.getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            found["address"] = probe.getsockname()[0]
        yield found


@pytest.mark.parametrize("network", ["none", "loopback"])
def test_no_kind_of_socket_leads_out(namespaced: str, make_lab: MakeLab, host: dict[str, object], network: str) -> None:
    lab = make_lab(namespaced, network=network)
    tries = {
        "the host's loopback": CONNECT.format(host["port"]),
        "the host's loopback of version 6": f"socket.create_connection(('::1', {host['six'] or 9}), 5)",
        "the host's own address": f"socket.create_connection(({host.get('address', '10.0.0.1')!r}, {host['port']}), 5)",
        "a private network": "socket.create_connection(('10.0.0.1', 80), 5)",
        "what clouds tell their machines": "socket.create_connection(('169.254.169.254', 80), 5)",
        "a private network of version 6": "socket.create_connection(('fd00::1', 80), 5)",
        "a datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('10.0.0.1', 53))",
        "a broadcast": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET, "
        "socket.SO_BROADCAST, 1); s.sendto(b'x', ('255.255.255.255', 9))",
        "a name": "socket.getaddrinfo('example.org', 80)",
        "an abstract name of the host": f"socket.socket(socket.AF_UNIX).connect({host['abstract']!r})",
        "the machine that hosts this one": "socket.socket(40, socket.SOCK_STREAM).connect((2, 22))",
        "the same without a connection": "socket.socket(40, socket.SOCK_STREAM).bind((0xffffffff, 5000))",
        "packets as they are": "socket.socket(17, socket.SOCK_RAW, 768)",
        "raw sockets": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "a family that hardly anybody knows": "socket.socket(42, socket.SOCK_DGRAM)",
        "a ring that makes sockets": "import ctypes; c = ctypes.CDLL(None); b = ctypes.create_string_buffer(256); "
        "1 / (c.syscall(425, 4, b) + 1)",
    }

    assert [name for name, how in zip(tries, outcome(lab, *tries.values()), strict=True) if how == "done"] == []


def test_what_the_kernel_tells_of_interfaces_is_the_runs_own(namespaced: str, make_lab: MakeLab) -> None:
    lab = make_lab(namespaced)
    netlink = "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)"

    assert outcome(lab, "assert [n for _, n in socket.if_nameindex()] == ['lo']", netlink) == ["done", "done"]


def test_sockets_that_tests_use_can_be_made(namespaced: str, make_lab: MakeLab) -> None:
    lab = make_lab(namespaced)
    six = "s = socket.create_server(('::1', 0), family=socket.AF_INET6); socket.create_connection(s.getsockname()[:2])"
    unix = "s = socket.socket(socket.AF_UNIX); s.bind('x.sock'); s.listen(); socket.socket(1).connect('x.sock')"
    pair = "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'"

    assert outcome(lab, SERVE, unix, pair) == ["done"] * 3
    assert not socket.has_ipv6 or outcome(lab, six) in (["done"], ["OSError"])


def test_all_of_the_network_can_be_asked_for(kind: str, make_lab: MakeLab, listener: int) -> None:
    assert outcome(make_lab(kind, network="all"), CONNECT.format(listener), SERVE) == ["done", "done"]


def test_landlock_closes_tcp_only_when_there_shall_be_no_network(make_lab: MakeLab, listener: int) -> None:
    assert outcome(make_lab("landlock", network="none"), CONNECT.format(listener)) == ["PermissionError"]


@pytest.mark.parametrize("network", ["none", "loopback", "all"])
def test_it_has_no_capability_and_cannot_get_any(namespaced: str, make_lab: MakeLab, network: str) -> None:
    lab = make_lab(namespaced, network=network)
    answer = lab.run("print(open('/proc/self/status').read())")
    status = dict(line.split(":", 1) for line in answer.text.splitlines() if ":" in line)

    assert [int(status[name], 16) for name in ("CapPrm", "CapEff", "CapAmb")] == [0, 0, 0]
    assert status["NoNewPrivs"].strip() == "1"
    assert str(NOBODY) in status["Uid"]


def test_it_sees_no_process_but_its_own(namespaced: str, make_lab: MakeLab) -> None:
    answer = make_lab(namespaced).run("import os; print([p for p in os.listdir('/proc') if p.isdigit()])")

    assert len(eval(answer.text)) <= 3


def test_only_limits_that_were_asked_for_hold(kind: str, make_lab: MakeLab) -> None:
    lab = make_lab(kind, memory=200, file_size=2, open_files=256)
    tries = [
        "bytearray(400 << 20)",
        "bytearray(50 << 20)",
        "open('big', 'wb').write(bytes(3 << 20))",
        "open('small', 'wb').write(bytes(1 << 20))",
        "files = [open('shop.py') for _ in range(300)]",
    ]

    assert outcome(lab, *tries) == ["MemoryError", "done", "OSError", "done", "OSError"]


def test_a_fork_bomb_is_bounded(make_lab: MakeLab) -> None:
    """In a user namespace of its own the limit counts what the run started, and as nobody what nobody runs."""
    bomb = """
        import os, time
        started = 0
        try:
            while started < 500:
                if os.fork() == 0:
                    time.sleep(60)
                started += 1
        except BlockingIOError:
            print("bounded")
        """
    kind = "root" if os_is_root() else "user"
    answer = make_lab(kind, processes=40).run(bomb)

    assert answer.text.split() == ["bounded"]


def os_is_root() -> bool:
    from tests.sandbox.rooms import IS_ROOT

    return IS_ROOT


def test_a_borrowed_folder_is_there_and_stays_as_it_is(kind: str, make_lab: MakeLab, open_folder: Path) -> None:
    outside = open_folder / "checkout" / "node_modules"
    outside.mkdir(parents=True)
    (outside / "library.js").write_text("1")
    lab = make_lab(kind, borrowed=((outside, "node_modules"),))
    read, written = outcome(lab, "open('node_modules/library.js').read()", "open('node_modules/new', 'w')")

    assert (read, written) in {("done", "OSError"), ("done", "PermissionError")}
    assert [path.name for path in outside.iterdir()] == ["library.js"]
