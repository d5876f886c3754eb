"""The endpoint over TLS and through proxies: whom it trusts, and who gets to see the key."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.drafting.endpoint import KEY, MODEL, URL, Limits, Waiting, ask, endpoint_of
from linewitness.errors import UsageError
from tests.drafting.server import chat, serving, status

SECRET = "sk-marker-7f3a9c-SECRET"
OUR_NAMES = "subjectAltName=IP:127.0.0.1,DNS:models.example"

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


class Authority(NamedTuple):
    """An authority of the test's own: its certificate, and a server that speaks with one that it signed."""

    file: Path
    server: ssl.SSLContext


def authority(folder: Path, names: str = OUR_NAMES, days: int = 2) -> Authority:
    folder.mkdir()
    (folder / "names").write_text(names)

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test authority")
    openssl("req", *key, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=test server")
    openssl(
        "x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "1",
        "-days", str(days), "-extfile", "names", "-out", "cert.pem",
    )  # fmt: skip
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return Authority(folder / "ca.pem", server)


@pytest.fixture(autouse=True)
def _no_proxy_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


naps: list[float] = []


def question(url: str) -> str:
    """The answer, asked for as the command does; pauses are noted and not made."""
    naps.clear()
    endpoint = endpoint_of({URL: url, MODEL: "small", KEY: SECRET})
    assert endpoint is not None
    return ask(endpoint, (b"{}",), Limits(seconds=30, tries=3), Waiting(naps.append))


def test_an_authority_that_a_variable_names_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = authority(tmp_path / "own")
    monkeypatch.setenv("SSL_CERT_FILE", str(own.file))
    with serving(chat("over TLS"), secure=own.server) as server:
        assert question(server.url) == "over TLS"
    assert f"Authorization: Bearer {SECRET}".encode() in server.requests[0]


@pytest.mark.parametrize(
    ("names", "days", "trusts", "why"),
    [
        (OUR_NAMES, 2, "", "unable to get local issuer certificate"),
        (OUR_NAMES, 2, "another", "unable to get local issuer certificate"),
        ("subjectAltName=DNS:elsewhere.example", 2, "own", "IP address mismatch"),
        (OUR_NAMES, -1, "own", "certificate has expired"),
    ],
    ids=["unknown", "another", "mismatch", "expired"],
)
def test_a_certificate_that_cannot_be_verified_is_told_at_once_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str, days: int, trusts: str, why: str
) -> None:
    known = {"own": authority(tmp_path / "own", names, days), "another": authority(tmp_path / "another")}
    if trusts:
        monkeypatch.setenv("SSL_CERT_FILE", str(known[trusts].file))
    with (
        serving(chat("x"), secure=known["own"].server) as server,
        pytest.raises(UsageError, match="the certificate of the model's endpoint cannot be verified") as caught,
    ):
        question(server.url)
    assert why in str(caught.value)
    assert "SSL_CERT_FILE" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert (naps, server.requests) == ([], [])


def test_a_proxy_sees_where_the_request_goes_and_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = authority(tmp_path / "own")
    monkeypatch.setenv("SSL_CERT_FILE", str(own.file))
    with serving(chat("through a proxy"), secure=own.server, tunnel=True) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        assert question("https://models.example/v1") == "through a proxy"
    in_the_clear, inside = proxy.requests
    assert in_the_clear.startswith(b"CONNECT models.example:443 HTTP/1.")
    assert SECRET.encode() not in in_the_clear
    assert SECRET.encode() in inside


def test_a_proxy_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(status(407)) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.replace("//", "//user:hidden-word@"))
        with pytest.raises(UsageError, match=r"cannot be asked: .*407") as caught:
            question("https://models.example/v1")
    assert "hidden-word" not in str(caught.value)
    assert SECRET.encode() not in b"".join(proxy.requests)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_the_key_follows_no_redirect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    own = authority(tmp_path / "own")
    monkeypatch.setenv("SSL_CERT_FILE", str(own.file))
    with serving(chat("elsewhere"), secure=own.server) as elsewhere:
        with (
            serving(status(code, b"", f"Location: {elsewhere.url}"), secure=own.server) as server,
            pytest.raises(UsageError, match="a redirect, which is not followed"),
        ):
            question(server.url)
        assert elsewhere.requests == []
