"""What leaves the machine, byte by byte: unwitnessed lines with their definitions, sketches of corpora, and no more."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from linewitness.cli.stored import read_map
from linewitness.drafting.endpoint import KEY, MODEL, URL
from linewitness.obligation_map import Status, encode
from tests.cli.conftest import Run
from tests.drafting.conftest import CODEC, REWRITTEN, TRUSTED, answer, codec
from tests.drafting.server import chat, serving
from tests.support.repos import Content, Repo

MARKERS = (
    "TRUSTED", "RELATION", "HELPER", "MANIFEST", "CASE4", "SETTING", "WAIVER", "DOTENV", "README", "GENERATED",
    "OTHERFILE", "UNTOUCHED", "COMMITMESSAGE", "BRANCHNAME", "CONFTEST", "BINARY", "REMOVED", "WITNESSED",
)  # fmt: skip


def marker(name: str) -> str:
    return f"marker_{name.lower()}_{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def marked(folder: Path) -> Repo:
    """A repository in which everything that must not leave has a mark of its own."""
    cases = [{"text": "a"}, {"text": "bb"}, {"text": "ccc"}, {"text": marker("CASE4") + "dddd"}]
    corpus = "".join(json.dumps(case) + "\n" for case in cases)
    digest = hashlib.sha256(corpus.encode()).hexdigest()
    relation = (
        f"import codec\nfrom linewitness.relations import relation, round_trip\n\n# {marker('RELATION')}\n"
        "@relation(corpus='texts.jsonl', at_least=1)\ndef test_nothing(case):\n    assert case\n"
    )
    untouched = f"\n\ndef untouched():\n    return '{marker('UNTOUCHED')}'\n"
    base = {
        "linewitness.toml": "owners = ['" + marker("SETTING") + "']\n",
        "tests/trusted/test_codec.py": f"{TRUSTED}    # {marker('TRUSTED')}\n",
        "tests/trusted/helper.py": f"# {marker('HELPER')}\n",
        "tests/conftest.py": f"# {marker('CONFTEST')}\n",
        "tests/relations/test_nothing.py": relation,
        "tests/relations/corpus/texts.jsonl": corpus,
        "tests/relations/corpus/MANIFEST.sha256": f"# {marker('MANIFEST')}\n{digest}  texts.jsonl\n",
        "tests/waivers.yaml": f"# {marker('WAIVER')}\nwaivers: []\n",
        ".env": f"KEY={marker('DOTENV')}\n",
        "README.md": marker("README"),
        "other.py": f"VALUE = '{marker('OTHERFILE')}'\n",
        "codec.py": f"def gone():\n    return '{marker('REMOVED')}'\n" + CODEC + untouched,
    }
    head: dict[str, Content] = {
        "codec.py": REWRITTEN + untouched + f"\n\nWITNESSED = '{marker('WITNESSED')}'\n",
        "tests/generated/test_more.py": f"# {marker('GENERATED')}\ndef test_x():\n    pass\n",
        ".env": f"KEY={marker('DOTENV')}2\n",
        "blob.bin": b"\0" + marker("BINARY").encode(),
    }
    repo = codec(folder, base, head)
    repo.git("branch", marker("BRANCHNAME"))
    repo.git("commit", "-q", "--allow-empty", "-m", marker("COMMITMESSAGE"))
    return repo


def sent(repo: Repo, run: Run, monkeypatch: pytest.MonkeyPatch, *options: str) -> tuple[bytes, Any]:
    """The recorded request, headers included, and what the model was shown of the repository."""
    assert run("check", "--root", str(repo.root), "--base", "main").status == 1
    with serving(chat(json.dumps({"relations": [answer("x")], "waiver_notes": []}))) as server:
        monkeypatch.setenv(URL, server.url)
        monkeypatch.setenv(MODEL, "small")
        monkeypatch.setenv(KEY, "sk-not-to-be-shown")
        run("relations", "draft", "--root", str(repo.root), *options)
    request = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])
    return server.requests[0], json.loads(request["messages"][1]["content"])


def test_no_byte_of_a_trusted_test_or_of_a_relation_leaves_the_machine(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = marked(tmp_path)
    everything = b"".join(
        path.read_bytes() for path in repo.root.rglob("*") if path.is_file() and ".git/" not in str(path)
    )

    request, shown = sent(repo, run, monkeypatch)

    assert marker("TRUSTED").encode() in everything
    assert marker("RELATION").encode() in everything
    left = [name for name in MARKERS if marker(name).encode() in request]
    assert left == []
    assert "test_codec" not in str(shown)
    assert "codec.decode" not in str(shown)
    assert {line["path"] for line in shown["unwitnessed_lines"]} == {"codec.py"}
    assert [each["name"] for each in shown["definitions"]] == ["encode", "decode"]


def test_a_corpus_is_told_by_its_schema_and_a_few_examples(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, shown = sent(marked(tmp_path), run, monkeypatch)

    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    examples = [{"text": "a"}, {"text": "bb"}, {"text": "ccc"}]
    assert shown["corpora"] == [{"name": "texts.jsonl", "cases": 4, "schema": schema, "examples": examples}]


def test_the_settings_of_base_may_forbid_examples(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = codec(
        tmp_path,
        {
            "linewitness.toml": "draft-examples = 0\n",
            "tests/relations/corpus/a.txt": "secret-case\n",
            "tests/relations/corpus/MANIFEST.sha256": hashlib.sha256(b"secret-case\n").hexdigest() + "  a.txt\n",
        },
    )

    request, shown = sent(repo, run, monkeypatch)

    assert b"secret-case" not in request
    assert shown["corpora"][0]["examples"] == []


def test_a_map_cannot_name_what_the_patch_does_not_owe(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored map is a file, and somebody may have written into it that lines of a trusted test are unwitnessed."""
    repo = marked(tmp_path)
    assert run("check", "--root", str(repo.root), "--base", "main").status == 1
    place = repo.root / ".git" / "linewitness" / "map.json"
    artifact = read_map(str(place))
    row = next(row for row in artifact.rows if row.status is Status.UNWITNESSED)
    names = ["tests/trusted/test_codec.py", "tests/relations/test_nothing.py", ".env", "other.py", "linewitness.toml"]
    forged = [
        msgspec.structs.replace(row, path=name, line=number, content=text, scope="")
        for name in names
        for number, text in enumerate((repo.root / name).read_text().splitlines(), 1)
    ]
    stored = tmp_path / "forged.json"
    stored.write_bytes(b"".join(encode(msgspec.structs.replace(artifact, rows=(*forged, *artifact.rows)))))

    request, shown = sent(repo, run, monkeypatch, str(stored))

    assert [name for name in MARKERS if marker(name).encode() in request] == []
    assert {line["path"] for line in shown["unwitnessed_lines"]} == {"codec.py"}


def test_what_a_sent_definition_mentions_is_sent_with_it(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    mention = '    """See test_nothing_is_nothing."""\n    found = []\n'
    repo = codec(tmp_path, head={"codec.py": REWRITTEN.replace("    found = []\n", mention)})

    _, shown = sent(repo, run, monkeypatch)

    assert "See test_nothing_is_nothing." in shown["definitions"][1]["text"]


def test_a_dry_run_prints_the_very_bytes_that_would_be_sent(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = marked(tmp_path)
    request, _ = sent(repo, run, monkeypatch)

    with serving(chat("x")) as server:
        monkeypatch.setenv(URL, f"{server.url}?secret=s3cr3t")
        shown = run("relations", "draft", "--root", str(repo.root), "--dry-run")

    assert shown.status == 0
    assert shown.out.encode() == request.partition(b"\r\n\r\n")[2]
    assert server.requests == []
    assert "sk-not-to-be-shown" not in shown.out + shown.err
    assert "s3cr3t" not in shown.out + shown.err


def test_the_key_is_in_no_output_and_in_no_stored_file(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = marked(tmp_path)
    sent(repo, run, monkeypatch)

    stored = [path for path in (repo.root / ".git" / "linewitness").rglob("*") if path.is_file()]
    assert stored
    assert [path for path in stored if b"sk-not-to-be-shown" in path.read_bytes()] == []


def test_most_lines_is_a_limit(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, shown = sent(marked(tmp_path), run, monkeypatch, "--max-lines", "2")

    assert len(shown["unwitnessed_lines"]) == 2
