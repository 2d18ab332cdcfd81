"""Labels of many tenants with the very same texts in one store, and questions that try to get across."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rag_assets import Index, IndexGroup
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.index.generations import Generation, Manifest
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors import open_writer
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.settings import StoreSettings
from rag_assets_tests.index.store_kinds import bring
from rag_assets_tests.search.small_index import SHOP, Section, build, points_of

if TYPE_CHECKING:
    from rag_assets_tests.index.qdrant_wire import QdrantWire

OWNERS = [
    *(
        (org, project, "shop@main")
        for org in ("acme", "acme2", "acm", "globex", "ACME")
        for project in ("shop", "site")
    ),
    ("acme", "shop", "shop@next"),
    ("acme", "shop", "shop@mai"),
]
"""Names that are beginnings of one another, or differ in case only."""

NOBODY = "00000000-0000-5000-8000-000000000000"
LEVELS = ("public", "internal", "confidential", "restricted")


def sections() -> list[Section]:
    """Every text once for every owner and level."""
    return [
        replace(known, org=org, project=project, label=label, symbol=f"{known.symbol}.{level}", level=level)
        for org, project, label in OWNERS
        for known in SHOP[:4]
        for level in LEVELS
    ]


@dataclass(frozen=True)
class Asker:
    """Somebody's index, and the only points it may ever show."""

    index: Index
    allowed: frozenset[str]


class HashedWords:
    """A model without weights: the same text, the same vector; shared words make texts alike."""

    model_id = "hashed-words"
    dimension = 32

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                digest = hashlib.blake2b(word.encode(errors="replace"), digest_size=4).digest()
                row[int.from_bytes(digest, "big") % self.dimension] += 1.0
            row[0] += 0.01
        made: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return made


@contextmanager
def askers(home: IndexHome, *, on_server: bool = False) -> Iterator[list[Asker]]:
    """One for every owner and clearance, all over the one embedded store of the home, or one collection of a server."""
    everything = sections()
    manifest = build(home, everything, embedder=HashedWords())
    shared = Generation(home.label(manifest.index_label) / "generations" / manifest.generation_id, manifest)
    with ExitStack() as stack:
        wire = stack.enter_context(_server()) if on_server else None
        made: list[Asker] = []
        for org, project, label in OWNERS:
            own = replace(manifest, org_id=org, project_id=project, index_label=label)
            mine = [s for s in everything if (s.org, s.project, s.label) == (org, project, label)]
            generation = Generation(shared.directory, own)
            if wire is not None:
                generation = _stored(wire, home.root / "server" / str(len(made)), shared.keyword, mine, own)
            for clearance in Confidentiality:
                index = Index(home, generation, embedder=HashedWords(), clearance=clearance)
                reach = LEVELS[: LEVELS.index(clearance) + 1]
                allowed = frozenset(section.point_id for section in mine if section.level in reach)
                made.append(Asker(stack.enter_context(index), allowed))
        yield made


def _server() -> QdrantWire:
    pytest.importorskip("qdrant_client")
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    return QdrantWire()


def _stored(wire: QdrantWire, folder: Path, keyword: Path, mine: list[Section], own: Manifest) -> Generation:
    """A generation of one owner, whose points go into the collection of all."""
    shutil.copytree(keyword, folder / "keyword")
    writer = open_writer(
        StoreSettings(vectors="qdrant", qdrant_url=wire.url),
        folder / "shard",
        HashedWords.dimension,
        embedding_model=HashedWords.model_id,
        org_id=own.org_id,
        project_id=own.project_id,
        index_label=own.index_label,
        generation_id=own.generation_id,
    )
    bring(writer, points_of(mine, HashedWords()))
    return Generation(folder, replace(own, counts={"points": len(mine)}))


def _owner_of(payload: Mapping[str, Any]) -> tuple[str, str, str]:
    return payload["OrgId"], payload["ProjectId"], payload["IndexLabel"]


def shown(asked: Asker, others: list[Asker], chance: random.Random) -> set[str]:
    """The points that one adversarial request shows, by any public entry; none where it is refused."""
    foreign = chance.choice(sorted(chance.choice(others).allowed - asked.allowed) or [NOBODY])
    own = asked.index.manifest
    entry = chance.choice(("search", "search", "search", "get", "group", "values"))
    try:
        if entry == "get":
            payload = asked.index.get(chance.choice([foreign, foreign[:8], foreign.upper(), f"{foreign} "]))
            is_own = _owner_of(payload) == (own.org_id, own.project_id, own.index_label)
            return {asked.index.point_id_of(payload["SemanticId"]) if is_own else foreign}
        if entry == "values":
            scope = asked.index.scope()
            shard = asked.index.parts.shard()
            return set(shard.ids(scope)) | set(shard.retrieve([foreign], scope))
        searched = IndexGroup([asked.index]) if entry == "group" else asked.index
        result = searched.search(_query(asked, chance, foreign), **_options(chance))
        return {hit.point_id for hit in result}
    except RagAssetsError:
        return set()  # refused


def _query(asked: Asker, chance: random.Random, foreign: str) -> str:
    known = chance.choice(SHOP)
    org, project, label = chance.choice(OWNERS)
    parts = [
        known.symbol,
        known.purpose,
        f'"{known.purpose}"',
        f"symbol:{known.symbol.rpartition('.')[2]}",
        "symbol:*",
        "path:**",
        f"path:{known.path}",
        "-path:nothing",
        f"-kind:{known.kind}",
        f"OrgId:{org}",
        f"org_id={org} project_id={project} label:{label}",
        f"rag://{label}/{known.path}",
        f"at {known.symbol}.Run() in {known.path}:line 5",
        f"{known.path}:7",
        foreign,
        "restricted confidential",
        "*' OR 1=1 --",
        '{"should": []}',
    ]
    return " ".join(chance.sample(parts, chance.randint(1, 3)))


def _options(chance: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {
        "limit": chance.choice([1, 10, 1000]),
        "mode": chance.choice(["hybrid", "semantic", "semantic_rerank", "bm25"]),
        "literal": chance.random() < 0.2,
        "explain": chance.random() < 0.2,
    }
    filters: dict[str, Any] = {}
    for name, values in (
        ("paths", ["**", "src", "*.cs", "../**", "src/../"]),
        ("kinds", [["Service"], ["Test", "Model"]]),
        ("languages", [["csharp"], ["sql"]]),
        ("symbols", [["*"], ["Order*"], ["Shop.Orders.*"]]),
    ):
        if chance.random() < 0.2:
            filters[name] = chance.choice(values)
    options["filters"] = SearchFilters(**filters)
    return options
