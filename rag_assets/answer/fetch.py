"""From point ids to evidence: the source slices behind them, read by identity and within the reader's scope (D21).

Everything is looked up through the filtered reader of the index, so what a role may not see cannot become evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.contracts.evidence import Evidence, Origin, citation_ids
from rag_assets.contracts.identity import content_hash

if TYPE_CHECKING:
    from rag_assets.index.generations import Manifest
    from rag_assets.index.vectors.filters import SearchScope
    from rag_assets.search.retrieve import SearchResources


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A point to read, how much it matters, and why."""

    point_id: str
    score: float
    origin: Origin = Origin.HIT
    dense: float | None = None
    via: str = ""


@dataclass(frozen=True, slots=True)
class FetchedEvidence:
    """Evidence by score, best first; `warnings` say what could not be read."""

    evidence: tuple[Evidence, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    wanted: FetchRequest
    payload: Mapping[str, Any]

    @property
    def file(self) -> tuple[str, str]:
        return self.payload["IndexLabel"], self.payload["BlobVersionId"]

    @property
    def has_own_place(self) -> bool:
        """Whether a citation names its page or its time: joined pieces would only say where the first begins."""
        return "PdfPages" in self.payload or "MediaStart" in self.payload

    @property
    def span(self) -> tuple[int, int]:
        return self.payload.get("CharStart", 0), self.payload["CharEnd"]


def fetch_evidence(
    wanted: Iterable[FetchRequest], parts: SearchResources, manifests: Mapping[str, Manifest], scope: SearchScope
) -> FetchedEvidence:
    """The texts of points; what overlaps in one file becomes one piece. A point outside of `scope` is as good as none.

    A slice that is not what was indexed is left out with a warning: nobody could check a quote of it.
    """
    best: dict[str, FetchRequest] = {}
    for one in wanted:
        if one.point_id not in best or one.score > best[one.point_id].score:
            best[one.point_id] = one
    payloads = parts.shard().retrieve(list(best), scope)
    warnings: list[str] = []
    texts: dict[str, str] = {}
    unread: set[str] = set()
    pieces = [
        _Piece(best[identifier], payload)
        for identifier, payload in payloads.items()
        if _is_sound(payload, parts, texts, unread, warnings)
    ]
    ids = citation_ids(payloads)
    merged = (_merged(group, texts, manifests, ids) for group in _joined(pieces, texts))
    ordered = sorted(merged, key=lambda known: (-known.score, known.label, known.path, known.line_start))
    return FetchedEvidence(tuple(ordered), tuple(warnings))


def _is_sound(
    payload: Mapping[str, Any], parts: SearchResources, texts: dict[str, str], unread: set[str], warnings: list[str]
) -> bool:
    """Whether the slice of a point is there and what its hash says (E19, E21); reads its document into `texts`, or adds
    it to the `unread`, of which one warning is enough."""
    from rag_assets.index.blobs import BlobError

    address, place = payload.get("BlobVersionId", ""), payload.get("Path", "")
    if not address or "CharEnd" not in payload:
        warnings.append(f"{place} is no evidence: its payload names no source; run: rag-assets index --force")
        return False
    if address in unread:
        return False
    if address not in texts:
        try:
            texts[address] = parts.document(address)
        except BlobError as error:
            warnings.append(f"{place} is no evidence: {error}")
            unread.add(address)
            return False
    text = texts[address][payload.get("CharStart", 0) : payload["CharEnd"]]
    if content_hash(text) != payload.get("SourceSha256"):
        warnings.append(f"{place} is no evidence: its source is not what was indexed; run: rag-assets index --force")
        return False
    return True


def _joined(pieces: Sequence[_Piece], texts: Mapping[str, str]) -> list[list[_Piece]]:
    """Pieces of one file whose ranges share a character, and sections of one symbol with nothing between them, in
    groups; each group in the order of its ranges."""
    groups: list[list[_Piece]] = []
    reach = -1
    for piece in sorted(pieces, key=lambda known: (known.file, known.span, known.wanted.point_id)):
        start, end = piece.span
        before = groups[-1][-1] if groups and groups[-1][0].file == piece.file and not piece.has_own_place else None
        if before and (start < reach or (_is_next(before, piece) and not texts[piece.file[1]][reach:start].strip())):
            groups[-1].append(piece)
            reach = max(reach, end)
        else:
            groups.append([piece])
            reach = end
    return groups


def _is_next(one: _Piece, other: _Piece) -> bool:
    symbol = one.payload.get("Symbol", "")
    return bool(symbol) and symbol == other.payload.get("Symbol", "")


def _merged(
    group: Sequence[_Piece], texts: Mapping[str, str], manifests: Mapping[str, Manifest], ids: Mapping[str, str]
) -> Evidence:
    ranked = sorted(group, key=lambda piece: (-piece.wanted.score, piece.wanted.point_id))
    best = ranked[0]
    payload, label = best.payload, best.payload["IndexLabel"]
    start, end = min(piece.span[0] for piece in group), max(piece.span[1] for piece in group)
    text = texts[payload["BlobVersionId"]][start:end]
    cosines = [piece.wanted.dense for piece in group if piece.wanted.dense is not None]
    return Evidence(
        point_ids=tuple(piece.wanted.point_id for piece in ranked),
        ids=tuple(ids[piece.wanted.point_id] for piece in ranked),
        label=label,
        commit_sha=manifests[label].commit_sha,
        path=payload.get("Path", ""),
        line_start=min(piece.payload.get("StartLine", 0) for piece in group),
        line_end=max(piece.payload.get("EndLine", 0) for piece in group),
        symbol=payload.get("Symbol", ""),
        kind=payload.get("Kind", ""),
        language=payload.get("CodeLanguage", ""),
        text=text,
        sha256=content_hash(text),
        score=best.wanted.score,
        origin=best.wanted.origin,
        dense=max(cosines, default=None),
        node_keys=tuple(dict.fromkeys(key for piece in ranked for key in piece.payload.get("GraphNodeKeys", ()))),
        via=best.wanted.via,
        title=payload.get("SourceTitle", ""),
        pages=tuple(sorted({page for piece in group for page in piece.payload.get("PdfPages", ())})),
        seconds=min((at for piece in group if (at := piece.payload.get("MediaStart")) is not None), default=None),
    )
