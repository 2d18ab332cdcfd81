"""Stage `code_graph`: the dependency graph of the label, found file by file, put together for queries.

    graph_nodes/, graph_edges/   what each file adds, by bucket
    graph/                       the whole as arrays (`graph.artifact`)

What an extractor must know of other files it asks (`graph.symbols`). A bucket is taken from an earlier generation, and
a file from the cache, while nothing has changed that their answers are made of (`graph.facets`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.counting import by_count
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.questions import recording
from rag_assets.graph.artifact import GRAPH_FOLDER, write_graph
from rag_assets.graph.assembly import EDGES, NODES, REPEATED_IN_EDGES, REPEATED_IN_NODES, assemble_tables
from rag_assets.graph.facets import Facets, digest_of
from rag_assets.graph.summary import GraphCounts
from rag_assets.graph.symbols import Declarations, Symbols, declared_in
from rag_assets.stages.answered_parts import QUESTIONS, AnsweredParts, Answers
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.graph_files import STAGE, graph_files, graph_parts
from rag_assets.stages.graph_import import GraphImport, MergedTables, configured_import, merged_tables
from rag_assets.stages.label_survey import forget_surveys, survey_label
from rag_assets.stages.memory import give_back
from rag_assets.stages.parts import Part, PartsOf, made_parts, recorded
from rag_assets.stages.progress import Progress
from rag_assets.stages.segments import indexed_files
from rag_assets.stages.versions import stage_version
from rag_assets.stages.workers import Broadcast, broadcast, part_sizes
from rag_assets.stores.cache import cache_key
from rag_assets.stores.tables import read_all, write_part

GRAPH_NODES = "graph_nodes"
GRAPH_EDGES = "graph_edges"
SYMBOLS = "graph_symbols"
_SHOWN_HUBS = 10
_RESOURCES = "resx"


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What the files of one bucket gave, and how many of them had to be extracted."""

    files: int
    extracted: int


@dataclass(frozen=True, slots=True)
class _Declared:
    """What the files of one bucket declare, and its resource files: path and sha256 of the text."""

    declarations: Declarations
    resources: list[tuple[str, str]]


_SYMBOLS = PartsOf(SYMBOLS, _Declared, ())
_PARTS = PartsOf(STAGE, _Bucket, (GRAPH_NODES, GRAPH_EDGES))


def build_graph(build: IndexBuild, progress: Progress) -> StageReport:
    """Finds nodes and edges of every file that is new or whose answers may have changed, and puts the graph together.

    Raises UnusableImport for a configured import of which nothing can be read.
    """
    imported = configured_import(build)
    inputs = cache_key(build.inputs_of(STAGE, "discovered_files", "segments"), imported.fingerprint).hex()
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    files = build.required("discovered_files").counts["indexed"]
    progress.begin(STAGE, files, "files")
    keys = _keys(build, STAGE)
    parts, symbol_keys = _extracted(build, keys, progress)
    give_back()  # what the files declare: a third of what the whole graph then takes
    counts, merged = _put_together(build, imported)
    give_back()  # and its tables: checks need room
    extracted = sum(part.result.extracted for part in parts if not part.reused)
    progress.end(f"{counts.nodes} nodes, {counts.edges} edges; {extracted} files extracted, {files - extracted} known")
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        **recorded(
            STAGE,
            parts,
            imported.fingerprint,
            **{SYMBOLS: symbol_keys, QUESTIONS: keys},
        ),
        counts={
            "nodes": counts.nodes,
            "edges": counts.edges,
            **{f"{name.replace('-', '_')}_edges": count for name, count in counts.confidences.items()},
        },
        measures={"unresolved_share": counts.unresolved_share},
        work={"extracted": extracted, "from_cache": files - extracted},
        tables=_tables(counts, merged.counts),
        problems=list(merged.problems),
    )
    return build.finish(report)


def _extracted(build: IndexBuild, keys: list[str], progress: Progress) -> tuple[list[Part[_Bucket]], list[str]]:
    """Nodes and edges of every bucket, and what finds the declarations again."""
    declared = list(made_parts(build, _SYMBOLS, _keys(build, SYMBOLS), _declare_bucket))
    known = _known(build, [part.result for part in declared])
    symbol_keys = [part.key for part in declared]
    parts: list[Part[_Bucket]] = []
    answered = AnsweredParts(build, _PARTS, keys, [known.facets])
    with broadcast(build, known) as shared:
        del declared, known  # worker processes have copies
        forget_surveys()
        for part in answered.made(_extract_bucket, shared, sizes=part_sizes(build, "segments")):
            parts.append(part)
            progress.advance(part.result.files)
    return parts, symbol_keys


def _keys(build: IndexBuild, kind: str) -> list[str]:
    both = zip(build.required("discovered_files").parts, build.required("segments").parts, strict=True)
    return [cache_key(kind, stage_version(STAGE), *parts).hex() for parts in both]


def _declare_bucket(build: IndexBuild, bucket: int) -> _Declared:
    """What the files of one bucket declare. Runs in a worker process."""
    rows = indexed_files(build, bucket)
    resources = [(row["path"], row["text_sha256"]) for row in rows if row["language"] == _RESOURCES]
    return _Declared(declared_in(list(graph_files(build, bucket))), resources)


@dataclass(frozen=True, slots=True)
class _Label:
    """What extractors know of other files, and the digests of it."""

    symbols: Symbols
    facets: Facets


def _known(build: IndexBuild, buckets: Sequence[_Declared]) -> _Label:
    declared = [bucket.declarations for bucket in buckets]
    resources = [resource for bucket in buckets for resource in bucket.resources]
    survey = survey_label(build)
    # No edge says where another file declares a type: what moves there changes no answer.
    types = DeclaredTypes(replace(known, line=0) for known in survey.knowledge.declared_types)
    symbols = Symbols.of(declared, types, survey.resources)
    digests = {"declared": digest_of(list(types)), "resources": digest_of(sorted(resources))}
    return _Label(symbols, symbols.facets(declared, **digests))


def _extract_bucket(build: IndexBuild, bucket: int, shared: Broadcast[_Label]) -> tuple[_Bucket, Answers]:
    """The files of one bucket, and the facets that they depend on. Runs in a worker process."""
    label = shared.value
    found = graph_parts(build, bucket, label.symbols, label.facets)
    write_part(build.directory, GRAPH_NODES, bucket, NODES, found.nodes)
    write_part(build.directory, GRAPH_EDGES, bucket, EDGES, found.edges)
    with recording() as answers:
        label.facets.together(sorted(found.facets))
    return _Bucket(found.files, found.extracted), answers


def _put_together(build: IndexBuild, imported: GraphImport) -> tuple[GraphCounts, MergedTables]:
    """Writes the whole graph."""
    nodes, edges = (
        read_all(build.directory, table, build.spec.bucket_count, dictionaries=repeated)
        for table, repeated in ((GRAPH_NODES, REPEATED_IN_NODES), (GRAPH_EDGES, REPEATED_IN_EDGES))
    )
    merged = merged_tables(build, imported, nodes, edges)
    whole = assemble_tables(merged.nodes, merged.edges)
    write_graph(build.directory / GRAPH_FOLDER, whole.arrays, whole.counts)
    return whole.counts, merged


def _tables(counts: GraphCounts, imported: Mapping[str, int]) -> dict[str, list[dict[str, object]]]:
    """What people read of a graph."""
    undeclared = counts.undeclared
    relations = {**dict.fromkeys(undeclared, 0), **counts.relations}
    return {
        "relations": [
            {"relation": name, "edges": count, "to what the label does not declare": undeclared.get(name, 0)}
            for name, count in by_count(relations)
        ],
        "kinds of nodes": [{"kind": name, "nodes": count} for name, count in by_count(counts.kinds)],
        "confidence": [{"confidence": name, "edges": count} for name, count in by_count(counts.confidences)],
        "hubs": [{"node": hub.key, "edges": hub.degree} for hub in counts.hubs[:_SHOWN_HUBS]],
        "import": [{"what": name, "count": count} for name, count in imported.items()],
    }
