"""Points of several tenants and labels, and the slow, obvious way to say which of them a scope allows."""

from __future__ import annotations

import fnmatch
import hashlib
import random
import uuid
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.vectors.filters import ALWAYS, Period, SearchFilters, SearchScope, glob_matcher
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets.index.vectors.vector_api import StoredPoint

COUNT = 420  # each tenant with each kind, level and date
DIMENSION = 16
TENANTS = [("acme", "shop"), ("acme", "site"), ("acme2", "shop"), ("globex", "shop")]
FOLDERS = ("src/Api", "src/Api/V1", "src/Core", "srcs", "docs")
DATES = (
    "2024-01-31T00:00:00.0000000Z",
    None,
    "2024-02-01T00:00:00.0000000Z",
    "2025-07-01T12:30:00.5000000Z",
    "2026-01-01T00:00:00.0000000Z",
)
LEVELS = (None, "public", "internal", None, "confidential", "restricted", "no such level")
NO_TERMS = (np.zeros(0, np.uint32), np.zeros(0, np.float32))


@cache
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
        "SourceType": ("code", "code", "config")[number % 3],
        "Symbol": f"Shop.{('Orders', 'Carts')[number % 2]}.Type{number}",
        "ContentHash": f"hash{number}",
        "Confidentiality": LEVELS[number % len(LEVELS)],
        "UpdatedUtc": DATES[number % len(DATES)],
        "DeclaredNames": [f"type{number}", f"member{number % 5}", ("order", "cart")[number % 2]],
    }
    return {key: value for key, value in {**made, **changes}.items() if value is not None}


@cache
def _payloads() -> list[dict[str, Any]]:
    return [payload(number) for number in range(COUNT)]


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


def scope(org: str = "acme", project: str = "shop", **conditions: Any) -> SearchScope:
    """A scope with filters: fields of `SearchFilters` and of `SearchScope` side by side."""
    chosen = {known.name: conditions.pop(known.name) for known in fields(SearchFilters) if known.name in conditions}
    return SearchScope(org_id=org, project_id=project, required=(SearchFilters(**chosen),), **conditions)


def allowed(condition: SearchScope) -> list[int]:
    """The slow, obvious post-filter over everything there is."""

    def holds(found: dict[str, Any]) -> bool:
        tenant = (found["OrgId"], found["ProjectId"]) == (condition.org_id, condition.project_id)
        level = found.get("Confidentiality", "internal")
        return tenant and (
            (not condition.label or found["IndexLabel"] == condition.label)
            and level in _SCALE[: _SCALE.index(condition.clearance) + 1]
            and found["Symbol"].startswith(condition.symbol_prefix)
            and (not condition.names or any(_declares(found, name.lower()) for name in condition.names))
            and _was_changed(found.get("UpdatedUtc"), condition.changed)
            and all(fulfilled for filters in condition.required for fulfilled in _fulfilled(filters, found))
            and not any(_fulfilled(condition.excluded, found))
        )

    return [
        number
        for number, found in enumerate(_payloads())
        if holds(found) and (condition.ids is None or point_id(number) in condition.ids)
    ]


def _was_changed(date: str | None, period: Period) -> bool:
    if period == ALWAYS:
        return True
    if date is None:
        return False
    at = datetime.fromisoformat(date[:19]).replace(tzinfo=UTC, microsecond=int(date[20:26]))
    return (period.since is None or at >= period.since) and (period.before is None or at < period.before)


_SCALE = ("public", "internal", "confidential", "restricted")


def _fulfilled(wanted: SearchFilters, found: dict[str, Any]) -> list[bool]:
    """For every field that says something, whether one of its alternatives holds."""
    held = {
        "kinds": found["Kind"] in wanted.kinds,
        "languages": found["CodeLanguage"] in wanted.languages,
        "source_types": found["SourceType"] in wanted.source_types,
        "paths": any(_path_matches(path, found["Path"]) for path in wanted.paths),
        "symbols": found["SourceType"] != "config" and any(_declares(found, name.lower()) for name in wanted.symbols),
    }
    return [fulfilled for name, fulfilled in held.items() if getattr(wanted, name)]


def _declares(found: dict[str, Any], name: str) -> bool:
    owner, _, last = name.rpartition(".")
    symbol = f".{found['Symbol'].lower()}"
    if owner and fnmatch.fnmatchcase(symbol, f"*.{name}"):
        return True
    of_owner = not owner or fnmatch.fnmatchcase(symbol, f"*.{owner}")
    return of_owner and any(fnmatch.fnmatchcase(declared, last) for declared in found["DeclaredNames"])


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
    "public only": scope(clearance=Confidentiality.PUBLIC),
    "confidential too": scope(clearance=Confidentiality.CONFIDENTIAL),
    "everything": scope(clearance=Confidentiality.RESTRICTED),
    "confidential glob": scope(clearance=Confidentiality.RESTRICTED, paths=("src/*/File*.cs",)),
    "declared name": scope(symbols=("Member3",)),
    "declared beginning": scope(symbols=("Type1*",)),
    "declared pattern": scope(symbols=("*ber4", "type40")),
    "qualified type": scope(symbols=("Orders.Type4*",)),
    "qualified member": scope(symbols=("Type40.Member0", "Shop.Orders.Type80.Order")),
    "name of anything": scope(names=("Member3", "Orders.Type4*")),
    "without what declares it": scope(excluded=SearchFilters(symbols=("member3", "Type2*"))),
    "no such name": scope(symbols=("Nothing", "Shop.Nothing")),
    "without a folder": scope(excluded=SearchFilters(paths=("src/Api",))),
    "without kinds": scope(excluded=SearchFilters(kinds=("Model", "Test"))),
    "without all of these": scope(excluded=SearchFilters(paths=("*1.cs",), languages=("sql",), symbols=("member2",))),
    "both must hold": scope(kinds=("Model", "Test")).narrowed(SearchFilters(kinds=("Test", "Service"))),
    "changed since": scope(since="2024-02"),
    "changed before": scope(before="2024-02"),
    "changed between": scope(since="2024-02-01", before="2025-07-01T12:30:00.5"),
    "changed in another zone": scope(since="2024-01-31T02:00:00+02:00", before="2026-01-01T01:00:00.000001+01:00"),
    "never changed then": scope(since="1990", before="2001"),
    "changed tests": scope(since="2024-02", kinds=("Test",), excluded=SearchFilters(paths=("docs",))),
    "some points": scope(ids=frozenset(point_id(n) for n in range(0, 99, 3))),
    "no points": scope(ids=frozenset()),
    "unknown tenant": scope("nobody", "shop"),
    "prefix of a tenant": scope("acm", "shop"),
}


def random_scope(chance: random.Random) -> SearchScope:
    """Any combination of conditions; most of them leave something."""

    def some(values: tuple[str, ...], likely: float) -> tuple[str, ...]:
        return tuple(chance.sample(values, chance.randint(1, 2))) if chance.random() < likely else ()

    def narrowing(likely: float) -> dict[str, Any]:
        return {
            "paths": some(("src/", "docs", "src/Api/*.cs", "**/V1/**", "File1*.cs", "srcs/File7.cs"), likely),
            "kinds": some(("Service", "Model", "Test"), likely),
            "languages": some(("csharp", "sql"), likely / 2),
            "source_types": some(("code", "config", "document"), likely / 2),
            "symbols": some(("member1", "Type*", "*er3", "order", "Orders.Type1*", "Type4.Member4"), likely / 2),
        }

    return scope(
        chance.choice(["acme", "acme", "acme2", "globex"]),
        chance.choice(["shop", "shop", "site"]),
        clearance=chance.choice(list(Confidentiality)),
        excluded=SearchFilters(**narrowing(0.2)),
        ids=frozenset(point_id(n) for n in chance.sample(range(COUNT), 300)) if chance.random() < 0.2 else None,
        since=chance.choice([None, None, None, "2024-02", "2024"]),
        before=chance.choice([None, None, None, "2025-07-01T12:30:00.5"]),
        **narrowing(0.4),
    ).narrowed(SearchFilters(**narrowing(0.2)))


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


def write(folder: Path, made: list[StoredPoint], base: Path | None = None) -> Path:
    """A shard of exactly these points, from nothing or from that of `base`."""
    writer = ShardWriter(folder, DIMENSION, base=base)
    stored = writer.stored()
    writer.upsert([point for point in map(with_digest, made) if stored.get(point.id) != point.digest])
    writer.delete(sorted(stored.keys() - {point.id for point in made}))
    writer.finish()
    return folder
