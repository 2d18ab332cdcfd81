"""What a label serves, as something that can be compared: an incremental build with a clean one of the same commit.

Read through what readers use (`open_index`) and from the vector shard itself, so that it does not matter how a
generation was made. `ghosts` looks for what a home has and its generations do not name, and the other way round.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets import Index, open_index
from rag_assets.contracts.identity import normalized_content
from rag_assets.graph.artifact import GRAPH_FOLDER
from rag_assets.graph.build import EDGES, NODES
from rag_assets.index.generations import Generation, all_generations, is_finished, read_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import read_rows
from rag_assets.index.vectors import open_vectors
from rag_assets.pipeline.collect_garbage import collect_garbage
from rag_assets.settings import Settings

HITS = 10
_QUESTIONS = 6  # half of them identifiers, half of them prose
_SCROLL_BATCH = 2_000
_RESOLVED_POINTS = 48  # points whose texts are read: each is a few Parquet reads
_SHOWN = 3
_SCORE_TOLERANCE = 1e-5
"""Two builds of one commit hold the same weights, but the engine adds them up in an order of its own: the last bit of a
float32 score differs from shard to shard."""

Hits = list[tuple[str, float]]
"""(point id, score), best first."""

Facts = dict[str, str]
"""What there is → a digest of what it is."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a label serves at one commit. `aspects` are compared one by one, each with its own keys."""

    commit: str
    generation_id: str
    aspects: dict[str, Facts]
    answers: dict[str, Hits]


def contents_of(home: Path, label: str, questions: Sequence[str]) -> Contents:
    """The active generation of a label. Raises what readers of it would see."""
    with open_index(label, home=home) as index:
        manifest = index.manifest
        with open_vectors(index.generation.vectors) as vectors:
            stored = vectors.ids()
        dense, keyword, _ = stored_vectors(index.generation.vectors)
        answers = answers_of(index, questions)
        aspects: dict[str, Facts] = {
            "manifest": {
                "commit": manifest.commit_sha,
                "model": f"{manifest.embedding_model} {manifest.dimension}",
                **{f"count of {name}": str(value) for name, value in manifest.counts.items()},
                **{f"parse health {name}": str(value) for name, value in manifest.parse_health.items()},
            },
            "files": _files(index.generation),
            "declared points": declared_points(index.generation),
            "stored points": stored,
            "payloads": {point: digest(index.get(point)) for point in stored},
            "keyword weights": keyword,
            "vectors": dense,
            "vocabulary": {path.name: _file_digest(path) for path in index.generation.keyword.iterdir()},
            "documents": dict.fromkeys(documents_of(index.generation), "kept"),
            "texts": _texts(index, sorted(stored)),
            "graph nodes": graph_nodes(index.generation),
            "graph edges": graph_edges(index.generation),
            "graph": {path.name: _file_digest(path) for path in (index.generation.directory / GRAPH_FOLDER).iterdir()},
        }
        return Contents(manifest.commit_sha, manifest.generation_id, aspects, answers)


def differences(incremental: Contents, clean: Contents) -> list[str]:
    """Every aspect that differs, with numbers and examples; empty: equal."""
    found = []
    for aspect, wanted in clean.aspects.items():
        there = incremental.aspects[aspect]
        missing, extra = sorted(wanted.keys() - there.keys()), sorted(there.keys() - wanted.keys())
        changed = sorted(key for key in wanted.keys() & there.keys() if wanted[key] != there[key])
        for what, keys in (("missing", missing), ("too many", extra), ("different", changed)):
            if keys:
                found.append(f"{aspect}: {len(keys)} {what}, such as {', '.join(keys[:_SHOWN])}")
    others = [
        question for question, wanted in clean.answers.items() if not same_hits(incremental.answers[question], wanted)
    ]
    if others:
        found.append(f"searches: {len(others)} different, such as {', '.join(others[:_SHOWN])}")
    return found


def same_hits(one: Hits, other: Hits) -> bool:
    """Whether two searches found the same: the same points with the same scores. Scores within the tolerance are equal,
    so that such neighbours may be in either order, and either may be the one that is cut off at the end."""
    if len(one) != len(other) or not all(_close(mine[1], theirs[1]) for mine, theirs in zip(one, other, strict=True)):
        return False
    scores, others = dict(one), dict(other)
    if any(not _close(scores[point], others[point]) for point in scores.keys() & others.keys()):
        return False
    return all(_close(score, one[-1][1]) for point, score in [*one, *other] if (point in scores) != (point in others))


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_SCORE_TOLERANCE)


def questions_for(home: Path, label: str) -> list[str]:
    """Questions about what the label serves: names and sentences of points spread over the whole index."""
    with open_index(label, home=home) as index:
        known = sorted(declared_points(index.generation))
        payloads = [index.get(point) for point in known[:: max(1, len(known) // _QUESTIONS)][:_QUESTIONS]]
    questions = []
    for number, payload in enumerate(payloads):
        name = str(payload.get("Artifact") or payload.get("Title") or payload["Path"])
        sentence = str(payload["FinderSnippet"]).rpartition("\n")[2]
        questions.append(name.rpartition(".")[2] if number % 2 else f"where is {sentence}"[:200])
    return list(dict.fromkeys(questions)) or ["anything"]


def answers_of(index: Index, questions: Sequence[str]) -> dict[str, Hits]:
    """Question → its hits."""
    return {
        question: [(hit.point_id, hit.score) for hit in index.search(question, limit=HITS)] for question in questions
    }


def ghosts(home: Path, settings: Settings) -> list[str]:
    """What a home has too much or too little of, looked at both ways. Run `gc` first: leftovers are fine until then."""
    place, needed, found = IndexHome(home), set[str](), []
    for label in place.known_labels():
        for name in all_generations(place, label):
            if not is_finished(place, label, name):
                found.append(f"{label} {name}: an unfinished build")
                continue
            generation = read_generation(place, label, name)
            needed |= documents_of(generation)
            found += [f"{label} {name}: {problem}" for problem in _unlike_declared(generation)]
    there = {path.name for path in place.blobs.glob("*/*")}
    found += _both_ways("documents", needed, there)
    left = collect_garbage(place, settings, dry_run=True)
    found += [f"{swept.count} {swept.kind} that gc would still remove" for swept in left.swept if swept.count]
    return found


def _unlike_declared(generation: Generation) -> list[str]:
    """How the shard, the vocabulary and the graph of a generation differ from what its tables declare."""
    declared = declared_points(generation)
    with open_vectors(generation.vectors) as vectors:
        stored = vectors.ids()
    _, _, terms = stored_vectors(generation.vectors)
    known = {int(line.split("\t")[1]) for line in _lines(generation.keyword / "vocabulary.tsv")}
    different = [point for point in declared.keys() & stored.keys() if declared[point] != stored[point]]
    return [
        *_both_ways("points", set(declared), set(stored)),
        *([f"{len(different)} points with another ContentHash"] if different else []),
        *_both_ways("keyword entries", {str(term) for term in terms}, {str(term) for term in known}),
        *_ghost_nodes(generation),
    ]


def _both_ways(what: str, needed: set[str], there: set[str]) -> list[str]:
    pairs = (("that nothing needs", there - needed), ("missing", needed - there))
    return [f"{len(keys)} {what} {how}, such as {min(keys)}" for how, keys in pairs if keys]


def declared_points(generation: Generation) -> Facts:
    """Point id → ContentHash, as the tables declare them."""
    return {
        row["point_id"]: row["content_hash"] for row in _rows(generation, "qdrant_points", "point_id", "content_hash")
    }


def documents_of(generation: Generation) -> set[str]:
    """The addresses of the documents that a generation refers to."""
    return {row["text_sha256"] for row in _rows(generation, "discovered_files", "text_sha256") if row["text_sha256"]}


def graph_nodes(generation: Generation) -> Facts:
    """What the files declare, by node and place: a node of several parts has as many."""
    rows = _rows(generation, "graph_nodes", *NODES.names)
    return _gathered((f"{row['key']} {row['path']}:{row['line_start']}", row) for row in rows)


def graph_edges(generation: Generation) -> Facts:
    """What the files say of nodes, by both ends and place."""
    rows = _rows(generation, "graph_edges", *EDGES.names)
    return _gathered(
        (f"{row['source']} {row['relation']} {row['target']} {row['path']}:{row['line']}", row) for row in rows
    )


def _gathered(rows: Iterable[tuple[str, dict[str, Any]]]) -> Facts:
    """Key → digest of all rows of that key, in any order."""
    found: dict[str, list[str]] = {}
    for key, row in rows:
        found.setdefault(key, []).append(json.dumps(row, sort_keys=True))
    return {key: digest(sorted(rows_of_key)) for key, rows_of_key in found.items()}


def _ghost_nodes(generation: Generation) -> list[str]:
    """Nodes and edges of files that the generation does not have."""
    rows = _rows(generation, "discovered_files", "path", "outcome")
    there = {row["path"] for row in rows if row["outcome"] == "indexed"} | {""}
    found = []
    for what, table in (("nodes", "graph_nodes"), ("edges", "graph_edges")):
        paths = {row["path"] for row in _rows(generation, table, "path")} - there
        found += [f"graph {what} of {len(paths)} files that are not indexed, such as {min(paths)}"] if paths else []
    return found


def stored_vectors(shard: Path) -> tuple[Facts, Facts, set[int]]:
    """What the embedded shard really holds: id → digest of the dense vector, id → digest of the keyword weights, and
    all term indices that occur. A generation whose vectors are in a server has no such folder: RuntimeError."""
    import qdrant_edge as edge

    if not (shard / "edge_config.json").is_file():
        raise RuntimeError(f"{shard} is no embedded shard; this comparison reads embedded shards only")
    dense: Facts = {}
    keyword: Facts = {}
    terms: set[int] = set()
    opened = edge.EdgeShard.load(str(shard))
    offset: Any = None
    try:
        while True:
            request = edge.ScrollRequest(offset, _SCROLL_BATCH, with_payload=False, with_vector=True)
            records, offset = opened.scroll(request)
            for record in records:
                vectors: Any = record.vector or {}
                for name, vector in vectors.items():
                    if isinstance(vector, list):
                        dense[f"{record.id} {name}"] = digest(struct.pack(f"<{len(vector)}f", *vector).hex())
                        continue
                    pairs = sorted(zip(vector.indices, vector.values, strict=True))
                    keyword[f"{record.id} {name}"] = digest(pairs)
                    terms.update(vector.indices)
            if offset is None:
                return dense, keyword, terms
    finally:
        opened.close()


def digest(value: Any) -> str:
    """Of anything JSON can say."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]  # terms may hold other line ends


def _files(generation: Generation) -> Facts:
    rows = _rows(generation, "discovered_files", "path", "outcome", "reason", "language", "text_sha256", "line_count")
    return {row["path"]: digest(row) for row in rows}


def _texts(index: Index, points: Sequence[str]) -> Facts:
    """URI → digest of its text, of some points spread over all, checked against the hashes in their payloads."""
    found: Facts = {}
    for point in points[:: max(1, len(points) // _RESOLVED_POINTS)]:
        payload = index.get(point)
        for name in ("FullDocumentBlobUri", "SourceSliceBlobUri", "DescriptionBlobUri"):
            found[payload[name]] = digest(index.resolve(payload[name]))
        broken = broken_hashes(payload, index.resolve(payload["SourceSliceBlobUri"]))
        if broken:
            found[f"{payload['SemanticId']} has another {broken}"] = "broken"
    return found


def broken_hashes(payload: dict[str, Any], source: str) -> str:
    """Which hash of a payload is not that of the texts it is about; empty: none."""
    hashes = {"SourceSha256": source, "ContentHash": normalized_content(source)}
    wrong = [name for name, text in hashes.items() if payload[name] != hashlib.sha256(text.encode()).hexdigest()]
    return " and ".join(wrong)


def _rows(generation: Generation, name: str, *columns: str) -> Iterator[dict[str, Any]]:
    for bucket in range(generation.manifest.bucket_count):
        yield from read_rows(generation.directory, name, bucket, columns)
