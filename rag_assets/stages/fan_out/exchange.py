"""What the groups of a stage exchange with its plan and with the step that gathers: files in the label's folder.

They are written once and whole, or replaced as a whole. So workers need neither the caches, whose database is for one
machine at a time, nor the label, and may be on other machines that see the same home. What a group made is in the
shared cache before the ordinary stage runs, which then finds everything there; what no group made it makes itself.
Losing an exchange costs time (and what a server charges), nothing else.

labels/{label}/fan_out/{stage}/{generation}/
  part-000000-000015.…         what buckets (or questions) 0 to 15 want, each once
  {content key}.…              what a group made of it, named by what it is: a worker of a run that everybody believes
                               dead can do no harm
  part-….0.work.json           who made it (GroupWork); 1 is the second attempt
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path

import msgspec

from rag_assets.decoders import from_json
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stores.home import Home, write_atomically

_FOLDER = "fan_out"
_WORK = ".work.json"


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive buckets, or questions of buckets in their order, that are worked on together, `last` included;
    `texts` is how many texts are wanted of them."""

    first: int
    last: int
    texts: int

    @property
    def members(self) -> range:
        return range(self.first, self.last + 1)

    @property
    def name(self) -> str:
        return f"part-{self.first:06d}-{self.last:06d}"


@dataclass(frozen=True, slots=True)
class GroupWork:
    """Who worked on a group. `texts` were made by this process, `found` by an earlier one that was cut off; `spent` is
    what a server was asked for. `error` says why the rest was left to the stage."""

    group: str
    texts: int
    found: int
    process: int = field(default_factory=os.getpid)
    host: str = field(default_factory=platform.node)
    seconds: float = 0.0
    spent: dict[str, int | float] = field(default_factory=dict)
    error: str = ""


def exchange_folder(home: Home, label: str, stage: str, generation_id: str) -> Path:
    """Where the groups of one build exchange files. Raises ValueError for a label or id that could leave it."""
    if Path(generation_id).name != generation_id:
        raise ValueError(f"not a generation id: {generation_id!r}")
    return home.label(label) / _FOLDER / stage / generation_id


def folder_of(build: IndexBuild, stage: str) -> Path:
    return exchange_folder(build.home, build.spec.index_label, stage, build.spec.generation_id)


def shared_out(texts: list[int], *, most: int, least: int) -> list[Group]:
    """Consecutive buckets in groups of about equal size, from the number of texts of each bucket. Pure.

    Buckets at either end without texts belong to no group; one group is none, as it would only be a detour.
    """
    wanted = min(most, sum(texts) // least)
    if wanted < 2:
        return []
    groups: list[Group] = []
    first, inside, before, total = 0, 0, 0, sum(texts)
    for bucket, size in enumerate(texts):
        if not inside:
            first = bucket
        inside += size
        if inside and before + inside >= total * (len(groups) + 1) / wanted:
            groups.append(Group(first, bucket, inside))
            before, inside = before + inside, 0
    return groups if len(groups) > 1 else []


def free_work_file(folder: Path, group: str) -> Path:
    """Where this attempt at a group says what it did."""
    return next(path for n in count() if not (path := folder / f"{group}.{n}{_WORK}").exists())


def note_work(path: Path, work: GroupWork) -> None:
    write_atomically(path, msgspec.json.encode(work))


def leave_group(folder: Path, group: str, error: str) -> None:
    """Notes why a group was given up; the stage does the rest of it, or fails for the same reason."""
    if folder.is_dir():  # else the build is gone, and so is whoever would read this
        note_work(free_work_file(folder, group), GroupWork(group, 0, 0, error=error))


def work_of(folder: Path, group: str = "*") -> list[GroupWork]:
    """What was done for a group, or for all of them in order; a row for every attempt that got so far as to say it."""
    return [from_json(path.read_bytes(), GroupWork) for path in sorted(folder.glob(f"{group}.*{_WORK}"))]


def with_groups(report: StageReport, groups: list[GroupWork], work: Mapping[str, int | float]) -> StageReport:
    """The report of the stage with who did what, and `work` added to its own: what the run did and spent in all. The
    record of the stage stays what it is without groups."""
    if not groups:
        return report
    spent = Counter(report.work)
    spent.update(work)
    columns = {name: 0 for group in groups for name in group.spent}
    rows = [asdict(group) for group in groups]
    for row in rows:
        row.update(columns | row.pop("spent"))
    return replace(
        report,
        work={name: max(0, value) for name, value in spent.items()},  # the stage was done when it was asked again
        tables=report.tables | {"groups": rows},
        problems=[*report.problems, *(f"{group.group}: {group.error}" for group in groups if group.error)],
    )


def forget_exchange(build: IndexBuild, stage: str) -> None:
    """After the stage: everything is in its tables."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder_of(build, stage))


def forget_exchanges(build: IndexBuild, stage: str) -> None:
    """Those of all builds of the label. A worker of a dead run may still be writing there."""
    shutil.rmtree(folder_of(build, stage).parent, ignore_errors=True)
