"""The files of an embedding model on this machine: verified before they are used, and written whole."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import uuid
from collections.abc import Iterable
from pathlib import Path

from rag_assets.errors import RagAssetsError

_STAMPS = "verified-model-files.json"

_log = logging.getLogger(__name__)


class ModelError(RagAssetsError, RuntimeError):
    """The embedding model cannot be used; the message says what to run."""


class ModelMissing(ModelError):
    """The weights are not installed."""


class ModelCorrupted(ModelError):
    """A model file is not the one this version was made for."""


def verify_file(file: Path, expected: str, cache: Path, *, repair: str) -> None:
    """Raises ModelCorrupted, with the command `repair`, unless the sha256 of `file` is `expected`.

    Hashing 90 MB takes longer than a whole search may, so a success is remembered in `cache` under the size of the file
    and the times of its last changes; any change of these, or of `expected`, hashes again. Whoever sets the time of a
    file back changes the one of its inode.
    """
    stat = file.stat()
    key = hashlib.sha256(str(file.absolute()).encode()).hexdigest()[:32]  # no path of this machine in the cache
    stamp = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, expected]
    stamps = _read_stamps(cache / _STAMPS)
    if stamps.get(key) == stamp:
        return
    with file.open("rb") as opened:
        actual = hashlib.file_digest(opened, "sha256").hexdigest()
    if actual != expected:
        raise ModelCorrupted(
            f"{file} is not the expected model file.\n  expected sha256 {expected}\n  actual sha256   {actual}\n"
            f"It is not used. Install it again:\n  {repair}"
        )
    _write_stamps(cache / _STAMPS, {**stamps, key: stamp})


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Writes `parts` to `path`; readers see the old file or the new one. Raises OSError, and leaves nothing then.

    Processes that write the same content at once do not disturb each other.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines(parts)
        try:
            temporary.replace(path)
        except PermissionError:
            # Windows refuses to replace a file that another process has mapped: it has just written the same.
            if not path.exists():
                raise
    finally:
        with contextlib.suppress(OSError):  # gone after the replacement; else the first error is the one to hear
            temporary.unlink()


def _read_stamps(file: Path) -> dict[str, object]:
    """What is remembered; nothing for a file that is missing or damaged, which only costs hashing again."""
    try:
        stamps = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _write_stamps(file: Path, stamps: dict[str, object]) -> None:
    """Two processes may write at once: the last one wins, and the other's entry is made again later."""
    try:
        write_whole(file, [json.dumps(stamps, sort_keys=True).encode()])
    except OSError as error:
        # A read-only cache must not keep a verified model from being used.
        _log.warning("cannot remember the verified model in %s (%s): it is hashed again at every start", file, error)
