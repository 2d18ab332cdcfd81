"""The files of a finished generation, each with a digest: `files.json`, written before its manifest.

Damage on a disk shows nowhere else: a changed bit in a filter of the vector store only hides points. Readers check what
they open: a table whole, of a folder (the vector store, the keyword files, the graph) the small files, so that opening
costs the same whatever the size. `rag-assets index` and `doctor` check everything (`index.integrity`).

What changes after the manifest is written is not listed. These files are records with a digest of their own
(`index.layout.write_record`).
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from rag_assets.errors import RagAssetsError
from rag_assets.index.layout import (
    RecordDamaged,
    label_of,
    read_record,
    record_if_whole,
    require_whole_record,
    write_record,
)

LISTING = "files.json"
MANIFEST = "manifest.json"
RUNS = "eval/"
"""What question sets found: it may be written after the manifest, and is listed again then."""

OPENING_BYTES = 8 << 20
"""Of a folder, the smallest files of together so many bytes are checked when it is opened: 10 ms."""

_RECORDS = ("stages/eval_runs.json", "stages/active_index.json", "gate.json", "threshold.json")
"""What is written after the manifest: each of these has a digest of its own."""
_DAMAGED = "is damaged: its bytes are not those that were written"
_TEMPORARY = (".tmp", ".pickle")
_BLOCK = 1 << 16
_ZEROS = bytes(_BLOCK)
_SEEKS_DATA = hasattr(os, "SEEK_DATA")  # elsewhere holes are read, as the zeros they are


class FileDigest(msgspec.Struct, frozen=True, array_like=True):
    """`written` are the bytes of a file without those blocks that are all zeros, which the digest leaves out too."""

    size: int
    written: int
    sha256: str


class _Listing(msgspec.Struct, frozen=True):
    files: dict[str, FileDigest]  # by path in the generation


def files_of(directory: Path) -> list[Path]:
    """Everything that belongs to a finished generation, sorted."""
    return sorted(directory / name for name in _names_in(directory))


def _names_in(directory: Path) -> Iterator[str]:
    """Their paths in the generation; a Path for each would take as long as looking for them."""
    for folder, _, names in os.walk(directory):
        above = Path(folder).relative_to(directory).as_posix()
        for name in names:
            if not name.endswith(_TEMPORARY):
                yield name if above == "." else f"{above}/{name}"


def list_files(directory: Path, *, again: tuple[str, ...] = (), like: Path | None = None) -> None:
    """Notes what the files of a generation hold; with `again`, what those whose paths begin so hold by now, and of the
    others what is noted already. A file that is one with that of the finished generation `like`, as parts are that did
    not change, holds what is noted there: else it is damaged, and whoever checks it finds that. Raises OSError."""
    names = list(_names_in(directory))
    listed = {}
    if again:
        names = [name for name in names if name.startswith(again)]
        known = listed_files(directory)  # none where nobody can tell: `index.integrity` misses the rest
        listed = {name: digest for name, digest in known.items() if not name.startswith(again)}
    names = [name for name in names if name not in (LISTING, MANIFEST, *_RECORDS)]
    if like is not None:
        listed |= _shared_with(like, directory, names)
    listed |= {name: digest_of_file(directory / name) for name in names if name not in listed}
    write_record(directory / LISTING, _Listing(listed), order="sorted")


def _shared_with(other: Path, directory: Path, names: Sequence[str]) -> dict[str, FileDigest]:
    """What a finished generation notes of those files that are links of its own."""
    known = listed_files(other)
    found = {}
    for name in names:
        with suppress(FileNotFoundError):
            if name in known and (directory / name).samefile(other / name):
                found[name] = known[name]
    return found


def listed_files(directory: Path) -> dict[str, FileDigest]:
    """What was written into a finished generation, by path in it; empty where nobody can tell. Raises OSError."""
    listing = record_if_whole(directory / LISTING, _Listing)
    return {} if listing is None else listing.files


def damaged_files(directory: Path, below: str = "") -> Iterator[str]:
    """Every file of a finished generation, or of a folder of it, that is not what was written, in words. Raises
    OSError."""
    try:
        listed = read_record(directory / LISTING, _Listing).files
    except FileNotFoundError:
        yield f"{LISTING} is gone"
        return
    except RecordDamaged:
        yield f"{LISTING} is damaged"
        return
    for name, known in listed.items():
        problem = _problem(directory / name, known) if name.startswith(below) else ""
        if problem:
            yield f"{name} {problem}"
    for name in _RECORDS:
        if name.startswith(below) and not is_whole_record(directory / name):
            yield f"{name} {_DAMAGED}"


def is_whole_record(path: Path) -> bool:
    """False where a file is there and no record as it was written. Raises OSError."""
    try:
        require_whole_record(path.read_bytes())
    except FileNotFoundError:
        return True
    except RecordDamaged:
        return False
    return True


def check_opened(folder: Path, error: type[RagAssetsError], *, nested: bool = False) -> None:
    """Checks the smallest files of a folder of a generation, OPENING_BYTES together, with `nested` also those of the
    folders in it; of an unfinished generation there is nothing to check them against. Raises `error`."""
    directory = next((at for at in (folder.parent, folder.parent.parent) if (at / MANIFEST).is_file()), folder.parent)
    listed = _listing_of_finished(directory, error)
    beginning = f"{folder.relative_to(directory).as_posix()}/"
    own = [
        (name, known)
        for name, known in listed.items()
        if name.startswith(beginning) and (nested or "/" not in name[len(beginning) :])
    ]
    left, above = OPENING_BYTES, f"{directory}/"  # a Path for each takes as long as reading most of them
    for name, known in sorted(own, key=lambda file: file[1].written):
        left -= known.written
        if left < 0:
            return
        _require(f"{above}{name}", known, error)


def check_file(path: Path, error: type[RagAssetsError]) -> None:
    """Checks a file of a table, which lies in a folder of its generation, against what was written. Raises `error`."""
    directory = path.parent.parent
    known = _listing_of_finished(directory, error).get(f"{path.parent.name}/{path.name}")
    if known is not None and path.exists():  # readers say themselves what is gone
        _require(path, known, error)


def digest_of_file(path: Path | str) -> FileDigest:
    """Raises OSError."""
    digest = hashlib.sha256()
    written = 0
    file = _opened(path)
    try:
        size = os.fstat(file).st_size
        for offset, data in _written_blocks(file, size, _BLOCK):
            digest.update(offset.to_bytes(8, "big"))
            digest.update(data)
            written += len(data)
    finally:
        os.close(file)
    return FileDigest(size, written, digest.hexdigest())


def written_blocks(path: Path, block_bytes: int = _BLOCK) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of every block of a file that is not all zeros. Holes of sparse files are not read where the
    system tells of them."""
    file = _opened(path)
    try:
        yield from _written_blocks(file, os.fstat(file).st_size, block_bytes)
    finally:
        os.close(file)


def _opened(path: Path | str) -> int:
    """A file without an object around it, which takes longer to make than most files of a shard take to read."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))


def _written_blocks(file: int, size: int, block_bytes: int) -> Iterator[tuple[int, bytes]]:
    zeros = _ZEROS if block_bytes == _BLOCK else bytes(block_bytes)
    offset = _next_data(file, 0, size, block_bytes) if size > block_bytes else 0
    while offset < size:
        if size > block_bytes:  # else it is read from its beginning, whole
            os.lseek(file, offset, os.SEEK_SET)
        data = os.read(file, block_bytes)
        if not data:
            return
        if data != (zeros if len(data) == block_bytes else zeros[: len(data)]):
            yield offset, data
        offset += len(data)
        if offset < size:
            offset = _next_data(file, offset, size, block_bytes)


def copy_folder(source: Path, target: Path, *, without: Collection[str] = ()) -> None:
    """Copies the files of a folder, except those named so, for whoever may read them: modes are not copied, and neither
    are zeros, of which the vector store sets aside 120 MB for its first points. Raises OSError."""
    target.mkdir(parents=True)
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir()
        elif path.name not in without:
            with copy.open("wb") as writer:
                for offset, data in written_blocks(path):
                    writer.seek(offset)
                    writer.write(data)
                writer.truncate(path.stat().st_size)


def _next_data(file: int, offset: int, size: int, block_bytes: int) -> int:
    """The first block at or after `offset` that has data, or the end of the file."""
    if not _SEEKS_DATA:
        return offset
    try:
        return os.lseek(file, offset, os.SEEK_DATA) // block_bytes * block_bytes
    except OSError as error:
        if error.errno == errno.ENXIO:  # only a hole is left
            return size
        return offset  # a file system that does not tell


def _require(path: Path | str, known: FileDigest, error: type[RagAssetsError]) -> None:
    problem = _problem(path, known)
    if problem:
        raise error(f"{Path(path)} {problem}; {_repair(Path(path))}")


def _problem(path: Path | str, known: FileDigest) -> str:
    try:
        return "" if digest_of_file(path) == known else _DAMAGED
    except FileNotFoundError:
        return "is gone"


def _repair(path: Path) -> str:
    return f"run: rag-assets index {label_of(path)}".rstrip()


def _listing_of_finished(directory: Path, error: type[RagAssetsError]) -> dict[str, FileDigest]:
    if not (directory / MANIFEST).is_file():
        return {}
    try:
        return _listing(directory)
    except (FileNotFoundError, RecordDamaged) as cause:
        problem = "is gone" if isinstance(cause, FileNotFoundError) else f"is damaged: {cause}"
        raise error(f"{directory / LISTING} {problem}; {_repair(directory / LISTING)}") from cause


def _listing(directory: Path) -> dict[str, FileDigest]:
    path = directory / LISTING
    return _decoded(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _decoded(path: Path, written_ns: int) -> dict[str, FileDigest]:
    return read_record(path, _Listing).files
