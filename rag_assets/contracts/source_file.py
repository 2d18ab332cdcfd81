"""The files of one commit: those to index, with identity and text, and those that are skipped, with the reason (IDX-069
§2, rules A01–A03).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.identity import DocumentIdentity
from rag_assets.contracts.kinds import RagContentType

_TO_COPY = frozenset({"dist", "example", "sample", "template"})


def name_copied_to(name: str) -> str:
    """What a file that is there to be filled in is copied to, `app.env` of `app.env.example`; '' for other names."""
    before, _, ending = name.rpartition(".")
    return before if ending in _TO_COPY and "." in before else ""


class SkipReason(StrEnum):
    """Why a file of the commit is not indexed. Every skipped file has exactly one reason."""

    IGNORED = "ignored"  # .rag_assets_ignore, include/exclude of the configuration
    BINARY = "binary"
    VENDORED = "vendored"
    GENERATED = "generated"
    MINIFIED = "minified"
    LOCK_FILE = "lock-file"
    TOO_LARGE = "too-large"
    LINE_TOO_LONG = "line-too-long"
    SUBMODULE = "submodule"
    SYMLINK = "symlink"
    UNSAFE_PATH = "unsafe-path"
    SECRET_IN_PATH = "secret-in-path"
    DUPLICATE_PATH = "duplicate-path"
    MISSING_BLOB = "missing-blob"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    UNREADABLE = "unreadable"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class GitRepoInfo:
    """Where a snapshot, or a file of it, comes from. `remote_url` never carries credentials.

    `commit_sha` of a file is the commit that gave it its text (R29); `is_dated`: it is known that this commit changed
    the file. For a source archive or a plain directory `commit_sha` is the sha256 of its content and `is_git` is false.
    `commit_date` is ISO 8601 UTC. A build dates everything by it, never by the wall clock (R20).
    """

    remote_url: str
    branch: str
    commit_sha: str
    commit_date: str
    is_git: bool = True
    is_dated: bool = False


@dataclass(frozen=True, slots=True)
class DiscoveredFile:
    """One file of the snapshot that will be indexed. `text_sha256` addresses its (redacted) text in the blob store.

    `path` is repository-relative with `/`; `blob_id` is the git object id (sha256 of the bytes without git).
    """

    path: str
    blob_id: str
    size_bytes: int
    language: str
    encoding: str
    text_sha256: str
    line_count: int
    redacted_secrets: int = 0
    replaced_characters: int = 0


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """One entry of the snapshot that is not indexed, and why."""

    path: str
    reason: SkipReason
    detail: str = ""
    size_bytes: int = 0
    blob_id: str = ""


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file that a stage cannot work on: it raises, crashes, or takes too long or too much memory. `key` finds the
    refusal in the cache."""

    path: str
    reason: SkipReason
    detail: str
    key: str


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """What a file says of itself, or the configuration of it (B03, B08); empty fields where nobody says anything."""

    content_type: RagContentType = RagContentType.UNKNOWN
    business_domain_key: str = ""
    business_domain_area: str = ""
    language: str = ""
    priority: int = 0
    audience: str = ""
    persona: str = ""
    stage: str = ""
    label_slugs: tuple[str, ...] = ()
    label_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexFileContext:
    """Everything that later stages may know of a file: nobody reads the file again (A02, A03).

    `contents` is the decoded, secret-redacted text, character for character as long as the original.
    `blob_uri` identifies the file and is stable over re-indexing (C03).
    """

    full_path: str
    relative_path: str
    contents: str
    git: GitRepoInfo
    identity: DocumentIdentity
    index_label: str
    blob_uri: str
    blob_id: str = ""
    source_sha256: str = ""
    language_hint: str | None = None
    domain_key: str = ""
    metadata: FileMetadata | None = None
