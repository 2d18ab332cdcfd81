"""Checks a stored point against IDX-025, IDX-069 and IDX-070, as whoever reads a store with its own tools would.

Nothing here knows how points are made. A point is an id, a payload and vectors, as an engine or a database gives them
out, and it is compared with the documents. `PointValidator` takes all points of a label, one after the other.
"""

from __future__ import annotations

import math
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rag_assets.contracts.identity import point_id

_CONTENT_TYPES = {
    1: "DomainDocument",
    2: "SourceCode",
    3: "Policy",
    4: "Procedure",
    5: "Reference",
    6: "Configuration",
    7: "Infrastructure",
    8: "Schema",
    9: "ApiContract",
    10: "Spec",
}


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TEXTS = _names("""
    OrgId ProjectId DocId BusinessDomainKey BusinessDomainArea SemanticId ContentType Subtype SubtypeFlavor SectionKey
    Title Language Audience Persona Stage FullDocumentBlobUri SourceSliceBlobUri DescriptionBlobUri BlobVersionId
    SourceSha256 Symbol SymbolType HtmlAnchor EmbeddingModel ContentHash IndexedUtc UpdatedUtc SourceSystem
    SourceObjectId Repo RepoBranch CommitSha Path
    OrgNamespace RepoId Domain Kind Artifact PrimaryEntity
    IndexLabel FinderSnippet SourceType CodeLanguage Confidentiality SourceTitle
""")  # IDX-025; then IDX-069 and IDX-070; then of this project
_NUMBERS = _names("""
    ContentTypeId PartIndex PartTotal Priority LineStart LineEnd CharStart CharEnd IndexVersion ChunkSizeTokens
    OverlapTokens ContentLenChars StartLine EndLine MediaStart MediaEnd
""")
_LISTS = {
    "LabelSlugs": str,
    "LabelIds": str,
    "PdfPages": int,
    "GraphNodeKeys": str,
    "Speakers": str,
    "DeclaredNames": str,
    "Members": str,
}
FIELDS: Mapping[str, type] = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(_NUMBERS, int),
    **dict.fromkeys(_LISTS, list),
}
"""Every field that a payload may have, with the type of its value."""

_REQUIRED = _names(
    "OrgId ProjectId DocId SemanticId ContentTypeId SectionKey PartIndex PartTotal IndexVersion EmbeddingModel "
    "IndexedUtc"
)
_OF_SOURCES = _names("Repo RepoBranch CommitSha Path StartLine EndLine")
_ARTIFACTS = ("FullDocumentBlobUri", "SourceSliceBlobUri", "DescriptionBlobUri")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
EXAMPLES = 5
"""Of each rule, in a report."""


@dataclass(frozen=True, slots=True)
class RawPoint:
    """A point as a store gives it out. `dense` is its embedding, empty where there is none; `has_terms`: whether it has
    keyword weights. `filtered` are the fields that the engine filters by, where it keeps them apart."""

    id: str
    payload: Mapping[str, Any]
    dense: Sequence[float] = ()
    has_terms: bool = False
    filtered: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"{self.payload.get('Path', '?')}:{self.payload.get('LineStart', '?')} point {self.id}"


@dataclass(frozen=True, slots=True)
class StoredRule:
    """One rule in words, and the rows of docs/acceptance.md that it comes from."""

    text: str
    rows: tuple[str, ...]


@dataclass(slots=True)
class RuleVerdict:
    """How many points break a rule, and the first of them with what is wrong."""

    rule: StoredRule
    violations: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        self.violations += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)


Problem = str | None
Check = Callable[[RawPoint], Problem]


def _missing(payload: Mapping[str, Any], names: Iterable[str]) -> Problem:
    lost = [name for name in names if payload.get(name) in (None, "", [])]
    return f"without {', '.join(lost)}" if lost else None


def _identity(point: RawPoint) -> Problem:
    return _missing(point.payload, _REQUIRED)


def _id_form(point: RawPoint) -> Problem:
    if point.id.isdecimal():
        return None
    try:
        return None if str(uuid.UUID(point.id)) == point.id.lower() else "it is written another way"
    except ValueError:
        return "it is neither"


def _id_of_names(point: RawPoint) -> Problem:
    names = ("OrgId", "ProjectId", "RepoId", "IndexLabel", "SemanticId")
    org, project, repo, label, semantic = (str(point.payload.get(name, "")) for name in names)
    made = point_id(org, project, repo, label, semantic)
    return None if made == point.id else f"it would be {made}"


def _content_type(point: RawPoint) -> Problem:
    number, name = point.payload.get("ContentTypeId"), point.payload.get("ContentType")
    if number not in _CONTENT_TYPES:
        return f"ContentTypeId {number}"
    return None if name in (None, _CONTENT_TYPES[number]) else f"ContentTypeId {number} is called {name}"


def _semantic_id(point: RawPoint) -> Problem:
    payload = point.payload
    found = str(payload.get("SemanticId", ""))
    if not found or found != found.lower() or "::" in found:
        return f"SemanticId {found!r}"
    names = ("OrgNamespace", "ProjectId", "RepoId", "SymbolType", "Symbol", "SectionKey", "PartIndex")
    parts = [str(payload.get(name, "")).strip() for name in names]
    plain = ":".join(parts).lower()
    if "::" in plain or any(part.startswith(":") or part.endswith(":") for part in parts):
        plain = ""  # a part with colons is written another way
    return None if plain in ("", found) else f"SemanticId {found}, its parts give {plain}"


def _title(point: RawPoint) -> Problem:
    payload = point.payload
    wanted = "{SymbolType}: {Symbol} - {SectionKey} (Chunk {PartIndex} of {PartTotal})".format_map(
        defaultdict(str, payload)
    )
    return None if payload.get("Title") == wanted else f"Title {payload.get('Title')!r}, not {wanted!r}"


def _parts(point: RawPoint) -> Problem:
    index, total = point.payload.get("PartIndex"), point.payload.get("PartTotal")
    if not isinstance(index, int) or not isinstance(total, int) or not 1 <= index <= total:
        return f"part {index} of {total}"
    return None


def _types(point: RawPoint) -> Problem:
    for name, value in point.payload.items():
        kind = FIELDS.get(name)
        if kind is None:
            return f"{name} is no field"
        if not isinstance(value, kind) or isinstance(value, bool):
            return f"{name} is {type(value).__name__}"
        if isinstance(value, list) and not all(isinstance(item, _LISTS[name]) for item in value):
            return f"{name} has an element of another type"
    return None


def _nothing_empty(point: RawPoint) -> Problem:
    empty = [name for name, value in point.payload.items() if value in (None, "", [])]
    return f"{', '.join(empty)} is there and empty" if empty else None


def _times(point: RawPoint) -> Problem:
    for name in ("IndexedUtc", "UpdatedUtc"):
        value = point.payload.get(name)
        if value is None and name == "UpdatedUtc":
            continue
        if not isinstance(value, str) or not _TIME.fullmatch(value):
            return f"{name} {value!r}"
        try:
            datetime.fromisoformat(value[:19])
        except ValueError:
            return f"{name} {value!r}"
    return None


def _hashes(point: RawPoint) -> Problem:
    for name in ("ContentHash", "SourceSha256", "BlobVersionId"):
        if not _SHA256.fullmatch(str(point.payload.get(name, ""))):
            return f"{name} {point.payload.get(name)!r}"
    return None


def _versions(point: RawPoint) -> Problem:
    version, priority = point.payload.get("IndexVersion", 0), point.payload.get("Priority", 0)
    if not isinstance(version, int) or version < 1:
        return f"IndexVersion {version}"
    return None if isinstance(priority, int) and priority >= 1 else f"Priority {priority}"


def _sources(point: RawPoint) -> Problem:
    problem = _missing(point.payload, _OF_SOURCES)
    if problem is None and not _COMMIT.fullmatch(str(point.payload["CommitSha"])):
        problem = f"CommitSha {point.payload['CommitSha']!r}"
    return problem


def _places(point: RawPoint) -> Problem:
    payload = point.payload
    start, end = payload.get("LineStart"), payload.get("LineEnd")
    if (start, end) != (payload.get("StartLine"), payload.get("EndLine")):
        return f"lines {start}-{end} and {payload.get('StartLine')}-{payload.get('EndLine')}"
    if not isinstance(start, int) or not isinstance(end, int) or not 1 <= start <= end:
        return f"lines {start}-{end}"
    first, last = payload.get("CharStart"), payload.get("CharEnd")
    if not isinstance(first, int) or not isinstance(last, int) or not 0 <= first <= last:
        return f"characters {first}-{last}"
    pages = payload.get("PdfPages", [])
    return None if all(isinstance(page, int) and page >= 1 for page in pages) else f"pages {pages}"


def _language(point: RawPoint) -> Problem:
    found = str(point.payload.get("Language", ""))
    return None if _LANGUAGE.fullmatch(found) else f"Language {found!r}"


def _embedding(point: RawPoint) -> Problem:
    if not len(point.dense):
        return None if point.has_terms else "neither an embedding nor keyword weights"
    if not all(math.isfinite(value) for value in point.dense):
        return "its embedding has a number that is not finite"
    return None if any(point.dense) else "its embedding is zero"


def _snippet(point: RawPoint) -> Problem:
    return None if str(point.payload.get("FinderSnippet", "")).strip() else "without FinderSnippet"


def _artifact_uris(point: RawPoint) -> Problem:
    payload = point.payload
    problem = _missing(payload, (*_ARTIFACTS, "Kind", "Artifact", "Domain"))
    if problem:
        return problem
    document, *derived = (str(payload[name]) for name in _ARTIFACTS)
    if len({document, *derived}) != len(_ARTIFACTS) or not all(uri.startswith(document) for uri in derived):
        return f"{derived} do not belong to {document}"
    return None


def _filtered(point: RawPoint) -> Problem:
    for key, value in (point.filtered or {}).items():
        if point.payload.get(key) != value:
            return f"{key} {point.payload.get(key)!r} is filtered as {value!r}"
    return None


def _no_snippet_uri(point: RawPoint) -> Problem:
    return "it has SnippetBlobUri" if "SnippetBlobUri" in point.payload else None


_OF_A_POINT: tuple[tuple[StoredRule, Check], ...] = (
    (StoredRule("every required field is there", ("B02", "B07", "B22")), _identity),
    (StoredRule("the id of a point is a UUID or a number", ("B18", "B22")), _id_form),
    (
        StoredRule("the id is made of organisation, project, repository, label and SemanticId", ("R2", "R30")),
        _id_of_names,
    ),
    (StoredRule("the content type is a known one and called by its name", ("B01",)), _content_type),
    (
        StoredRule("the SemanticId is made of the names of the point, in lower case", ("A32", "B04", "R1")),
        _semantic_id,
    ),
    (StoredRule("the title says symbol, section and part", ("A31",)), _title),
    (StoredRule("parts are counted from 1 to their total", ("B07",)), _parts),
    (StoredRule("fields have the names and types of the contract", ("B08", "B12", "B17", "R5")), _types),
    (StoredRule("nothing that is empty is stored", ("B17",)), _nothing_empty),
    (StoredRule("times are written in the round-trip form", ("B12", "B17")), _times),
    (StoredRule("hashes are SHA-256", ("B09", "B12", "B23")), _hashes),
    (StoredRule("versions and priorities are 1 or more", ("B08", "B12", "B22")), _versions),
    (StoredRule("repository, branch, commit, path and lines are there", ("B13", "B25", "R29")), _sources),
    (StoredRule("lines count from 1, characters from 0, both pairs of lines are equal", ("B10", "B11", "R7")), _places),
    (StoredRule("the language is a language tag", ("A30", "B08", "R25")), _language),
    (StoredRule("there is an embedding, or keyword weights where there is no model", ("B18", "B22")), _embedding),
    (StoredRule("the snippet is in the record", ("C10", "R4")), _snippet),
    (
        StoredRule("document, slice and description have addresses that belong together", ("A34", "C02", "C12", "R6")),
        _artifact_uris,
    ),
    (StoredRule("there is no address of a snippet", ("C13", "R3")), _no_snippet_uri),
    (StoredRule("what the engine filters by is what the payload says", ("B02", "R17")), _filtered),
)
_ONCE = StoredRule("each SemanticId and each id occurs once", ("B04", "R1", "R30"))
_ONE_URI = StoredRule("no two points have one slice or description", ("A38", "R3"))
_ONE_DOCUMENT = StoredRule("the points of a file share its document, commit and date", ("C03", "R29"))
_WHOLE_SECTIONS = StoredRule("every part of every section is there, once", ("B07", "R19"))
_ONE_SPACE = StoredRule("all embeddings have one model and one length", ("B12", "R22"))
_ONE_OWNER = StoredRule("all points are of one organisation, project and label", ("B02",))
_RESOLVED = StoredRule(
    "documents, slices and descriptions can be read and are what was recorded", ("C04", "C06", "C07")
)


class PointValidator:
    """Compares the points of one label in one store with the contract."""

    def __init__(self, resolve: Callable[[Mapping[str, Any]], Problem] | None = None) -> None:
        """`resolve` says what is wrong with the artifacts of a payload; None: nothing, or nobody can say."""
        self._resolve = resolve
        self._verdicts: dict[str, RuleVerdict] = {}
        for rule, _ in _OF_A_POINT:
            self._verdict(rule)
        self.points = 0
        self._names: Counter[str] = Counter()
        self._uris: Counter[str] = Counter()
        self._files: dict[str, tuple[object, ...]] = {}
        self._sections: defaultdict[tuple[object, ...], list[tuple[object, object]]] = defaultdict(list)
        self._spaces: Counter[tuple[object, int]] = Counter()
        self._owners: Counter[tuple[object, ...]] = Counter()

    def add(self, point: RawPoint) -> None:
        """Takes one more point."""
        self.points += 1
        for rule, check in _OF_A_POINT:
            problem = check(point)
            if problem:
                self._verdict(rule).add(f"{point.name}: {problem}")
        if self._resolve is not None:
            problem = self._resolve(point.payload)
            if problem:
                self._verdict(_RESOLVED).add(f"{point.name}: {problem}")
        self._note(point)

    def verdicts(self) -> list[RuleVerdict]:
        """Every rule that was looked at, in order. To be asked once, when all points were added."""
        self._over_all(_ONCE, (name for name, count in self._names.items() if count > 1))
        self._over_all(_ONE_URI, (uri for uri, count in self._uris.items() if count > 1))
        self._verdict(_ONE_DOCUMENT)
        self._over_all(_WHOLE_SECTIONS, self._broken_sections())
        self._over_all(_ONE_SPACE, _but_the_first(self._spaces))
        self._over_all(_ONE_OWNER, _but_the_first(self._owners))
        if self._resolve is not None:
            self._verdict(_RESOLVED)
        return list(self._verdicts.values())

    def _note(self, point: RawPoint) -> None:
        payload = point.payload
        self._names.update((f"id {point.id}", f"SemanticId {payload.get('SemanticId')}"))
        self._uris.update(str(payload[name]) for name in _ARTIFACTS[1:] if name in payload)
        path = str(payload.get("Path", ""))
        shared = tuple(
            payload.get(name) for name in ("FullDocumentBlobUri", "BlobVersionId", "CommitSha", "IndexedUtc")
        )
        if self._files.setdefault(path, shared) != shared:
            self._verdict(_ONE_DOCUMENT).add(f"{point.name}: {shared} and {self._files[path]}")
        section = tuple(payload.get(name) for name in ("DocId", "SymbolType", "Symbol", "SectionKey"))
        self._sections[section].append((payload.get("PartIndex"), payload.get("PartTotal")))
        self._spaces[payload.get("EmbeddingModel"), len(point.dense)] += 1
        self._owners[tuple(payload.get(name) for name in ("OrgId", "ProjectId", "IndexLabel"))] += 1

    def _broken_sections(self) -> Iterator[str]:
        for section, parts in self._sections.items():
            wanted = Counter((number, len(parts)) for number in range(1, len(parts) + 1))
            if Counter(parts) != wanted:
                yield f"{' '.join(map(str, section))}: parts {', '.join(f'{a} of {b}' for a, b in parts)}"

    def _verdict(self, rule: StoredRule) -> RuleVerdict:
        return self._verdicts.setdefault(rule.text, RuleVerdict(rule))

    def _over_all(self, rule: StoredRule, problems: Iterable[str]) -> None:
        verdict = self._verdict(rule)
        for problem in problems:
            verdict.add(problem)


def _but_the_first(found: Counter[Any]) -> Iterator[str]:
    """What differs from the most frequent value."""
    for value, count in found.most_common()[1:]:
        yield f"{count:,} points have {' '.join(map(str, value))}"
