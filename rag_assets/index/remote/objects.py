"""A small object store: content-named objects that are checked when they are read, and a few named ones.

Files are stored as blocks of content. Holes of sparse files are no blocks, and blocks that did not change keep their
names: of a vector shard to which a commit added ten points, few go over the network.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from rag_assets.errors import RagAssetsError
from rag_assets.index.generation_files import files_of, written_blocks
from rag_assets.index.layout import write_atomically

T = TypeVar("T")

AT_A_TIME = 16
"""Transfers in parallel: enough to hide the 20 to 50 ms of a request, few enough for one machine's network."""

_ATTEMPTS = 4
_FIRST_WAIT_SECONDS = 0.5  # doubled for each further attempt: 0.5, 1 and 2 s
_LENGTH_BYTES = 8  # before the compressed bytes: how many they become
_LARGEST_OBJECT = 1 << 30  # a damaged length must not ask for all memory
_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
_S3_OPTIONS: dict[str, Any] = {
    "use_listings_cache": False,  # others write too
    "skip_instance_cache": True,  # its key leaves out the credentials and the address, which are in the environment
    # Attempts are counted here alone: those of each layer would multiply.
    "config_kwargs": {"connect_timeout": 5, "read_timeout": 30, "retries": {"total_max_attempts": 1}},
}


class RemoteError(RagAssetsError):
    """The remote store cannot do what was asked; the text names it, the cause and the next command."""


class ObjectMissing(RemoteError):
    """An object that is not there."""


def open_remote(url: str) -> ObjectStore:
    """The store at `s3://bucket/prefix`, `file:///folder` or in a folder; makes no request.

    Credentials come from where AWS clients look for them: environment, profile, role of the machine. Raises
    RemoteError naming the pip line where a package is missing.
    """
    if "://" not in url:
        url = Path(url).expanduser().absolute().as_uri()
    try:
        from upath import UPath

        path = UPath(url, **_S3_OPTIONS) if url.startswith("s3:") else UPath(url)
        files: Any = path.fs  # the client is imported here
        if url.startswith("s3:"):
            files.retries = 1
    except ImportError as error:
        missing = error.name or error  # without a name, its text is what to install
        raise RemoteError(
            f"stores.remote {url} needs a package ({missing}); run: pip install 'rag-assets[s3]'"
        ) from error
    return ObjectStore(url, files, str(path.path).rstrip("/"))


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """Objects below one root. Safe to use from several threads; every failure is a RemoteError."""

    url: str
    _files: Any
    _root: str

    # content, named by itself

    def put(self, data: bytes) -> str:
        """Stores content and returns its name, the sha256 of it. Writing it again changes nothing."""
        name = hashlib.sha256(data).hexdigest()
        self.write(object_path(name), packed(data))
        return name

    def get(self, name: str) -> bytes:
        """The content of a name. Raises ObjectMissing, or RemoteError where it is damaged."""
        stored = self.read(object_path(name))
        try:
            data = unpacked(stored)
        except (OSError, ValueError):
            data = b""
        if hashlib.sha256(data).hexdigest() != name:
            raise RemoteError(
                f"{self.url}: object {name} is damaged; upload it again where the index was built: "
                "rag-assets publish LABEL --force"
            )
        return data

    def has(self, name: str) -> bool:
        return bool(self._tried(f"looking for object {name}", lambda: self._files.exists(self._at(object_path(name)))))

    def names(self) -> Iterator[tuple[str, int]]:
        """(name, stored bytes) of all content."""
        found = self._tried("listing", lambda: self._files.find(self._at("objects"), detail=True))
        for path, info in found.items():
            name = path.rsplit("/", 1)[-1]
            if len(name) == hashlib.sha256().digest_size * 2:  # else a temporary file of a writer that died
                yield name, int(info["size"])

    # what has a name of its own

    def read(self, path: str) -> bytes:
        """Raises ObjectMissing for what is not there."""
        try:
            data: bytes = self._tried(
                f"reading {path}", lambda: self._files.cat_file(self._at(path)), may_be_missing=True
            )
        except FileNotFoundError as error:
            raise ObjectMissing(
                f"{self.url}: {path} is not there; if a publish removed it just now, run the command again, "
                "else where the index was built: rag-assets publish LABEL --force"
            ) from error
        return data

    def write(self, path: str, data: bytes) -> None:
        """In one step: a reader sees the old object or the new one."""
        if self._is_local:
            self._tried(f"writing {path}", lambda: write_atomically(Path(self._at(path)), data))
        else:
            self._tried(f"writing {path}", lambda: self._files.pipe_file(self._at(path), data))

    def delete(self, path: str) -> None:
        """What is not there is deleted already."""
        try:
            self._tried(f"deleting {path}", lambda: self._files.rm_file(self._at(path)), may_be_missing=True)
        except FileNotFoundError:
            return

    def listed(self, folder: str) -> list[str]:
        """Paths below a folder, sorted; nothing where there is none."""
        found = self._tried(f"listing {folder}", lambda: self._files.find(self._at(folder)))
        return sorted(path.removeprefix(f"{self._root}/") for path in found if not path.endswith(".tmp"))

    @property
    def _is_local(self) -> bool:
        return self.url.startswith("file:")

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _tried(self, what: str, work: Callable[[], T], *, may_be_missing: bool = False) -> T:
        """Raises RemoteError after the last attempt; FileNotFoundError only where the caller expects it."""
        for attempt in range(_ATTEMPTS):
            try:
                return work()
            except FileNotFoundError as error:
                if may_be_missing:
                    raise
                raise RemoteError(f"{self.url}: {what} failed: {_said(error)}; does the bucket exist?") from None
            except Exception as error:  # each client has its own errors
                if attempt + 1 == _ATTEMPTS or _is_final(error):
                    raise RemoteError(f"{self.url}: {what} failed: {_said(error)}; {_advice(error)}") from None
            time.sleep(_FIRST_WAIT_SECONDS * 2**attempt * random.uniform(0.75, 1.25))
        raise AssertionError("the last attempt returns or raises")


def object_path(name: str) -> str:
    return f"objects/{name[:2]}/{name}"


def packed(data: bytes) -> bytes:
    """Compressed, with the length it had."""
    compressed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return len(data).to_bytes(_LENGTH_BYTES, "big") + compressed


def unpacked(stored: bytes) -> bytes:
    """Raises OSError or ValueError for what `packed` cannot have made."""
    length = int.from_bytes(stored[:_LENGTH_BYTES], "big")
    if length > _LARGEST_OBJECT:
        raise ValueError(f"{length} bytes")
    found: bytes = pa.Codec("zstd").decompress(stored[_LENGTH_BYTES:], length, asbytes=True)
    return found


def _is_final(error: Exception) -> bool:
    """True where another attempt would say the same: no permission, no credentials, a full disk."""
    return isinstance(error, PermissionError) or "Credentials" in type(error).__name__ or _is_full(error)


def _is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EROFS)


def _advice(error: Exception) -> str:
    if isinstance(error, PermissionError) or "Credentials" in type(error).__name__:
        return "check the credentials in the environment and what they may do, then run the command again"
    return "nothing that is served has changed; run the command again"


def _said(error: Exception) -> str:
    """Its words without anything that is a credential of this process."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    for variable in _SECRETS:
        secret = os.environ.get(variable)
        if secret:
            text = text.replace(secret, "…")
    return text


BLOCK_BYTES = 1 << 18
"""Small enough that a changed point costs little, large enough that a request is not what costs."""


class ContentBlock(msgspec.Struct, frozen=True, array_like=True):
    """Bytes of a file from `offset`: the object `name`."""

    offset: int
    name: str


class PackedFile(msgspec.Struct, frozen=True):
    """One file of a generation; between its blocks there are zeros."""

    path: str
    size: int
    blocks: tuple[ContentBlock, ...]


def blocks_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of every block of a file that is not all zeros."""
    return written_blocks(path, BLOCK_BYTES)


def packed_file(directory: Path, path: Path) -> PackedFile:
    """What a file is made of, without sending anything."""
    blocks = tuple(ContentBlock(offset, hashlib.sha256(data).hexdigest()) for offset, data in blocks_of(path))
    return PackedFile(path.relative_to(directory).as_posix(), path.stat().st_size, blocks)


def unpacked_path(directory: Path, path: str) -> Path:
    """Where a file goes. Raises RemoteError for a path that could leave `directory`: others may write to the store."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or not pure.parts or ".." in pure.parts or "\\" in path or ":" in path or "\0" in path:
        raise RemoteError(f"a published generation names the file {path!r}, which is no place inside it")
    return directory.joinpath(*pure.parts)


def blocks_by_name(directory: Path) -> dict[str, tuple[Path, int]]:
    """Where each block is in the files of a generation."""
    found: dict[str, tuple[Path, int]] = {}
    for path in files_of(directory):
        for offset, data in blocks_of(path):
            found.setdefault(hashlib.sha256(data).hexdigest(), (path, offset))
    return found


def read_block(path: Path, offset: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)
