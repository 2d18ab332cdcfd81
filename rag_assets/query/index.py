"""An open index: search it, look points up, read what is behind them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.config_file import resolve_home
from rag_assets.contracts.artifacts import parse_uri
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality, known_level
from rag_assets.contracts.identity import point_id
from rag_assets.contracts.payload import with_generation
from rag_assets.contracts.retrieval import DEFAULT_POLICY, SearchPolicy
from rag_assets.query.errors import QueryError, WrongQuestion
from rag_assets.query.parts import IndexParts
from rag_assets.query.policy import load_policy
from rag_assets.query.results import Hit
from rag_assets.query.scope import Spellings
from rag_assets.query.searching import Searchable
from rag_assets.stores.filters import UNNARROWED, Narrowing, ScopeError, SearchFilter
from rag_assets.stores.generations import Generation, GenerationError, Manifest, active_generation
from rag_assets.stores.home import Home

if TYPE_CHECKING:
    from rag_assets.contracts.section import Embedder

_ID_PREFIX = re.compile(r"[0-9a-f-]{4,36}")  # fewer digits are ambiguous in any real index
_SHOWN = 5


def open_index(
    label: str,
    *,
    home: str | Path | None = None,
    config: Path | None = None,
    clearance: Confidentiality | str = DEFAULT_LEVEL,
    view: Narrowing = UNNARROWED,
    org_id: str | None = None,
    project_id: str | None = None,
) -> Index:
    """The active generation of a label, open for reading.

    Without `home` it is found as every command finds it. `config` is the configuration file that says where model and
    vector servers are and how to search; without it, it is found too. Nothing above `clearance` can be found or read,
    and nothing outside of `view` can be found. With `org_id` or `project_id` the label of another tenant is as good as
    none. Raises GenerationError where the label has no usable index, naming the labels there are and the command that
    makes one, ScopeError for an unknown clearance, and ConfigError for settings of the search that cannot be used.
    """
    found = Home(resolve_home(home, config=config))
    try:
        generation = active_generation(found, label)
    except ValueError as error:  # not a label at all
        raise GenerationError(str(error)) from error
    manifest = generation.manifest
    for wanted, owner in ((org_id, manifest.org_id), (project_id, manifest.project_id)):
        if wanted is not None and wanted != owner:
            raise GenerationError(f"{label} has no index of this organisation and project; see: rag-assets status")
    return Index(found, generation, config, clearance=clearance, view=view, policy=load_policy(found, config))


class Index(Searchable):
    """One generation of one label. Safe to use from several threads; close it, or use it in a `with`.

    It goes on reading its own generation when another one becomes active.
    """

    def __init__(
        self,
        home: Home,
        generation: Generation,
        config: Path | None = None,
        *,
        embedder: Embedder | None = None,
        clearance: Confidentiality | str = DEFAULT_LEVEL,
        view: Narrowing = UNNARROWED,
        policy: SearchPolicy = DEFAULT_POLICY,
    ) -> None:
        """`config`, `clearance` and `view` as in `open_index`; with an `embedder`, which must be the one that made the
        vectors, `config` is not needed. `policy` is how it is searched. Raises GenerationError where the generation
        has no points, or ScopeError."""
        self.generation = generation
        self.manifest = generation.manifest
        self.label = generation.manifest.index_label
        self.clearance = _clearance(clearance)
        self._asked_view = view
        self._parts = IndexParts(home, generation, config, embedder=embedder, policy=policy)

    @property
    def parts(self) -> IndexParts:
        return self._parts

    @property
    def manifests(self) -> dict[str, Manifest]:
        return {self.label: self.manifest}

    @property
    def members(self) -> dict[str, Index]:
        return {self.label: self}

    def get(self, identifier: str) -> dict[str, Any]:
        """The payload of a point, by its id, by a unique beginning of it, or by its SemanticId.

        Raises QueryError where there is none, or, naming the candidates, where the beginning is ambiguous.
        """
        shard, scope = self.parts.shard(), self.scope()
        wanted = identifier.strip().lower()
        if ":" in wanted:
            found = self._payloads([self.point_id_of(wanted)], scope)
        elif _is_uuid(wanted):
            found = self._payloads([wanted], scope)
        elif _ID_PREFIX.fullmatch(wanted):
            ids = sorted(known for known in shard.ids(scope) if known.startswith(wanted))
            if len(ids) > 1:
                shown = ", ".join(ids[:_SHOWN])
                raise QueryError(f"{identifier!r} is the beginning of {len(ids)} points: {shown}; give more digits")
            found = self._payloads(ids, scope)
        else:
            raise WrongQuestion(f"not a point id (4 hex digits or more) or semantic id: {identifier!r}")
        for payload in found.values():
            return payload
        raise QueryError(f"no point {identifier!r} in {self.label} (generation {self.manifest.generation_id})")

    def scope(self) -> SearchFilter:
        """What may be seen of the stores: the tenant, the project, the label, up to the clearance."""
        return SearchFilter(
            org_id=self.manifest.org_id,
            project_id=self.manifest.project_id,
            label=self.label,
            clearance=self.clearance,
            view=self.view,
        )

    @cached_property
    def view(self) -> Narrowing:
        """What the index was opened to look at, as it spells it. Raises QueryError for an unknown kind."""
        if self._asked_view == UNNARROWED:
            return UNNARROWED
        manifest = self.manifest
        everything = SearchFilter(
            org_id=manifest.org_id, project_id=manifest.project_id, label=self.label, clearance=self.clearance
        )
        return Spellings(lambda: self.parts.shard().values("Kind", everything)).narrowing(self._asked_view)

    def may_read(self, path: str) -> bool:
        """Whether the clearance reaches for a file of the repository."""
        return self.manifest.levels.visible(path, self.clearance)

    def source_slice(self, hit: Hit | str) -> str:
        """The source text behind a hit, or behind a slice URI. Raises ArtifactError."""
        return self.resolve(hit if isinstance(hit, str) else hit.slice_uri)

    def description(self, hit: Hit | str) -> str:
        """The description (markdown) behind a hit, or behind a description URI. Raises ArtifactError."""
        return self.resolve(hit if isinstance(hit, str) else hit.description_uri)

    def resolve(self, uri: str) -> str:
        """The text of any artifact URI of this generation that the clearance reaches for. Raises ArtifactError."""
        from rag_assets.stores.artifacts import ArtifactError

        try:
            path = parse_uri(uri).path
        except ValueError as error:
            raise ArtifactError(str(error)) from error
        if not self.may_read(path):
            raise ArtifactError(f"{path} is not in the index of {self.label}, or not for a reader of {self.clearance}")
        return self.parts.artifacts().resolve(uri)

    def close(self) -> None:
        self.parts.close()

    def _payloads(self, ids: Sequence[str], scope: SearchFilter) -> dict[str, dict[str, Any]]:
        """The payloads of points, whole: what all points of a generation share is kept with the generation."""
        commit, date = self.manifest.commit_sha, self.manifest.commit_date
        found = self.parts.shard().retrieve(ids, scope)
        return {key: with_generation(payload, commit, date) for key, payload in found.items()}

    def point_id_of(self, semantic_id: str) -> str:
        """The id of the point of a SemanticId, whether there is one or not."""
        known = self.manifest
        return point_id(known.org_id, known.project_id, known.repository_id, self.label, semantic_id)


def _clearance(level: Confidentiality | str) -> Confidentiality:
    try:
        return known_level(level)
    except ValueError as error:
        raise ScopeError(str(error)) from error


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
