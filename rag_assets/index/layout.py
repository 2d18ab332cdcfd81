"""The directory everything durable lives in, and the names of its parts.

home/
  blobs/ab/ab12…            full documents, addressed by the sha256 of their text, shared by all labels
  cache/                    content-addressed results of stages, and prepared model files
  scratch/                  work that is thrown away, below the home so that parts can be linked into it
  mirrors/                  bare mirrors of remote repositories
  models/{id}.bin           tables that train-embedder made
  serve/                    sockets and logs of the server that agents of this machine share
  tokens.json               digests of the tokens of servers
  dagster/                  DAGSTER_HOME, when the environment names none
  labels/{label}/
    label.json              the repository settings this label was last built with
    active.json             which generation is served, which run promoted it, and what was served before
    tags.json               names that people gave to generations
    eval_history.json       how well each generation answered, in numbers
    generations/{id}/       one complete, immutable build
    trash/                  what a killed process had begun to delete
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from rag_assets.errors import REBUILD, RagAssetsError
from rag_assets.serialization import from_json

T = TypeVar("T")

_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_DEVICE = re.compile(r"^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)")
"""Names that Windows keeps for devices, also with an ending: no file may be called so."""
_SLUG_HASH_LENGTH = 6  # 24 bits: enough to keep `feature/x` and `feature-x` apart in one repository
_MOST_SLUG_CHARS = (
    60  # a generation is called after its branch too; a name on disk has 255 bytes, a path on Windows 260
)


class OtherFormat(RagAssetsError):
    """A store was written by a version that stores something else; the text says how to make it anew."""


def require_format(
    what: str, found: object, wanted: object, remedy: str = REBUILD, *, error: type[RagAssetsError] = OtherFormat
) -> None:
    """Decides for every store whether this version reads it: only its own format. Raises `error` with the `remedy`,
    which names the command that makes the store anew."""
    if found != wanted:
        raise error(f"{what} has format {'?' if found is None else found}, this version reads {wanted}; {remedy}")


@dataclass(frozen=True, slots=True)
class IndexHome:
    root: Path

    @property
    def blobs(self) -> Path:
        return self.root / "blobs"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def parts(self) -> Path:
        return self.cache / "parts"

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    @property
    def mirrors(self) -> Path:
        return self.root / "mirrors"

    @property
    def models(self) -> Path:
        return self.root / "models"

    def own_table(self, model_id: str) -> Path:
        """Where `train-embedder` puts a table."""
        return self.models / f"{model_id}.bin"

    @property
    def dagster(self) -> Path:
        return self.root / "dagster"

    @property
    def labels(self) -> Path:
        return self.root / "labels"

    def label(self, label: str) -> Path:
        """Raises ValueError for a name that could leave the labels folder."""
        if not label or label.startswith(".") or any(c in label for c in "/\\:|,"):
            raise ValueError(f"not an index label: {label!r}; labels look like repository@branch")
        return self.labels / label

    def trash(self, label: str) -> Path:
        return self.label(label) / "trash"

    def make_for_owner(self) -> None:
        """Makes the folder. Nobody else can enter it, whatever this process lets others do with its files."""
        self.root.mkdir(mode=0o777 & ~_OTHERS, parents=True, exist_ok=True)

    def keep_out_of_git(self) -> None:
        """A `.gitignore` inside: an index in a working tree must not be committed with it."""
        path = self.root / ".gitignore"
        if not path.exists():
            write_atomically(path, b"*\n")

    def known_labels(self) -> list[str]:
        """Labels with a folder here, sorted."""
        if not self.labels.is_dir():
            return []
        return sorted(entry.name for entry in self.labels.iterdir() if entry.is_dir())


class LabelError(RagAssetsError):
    """No label, or several, for what somebody named; the text has the candidates."""


def label_named(known: list[str], wanted: str) -> str:
    """The label that `wanted` names, or the only label of the repository that it names; either may keep the spelling of
    repository and ref (`Shop@feature/X`). Raises LabelError with similar names."""
    if wanted in known:
        return wanted
    spelt = spelt_label(known, wanted)
    if spelt is not None:
        return spelt
    of_repository = [label for label in known if label.partition("@")[0] in (wanted, path_slug(wanted))]
    if len(of_repository) == 1:
        return of_repository[0]
    if of_repository:
        raise LabelError(f"{wanted!r} has several labels; choose one of: {', '.join(of_repository)}")
    from rag_assets.suggestions import nearest  # start-up budget: only for a label that is not there

    raise LabelError(f"no label {wanted!r}{nearest(wanted, known, 'there are')}")


def spelt_label(known: list[str], written: str) -> str | None:
    """The known label of `id@ref` in its original spelling; the id and the ref may contain an `@` too."""
    places = [at for at, character in enumerate(written) if character == "@"]
    found = (index_label(written[:at], written[at + 1 :]) for at in reversed(places))
    return next((label for label in found if label in known), None)


def path_slug(name: str) -> str:
    """A name that is safe in file names, URLs and Dagster partition keys on every platform, of at most 60 characters.

    A name that had to change gets a short hash, so that two refs never share one slug
    (`Feature/X` → `feature-x~1a2b3c`).
    """
    made = _DEVICE.sub(r"\g<0>-", _UNSAFE.sub("-", name.lower()).strip("-.") or "x", count=1)
    if made == name and len(made) <= _MOST_SLUG_CHARS:
        return made
    made = made[: _MOST_SLUG_CHARS - _SLUG_HASH_LENGTH - 1]
    return f"{made}~{hashlib.sha256(name.encode()).hexdigest()[:_SLUG_HASH_LENGTH]}"


def label_of(path: Path) -> str:
    """The label that a file of a generation belongs to; '' of what is in no generation."""
    parts = path.parts
    found = [at for at, part in enumerate(parts[:-2]) if part == "labels" and parts[at + 2] == "generations"]
    return parts[found[-1] + 1] if found else ""


def dagster_instance_file(home: IndexHome) -> Path:
    """The configuration of the Dagster instance: in DAGSTER_HOME where it is set, else in a folder of the home."""
    named = os.environ.get("DAGSTER_HOME")
    return (Path(named).expanduser() if named else home.dagster) / "dagster.yaml"


def index_label(repository_id: str, ref: str) -> str:
    """`pythonnet@master`: one repository at one ref, the Dagster partition key."""
    return f"{path_slug(repository_id)}@{path_slug(ref)}"


_OTHERS = 0o077
_mask_of_user: int | None = None


def keep_for_owner() -> None:
    """What this process and those that it starts write from now on is for its owner alone: folders 0700, files 0600. By
    the mask of the process, because engines and databases make files themselves."""
    global _mask_of_user
    mask = os.umask(_OTHERS)
    if _mask_of_user is None:
        _mask_of_user = mask
    os.umask(mask | _OTHERS)


@contextlib.contextmanager
def as_user_shares() -> Iterator[None]:
    """While the context lasts, for files that a user wants outside the home: others read them as the user allows."""
    if _mask_of_user is None:
        yield
        return
    before = os.umask(_mask_of_user)
    try:
        yield
    finally:
        os.umask(before)


def write_atomically(path: Path, data: bytes) -> None:
    """Readers see the old file or the new one, never a part. The folder is made if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def sqlite_uri(path: Path) -> str:
    """How SQLite opens a file only to read it. Where nobody may write, it must not look for a log beside it."""
    return f"{path.resolve().as_uri()}?{'mode=ro' if os.access(path.parent, os.W_OK) else 'immutable=1'}"


_SEAL = re.compile(rb'\{"sha256": "([0-9a-f]{64})",?')
"""How a record begins: the digest is over the rest, with the brace before it."""


class RecordDamaged(msgspec.DecodeError):
    """A record that is not what was written."""


def write_record(path: Path, record: object, *, order: Literal["sorted"] | None = None) -> None:
    """Writes a JSON object atomically, sealed: it begins with a digest of the rest, so one changed bit is noticed."""
    write_atomically(path, sealed_record(msgspec.json.format(msgspec.json.encode(record, order=order))))


def sealed_record(data: bytes) -> bytes:
    """A JSON object as bytes, with a digest of them."""
    rest = data.removeprefix(b"{")
    return b'{"sha256": "%b"%b%b' % (_digest(rest), b"" if rest.strip() == b"}" else b",", rest)


def read_record(path: Path, kind: type[T]) -> T:
    """What `write_record` wrote. Raises FileNotFoundError, OSError, or RecordDamaged."""
    data = require_whole_record(path.read_bytes())
    try:
        return from_json(data, kind)
    except msgspec.DecodeError as error:
        raise RecordDamaged(str(error)) from error


def record_if_whole(path: Path, kind: type[T]) -> T | None:
    """What `write_record` wrote; None where there is nothing, or something else. Raises OSError."""
    try:
        return read_record(path, kind)
    except (FileNotFoundError, RecordDamaged):
        return None


def require_whole_record(data: bytes) -> bytes:
    """The JSON object without its digest. Raises RecordDamaged for bytes that `write_record` did not write."""
    seal = _SEAL.match(data)
    if seal is None:
        raise RecordDamaged("it has no digest of itself")
    rest = data[seal.end() :]
    if _digest(rest) != seal[1]:
        raise RecordDamaged("its bytes are not those that were written")
    return b"{" + rest


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
