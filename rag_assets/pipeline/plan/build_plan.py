"""`rag-assets plan`: what indexing a commit would do and cost, found out without asking a model or touching the label.

Discovery to sections run in a scratch folder, which is local and free, and what they make is kept in the caches: the
build that follows finds it there. What would be embedded, and asked of a language model, is only counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_assets.contracts.llm import LlmUsage
from rag_assets.descriptions.llm_output_checks import DETAILS_CHARS, SUMMARY_CHARS
from rag_assets.index.generations import Generation, GenerationError, active_generation, read_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.locks import scratch_folder
from rag_assets.models import known_dimension, model_id
from rag_assets.models.openai_compat.dry_run import dry_run_llm
from rag_assets.pipeline.answer_cache import AnswerCache
from rag_assets.pipeline.bm25_artifacts import build_keyword_weights
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.descriptions import describe_files
from rag_assets.pipeline.discovered_files import discover_in, open_repository, planned_generation
from rag_assets.pipeline.plan.generation_status import GenerationStatus, standing_of
from rag_assets.pipeline.plan.points import PlannedFiles, PlannedPoints, PlanTables, compare_files, compare_points
from rag_assets.pipeline.plan.texts import plan_texts, texts_per_second
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.qdrant_points import base_of, point_parts
from rag_assets.pipeline.segments import segment_files
from rag_assets.pipeline.summary_sections import build_sections
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.sources import Snapshot
from rag_assets.sources.git.git_diff import TreeDiff

_PRICED_TOKENS = 1_000_000  # prices are per million tokens, as providers list them

ANSWER_TOKENS = (SUMMARY_CHARS + DETAILS_CHARS) // 4
"""Of the longest wanted answer in English: most are shorter, so the price of a plan is rather too high."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """What indexing would do. `parsed`, `described` and `sections_built` are what this plan had to make, so that the
    build has not; all else is what the build will do.

    `embedding_seconds` is at the rate of the last build with the same model, None where none is known. Costs are in the
    currency of the configured prices, None without them. `llm` is what a language model would be asked, None without
    one; its answers' tokens are estimated from above. `new_space`: another embedding model or dimension than what is
    served, so every vector is another one.
    """

    label: str
    ref: str
    commit: str
    generation: str
    standing: GenerationStatus
    lost: tuple[str, ...] = ()
    base_generation: str = ""
    base_commit: str = ""
    embedding_model: str = ""
    new_space: bool = False
    files: PlannedFiles = field(default_factory=PlannedFiles)
    parsed: int = 0
    described: int = 0
    sections: int = 0
    sections_built: int = 0
    texts_to_embed: int = 0
    tokens_to_embed: int = 0
    embedding_seconds: float | None = None
    embedding_cost: float | None = None
    llm: LlmUsage | None = None
    points: PlannedPoints = field(default_factory=PlannedPoints)

    @property
    def nothing_to_do(self) -> bool:
        return self.standing in (GenerationStatus.UP_TO_DATE, GenerationStatus.SET_ASIDE)

    @property
    def cost(self) -> float | None:
        """Of embedding and language model together."""
        known = [cost for cost in (self.embedding_cost, self.llm.cost if self.llm else None) if cost is not None]
        return sum(known) if known else None


def plan_build(
    home: IndexHome,
    settings: Settings,
    label: str,
    repository: RepositorySettings,
    progress: Progress,
    *,
    commit: str | None = None,
) -> BuildPlan:
    """Plans to index `commit`, default the head of the label's ref. Takes no lock of the label.

    Raises the errors of `rag_assets.sources`, ModelError where the tokenizer is missing, HomeBusy.
    """
    with open_repository(home, settings, repository, commit) as snapshot:
        planned = planned_generation(home, settings, label, repository, snapshot)
        standing, lost = standing_of(home, label, planned)
        if standing is GenerationStatus.DAMAGED:
            planned = planned_generation(home, settings, label, repository, snapshot, force=True)
        plan = _Planning(home, settings, label, repository, snapshot, planned, standing, tuple(lost))
        if standing in (GenerationStatus.UP_TO_DATE, GenerationStatus.SET_ASIDE):
            return plan.nothing()
        if standing is GenerationStatus.FINISHED:
            return plan.served_again()
        with scratch_folder(home) as folder:
            return plan.built(folder, progress)


class _Planning:
    """One plan while it is made."""

    def __init__(
        self,
        home: IndexHome,
        settings: Settings,
        label: str,
        repository: RepositorySettings,
        snapshot: Snapshot,
        planned: str,
        standing: GenerationStatus,
        lost: tuple[str, ...],
    ) -> None:
        self._home = home
        self._label = label
        self._repository = repository.model_copy(update={"ref": repository.ref or snapshot.ref})
        # The label may not be registered; and one prompt after the other makes the budget fall on the same ones.
        llm = settings.llm.model_copy(update={"max_concurrency": 1})
        self._settings = settings.model_copy(update={"repositories": (self._repository,), "llm": llm})
        self._snapshot = snapshot
        self._base = _served(home, label)
        self._about = BuildPlan(
            label=label,
            ref=self._repository.ref or "",
            commit=snapshot.info.commit_sha,
            generation=planned,
            standing=standing,
            lost=lost,
            base_generation=self._base.manifest.generation_id if self._base else "",
            base_commit=self._base.manifest.commit_sha if self._base else "",
            embedding_model=model_id(settings.embedder),
        )

    def nothing(self) -> BuildPlan:
        return self._about

    def served_again(self) -> BuildPlan:
        """The generation is there: nothing is computed, but what is served changes."""
        made = read_generation(self._home, self._label, self._about.generation)
        old, new = self._old, PlanTables.of(made)
        points = compare_points(new, old, same_store=True)
        return replace(
            self._about,
            files=compare_files(new, old, self._git(), read=0),
            sections=made.manifest.counts["sections"],
            points=replace(points, upserted=0),
            new_space=self._is_new_space(made.manifest.dimension),
        )

    def built(self, folder: Path, progress: Progress) -> BuildPlan:
        fresh = self._about.standing is GenerationStatus.DAMAGED
        build, discovered = discover_in(
            folder, self._home, self._settings, self._label, self._repository, self._snapshot, progress, fresh=fresh
        )
        segments = segment_files(build, progress)
        described, asked = self._described(build, progress)
        sections = build_sections(build, progress)
        dimension = self._dimension()
        texts = plan_texts(build, dimension, for_points=self._base is not None)
        rate = texts_per_second(self._home, build.spec.embedding_model) if texts.texts else None
        embedder = self._settings.embedder
        priced = embedder.provider == "openai-compatible" and embedder.price is not None
        new = PlanTables(build.directory, len(build.buckets))
        return replace(
            self._about,
            new_space=self._is_new_space(dimension),
            files=compare_files(new, self._old, self._git(), read=int(discovered.work["read"])),
            parsed=int(segments.work["parsed"]),
            described=int(described.work["described"]),
            sections=sections.counts["sections"],
            sections_built=int(sections.work["built"]),
            texts_to_embed=texts.texts,
            tokens_to_embed=texts.tokens,
            embedding_seconds=texts.texts / rate if rate else None,
            embedding_cost=texts.tokens * (embedder.price or 0.0) / _PRICED_TOKENS if priced else None,
            llm=asked,
            points=self._points(build, new, dimension, texts.incomplete, progress),
        )

    def _described(self, build: IndexBuild, progress: Progress) -> tuple[StageReport, LlmUsage | None]:
        if self._settings.llm.provider == "none":
            return describe_files(build, progress), None
        with dry_run_llm(self._settings.llm, AnswerCache(self._home.cache), ANSWER_TOKENS) as service:
            return describe_files(build, progress, service), service.usage()

    def _points(
        self, build: IndexBuild, new: PlanTables, dimension: int | None, incomplete: frozenset[int], progress: Progress
    ) -> PlannedPoints:
        if self._base is None:  # all are new; which of them validation refuses shows in the build
            sections = build.required("summary_sections").counts["sections"]
            return PlannedPoints(total=sections, added=sections, upserted=sections)
        build_keyword_weights(build, progress)
        passing = incomplete if dimension is not None else frozenset(build.buckets)
        for _ in point_parts(build, dimension or 1, passing):
            pass
        same_store = dimension is not None and base_of(build, dimension) is not None
        return compare_points(new, self._old, same_store=same_store)

    def _dimension(self) -> int | None:
        """That of the settings, else of what is served with the same model: nobody is asked."""
        known = known_dimension(self._settings.embedder)
        if known is None and self._base and self._base.manifest.embedding_model == self._about.embedding_model:
            return self._base.manifest.dimension
        return known

    def _is_new_space(self, dimension: int | None) -> bool:
        if self._base is None:
            return False
        served = self._base.manifest
        return (served.embedding_model, served.dimension) != (self._about.embedding_model, dimension)

    def _git(self) -> TreeDiff | None:
        return self._snapshot.changes_since(self._base.manifest.commit_sha) if self._base else None

    @property
    def _old(self) -> PlanTables | None:
        return PlanTables.of(self._base) if self._base else None


def _served(home: IndexHome, label: str) -> Generation | None:
    try:
        return active_generation(home, label)
    except GenerationError:
        return None
