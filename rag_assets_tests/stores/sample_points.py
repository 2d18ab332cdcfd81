"""Points of several tenants and labels, and the slow, obvious way to say which of them a scope allows."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from rag_assets.stores.filters import SearchFilter, glob_matcher
from rag_assets.stores.points import StoredPoint

COUNT = 600
DIMENSION = 16
TENANTS = [("acme", "shop"), ("acme", "site"), ("acme2", "shop"), ("globex", "shop")]
FOLDERS = ("src/Api", "src/Api/V1", "src/Core", "srcs", "docs")
NO_TERMS = (np.zeros(0, np.uint32), np.zeros(0, np.float32))


def point_id(number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))


def unit_rows(count: int, seed: int = 1) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def terms(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices over the whole range of uint32; every section has term 5."""
    indices = np.array(sorted({5, number % 7 + 10, 4_000_000_000 + number % 3}), np.uint32)
    return indices, np.linspace(0.5, 1.0 + number % 11, len(indices)).astype(np.float32)


def payload(number: int, **changes: Any) -> dict[str, Any]:
    org, project = TENANTS[number % len(TENANTS)]
    made = {
        "OrgId": org,
        "ProjectId": project,
        "DocId": f"doc{number}",
        "SemanticId": f"{org}:{number}",
        "IndexLabel": f"{project}@main",
        "Path": f"{FOLDERS[number % len(FOLDERS)]}/File{number % 23}.cs",
        "Kind": ("Service", "Model", "Test")[number % 3],
        "CodeLanguage": ("csharp", "sql")[number % 2],
        "SourceType": "code",
        "Symbol": f"Shop.{('Orders', 'Carts')[number % 2]}.Type{number}",
        "ContentHash": f"hash{number}",
    }
    return {key: value for key, value in {**made, **changes}.items() if value is not None}


def points(count: int) -> list[StoredPoint]:
    rows = unit_rows(count)
    return [StoredPoint(point_id(n), rows[n], terms(n), payload(n)) for n in range(count)]


def with_digest(point: StoredPoint) -> StoredPoint:
    """The point with a digest over all that makes it, as builds give it."""
    dense = b"" if point.dense is None else point.dense.tobytes()
    indices, values = point.sparse
    parts = (dense, indices.tobytes(), values.tobytes(), msgspec.json.encode(point.payload, order="sorted"))
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return replace(point, digest=digest.hexdigest())


def scope(org: str = "acme", project: str = "shop", **conditions: Any) -> SearchFilter:
    return SearchFilter(org_id=org, project_id=project, **conditions)


def allowed(condition: SearchFilter) -> list[int]:
    """The slow, obvious post-filter over everything there is."""

    def holds(found: dict[str, Any]) -> bool:
        tenant = (found["OrgId"], found["ProjectId"]) == (condition.org_id, condition.project_id)
        return tenant and (
            (not condition.label or found["IndexLabel"] == condition.label)
            and (not condition.kinds or found["Kind"] in condition.kinds)
            and (not condition.languages or found["CodeLanguage"] in condition.languages)
            and (not condition.source_types or found["SourceType"] in condition.source_types)
            and found["Symbol"].startswith(condition.symbol_prefix)
            and (not condition.paths or any(_path_matches(path, found["Path"]) for path in condition.paths))
        )

    return [number for number in range(COUNT) if holds(payload(number))]


def _path_matches(pattern: str, path: str) -> bool:
    return path == pattern or path.startswith(f"{pattern.rstrip('/')}/") or glob_matcher(pattern)(path)


SCOPES = {
    **{f"{org} {project}": scope(org, project) for org, project in TENANTS},
    "label": scope(label="shop@main"),
    "other label": scope(label="site@main"),
    "kind": scope(kinds=("Model",)),
    "two kinds": scope(kinds=("Model", "Test")),
    "language": scope(languages=("sql",)),
    "source type": scope(source_types=("code", "document")),
    "no such source type": scope(source_types=("document",)),
    "symbol prefix": scope(symbol_prefix="Shop.Orders."),
    "exact path": scope(paths=("src/Api/File0.cs",)),
    "folder": scope(paths=("src/Api",)),
    "folder with slash": scope(paths=("src/",)),
    "folder with stars": scope(paths=("src/**",)),
    "folder at the root": scope(paths=("docs",)),
    "file name": scope(paths=("File7.cs",)),
    "glob": scope(paths=("src/*/File1*.cs",)),
    "deep glob": scope(paths=("**/V1/*.cs",)),
    "two paths": scope(paths=("docs/", "src/Core/*2.cs")),
    "no such path": scope(paths=("lib/**/*.cs",)),
    "all together": scope(paths=("src/**/*.cs",), kinds=("Service",), languages=("csharp",), label="shop@main"),
    "unknown tenant": scope("nobody", "shop"),
    "prefix of a tenant": scope("acm", "shop"),
}


PAYLOAD = {
    "Title": "größer 注文 😀 \u200b",
    "FinderSnippet": 'a: b\r\n\tc\0d\\"',
    "PartIndex": 3,
    "CharEnd": 2**40,
    "Negative": -1,
    "Half": 0.5,
    "Flag": True,
    "LabelSlugs": ["a", "b", ""],
    "PdfPages": [1, 2],
    "GraphNodeKeys": ["csharp:Ns.Repository`1|TYPE", "csharp:Ns.Ü|TYPE"],
    "Empty": "",
    "NoList": [],
    "Nothing": None,
    "IndexedUtc": "2026-01-02T03:04:05.1234560Z",
    "ContentTypeId": 2,
}
