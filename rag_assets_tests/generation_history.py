"""A label with three generations, of three commits that a test can tell apart, and a home of its own for each test."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rag_assets.index.generation_files import written_blocks
from rag_assets.index.labels import register_label
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.git_repository import Repository

SERVICE = "namespace Shop;\n/// <summary>{}</summary>\npublic class OrderService\n{{\n    public int Count => {};\n}}\n"
COMMITS: tuple[dict[str, str], ...] = (
    {
        "src/OrderService.cs": SERVICE.format("Counts orders.", 1),
        "src/Money.cs": "namespace Shop;\npublic class Money { public int Cents { get; set; } }\n",
        "docs/guide.md": "# Guide\n\nHow to order.\n",
    },
    {"src/OrderService.cs": SERVICE.format("Counts the orders of a customer.", 2)},
    {"src/Refund.cs": "namespace Shop;\npublic class Refund { public int OrderId { get; set; } }\n"},
)

_BLOCK = 1 << 12
_LARGE = 1 << 18


@dataclass(frozen=True)
class History:
    """`ids` are the generations of the commits, oldest first; the last one is served."""

    home: IndexHome
    source: Repository
    settings: Settings
    repository: RepositorySettings
    ids: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return index_label(self.repository.id, "main")

    def index(self, **options: Any) -> tuple[IndexBuild, dict[str, StageReport]]:
        build, reports = run_stages(self.settings, self.label, self.repository, **options)
        return build, {report.stage: report for report in reports}

    def commit(self, files: dict[str, str]) -> str:
        """Commits, indexes and returns the id of the generation."""
        self.source.commit(files)
        return self.index()[0].spec.generation_id

    def copy(self, folder: Path, **settings: Any) -> History:
        """The same history in a home and a repository that a test may change."""
        shutil.copytree(self.home.root, folder / "home", copy_function=copy_sparse)
        shutil.copytree(self.source.path, folder / "source")
        source = Repository(folder / "source")
        repository = self.repository.model_copy(update={"location": str(source.path)})
        changed = self.settings.model_copy(update={"home": folder / "home", **settings})
        register_label(IndexHome(folder / "home"), self.label, repository, "main")
        return replace(self, home=IndexHome(folder / "home"), source=source, repository=repository, settings=changed)


def new_history(folder: Path, identifier: str = "shop") -> History:
    source = Repository.new(folder / "source")
    settings = Settings(home=folder / "home", embedder=EmbedderSettings(provider="lexical-only"), workers=1)
    repository = RepositorySettings(id=identifier, location=str(source.path), ref="main")
    history = History(IndexHome(settings.home), source, settings, repository)
    ids, commits = [], []
    for files in COMMITS:
        commits.append(source.commit(files))
        ids.append(history.index()[0].spec.generation_id)
    return replace(history, ids=tuple(ids), commits=tuple(commits))


def copy_sparse(source: str, target: str) -> None:
    """Copies a file without what is zero: the vector store sets 100 MB aside for a few points, and in memory
    reading its files has filled their holes. Of a large file, what is not zero is read once; tests copy it again."""
    about = Path(source).stat()
    read = _written if about.st_size < _LARGE else _remembered
    with Path(target).open("wb") as write:
        for offset, data in read(source, about.st_ino, about.st_size, about.st_mtime_ns):
            write.seek(offset)
            write.write(data)
        write.truncate(about.st_size)
        is_alike = os.fstat(write.fileno()).st_mode == about.st_mode
    if not is_alike:
        Path(target).chmod(stat.S_IMODE(about.st_mode))
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))


def _written(source: str, *_: int) -> tuple[tuple[int, bytes], ...]:
    return tuple(written_blocks(Path(source), _BLOCK))


_remembered = lru_cache(maxsize=1_000)(_written)
