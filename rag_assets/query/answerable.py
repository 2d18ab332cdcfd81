"""The mode a search can really be made in: the wanted one, or what the policy says where something is missing (D15,
D17)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.retrieval import Capability, Mode, OnMissing, fallback, missing_for
from rag_assets.query.embedding import NoEmbedderError
from rag_assets.query.errors import QueryError
from rag_assets.stores.keyword.vocabulary import KeywordIndexError

if TYPE_CHECKING:
    from rag_assets.query.parts import SearchParts
    from rag_assets.query.retrieval import Clock
    from rag_assets.stores.points import Dense

_log = logging.getLogger(__name__)

_WITHOUT = {Capability.DENSE: "keyword search only", Capability.KEYWORD: "semantic search only"}


@dataclass(frozen=True, slots=True)
class Begun:
    """A search with all open that its mode needs; `vector` is that of the question, None for keywords alone. `warnings`
    say why the mode is not the wanted one."""

    mode: Mode
    vector: Dense | None
    warnings: tuple[str, ...]


def begin(parts: SearchParts, query: str, wanted: Mode, clock: Clock) -> Begun:
    """Opens what the mode needs; what turns out to be missing on the way is treated as if it had never been built.
    Raises QueryError where the policy is to fail, or nothing is left to search with."""
    lacking = dict(parts.lacking())
    while True:  # at most once for each capability
        mode = answerable(wanted, lacking, parts.policy.on_missing)
        try:
            vector = _opened(parts, query, mode, clock)
        except NoEmbedderError as error:
            lacking[Capability.DENSE] = str(error)
        except KeywordIndexError as error:
            lacking[Capability.KEYWORD] = str(error)
        else:
            return Begun(mode, vector, _warnings(wanted, mode, lacking))


def answerable(wanted: Mode, lacking: Mapping[Capability, str], on_missing: OnMissing) -> Mode:
    """The wanted mode, or the one that answers for it: keywords, else embeddings. `lacking` says why. Raises QueryError
    where none may or can."""
    built = set(Capability) - lacking.keys()
    missing = missing_for(wanted, built)
    if not missing:
        return wanted
    instead = fallback(built)
    if instead is None or on_missing == "fail":
        why = "; ".join(lacking[part] for part in missing)
        hint = (
            "" if instead is None else f"; {instead} search is possible, and answers with search.on_missing: fall_back"
        )
        raise QueryError(f"{wanted} search is not possible: {why}{hint}")
    return instead


def _opened(parts: SearchParts, query: str, mode: Mode, clock: Clock) -> Dense | None:
    """Raises NoEmbedderError or KeywordIndexError."""
    loading = None if mode is Mode.BM25 else parts.embedder()  # goes on while the rest is opened
    with clock.step("open"):
        parts.shard()
        if mode in (Mode.BM25, Mode.HYBRID):
            parts.vocabulary()
    if loading is None:
        return None
    with clock.step("embed"):
        vector: Dense = loading.result().embed([query])[0]
        return vector


def _warnings(wanted: Mode, mode: Mode, lacking: Mapping[Capability, str]) -> tuple[str, ...]:
    if mode is wanted:
        return ()
    missing = missing_for(wanted, set(Capability) - lacking.keys())
    warnings = tuple(f"{_WITHOUT[part]}: {lacking[part]}" for part in missing)
    _log.info("%s search answered by %s: %s", wanted, mode, "; ".join(warnings))
    return warnings
