"""Source archives: every format, nothing unsafe, nothing silently cut."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rag_assets.errors import CorruptArchive, EmptyRepository, LocationError, MissingCommit
from rag_assets.sources import archive as archive
from rag_assets.sources.git.git_refs import default_ref
from rag_assets.sources.open import open_snapshot
from rag_assets.sources.snapshot import Snapshot
from rag_assets_tests.sources.conftest import discover_all

FILES = {"shop-1.2.3/src/Order.cs": b"class Order {}\r\n", "shop-1.2.3/README.md": b"# Shop\n"}
NEWEST = 1_700_000_000
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tgz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
}


def tar_of(files: Mapping[str, bytes], *extra: tuple[tarfile.TarInfo, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for number, (name, content) in enumerate(files.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), NEWEST - number
            tar.addfile(info, io.BytesIO(content))
        for info, content in extra:
            tar.addfile(info, io.BytesIO(content))
    return made.getvalue()


def zip_of(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive_file:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, (2023, 11, 14, 22, 13, 20))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive_file.writestr(info, content)
    return made.getvalue()


def written(directory: Path, name: str, data: bytes) -> Path:
    path = directory / name
    path.write_bytes(data)
    return path


def opened(path: Path, ref: str | None = None, commit: str | None = None) -> Snapshot:
    return open_snapshot(str(path), ref=ref, commit=commit, mirrors=Path("unused-mirrors"))


@pytest.mark.parametrize("suffix", [*COMPRESS, ".zip"])
def test_every_format(tmp_path: Path, suffix: str) -> None:
    data = zip_of(FILES) if suffix == ".zip" else COMPRESS[suffix](tar_of(FILES))
    path = written(tmp_path, f"shop-1.2.3{suffix}", data)
    with opened(path) as snapshot:
        found = discover_all(snapshot)
        assert {p: t.text for p, t in found.texts.items()} == {
            "README.md": "# Shop\n",
            "src/Order.cs": "class Order {}\r\n",
        }
        assert found.skipped == {}
        assert snapshot.info.commit_sha == hashlib.sha256(data).hexdigest()
        assert snapshot.info.commit_date == "2023-11-14T22:13:20Z"
        assert (snapshot.info.is_git, snapshot.info.branch, snapshot.ref) == (False, "1.2.3", "1.2.3")
        assert snapshot.info.remote_url == path.name
        assert found.texts["README.md"].file.blob_id == hashlib.sha256(b"# Shop\n").hexdigest()
    assert default_ref(str(path)) == "1.2.3"


def test_names_without_version_and_given_refs(tmp_path: Path) -> None:
    path = written(tmp_path, "shop-master.zip", zip_of(FILES))
    assert opened(path).ref == "archive"
    assert opened(path, ref="master").ref == "master"
    sha256 = opened(path).info.commit_sha
    assert opened(path, commit=sha256[:10]).info.commit_sha == sha256
    with pytest.raises(MissingCommit, match="the archive is"):
        opened(path, commit="f" * 40)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["top/a.cs", "top/b/c.cs"], ["a.cs", "b/c.cs"]),
        (["top/a.cs", "other/c.cs"], ["other/c.cs", "top/a.cs"]),
        (["top/a.cs", "b.cs"], ["b.cs", "top/a.cs"]),
        (["a.cs"], ["a.cs"]),
        (["./top/a.cs", "./top/b.cs"], ["a.cs", "b.cs"]),
    ],
)
def test_a_single_top_level_folder_is_stripped(tmp_path: Path, names: list[str], expected: list[str]) -> None:
    path = written(tmp_path, "x.tar", tar_of(dict.fromkeys(names, b"x\n")))
    assert [entry.path for entry in opened(path).entries()] == expected


UNSAFE = {
    "../evil.cs": "../evil.cs",
    "top/../../evil.cs": "top/../../evil.cs",
    "/etc/evil.cs": "/etc/evil.cs",
    "C:/evil.cs": "C:/evil.cs",
    "top/new\nline.cs": "top/new\\x0aline.cs",
    "top//double.cs": "top//double.cs",
    "top/./dot.cs": "top/./dot.cs",
}


@pytest.mark.parametrize("suffix", [".tar", ".zip"])
def test_unsafe_paths_are_listed_and_never_written(tmp_path: Path, suffix: str) -> None:
    files = dict.fromkeys(UNSAFE, b"evil\n") | {"top/good.cs": b"good\n"}
    data = tar_of(files) if suffix == ".tar" else zip_of(files)
    inner = tmp_path / "in" / "deeper"
    inner.mkdir(parents=True)
    path = written(inner, f"x{suffix}", data)
    found = discover_all(opened(path))
    assert list(found.texts) == ["good.cs"]
    assert found.reasons() == dict.fromkeys(UNSAFE.values(), "unsafe-path")
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == [path.name]


def test_backslashes_of_old_dotnet_zips_are_separators_and_still_checked(tmp_path: Path) -> None:
    data = zip_of({"top/src/A.cs": b"a\n", "top/x/evil.cs": b"b\n"})
    data = data.replace(b"top/src/A.cs", b"top\\src\\A.cs").replace(b"top/x/evil.cs", b"..\\..\\evil.cs")
    found = discover_all(opened(written(tmp_path, "x.zip", data)))
    assert list(found.texts) == ["src/A.cs"]
    assert found.reasons() == {"../../evil.cs": "unsafe-path"}


def test_a_backslash_in_a_tar_name_is_refused(tmp_path: Path) -> None:
    found = discover_all(opened(written(tmp_path, "x.tar", tar_of({"dir\\a.cs": b"a\n", "b.cs": b"b\n"}))))
    assert found.reasons() == {"dir\\a.cs": "unsafe-path"}


def test_a_nul_in_a_zip_name_is_refused(tmp_path: Path) -> None:
    data = zip_of({"aXb.cs": b"a\n", "ok.cs": b"b\n"}).replace(b"aXb.cs", b"a\0b.cs")
    assert discover_all(opened(written(tmp_path, "x.zip", data))).reasons() == {"a\\x00b.cs": "unsafe-path"}


def special(name: str, kind: bytes, target: str = "", size: int = 0) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info, b"x" * size


def test_links_and_devices_are_listed(tmp_path: Path) -> None:
    data = tar_of(
        {"top/a.cs": b"a\n"},
        special("top/soft.cs", tarfile.SYMTYPE, "/etc/passwd"),
        special("top/hard.cs", tarfile.LNKTYPE, "top/a.cs"),
        special("top/device", tarfile.CHRTYPE),
        special("top/pipe", tarfile.FIFOTYPE),
        special("top/dir", tarfile.DIRTYPE),
    )
    found = discover_all(opened(written(tmp_path, "x.tar", data)))
    assert found.reasons() == {
        "soft.cs": "symlink",
        "hard.cs": "symlink",
        "device": "unreadable",
        "pipe": "unreadable",
    }
    assert list(found.texts) == ["a.cs"]


def test_links_in_a_zip_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as made:
        link = zipfile.ZipInfo("link.cs")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
        made.writestr("a.cs", "a\n")
    assert discover_all(opened(path)).reasons() == {"link.cs": "symlink"}


def test_of_members_with_one_name_the_last_wins(tmp_path: Path) -> None:
    data = tar_of(
        {"a.cs": b"first\n"}, special("a.cs", tarfile.REGTYPE, size=3), special("b.cs", tarfile.REGTYPE, size=1)
    )
    snapshot = opened(written(tmp_path, "x.tar", data))
    assert [(entry.path, entry.refused) for entry in snapshot.entries()] == [
        ("a.cs", None),
        ("a.cs", "duplicate-path"),
        ("b.cs", None),
    ]
    found = discover_all(snapshot)
    assert found.texts["a.cs"].text == "xxx"
    assert found.reasons() == {"a.cs": "duplicate-path"}


def test_names_that_differ_in_case_are_both_kept(tmp_path: Path) -> None:
    found = discover_all(opened(written(tmp_path, "x.zip", zip_of({"A.cs": b"1\n", "a.cs": b"2\n"}))))
    assert sorted(found.texts) == ["A.cs", "a.cs"]


def test_resource_forks_do_not_hide_the_top_level_folder(tmp_path: Path) -> None:
    files = {"top/a.cs": b"a\n", "__MACOSX/top/._a.cs": b"junk\n"}
    found = discover_all(opened(written(tmp_path, "x.zip", zip_of(files))))
    assert (list(found.texts), list(found.skipped)) == (["a.cs"], ["__MACOSX/top/._a.cs"])


def test_ignore_files_in_an_archive_are_honoured(tmp_path: Path) -> None:
    files = {
        "t/.gitignore": b"*.log\n",
        "t/a.log": b"x\n",
        "t/src/.rag_assets_ignore": b"B.cs\n",
        "t/src/B.cs": b"b\n",
        "t/c.cs": b"c\n",
    }
    found = discover_all(opened(written(tmp_path, "x.zip", zip_of(files))))
    assert list(found.texts) == ["c.cs"]
    assert found.skipped["a.log"].detail == ".gitignore:1: *.log"
    assert found.skipped["src/B.cs"].detail == "src/.rag_assets_ignore:1: B.cs"


@pytest.mark.parametrize("suffix", [*COMPRESS, ".zip"])
@pytest.mark.parametrize("keep", [0.0, 0.001, 0.3, 0.7, 0.9, 1.0])
def test_a_truncated_archive_is_an_error_that_names_the_file(tmp_path: Path, suffix: str, keep: float) -> None:
    """Wherever it is cut, at 1.0 by the last byte or tar's end mark: never an index of half the files."""
    files = {f"top/{n}.cs": hashlib.sha256(str(n).encode()).hexdigest().encode() * 40 for n in range(60)}
    data = zip_of(files) if suffix == ".zip" else COMPRESS[suffix](tar_of(files))
    cut = int(len(data) * keep)
    if keep == 1.0:
        cut = len(data.rstrip(b"\0")) if suffix == ".tar" else len(data) - 1
    path = written(tmp_path, f"cut{suffix}", data[:cut])
    with pytest.raises(CorruptArchive, match=rf"cut{suffix}: "):
        opened(path)


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.bz2", ".tar.xz"])
def test_a_damaged_compressed_archive_is_an_error(tmp_path: Path, suffix: str) -> None:
    data = bytearray(COMPRESS[suffix](tar_of({f"{n}.cs": bytes([n]) * 3000 for n in range(9)})))
    middle = len(data) // 2
    data[middle : middle + 8] = b"\xff\x00\xff\x00\xff\x00\xff\x00"
    with pytest.raises(CorruptArchive, match="truncated or damaged"):
        opened(written(tmp_path, f"x{suffix}", bytes(data)))


def test_a_damaged_member_of_a_zip_is_listed_and_the_others_are_read(tmp_path: Path) -> None:
    data = zip_of({"a.cs": b"a" * 50, "b.cs": bytes(range(65, 91)) * 20})
    at = data.index(b"b.cs") + 10
    damaged = data[:at] + bytes(byte ^ 0x55 for byte in data[at : at + 6]) + data[at + 6 :]
    found = discover_all(opened(written(tmp_path, "x.zip", damaged)))
    assert (list(found.texts), found.reasons()) == (["a.cs"], {"b.cs": "unreadable"})
    assert "damaged member" in found.skipped["b.cs"].detail


def test_an_encrypted_member_is_listed(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a.cs": b"a\n", "b.cs": b"b\n"}))
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1
    found = discover_all(opened(written(tmp_path, "x.zip", bytes(data))))
    assert (found.reasons(), found.skipped["a.cs"].detail) == ({"a.cs": "unreadable"}, "encrypted")


@pytest.mark.parametrize("suffix", [".tar", ".zip"])
def test_an_archive_without_files_says_so(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, f"x{suffix}", zip_of({}) if suffix == ".zip" else tar_of({}))
    with pytest.raises(EmptyRepository, match="contains no file"):
        opened(path)


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tar.xz"])
def test_something_else_named_like_an_archive_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorruptArchive, match=name):
        opened(written(tmp_path, name, b"<html>404 not found</html>" * 100))


def test_another_file_is_no_location(tmp_path: Path) -> None:
    with pytest.raises(LocationError, match="not a source archive"):
        opened(written(tmp_path, "a.cs", b"class A {}"))


def test_an_archive_that_expands_too_far_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_EXPANDED_BYTES", 100_000)
    files = {f"{n}.txt": b"0" * 30_000 for n in range(5)}
    for path in (
        written(tmp_path, "bomb.zip", zip_of(files)),
        written(tmp_path, "bomb.tar.gz", gzip.compress(tar_of(files))),
    ):
        with pytest.raises(CorruptArchive, match="expands to more than"):
            opened(path)


def test_zeros_behind_the_end_of_a_tar_are_a_bomb_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_EXPANDED_BYTES", 100_000)
    path = written(tmp_path, "bomb.tar.gz", gzip.compress(tar_of({"a.cs": b"a\n"}) + b"\0" * 10_000_000))
    with pytest.raises(CorruptArchive, match="expands to more than"):
        opened(path)


def test_a_member_that_is_too_large_is_listed_without_being_expanded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBER_BYTES", 1000)
    for path in (
        written(tmp_path, "x.zip", zip_of({"a.cs": b"a\n", "big.txt": b"x" * 5000})),
        written(tmp_path, "x.tar", tar_of({"a.cs": b"a\n", "big.txt": b"x" * 5000})),
    ):
        found = discover_all(opened(path))
        assert (list(found.texts), found.reasons()) == (["a.cs"], {"big.txt": "too-large"})


def test_a_huge_header_is_refused_before_it_is_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 100 * 1024**2
    data = gzip.compress(info.tobuf() + b"\0" * 1024**2)
    with pytest.raises(CorruptArchive, match="header"):
        opened(written(tmp_path, "x.tar.gz", data))


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBERS", 3)
    with pytest.raises(CorruptArchive, match="more than 3 members"):
        opened(written(tmp_path, "x.zip", zip_of({f"{n}.cs": b"x" for n in range(4)})))


@pytest.mark.parametrize("mtime", ["nan", "inf", "-5", "1e300", "word"])
def test_impossible_dates_do_not_matter(tmp_path: Path, mtime: str) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("a.cs")
        info.size, info.pax_headers = 2, {"mtime": mtime}
        tar.addfile(info, io.BytesIO(b"a\n"))
    date = opened(written(tmp_path, "x.tar", made.getvalue())).info.commit_date
    assert date in ("1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z")
