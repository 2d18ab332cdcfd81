"""What must hold before a generation may go live, its graph included. Each check reads what was written, not what was
meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, filterfalse
from pathlib import Path

import msgspec

from rag_assets.contracts.graph import NodeType
from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.payload import NO_DOMAIN, RagVectorPayload
from rag_assets.descriptions.ef_coverage import GAP_CODE, CoverageFacts, coverage_facts, ef_coverage
from rag_assets.errors import REBUILD
from rag_assets.evaluation.tables import format_rank
from rag_assets.graph.artifact import GRAPH_FOLDER, GraphError, check, open_graph
from rag_assets.graph.build import UNDECLARED_KINDS
from rag_assets.graph.csr_graph import Graph
from rag_assets.index.blobs import BlobError, BlobStore
from rag_assets.index.disk_files import sha256_of
from rag_assets.index.eval_records import Decision, WorseQuestion, read_decision
from rag_assets.index.generation_files import LISTING
from rag_assets.index.generations import (
    Generation,
    GenerationError,
    active_generation,
    active_pointer,
    level_folder,
    read_generation,
)
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import digest_files, read_all, read_part, read_rows
from rag_assets.index.vectors import stored_digests
from rag_assets.models.lexical_only import MODEL_ID as LEXICAL_ONLY
from rag_assets.pipeline.build import BuildError, IndexBuild
from rag_assets.pipeline.checks.memoized_checks import BucketCheck, Check, CheckedPart, CheckResult, once_per_state
from rag_assets.pipeline.code_graph import GRAPH_EDGES, GRAPH_NODES, STAGE
from rag_assets.pipeline.descriptions import read_descriptions
from rag_assets.pipeline.embeddings import UNKNOWN, check_vectors, read_vectors
from rag_assets.pipeline.qdrant_points import SHARD
from rag_assets.pipeline.validate import StoreVerdicts, validate, validate_buckets
from rag_assets.printable import abridged
from rag_assets.serialization import from_json

GATE_CHECK = "quality_holds"
NO_EVAL_SET = "no eval set"


_SOUND = "the graph is what its tables say, of files that are indexed"
_JOINED = "points lead into the graph"
_SHOWN = 20
_ZERO = "zero"
_SHOWN_QUESTIONS = 5
_SHOWN_ABSENT = 3


def _folder(build: IndexBuild) -> str:
    folder = build.directory / GRAPH_FOLDER
    return digest_files(folder.rglob("*.*"), folder)


@once_per_state(STAGE, GRAPH_NODES, GRAPH_EDGES, "discovered_files", beside=_folder)
def graph_is_sound(build: IndexBuild) -> CheckResult:
    """The graph is what was written, has the nodes and edges of its tables, and no node or edge of a file that is not
    indexed."""
    directory = build.directory / GRAPH_FOLDER
    try:
        for level in build.levels.all:
            check(level_folder(directory, level, build.levels))
        graph = open_graph(directory)
    except GraphError as error:
        return CheckResult(False, _SOUND, {}, [str(error)])
    missing, undeclared = _compared(build, graph)
    wrong = {
        "miscounted": list(_miscounted(build, graph)),
        "missing": sorted(missing),
        "unexpected": [] if _is_merged(build) else sorted(filterfalse(_is_made_by_edges, undeclared)),
        "ghosts": sorted((set(graph.paths) - {""}) - _indexed(build)),
    }
    numbers = {"nodes": len(graph), "edges": graph.edge_count, **{name: len(found) for name, found in wrong.items()}}
    examples = [f"{name}: {text}" for name, found in wrong.items() for text in found[:_SHOWN]]
    return CheckResult(not examples, _SOUND, numbers, [*examples, REBUILD] if examples else [])


def _miscounted(build: IndexBuild, graph: Graph) -> Iterator[str]:
    counted = build.required(STAGE).counts
    for name, found in (("nodes", len(graph)), ("edges", graph.edge_count)):
        if counted[name] != found:
            yield f"{found} {name}, {counted[name]} were written"
    rows = sum(part.num_rows for part in read_all(build.directory, GRAPH_EDGES, len(build.buckets), []))
    if graph.edge_count > rows and not _is_merged(build):
        yield f"{graph.edge_count} edges, the tables have {rows}"


def _is_merged(build: IndexBuild) -> bool:
    """Whether a graph of another tool is in it, which no table has."""
    return bool(build.required(STAGE).tables.get("import"))


def _compared(build: IndexBuild, graph: Graph) -> tuple[set[str], set[str]]:
    """The keys that tables have and the graph has not, and the other way round."""
    known = set(graph.keys)
    undeclared, missing = set(known), set[str]()
    for table in read_all(build.directory, GRAPH_NODES, len(build.buckets), ["key"]):
        keys = set(table.column("key").to_pylist())
        undeclared -= keys
        missing |= keys - known
    return missing, undeclared


def _is_made_by_edges(key: str) -> bool:
    """Whether a node of this key may be there without a declaration."""
    return key.rpartition("|")[2] in UNDECLARED_KINDS


def _indexed(build: IndexBuild) -> set[str]:
    tables = read_all(build.directory, "discovered_files", len(build.buckets), ["path", "outcome"])
    rows = chain.from_iterable(zip(*(column.to_pylist() for column in table.columns), strict=True) for table in tables)
    return {path for path, outcome in rows if outcome == "indexed"}


class _Carrier(msgspec.Struct):
    """What of a section leads to nodes."""

    graph_node_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Carried:
    """The node keys that the sections of a bucket carry: how many, and those that no file of the bucket declares, with
    the place of the first section that has them."""

    keys: int
    elsewhere: dict[str, str]


_CARRIED = BucketCheck("carried", ("summary_sections", GRAPH_NODES), _Carried)


@once_per_state(STAGE, GRAPH_NODES, "summary_sections", beside=_folder)
def points_are_in_the_graph(build: IndexBuild) -> CheckResult:
    """Every graph node key that a point carries is a node, so that hit → node never leads nowhere."""
    try:
        graph = open_graph(build.directory / GRAPH_FOLDER)
    except GraphError as error:
        return CheckResult(False, _JOINED, {}, [str(error)])
    if build.record("summary_sections") is None:  # somebody made this asset alone
        return CheckResult(True, "there are no sections yet whose keys could be looked up")
    carried = 0
    lost: dict[str, str] = {}
    for part in _CARRIED.each(build, _carried):
        carried += part.keys
        lost |= {key: place for key, place in part.elsewhere.items() if graph.find(key) is None}
    numbers = {"keys": carried, "without_node": len(lost), **_by_kind(lost)}
    examples = [f"{place} carries {key}" for key, place in sorted(lost.items())[:_SHOWN]]
    return CheckResult(not lost, _JOINED, numbers, examples)


def _carried(build: IndexBuild, bucket: int) -> _Carried:
    """Runs in a worker process."""
    columns = ["path", "line_start", "section"]
    own = set(read_part(build.directory, GRAPH_NODES, bucket, ["key"]).column("key").to_pylist())
    table = read_part(build.directory, "summary_sections", bucket, columns)
    keys: set[str] = set()
    elsewhere: dict[str, str] = {}
    for path, line, section in zip(*(table.column(name).to_pylist() for name in columns), strict=True):
        found = from_json(section, _Carrier).graph_node_keys
        keys.update(found)
        for key in found:
            if key not in own:
                elsewhere.setdefault(key, f"{path}:{line}")
    return _Carried(len(keys), elsewhere)


def _by_kind(keys: dict[str, str]) -> dict[str, int]:
    found = [key.rpartition("|")[2] for key in keys]
    return {kind.value: found.count(kind.value) for kind in NodeType if kind.value in found}


_CHECKS_AT_A_TIME = 2  # one waits for the workers while another waits for a vector server
_LONGEST = "store_matches_declaration"  # begun first: a server gives out its digests as long as all others take

_PAYLOADS = BucketCheck("payloads", ("qdrant_points",), CheckedPart)
_VECTORS = BucketCheck("sound_vectors", ("embeddings",), CheckedPart)
_ARTIFACTS = BucketCheck("artifacts", ("qdrant_points", "summary_sections", "discovered_files"), CheckedPart)
_COVERAGE = BucketCheck("coverage", ("descriptions",), CoverageFacts)
_OUTCOMES = BucketCheck("outcomes", ("discovered_files", "summary_sections", "descriptions"), CheckedPart)

OTHER_SHARE_PERCENT = 25
"""More C# segments without a role than this mean that the rule packs do not fit the repository."""


@once_per_state("descriptions")
def kinds_are_recognised(build: IndexBuild) -> CheckResult:
    """At most a quarter of the C# segments is of kind `Other`."""
    counts = build.required("descriptions").counts
    segments, other = counts["csharp_segments"], counts["csharp_kind_other"]
    numbers = {"csharp_segments": segments, "other": other, "percent": round(100 * other / segments) if segments else 0}
    fits = other * 100 <= segments * OTHER_SHARE_PERCENT
    hint = "choose other rule_packs, or set the kinds of these paths, in the configuration of the repository"
    return CheckResult(fits, "kinds are recognised", numbers, [] if fits else [hint])


@once_per_state("descriptions")
def builders_succeeded(build: IndexBuild) -> CheckResult:
    """No builder failed on a segment; what failed is listed and has no description of that builder."""
    report = build.required("descriptions")
    failed = report.counts["failed"]
    return CheckResult(not failed, "builders succeeded", {"failed": failed}, report.problems[:_SHOWN] if failed else [])


@once_per_state("descriptions")
def entities_have_repositories(build: IndexBuild) -> CheckResult:
    """Every persisted entity has a repository, written or synthetic (EF.coverage). A gap is a high-severity warning."""
    parts = list(_COVERAGE.each(build, _coverage_facts))
    found = ef_coverage(
        (entity for part in parts for entity in part.entities), (entry for part in parts for entry in part.repositories)
    )
    numbers = {"covered": len(found.covered), "gaps": len(found.gaps)}
    examples = [f"{GAP_CODE}: {gap}" for gap in found.gaps[:_SHOWN]]
    return CheckResult(not found.gaps, "persisted entities have repositories", numbers, examples)


def _coverage_facts(build: IndexBuild, bucket: int) -> CoverageFacts:
    """Runs in a worker process."""
    return coverage_facts(description for _, _, description in read_descriptions(build, bucket))


@once_per_state("qdrant_points")
def ids_are_unique(build: IndexBuild) -> CheckResult:
    """PointId, SemanticId and the derived blob URIs occur once in the generation."""
    columns = ("point_id", "semantic_id", "slice_uri", "description_uri")
    seen: dict[str, Counter[str]] = {column: Counter() for column in columns}
    for table in read_all(build.directory, "qdrant_points", len(build.buckets), columns):
        for column in columns:
            seen[column].update(table.column(column).to_pylist())
    repeated = {column: [key for key, count in found.items() if count > 1] for column, found in seen.items()}
    numbers = {f"repeated_{column}": len(keys) for column, keys in repeated.items()}
    examples = [f"{column}: {key}" for column, keys in repeated.items() for key in sorted(keys)[:_SHOWN]]
    return CheckResult(not examples, "ids and artifact URIs occur once", numbers, examples)


@once_per_state("qdrant_points")
def payloads_are_valid(build: IndexBuild) -> CheckResult:
    """Every stored payload passes ValidateForIndex without an error and without a normalisation."""
    found = _together(_PAYLOADS.each(build, _payload_problems))
    blocked = build.required("qdrant_points").counts["blocked"]
    if blocked:
        found.problems["blocked"] = blocked
        found.examples.extend(build.required("qdrant_points").problems[:_SHOWN])
    numbers = {"points": found.rows, **found.problems}
    return CheckResult(not found.problems, "payloads are valid", numbers, found.examples)


def _together(parts: Iterable[CheckedPart]) -> CheckedPart:
    """Of all buckets, with the first examples."""
    rows, problems, examples = 0, Counter[str](), list[str]()
    for part in parts:
        rows += part.rows
        problems.update(part.problems)
        examples += part.examples[: max(0, _SHOWN - len(examples))]
    return CheckedPart(rows, problems, examples)


def _payload_problems(build: IndexBuild, bucket: int) -> CheckedPart:
    """Runs in a worker process."""
    problems: Counter[str] = Counter()
    examples: list[str] = []
    table = read_part(build.directory, "qdrant_points", bucket, ["semantic_id", "payload"])
    for semantic_id, raw in zip(
        table.column("semantic_id").to_pylist(), table.column("payload").to_pylist(), strict=True
    ):
        checked = RagVectorPayload.from_dictionary(msgspec.json.decode(raw)).validate_for_index()
        found = [*checked.errors, *(w for w in checked.warnings if w.code != NO_DOMAIN)]
        problems.update(message.code for message in found)
        examples.extend(f"{semantic_id}: {message}" for message in found[: max(0, _SHOWN - len(examples))])
    return CheckedPart(table.num_rows, problems, examples)


@once_per_state("embeddings", "summary_sections")
def vectors_are_sound(build: IndexBuild) -> CheckResult:
    """Every vector has the declared dimension, is finite and of unit length; there is one per section. Those of texts
    without a known word are zero, and as many as were counted."""
    if build.spec.embedding_model == LEXICAL_ONLY:
        return CheckResult(True, "there is no model, so there are no vectors", {"vectors": 0, "dimension": 0})
    sections = build.required("summary_sections").counts["sections"]
    found = _together(_VECTORS.each(build, _vector_problems))
    zero, examples = found.problems.get(_ZERO, 0), found.examples
    counts = build.required("embeddings").counts
    if zero != counts.get(UNKNOWN, 0):
        examples.append(f"{zero} vectors of zeros, {counts.get(UNKNOWN, 0)} texts without a known word")
    numbers = {"vectors": found.rows, "sections": sections, "dimension": counts["dimension"]}
    return CheckResult(found.rows == sections and not examples, "vectors are sound", numbers, examples[:_SHOWN])


def _vector_problems(build: IndexBuild, bucket: int) -> CheckedPart:
    """Runs in a worker process."""
    dimension = build.required("embeddings").counts["dimension"]
    found = read_vectors(build, bucket)
    try:
        check_vectors(found, dimension, build.spec.embedding_model, may_be_zero=True)
    except BuildError as error:
        return CheckedPart(len(found), {"unsound": 1}, [f"bucket {bucket}: {error}"])
    return CheckedPart(len(found), {_ZERO: len(found) - int(found.any(axis=1).sum())}, [])


def _store_files(build: IndexBuild) -> str | None:
    """Names and sizes of the files of a store beside the index, which nobody writes once it is finished; a server may
    lose points at any time."""
    folder = build.directory / SHARD
    if build.settings.stores.vectors == "qdrant":
        return None
    return repr(sorted((path.relative_to(folder).as_posix(), path.stat().st_size) for path in folder.rglob("*.*")))


@once_per_state("qdrant_points", beside=_store_files)
def store_matches_declaration(build: IndexBuild) -> CheckResult:
    """The vector store holds exactly the declared points with their vectors and payloads, compared both ways."""
    ghosts = stored_digests(build.directory / SHARD)  # what is declared goes out of it
    stored, declared = len(ghosts), 0
    wrong: dict[str, list[str]] = {"missing": [], "ghost": [], "outdated": []}
    for bucket in build.buckets:
        table = read_part(build.directory, "qdrant_points", bucket, ["point_id", "digest"])
        declared += table.num_rows
        for key, digest in zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True):
            found = ghosts.pop(key, None)
            if found != digest:
                wrong["missing" if found is None else "outdated"].append(key)
    wrong["ghost"] += ghosts
    numbers = {"declared": declared, "stored": stored, **{name: len(found) for name, found in wrong.items()}}
    examples = [f"{name}: {key}" for name, found in wrong.items() for key in sorted(found)[:_SHOWN]]
    return CheckResult(not examples, "the store holds the declared points", numbers, examples)


class _Slice(msgspec.Struct, rename="pascal"):
    """What of a payload leads to the artifacts of its point."""

    path: str
    line_start: int = 0
    char_start: int = 0
    char_end: int = 0
    source_sha256: str = ""
    blob_version_id: str = ""
    finder_snippet: str = ""
    full_document_blob_uri: str = ""
    source_slice_blob_uri: str = ""
    description_blob_uri: str = ""


class _Described(msgspec.Struct):
    backing_artifact: str = ""


def artifacts_are_complete(build: IndexBuild) -> CheckResult:
    """Every point has a snippet, and its document, slice and description resolve to text that is what was recorded;
    what is missing is listed for follow-up."""
    found = _together(
        # Documents lie outside the tables: they may be lost, or back, since these bytes were looked at.
        known if not known.problems and _has_documents(build, bucket) else _artifact_gaps(build, bucket)
        for bucket, known in enumerate(_ARTIFACTS.each(build, _artifact_gaps))
    )
    numbers = {"points": found.rows, **found.problems}
    return CheckResult(not found.problems, "snippets have their artifacts", numbers, found.examples)


def _artifact_gaps(build: IndexBuild, bucket: int) -> CheckedPart:
    """Runs in a worker process."""
    missing: Counter[str] = Counter()
    examples: list[str] = []
    texts = _documents(build, bucket)
    sections = read_part(build.directory, "summary_sections", bucket, ["section"]).column("section")
    table = read_part(build.directory, "qdrant_points", bucket, ["point_id", "section_row", "payload"])
    for row in table.to_pylist():
        found = from_json(row["payload"], _Slice)
        described = from_json(sections[row["section_row"]].as_py(), _Described)
        for gap in _gaps(found, texts.get(found.path), described.backing_artifact):
            missing[gap] += 1
            if len(examples) < _SHOWN:
                examples.append(f"{found.path}:{found.line_start} point {row['point_id']}: {gap}")
    return CheckedPart(table.num_rows, missing, examples)


def _has_documents(build: IndexBuild, bucket: int) -> bool:
    blobs = BlobStore(build.home.blobs)
    addresses = read_part(build.directory, "discovered_files", bucket, ["text_sha256"]).column(0).to_pylist()
    return all(blobs.has(address) for address in addresses if address)


def _documents(build: IndexBuild, bucket: int) -> dict[str, tuple[str, str]]:
    """Path → (sha256, text) of the documents of a bucket that can be read."""
    blobs = BlobStore(build.home.blobs)
    found = {}
    for row in read_rows(build.directory, "discovered_files", bucket, ["path", "text_sha256"]):
        if row["text_sha256"]:
            try:
                found[row["path"]] = (row["text_sha256"], blobs.get(row["text_sha256"]))
            except BlobError:
                continue  # reported for each of its points
    return found


def _gaps(found: _Slice, document: tuple[str, str] | None, description: str) -> list[str]:
    gaps = [] if found.finder_snippet.strip() else ["no snippet"]
    uris = (found.full_document_blob_uri, found.source_slice_blob_uri, found.description_blob_uri)
    gaps += [
        f"no URI of the {name}" for name, uri in zip(("document", "slice", "description"), uris, strict=True) if not uri
    ]
    if document is None:
        gaps.append("document cannot be read")
    elif document[0] != found.blob_version_id:
        gaps.append("document is another version")
    else:
        text = document[1][found.char_start : found.char_end]
        if not text.strip():
            gaps.append("slice is empty")
        elif content_hash(text) != found.source_sha256:
            gaps.append("slice is not the recorded text")
    if not description.strip():
        gaps.append("description is empty")
    return gaps


def every_file_has_an_outcome(build: IndexBuild) -> CheckResult:
    """Every indexed file has at least one section; the others are listed with what happened to them."""
    found = _together(_OUTCOMES.each(build, _files_without_sections))
    numbers = {"files": found.rows, "without_sections": sum(found.problems.values())}
    return CheckResult(not found.problems, "every file has sections", numbers, found.examples)


def _files_without_sections(build: IndexBuild, bucket: int) -> CheckedPart:
    """Runs in a worker process."""
    discovered = read_rows(build.directory, "discovered_files", bucket, ["path", "outcome"])
    indexed = [row["path"] for row in discovered if row["outcome"] == "indexed"]
    reached = set(read_part(build.directory, "summary_sections", bucket, ["path"]).column(0).to_pylist())
    lost = [path for path in indexed if path not in reached]
    reasons = _reasons(build, bucket) if lost else {}
    examples = [f"{path}: {reasons.get(path, 'no segment')}" for path in lost[:_SHOWN]]
    return CheckedPart(len(indexed), {"without sections": len(lost)} if lost else {}, examples)


def _reasons(build: IndexBuild, bucket: int) -> dict[str, str]:
    """Path → what became of its segments."""
    columns = ["path", "symbol", "outcome", "messages"]
    found: dict[str, list[str]] = {}
    for row in read_rows(build.directory, "descriptions", bucket, columns):
        said = "; ".join(row["messages"][:1])
        found.setdefault(row["path"], []).append(f"{row['symbol']} {row['outcome']}{f' ({said})' if said else ''}")
    return {path: ", ".join(outcomes[:3]) for path, outcomes in found.items()}


def stored_points_follow_the_contract(build: IndexBuild) -> CheckResult:
    """What the label serves keeps the payload contract in every store, as other programs read it.

    A store beside the index is copied from build to build, so points that were read back once and have not changed are
    not read again; a server is read as a whole. `rag-assets validate` reads everything.
    """
    if build.settings.stores.vectors == "qdrant" or build.settings.stores.catalog != "none":
        return _contract_verdict(validate(build.home, build.settings, build.spec.index_label).stores)
    generation = active_generation(build.home, build.spec.index_label)
    now = _ReadBack(generation.manifest.generation_id, sha256_of(generation.directory / LISTING))
    known = _READ_BACK.kept(build.home, generation.directory, range(generation.manifest.bucket_count))
    new = [bucket for bucket, read in enumerate(known) if read is None]
    damaged = [
        bucket for bucket, read in enumerate(known) if read and read.generation == now.generation and read != now
    ]
    stores = tuple[StoreVerdicts, ...]()
    if new or damaged:  # opening one takes longer
        stores = (
            validate_buckets(build.home, generation, [*new, *damaged], _read_before(build.home, generation, new)),
        )
    result = _contract_verdict(stores)
    if result.passed and known != [now] * len(known):
        _READ_BACK.keep(build.home, generation.directory, dict.fromkeys(range(len(known)), now))
    numbers = {"points": generation.manifest.counts["points"], "read": result.numbers["points"]}
    return replace(result, numbers=result.numbers | numbers)


@dataclass(frozen=True, slots=True)
class _ReadBack:
    """Which store the points of a bucket were read from and found right: its generation, and a digest of its files."""

    generation: str
    files: str


_READ_BACK = BucketCheck("stored_points_follow_the_contract", ("qdrant_points", "summary_sections"), _ReadBack)


def _read_before(home: IndexHome, generation: Generation, buckets: Sequence[int]) -> dict[int, Path]:
    """Those of the buckets that were found right in the generation that was served before, with its folder."""
    manifest = generation.manifest
    pointer = active_pointer(home, manifest.index_label)
    try:
        before = read_generation(home, manifest.index_label, pointer.previous_generation_id if pointer else "")
        known = _READ_BACK.kept(home, before.directory, buckets)
    except (GenerationError, FileNotFoundError):  # pruned, or of another number of buckets
        return {}
    same = before.manifest.bucket_count == manifest.bucket_count
    return {bucket: before.directory for bucket, read in zip(buckets, known, strict=True) if read and same}


def _contract_verdict(stores: Sequence[StoreVerdicts]) -> CheckResult:
    """In numbers and words."""
    violations = sum(store.violations for store in stores)
    numbers = {"points": sum(store.points for store in stores), "violations": violations}
    broken = [(store, verdict) for store in stores for verdict in store.verdicts if verdict.violations]
    lost = [store for store in stores if store.points != store.declared]
    examples = [f"{store.store}: {store.declared} points are declared, {store.points} are there" for store in lost]
    examples += [f"{verdict.rule.text}: {text}" for _, verdict in broken for text in verdict.examples]
    return CheckResult(not violations, "stored points follow the contract", numbers, examples[:_SHOWN])


def question_file_of(build: IndexBuild) -> Path | None:
    """The question set that the configuration has for the repository of a build now, or None."""
    identifier = build.repository.id
    return next((known.eval_set for known in build.settings.repositories if known.id == identifier), None)


def quality_holds(build: IndexBuild) -> CheckResult:
    """The build answers its question set as well as the one that is served, within the configured tolerance."""
    decision = read_decision(build.directory)
    if decision is None:
        if question_file_of(build) is None:
            return CheckResult(True, NO_EVAL_SET)
        label, current = build.spec.index_label, build.spec.generation_id
        return CheckResult(
            False, "the questions were not asked", {}, [f"{label}: materialize eval_runs for {current} first"]
        )
    numbers = {"questions": decision.questions, "worse": len(decision.worse), "better": decision.better}
    examples = refusal(decision) if decision.refused else []
    return CheckResult(not decision.refused, decision.reason, numbers, examples)


def refusal(decision: Decision) -> list[str]:
    """Why a candidate is refused: the numbers, the questions, and what to do; a line each."""
    current, active = decision.generation_id, decision.active_generation_id
    lines = [decision.reason]
    questions = [_moved(question) for question in decision.worse]
    if questions:
        lines.append(f"worse: {abridged(questions, _SHOWN_QUESTIONS)}{_absent(decision)}")
    elif decision.absent:
        lines.append(_absent(decision).removeprefix("; "))
    look = f"what changed: rag-assets generations compare {active} {current}; " if active else ""
    lines.append(
        f"{look}serve it anyway: rag-assets generations activate {current}; "
        "or change the question set, evaluation.tolerance or evaluation.minimum, and run: rag-assets index"
    )
    return lines


def _moved(question: WorseQuestion) -> str:
    return f"{question.id} (rank {format_rank(question.active_rank)} → {format_rank(question.candidate_rank)})"


def _absent(decision: Decision) -> str:
    """`; not in this commit: a.cs, b.cs`: files that questions name and that may only have been moved."""
    return f"; not in this commit: {abridged(decision.absent, _SHOWN_ABSENT)}" if decision.absent else ""


def sizes_are_as_before(build: IndexBuild) -> CheckResult:
    """Sections, points and the share of skipped files are within 30 % of those of the generation that is served."""
    try:
        served = active_generation(build.home, build.spec.index_label).manifest
    except GenerationError:
        return CheckResult(True, _SIZES, {})
    before = _sizes(served.counts["files"], served.counts["skipped_files"], served.counts)
    counts = {name: build.required(stage).counts for name, stage in _SIZED.items()}
    lost = len(build.required("segments").refused)
    now = _sizes(
        counts["files"]["indexed"] - lost, counts["files"]["skipped"] + lost, counts["sections"] | counts["points"]
    )
    moved = [name for name in now if _has_moved(name, before[name], now[name])]
    numbers = now | {f"{name} before": value for name, value in before.items()}
    if not moved:
        return CheckResult(True, _SIZES, numbers)
    said = [f"{name}: {before[name]:,} → {now[name]:,}" for name in moved]
    look = f"rag-assets generations compare {served.generation_id} {build.spec.generation_id}"
    skipped = "rag-assets status --skipped" if _SKIPPED in moved else ""
    return CheckResult(False, _SIZES, numbers, [*said, f"look: {'; '.join(filter(None, (skipped, look)))}"])


_SIZES = "the index is about as large as the one that is served"
_SIZED = {"files": "discovered_files", "sections": "summary_sections", "points": "qdrant_points"}
_SKIPPED = "skipped percent"
_MOVED_PERCENT = 30
_FEWEST = 100  # sections or points: in a smaller index one file is a third
_LEAST_SKIPPED = 5  # percent: below it a few images more are nothing


def _sizes(indexed: int, skipped: int, counts: Mapping[str, int]) -> dict[str, int]:
    share = round(100 * skipped / (indexed + skipped)) if indexed + skipped else 0
    return {"sections": counts["sections"], "points": counts["points"], _SKIPPED: share}


def _has_moved(name: str, before: int, now: int) -> bool:
    if name == _SKIPPED:
        return abs(now - before) * 100 > max(before, _LEAST_SKIPPED) * _MOVED_PERCENT
    return max(before, now) >= _FEWEST and abs(now - before) * 100 > before * _MOVED_PERCENT


CHECKS: dict[str, tuple[str, bool, Check]] = {
    # name: (asset it belongs to, blocking, function); what does not block is a warning
    "kinds_are_recognised": ("descriptions", False, kinds_are_recognised),
    "builders_succeeded": ("descriptions", False, builders_succeeded),
    "entities_have_repositories": ("descriptions", False, entities_have_repositories),
    "graph_is_sound": ("code_graph", True, graph_is_sound),
    "points_are_in_the_graph": ("code_graph", False, points_are_in_the_graph),
    "vectors_are_sound": ("embeddings", True, vectors_are_sound),
    "every_file_has_an_outcome": ("summary_sections", False, every_file_has_an_outcome),
    "ids_are_unique": ("qdrant_points", True, ids_are_unique),
    "payloads_are_valid": ("qdrant_points", True, payloads_are_valid),
    "store_matches_declaration": ("qdrant_points", True, store_matches_declaration),
    "artifacts_are_complete": ("qdrant_points", False, artifacts_are_complete),
    "sizes_are_as_before": ("qdrant_points", False, sizes_are_as_before),
    "stored_points_follow_the_contract": ("active_index", False, stored_points_follow_the_contract),
    GATE_CHECK: ("eval_runs", True, quality_holds),
}


def run_blocking_checks(build: IndexBuild, *, without: Iterable[str] = ()) -> None:
    """Raises BuildError naming the first check that failed, in their order."""
    left_out = set(without)
    blocking = {
        name: (asset, check)
        for name, (asset, is_blocking, check) in CHECKS.items()
        if is_blocking and name not in left_out
    }
    with ThreadPoolExecutor(_CHECKS_AT_A_TIME, thread_name_prefix="check") as pool:
        begun = sorted(blocking, key=lambda name: name != _LONGEST)
        verdicts = {name: pool.submit(blocking[name][1], build) for name in begun}
    for name, (asset, _) in blocking.items():
        result = verdicts[name].result()
        if not result.passed:
            detail = "; ".join(result.examples[:3]) or str(result.numbers)
            raise BuildError(f"{build.spec.index_label}: check {name} on {asset} failed: {detail}")
