"""Tiny bundles of RoslynIndexer and indexes of SCIP, written the way their tools write them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rag_assets.contracts.graph import GraphNode, key_kind
from rag_assets.graph.imports.artifact_files import ArtifactFile, Artifacts
from rag_assets.graph.imports.key_parser import LabelSymbols
from rag_assets.graph.imports.scip import DEFINITION, MESSAGES

NODES_HEADER = "key,kind,name,schema,file,batch,domain,body_path"
EDGES_HEADER = "from,to,relation,to_kind,file,batch"


def row(*values: str) -> str:
    return ",".join('"' + value.replace('"', '""') + '"' for value in values)


def node_row(key: str, file: str = "", *, name: str = "n") -> str:
    return row(key, key.rpartition("|")[2], name, "dbo", file, "", "db", "")


def edge_row(source: str, target: str, relation: str, file: str = "", *, to_kind: str | None = None) -> str:
    return row(source, target, relation, target.rpartition("|")[2] if to_kind is None else to_kind, file, "")


def nodes_csv(*rows: str) -> str:
    return "\r\n".join((NODES_HEADER, *rows, ""))


def edges_csv(*rows: str) -> str:
    return "\r\n".join((EDGES_HEADER, *rows, ""))


def chunk(identifier: int | str, path: str, signature: str, member: str, **more: Any) -> dict[str, Any]:
    """`signature` is what Roslyn displays, as in `Shop.Cart.void Cart.Clear()`."""
    owner = signature.split(".")[1] if "class_" not in more else more.pop("class_")
    return {
        "Id": identifier,
        "File": path.rpartition("/")[2],
        "Class": owner,
        "Member": member,
        "Type": "Method",
        "Signature": signature,
        "Text": "// Namespace: … " + signature,
        "ProjectName": "Shop",
        "BaseType": "object",
        "ImplementedInterfaces": [],
        "Branch": "main",
        "HeadSha": None,
        "RepoRelativePath": path,
    } | more


def artifacts(files: Mapping[str, str | bytes | list[Any] | dict[str, Any]]) -> Artifacts:
    """The files as they would be read; lists and dictionaries are written as JSON."""
    return Artifacts("bundle", tuple(ArtifactFile(name, as_bytes(files[name])) for name in sorted(files)))


def as_bytes(content: str | bytes | list[Any] | dict[str, Any]) -> bytes:
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content, indent=2)).encode()


def zipped(files: Mapping[str, str | bytes | list[Any] | dict[str, Any]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, as_bytes(content))
    return made.getvalue()


def unpacked(folder: Path, files: Mapping[str, str | bytes | list[Any] | dict[str, Any]]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(content))
    return folder


def known_node(key: str, path: str = "", lines: tuple[int, int] = (0, 0), signature: str = "") -> GraphNode:
    name = key.rpartition("|")[0].partition("(")[0].rpartition(".")[2]
    language = key.partition(":")[0] if ":" in key else "sql"
    return GraphNode(key, key_kind(key), name, path, *lines, language, signature)


def known(nodes: Iterable[GraphNode] = (), paths: Iterable[str] = (), commit: str = "") -> LabelSymbols:
    return LabelSymbols(nodes, paths, commit)


def occurrence(
    symbol: str, line: int, character: int = 0, *, roles: int = 0, around: tuple[int, ...] = (), width: int = 3
) -> Any:
    """At a line from 1, as people count; `around` is an enclosing range as SCIP writes it, from 0."""
    return MESSAGES["Occurrence"](
        range=(line - 1, character, character + width), symbol=symbol, symbol_roles=roles, enclosing_range=around
    )


def definition(symbol: str, line: int, character: int = 0, *, around: tuple[int, ...] = ()) -> Any:
    return occurrence(symbol, line, character, roles=DEFINITION, around=around)


def information(symbol: str, display: str = "", implements: Iterable[str] = (), kind: int = 0) -> Any:
    documentation = [f"```cs\n{display}\n```"] if display else []
    relationships = [MESSAGES["Relationship"](symbol=each, is_implementation=True) for each in implements]
    return MESSAGES["SymbolInformation"](
        symbol=symbol, documentation=documentation, relationships=relationships, kind=kind
    )


def document(path: str, occurrences: Iterable[Any], symbols: Iterable[Any] = ()) -> bytes:
    made = MESSAGES["Document"](relative_path=path, occurrences=list(occurrences), symbols=list(symbols))
    return bytes(MESSAGES["Index"](documents=[made]).SerializeToString())


def metadata(project_root: str) -> bytes:
    return bytes(MESSAGES["Index"](metadata=MESSAGES["Metadata"](project_root=project_root)).SerializeToString())


def index(*parts: bytes) -> Artifacts:
    """Parts of an index, one behind the other, are one index."""
    return Artifacts("index.scip", (ArtifactFile("index.scip", b"".join(parts)),))
