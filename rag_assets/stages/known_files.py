"""What earlier builds found in files of the same path and content, so that a build reads only what is new."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import msgspec

from rag_assets.contracts.source_file import DiscoveredFile, SkippedFile
from rag_assets.decoders import from_json
from rag_assets.sources import POLICY_FINGERPRINT, IgnorePolicy, is_lasting
from rag_assets.sources.entries import Entry
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.workers import start_workers
from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.cache import Cache, cache_key

STAGE = "discovered_files"
_CACHE_BATCH = 256  # files between two writes: what a killed discovery reads again at most
_WORTH_WORKERS = 256  # new files: what parsing and describing them takes is several times what processes take to start


def discovery_key(path: str, blob_id: str, max_line_length: int) -> bytes:
    """Where the cache has what was found in a file."""
    return cache_key(STAGE, POLICY_FINGERPRINT, str(max_line_length), path, blob_id)


class _Outcome(msgspec.Struct, omit_defaults=True):
    """One of the two."""

    indexed: DiscoveredFile | None = None
    skipped: SkippedFile | None = None


class Discoveries:
    """The outcomes that the cache knows, and those to be added to it. A context manager; leaving it writes the rest."""

    def __init__(self, build: IndexBuild, policy: IgnorePolicy) -> None:
        self._build = build
        self._limit = policy.max_line_length
        self._cache = Cache(build.home.cache, STAGE)
        self._keys: dict[str, bytes] = {}
        self._waiting: list[tuple[bytes, bytes]] = []

    def of(self, entries: list[Entry]) -> dict[Entry, DiscoveredFile | SkippedFile]:
        """What is known of these entries; nothing in a fresh build. A text that is gone from the store is not known."""
        keys = {entry: discovery_key(entry.path, entry.blob_id, self._limit) for entry in entries}
        known = {} if self._build.fresh else self._cache.get_many(list(keys.values()))
        blobs = BlobStore(self._build.home.blobs)
        found: dict[Entry, DiscoveredFile | SkippedFile] = {}
        for entry in entries:
            value = known.get(keys[entry])
            if value is None:
                continue
            outcome = from_json(value, _Outcome)
            if outcome.skipped is not None:
                found[entry] = outcome.skipped
            elif outcome.indexed is not None and blobs.has(outcome.indexed.text_sha256):
                found[entry] = outcome.indexed
        self._keys = {entry.path: key for entry, key in keys.items() if entry not in found}
        if len(self._keys) >= _WORTH_WORKERS:
            start_workers(self._build)
        return found

    def add(self, found: DiscoveredFile | SkippedFile) -> None:
        """Remembers what was found in an entry that `of` was asked for and did not know."""
        key = self._keys.get(found.path)
        if key is None or not is_lasting(found):
            return
        outcome = _Outcome(indexed=found) if isinstance(found, DiscoveredFile) else _Outcome(skipped=found)
        self._waiting.append((key, msgspec.json.encode(outcome)))
        if len(self._waiting) >= _CACHE_BATCH:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._cache.close()

    def _flush(self) -> None:
        self._cache.put_many(self._waiting)
        self._waiting = []
