"""Status: which indexes there are, how old they are, what they hold and what they left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.errors import RagAssetsError
from rag_assets.index.generations import Manifest
from rag_assets.search.index import LabelIndex
from rag_assets.serving.budget import joined_within
from rag_assets.serving.index_age import IndexAge

TOKENS = 2000
_LISTED = 40
_COUNTED = ("files", "sections")


@dataclass(frozen=True, slots=True)
class LabelStatus:
    """One index as a caller sees it. `counts` and `skipped` (path, reason, detail) are of what the clearance reaches;
    `problem` says what of it cannot be read."""

    manifest: Manifest
    age: IndexAge
    counts: Mapping[str, int]
    modes: tuple[str, ...]
    skipped: Sequence[Mapping[str, Any]] = ()
    problem: str = ""

    def as_object(self) -> dict[str, Any]:
        known, fresh = self.manifest, self.age.freshness
        return {
            "label": known.index_label,
            "ref": known.ref,
            "commit": known.commit_sha,
            "commit_date": known.commit_date,
            "generation": known.generation_id,
            "run_id": known.run_id,
            "built_at": known.built_at,
            "head": fresh.head or None,
            "stale": fresh.stale,
            "commits_behind": self.age.commits,
            "changed_files": fresh.changed_files,
            "counts": dict(self.counts),
            "modes": list(self.modes),
            "skipped_by_reason": dict(Counter(str(row["reason"]) for row in self.skipped)),
            "skipped": [dict(row) for row in self.skipped],
            "problem": self.problem or None,
        }


@dataclass(frozen=True, slots=True)
class StatusReply:
    """The indexes that a caller sees; `is_one` of the one that was named, with its skipped files. `nothing` is said
    where there are none."""

    found: tuple[LabelStatus, ...]
    is_one: bool
    nothing: str

    def as_object(self) -> dict[str, Any]:
        return {"labels": [one.as_object() for one in self.found]}

    def text(self, max_tokens: int) -> str:
        if not self.found:
            return self.nothing
        body = []
        for one in self.found:
            counts = ", ".join(f"{one.counts[name]:,} {name}" for name in _COUNTED if name in one.counts)
            body.append(f"{one.age.line(one.manifest.index_label)}  {counts}  {one.manifest.ref}")
            if one.problem:
                body.append(f"  {one.problem}")
            reasons = Counter(str(row["reason"]) for row in one.skipped)
            if reasons:
                body.append(f"  skipped: {', '.join(f'{count} {reason}' for reason, count in reasons.most_common())}")
            if self.is_one:
                body += [f"  {row['reason']}  {row['path']}  {row['detail']}".rstrip() for row in one.skipped[:_LISTED]]
        return joined_within([], body, [], max_tokens, "… {} more lines; name one label")


def status_of(index: LabelIndex, age: IndexAge) -> LabelStatus:
    """What a reader sees of an index."""
    from rag_assets.pipeline.skipped_files import skipped_files  # an agent waits for the start of its server

    shard, scope = index.parts.shard(), index.scope()
    counts = {"files": len(shard.values("Path", scope)), "sections": shard.count(scope)}
    modes = tuple(mode.value for mode in index.generation.retrieval_modes)
    try:
        skipped, problem = skipped_files(index.generation, index.clearance), ""
    except (RagAssetsError, OSError) as error:
        skipped, problem = [], str(error)
    return LabelStatus(index.manifest, age, counts, modes, skipped, problem)
