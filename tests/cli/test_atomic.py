"""Files appear whole or not at all, and never where a link points."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from linewitness.atomic import _is_stream, write_bytes
from linewitness.errors import UsageError


def test_a_new_file_has_the_bytes_and_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "new", b"data")
    finally:
        os.umask(before)

    assert (tmp_path / "new").read_bytes() == b"data"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["new"]


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")
    target.chmod(0o751)
    write_bytes(str(target), (part for part in (b"n", b"ew")))

    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o751


def test_a_failure_while_the_chunks_are_made_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half of it"
        raise KeyboardInterrupt

    target = tmp_path / "file"
    target.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_bytes(target, chunks())

    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_reader_never_sees_a_part_of_the_file(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")
    seen: set[bytes] = set()

    def chunks() -> Iterator[bytes]:
        for _ in range(3):
            yield b"x" * 100_000
            seen.add(target.read_bytes())

    write_bytes(target, chunks())

    assert seen == {b"old"}
    assert len(target.read_bytes()) == 300_000


def test_a_symbolic_link_is_replaced_and_what_it_points_at_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / "precious").chmod(0o777)
    (tmp_path / "map.json").symlink_to("precious")
    write_bytes(tmp_path / "map.json", b"map")

    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert not (tmp_path / "map.json").stat().st_mode & 0o111
    assert not (tmp_path / "map.json").is_symlink()
    assert (tmp_path / "map.json").read_bytes() == b"map"


def test_a_link_to_nowhere_is_replaced_too(tmp_path: Path) -> None:
    (tmp_path / "map.json").symlink_to("nowhere")
    write_bytes(tmp_path / "map.json", b"map")

    assert sorted(os.listdir(tmp_path)) == ["map.json"]


@pytest.mark.parametrize("name", ["folder", "folder/", "link-to-folder", "."])
def test_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link-to-folder").symlink_to("folder")
    with pytest.raises(UsageError, match="is a directory"):
        write_bytes(f"{tmp_path}/{name}", b"x")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"file: cannot be written: there is no folder {tmp_path}/missing"):
        write_bytes(tmp_path / "missing" / "file", b"x")


def test_a_name_that_no_file_can_have_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="NUL"):
        write_bytes(f"{tmp_path}/a\0b", b"x")
    with pytest.raises(UsageError, match="cannot be written"):
        write_bytes(tmp_path / ("n" * 300), b"x")


def test_the_longest_name_that_a_file_can_have_works(tmp_path: Path) -> None:
    write_bytes(tmp_path / ("n" * 255), b"x")

    assert (tmp_path / ("n" * 255)).read_bytes() == b"x"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    write_bytes(fifo, b"through")
    reader.join()

    assert got == [b"through"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_standard_output_is_written_plainly_even_when_it_is_a_file(tmp_path: Path) -> None:
    # Through /proc, where nothing can be replaced: were the rule broken, /dev/stdout of this machine would be.
    script = "from linewitness.atomic import write_bytes; write_bytes('/proc/self/fd/1', b'here')"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)

    assert (tmp_path / "out").read_bytes() == b"here"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/tmp/../dev/stdout", "//dev/stdout"])
def test_no_name_below_dev_and_proc_is_ever_taken_for_a_file_to_replace(name: str) -> None:
    assert _is_stream(name)


def test_a_folder_that_is_a_link_to_dev_is_dev(tmp_path: Path) -> None:
    (tmp_path / "devices").symlink_to("/dev")

    assert _is_stream(f"{tmp_path}/devices/stdout")
    assert not _is_stream(f"{tmp_path}/dev/stdout")


def test_a_full_device_is_a_refusal_in_words() -> None:
    with pytest.raises(UsageError, match=r"/dev/full: cannot be written: No space left on device"):
        write_bytes("/dev/full", b"x" * 100_000)
