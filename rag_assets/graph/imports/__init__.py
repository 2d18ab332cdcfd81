"""Graphs that others made, in our key space: RoslynIndexer artifacts and SCIP indexes.

`artifact_files` reads a folder, an archive or a single file (the only I/O here). `roslyn` and `scip` make an
`ImportedGraph` of the files, matched against what the label itself declares, and `merge` joins that with the built-in
graph.
"""

from __future__ import annotations

from pathlib import Path

from rag_assets.graph.imports.artifact_files import read_artifacts
from rag_assets.graph.imports.imported_graph import ImportedGraph
from rag_assets.graph.imports.key_parser import LabelSymbols
from rag_assets.settings.repositories import GraphImportSettings, ImportFormat


def load_graph(path: Path, form: ImportFormat, known: LabelSymbols | None = None) -> ImportedGraph:
    """The graph at `path`: a folder, an archive, or a SCIP index. Raises UnusableImport naming file and cause."""
    artifacts = read_artifacts(path, form)
    if form == "scip":
        from rag_assets.graph.imports.scip import scip_graph  # protobuf only where it is needed

        return scip_graph(artifacts, known)
    from rag_assets.graph.imports.roslyn import roslyn_graph

    return roslyn_graph(artifacts, known)


def configured_fingerprint(settings: GraphImportSettings) -> str:
    """What an import makes of a graph: its format, its mode and all that is read of it. Raises UnusableImport."""
    return f"{settings.format} {settings.mode} {read_artifacts(settings.path, settings.format).fingerprint()}"


def unread_parts(settings: GraphImportSettings | None) -> tuple[str, ...]:
    """What of an import cannot be read, as sentences; the rest would be used. Raises UnusableImport where nothing is
    left."""
    if settings is None:
        return ()
    found = read_artifacts(settings.path, settings.format)
    return tuple(f"{found.location}: {text}" for text in found.unread)
