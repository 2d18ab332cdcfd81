"""The open indexes of a home: each opened when it is first asked, shared by all who may see the same of it, followed as
generations are promoted, and closed when nobody has asked for a while.

A request keeps the generation that it began with: what is replaced is closed when the last request on it has ended.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio

from rag_assets.api import Index, IndexGroup
from rag_assets.closeable import Closeable
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import QueryError
from rag_assets.index.freshness import labels_of_folder
from rag_assets.index.generations import GenerationError, Manifest, read_generation, read_pointer, served_labels
from rag_assets.index.layout import IndexHome, LabelError, label_named
from rag_assets.printable import abridged
from rag_assets.search.index import LabelIndex, load_policy
from rag_assets.serving.access import Caller

if TYPE_CHECKING:
    from rag_assets.qa.answering import QuestionAnswerer
    from rag_assets.qa.ask_options import AskOptions

IDLE_SECONDS = 900.0
"""After which an index that nobody asks is closed: its memory is wanted more than the tenth of a second that opening it
again takes."""
_SWEEP_SECONDS = 30.0
_KEPT_MANIFESTS = 256
_SHOWN_LABELS = 20


class _Key(NamedTuple):
    label: str
    clearance: Confidentiality


@dataclass(slots=True)
class _Opened:
    """An open index with those who use it."""

    index: Index
    users: int = 0
    used_at: float = 0.0
    is_replaced: bool = False
    answerer: QuestionAnswerer | None = None

    def close(self) -> None:
        if self.answerer is not None:
            self.answerer.close()
        self.index.close()


@dataclass(slots=True)
class _Place:
    """Where the open index of a key stands; the lock lets one thread open it while others wait."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    opened: _Opened | None = None


class IndexPool(Closeable):
    """Indexes of one home by label and clearance. Safe to use from several threads."""

    def __init__(self, home: IndexHome, config: Path | None, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self.home = home
        self.config = config
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._places: dict[_Key, _Place] = {}
        self._has_closed = False
        self._manifest = lru_cache(maxsize=_KEPT_MANIFESTS)(self._read_manifest)

    # Which labels

    def manifests(self, caller: Caller) -> dict[str, Manifest]:
        """What is served of the labels that a caller may see something of, by label. A label of another organisation,
        or without a file that the clearance reaches, does not exist; one that cannot be read is left out."""
        found = {}
        for label in served_labels(self.home):
            try:
                manifest = self.manifest(label)
            except GenerationError:
                continue
            if is_seen(manifest, caller):
                found[label] = manifest
        return found

    def manifest(self, label: str) -> Manifest:
        """Of the generation that a label serves now. Raises GenerationError."""
        pointer = read_pointer(self.home, label)
        if pointer is None:
            raise GenerationError(f"{label} serves nothing yet; run: rag-assets index {label}")
        return self._manifest(label, pointer.generation_id)

    def nothing_for(self, caller: Caller) -> str:
        """What a caller who sees no index is told, and in which home that is, if it may know."""
        if caller.name:  # of a token: a command of this machine is no help
            return "nothing is indexed here that you may see; ask whoever gave you the token"
        where = f"in {self.home.root}" if caller.knows_paths else "here"
        return f"nothing is indexed {where} that you may see; run: rag-assets index PATH_OR_URL"

    def labels(self, caller: Caller, wanted: str | Sequence[str] | None) -> list[str]:
        """The labels that a caller means: those that are named, else what it has chosen, else those of its folder,
        else the only one. Raises LabelError, which lists the candidates: another repository is never the answer;
        GenerationError for a label of this machine that cannot be read."""
        known = list(self.manifests(caller))
        if not known:
            raise LabelError(self.nothing_for(caller))
        named = [wanted] if isinstance(wanted, str) else list(wanted or ())
        if not named and caller.label:
            named = [caller.label]
        if caller.knows_paths:
            for name in named:
                if name not in known and name in served_labels(self.home):
                    self.manifest(name)  # says what is damaged
        if named:
            return list(dict.fromkeys(label_named(known, name) for name in named))
        here = labels_of_folder(self.home, known, caller.folder) if caller.folder is not None else []
        if len(here) == 1 or (not here and len(known) == 1):
            return here or known
        raise LabelError(f"several indexes are here; name one as label: {abridged(here or known, _SHOWN_LABELS)}")

    # Their indexes

    @contextmanager
    def opened(self, labels: Sequence[str], caller: Caller) -> Iterator[Index | IndexGroup]:
        """The index of a label, or several as one, for one request. Raises what opening them raises."""
        with ExitStack() as stack:
            indexes = [stack.enter_context(self.index(label, caller)) for label in labels]
            yield indexes[0] if len(indexes) == 1 else IndexGroup(indexes)

    @contextmanager
    def index(self, label: str, caller: Caller) -> Iterator[Index]:
        """The served generation of one label, for one request."""
        with self._lease(label, caller) as opened:
            yield opened.index

    @contextmanager
    def answering(self, label: str, caller: Caller) -> Iterator[tuple[Index, QuestionAnswerer]]:
        """The served generation of one label with what answers questions from it, as the configuration says, for one
        request."""
        from rag_assets.qa.answering import QuestionAnswerer  # an agent waits for the start of its server

        with self._lease(label, caller) as opened:
            with self._place(label, caller).lock:
                if opened.answerer is None:
                    opened.answerer = QuestionAnswerer(opened.index, self._ask_options())
            yield opened.index, opened.answerer

    def has_moved_on(self, index: LabelIndex) -> bool:
        """Whether a label serves another generation than an index reads, which may have been pruned meanwhile."""
        try:
            return self.manifest(index.label).generation_id != index.manifest.generation_id
        except GenerationError:
            return False

    def open_count(self) -> int:
        with self._lock:
            return sum(place.opened is not None for place in self._places.values())

    def close_idle(self, now: float | None = None) -> int:
        """Closes what nobody has asked for a while, and says how many."""
        now = time.monotonic() if now is None else now
        ended = []
        with self._lock:
            for place in self._places.values():
                opened = place.opened
                if opened is not None and opened.users == 0 and now - opened.used_at >= self._idle_seconds:
                    place.opened = None
                    ended.append(opened)
        self._close(ended)
        return len(ended)

    def give_back(self) -> None:
        """Returns to the system what the indexes held that were closed since the last time. Each thread has a part of
        the heap of its own, so without this a server grows with every generation that another thread opens."""
        with self._lock:
            had, self._has_closed = self._has_closed, False
        if had:
            from rag_assets.pipeline.workers.process_pool import release_memory  # a server may never need it

            gc.collect()  # an open index has caches that know it
            release_memory()

    async def sweep(self) -> None:
        """Closes what is idle and gives back memory, again and again, until it is cancelled."""
        while True:
            await anyio.sleep(_SWEEP_SECONDS)
            await anyio.to_thread.run_sync(self.close_idle)
            await anyio.to_thread.run_sync(self.give_back)

    def close(self) -> None:
        """Closes all; what a request still reads when it has ended."""
        with self._lock:
            places, self._places = list(self._places.values()), {}
            ended = []
            for place in places:
                opened = place.opened
                if opened is not None:
                    opened.is_replaced = True
                    if opened.users == 0:
                        ended.append(opened)
        self._close(ended)

    @contextmanager
    def _lease(self, label: str, caller: Caller) -> Iterator[_Opened]:
        opened = self._take(label, caller)
        try:
            yield opened
        finally:
            self._give_back(opened)

    def _take(self, label: str, caller: Caller) -> _Opened:
        """The open index of what a label serves now, with one user more. Raises GenerationError, also for a label that
        the caller may not see."""
        place = self._place(label, caller)
        with place.lock:
            manifest = self.manifest(label)
            if not is_seen(manifest, caller):
                raise GenerationError(f"no active index for label {label!r}")
            opened = place.opened
            if opened is not None and opened.index.manifest.generation_id == manifest.generation_id:
                with self._lock:
                    if place.opened is opened:  # nobody has closed it as idle
                        opened.users += 1
                        return opened
            made = _Opened(self._open(label, manifest.generation_id, caller), users=1, used_at=time.monotonic())
            with self._lock:
                former, place.opened = place.opened, made
                if former is not None:
                    former.is_replaced = True
                is_unused = former is not None and former.users == 0
            if former is not None and is_unused:
                self._close([former])
            return made

    def _open(self, label: str, generation_id: str, caller: Caller) -> Index:
        """By its id, because the message of an error about a label lists those that others may see."""
        generation = read_generation(self.home, label, generation_id)
        policy = load_policy(self.home, self.config)
        return Index(self.home, generation, self.config, clearance=caller.clearance, policy=policy)

    def _give_back(self, opened: _Opened) -> None:
        with self._lock:
            opened.users -= 1
            opened.used_at = time.monotonic()
            is_over = opened.is_replaced and opened.users == 0
        if is_over:
            self._close([opened])

    def _close(self, ended: Sequence[_Opened]) -> None:
        for opened in ended:
            opened.close()
            self._has_closed = True

    def _place(self, label: str, caller: Caller) -> _Place:
        with self._lock:
            return self._places.setdefault(_Key(label, caller.clearance), _Place())

    def _read_manifest(self, label: str, generation_id: str) -> Manifest:
        return read_generation(self.home, label, generation_id).manifest

    def _ask_options(self) -> AskOptions:
        from rag_assets.qa.ask_options import configured

        return configured(self.home, self.config)


def is_seen(manifest: Manifest, caller: Caller) -> bool:
    """Whether a label exists for a caller."""
    if caller.org_id is not None and manifest.org_id != caller.org_id:
        return False
    return manifest.levels.reached(caller.clearance) is not None


def one_label(labels: Sequence[str]) -> str:
    """Raises QueryError for several."""
    if len(labels) > 1:
        raise QueryError(f"this reads one index; name one of {', '.join(labels)}")
    return labels[0]
