"""The requests that code sends to endpoints: of a front end to its server, of a service to another one, of tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation, endpoint_key
from rag_assets.graph.extract.endpoints import source_of
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE
from rag_assets.languages.http_requests import requests_in
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile


def requests_of(file: ParsedFile, registered: Collection[int], symbols: LabelDeclarations) -> Iterator[GraphEdge]:
    """`METHOD Calls ENDPOINT`, by the path as the code writes it: which endpoint of the label that is, all of them tell
    (`graph.requested_endpoints`). On the lines in `registered` endpoints are declared, and not called."""
    source_at = file.places.key_at if file.language == LANGUAGE else source_of(file)
    for found in requests_in(file.text, file.language, symbols.endpoints.constants):
        line = file.lines.line_of(found.start)
        if line not in registered:
            key = endpoint_key(found.method, found.path)
            yield GraphEdge(source_at(found.start), Relation.CALLS, key, Confidence.PROBABLE, file.path, line)
