"""The graph of a repository at one commit, in memory, without an index. A module of the benchmarks that measure it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.graph.extract.registry import graph_of
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_index import declared_in as types_in
from rag_assets.languages.detection import detect_language
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets.languages.fingerprints import Fingerprints, digest_of
from rag_assets.languages.label_declarations import LabelDeclarations, declared_in, declared_together
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.segmentation import segment_file
from rag_assets.sources.decoding import Decoded, decode
from rag_assets.sources.open import open_snapshot
from rag_assets.sources.snapshot import EntryKind

_OF_CHAINS = (".cs", ".sql", ".resx", ".csproj", ".props", ".targets")
_GENERATED = (".Designer.cs", ".g.cs")


@dataclass(frozen=True, slots=True)
class Texts:
    """Path → text of some files of a commit, in path order."""

    commit: str
    of: dict[str, str]


def texts_at(location: str, wanted: Callable[[str], bool], commit: str | None = None) -> Texts:
    """The files that are wanted by path and are text, at a commit or the HEAD of a checkout, a bare git directory or a
    URL; the repository itself is left as it is. Raises SourceError where it does not hold the commit."""
    found: dict[str, str] = {}
    with (
        tempfile.TemporaryDirectory() as mirrors,
        open_snapshot(location, commit=commit, mirrors=Path(mirrors)) as snapshot,
    ):
        entries = [entry for entry in snapshot.entries() if entry.kind is EntryKind.FILE and wanted(entry.path)]
        for entry, content in snapshot.read(entries):
            text = decode(content) if isinstance(content, bytes) else content
            if isinstance(text, Decoded):
                found[entry.path] = text.text
            else:
                print(f"left out: {entry.path}: {text.detail}", file=sys.stderr)
        return Texts(snapshot.info.commit_sha, found)


def files_at(location: str, wanted: Callable[[str], bool], commit: str | None = None) -> list[ParsedFile]:
    """The same files as extractors get them."""
    return [file_of(path, text) for path, text in texts_at(location, wanted, commit).of.items()]


def file_of(path: str, text: str) -> ParsedFile:
    language = detect_language(path)
    return ParsedFile(path, language, text, segment_file(text, path, language).segments)


def is_in_chains(path: str) -> bool:
    """Whether a file has a part in what leads from a route to a table; generated code has none of its own."""
    return path.endswith(_OF_CHAINS) and not path.endswith(_GENERATED)


def extracted(files: Sequence[ParsedFile]) -> Iterator[GraphNode | GraphEdge]:
    """The graph of all files together, file by file, as the asset extracts it."""
    symbols, _ = known_of(files)
    for file in files:
        yield from graph_of(file, symbols)


def known_of(files: Sequence[ParsedFile]) -> tuple[LabelDeclarations, Fingerprints]:
    """What the extractors know of all files together, and the digests of it, from one pass over their declarations."""
    resources = StaticResourceDictionary()
    for file in files:
        if file.language == "resx":
            resources.add_file(file.path, file.segments)
    types = TypeIndex(found for file in files for found in types_in(file.path, file.segments))
    declared = [declared_together([declared_in(file) for file in files])]
    symbols = LabelDeclarations.of(declared, types, resources)
    return symbols, symbols.facets(declared, declared=digest_of(list(types)))
