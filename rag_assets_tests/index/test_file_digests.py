"""A digest that is remembered is the digest of the bytes there are now."""

import hashlib
import os
import zlib
from pathlib import Path

import pytest

from rag_assets.index import disk_files
from rag_assets.index.disk_files import crc32_of, is_intact, sha256_of

LONG_AGO = 1_000_000_000


@pytest.fixture
def settled(tmp_path: Path) -> Path:
    path = tmp_path / "part.parquet"
    path.write_bytes(b"one")
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_file_that_stays_as_it_is_is_read_once(settled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sha256_of(settled) == of(b"one")
    monkeypatch.setattr(disk_files.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert sha256_of(settled) == of(b"one")
    linked = settled.with_name("link")
    linked.hardlink_to(settled)
    assert sha256_of(linked) == of(b"one")


def test_another_content_of_the_same_length_is_seen(settled: Path) -> None:
    assert sha256_of(settled) == of(b"one")
    settled.write_bytes(b"two")
    assert sha256_of(settled) == of(b"two")


def test_what_was_just_written_is_read_each_time(tmp_path: Path) -> None:
    """Two writes within one tick of the file system's clock look alike."""
    path = tmp_path / "a"
    path.write_bytes(b"one")
    about = path.stat()
    assert sha256_of(path) == of(b"one")
    path.write_bytes(b"two")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert sha256_of(path) == of(b"two")


def test_the_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_files, "_MOST_KNOWN", 3)
    for number in range(10):
        path = tmp_path / str(number)
        path.write_bytes(b"%d" % number)
        os.utime(path, (LONG_AGO, LONG_AGO))
        assert sha256_of(path) == of(b"%d" % number)
    assert len(disk_files._known) <= 3


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sha256_of(tmp_path / "none")


def test_a_file_that_is_intact_need_not_be_hashed(settled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = of(b"one"), crc32_of(settled)
    monkeypatch.setattr(disk_files.hashlib, "file_digest", lambda *_: pytest.fail("hashed"))
    assert is_intact(settled, *known)
    assert sha256_of(settled) == of(b"one")


@pytest.mark.parametrize("damage", [b"", b"on", b"onf", b"oneone", bytes(3)])
def test_a_damaged_file_is_not_intact(settled: Path, damage: bytes) -> None:
    known = of(b"one"), crc32_of(settled)
    settled.write_bytes(damage)
    assert not is_intact(settled, *known)
    assert sha256_of(settled) == of(damage)


def test_a_file_of_several_chunks(tmp_path: Path) -> None:
    path = tmp_path / "large"
    data = os.urandom(3_000_000)
    path.write_bytes(data)
    assert crc32_of(path) == zlib.crc32(data)
