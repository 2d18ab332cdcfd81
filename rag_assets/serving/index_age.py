"""How far an index is behind its repository, as every answer says it. Looked at once in a while: git takes longer for
it than a search."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rag_assets.closeable import Closeable
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import SourceError
from rag_assets.index.freshness import Freshness, freshness_of, remembered_repository
from rag_assets.index.generations import Manifest
from rag_assets.index.layout import IndexHome
from rag_assets.sources.git.ancestors import commits_between

_SECONDS = 2.0
"""An answer may be that much behind what somebody has committed: an agent that commits and asks takes longer."""
_GIT_SECONDS = 2.0
_SHORT = 7


@dataclass(frozen=True, slots=True)
class IndexAge:
    """`commits` is how many are between the indexed commit and HEAD; None where nobody can say, or where the indexed
    one is not among those before HEAD."""

    freshness: Freshness
    commits: int | None = None

    def line(self, label: str) -> str:
        """`orders @ 3f2a91c (HEAD +2 commits; 3 files differ from HEAD and are not indexed)`."""
        known = self.freshness
        if known.stale is None:
            said = f"age unknown: {known.reason}"
        elif not known.stale:
            said = "is HEAD"
        elif self.commits is None:
            said = f"HEAD is {known.head[:_SHORT]}"
        else:
            said = f"HEAD +{self.commits} commit{'s' * (self.commits != 1)}"
        if known.changed_files:
            one = known.changed_files == 1
            said += f"; {known.changed_files:,} file{' differs' if one else 's differ'} from HEAD"
        return f"{label} @ {known.indexed[:_SHORT]} ({said})"


AgesOf = Mapping[str, IndexAge]
"""By label."""


class IndexAges(Closeable):
    """The ages of the indexes of a home. Safe to use from several threads."""

    def __init__(self, home: IndexHome) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str, Confidentiality], tuple[float, Future[IndexAge]]] = {}
        self._executor = ThreadPoolExecutor(max_workers=2, thread_name_prefix="index-age")

    def ask(self, manifest: Manifest, clearance: Confidentiality) -> Future[IndexAge]:
        """The age of a generation, which is looked at beside what the caller does meanwhile."""
        key = (manifest.index_label, manifest.generation_id, clearance)
        now = time.monotonic()
        with self._lock:
            known = self._known.get(key)
            if known is not None and now - known[0] < _SECONDS:
                return known[1]
            if len(self._known) > 1000:
                self._known.clear()
            asked = self._executor.submit(self._look, manifest, clearance)
            self._known[key] = (now, asked)
            return asked

    def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _look(self, manifest: Manifest, clearance: Confidentiality) -> IndexAge:
        found = freshness_of(self._home, manifest, clearance)
        return IndexAge(found, self._commits(manifest, found) if found.stale and manifest.is_git else None)

    def _commits(self, manifest: Manifest, found: Freshness) -> int | None:
        location = str(remembered_repository(self._home, manifest.index_label).get("location", ""))
        try:
            return commits_between(Path(location), found.indexed, found.head, timeout=_GIT_SECONDS)
        except (SourceError, OSError):
            return None
