"""The indexes that benchmarks/retrieval.py asks: one per snapshot, built by the real pipeline and kept in a folder.

A snapshot is a throw-away commit on top of the pinned revision, which empties the lines that give answers away and,
where only a folder counts, leaves out everything else. Its history is that of the repository, so what the pipeline
learns from past commits it learns here too; the commit on top has no message.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from retrieval_questions import Snapshot

from rag_assets import Index
from rag_assets.contracts.retrieval import Fusion
from rag_assets.index.generations import active_generation
from rag_assets.index.labels import label_of
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, SearchSettings, Settings

_BRANCH = "snapshot"
_FORM = 1  # raise it when a snapshot of the same revision becomes another
_NOBODY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "benchmark",
    "GIT_AUTHOR_EMAIL": "benchmark@localhost",
    "GIT_COMMITTER_NAME": "benchmark",
    "GIT_COMMITTER_EMAIL": "benchmark@localhost",
}


def open_snapshot(snapshot: Snapshot, mirrors: Path | None, cache: Path, settings: Settings) -> Index:
    """The index of a snapshot, built where `cache` has none that this code and these settings would build."""
    home = cache / "homes" / _key(snapshot)
    settings = settings.model_copy(update={"home": home})
    repository = RepositorySettings(
        id=snapshot.repository.rpartition("/")[2], location=str(_committed(snapshot, mirrors, cache)), ref=_BRANCH
    )
    label, _ = label_of(settings, repository)
    run_stages(settings, label, repository)
    return Index(IndexHome(home), active_generation(IndexHome(home), label), policy=settings.search.policy())


def benchmark_settings(provider: Any, fusion: Fusion) -> Settings:
    return Settings(
        embedder=EmbedderSettings(provider=provider),
        search=SearchSettings(fusion=fusion),
    )


def _key(snapshot: Snapshot) -> str:
    """A folder name: the repository, and what else makes the snapshot what it is."""
    what = json.dumps([_FORM, snapshot.revision, snapshot.root, sorted(snapshot.blanked.items())])
    return f"{snapshot.repository.replace('/', '+')}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def _committed(snapshot: Snapshot, mirrors: Path | None, cache: Path) -> Path:
    """A bare repository whose one branch is the snapshot. It borrows the objects of the original."""
    made = cache / "snapshots" / _key(snapshot)
    if (made / "refs" / "heads" / _BRANCH).exists():
        return made
    original = mirror_of(snapshot.repository, mirrors, cache)
    made.mkdir(parents=True, exist_ok=True)
    _git(made, "init", "--quiet", "--bare")
    objects = _git(original, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    (made / "objects" / "info" / "alternates").write_text(f"{objects}\n", "utf-8")
    _git(made, "read-tree", "--empty")
    _git(made, "update-index", "-z", "--index-info", given=_files(made, snapshot))
    for path, spans in sorted(snapshot.blanked.items()):
        content = _blank(_git_bytes(made, "cat-file", "blob", f"{snapshot.revision}:{path}"), spans)
        blob = _git(made, "hash-object", "-w", "--stdin", given=content)
        _git(made, "update-index", "--cacheinfo", f"100644,{blob},{path}")
    date = _git(made, "show", "-s", "--format=%cI", snapshot.revision)
    tree = _git(made, "write-tree")
    commit = _git(made, "commit-tree", tree, "-p", snapshot.revision, given=b"", dated=date)
    _git(made, "update-ref", f"refs/heads/{_BRANCH}", commit)
    return made


def _files(repository: Path, snapshot: Snapshot) -> bytes:
    """What `ls-tree -z` says of the files under the root. A mirror may lack its largest files; they are left out."""
    listed = _git_bytes(repository, "ls-tree", "-r", "-z", "--full-tree", snapshot.revision, "--", snapshot.root or ".")
    entries = [entry for entry in listed.split(b"\0") if entry]
    objects = b"".join(entry.partition(b"\t")[0].split()[2] + b"\n" for entry in entries)
    checked = _git_bytes(repository, "cat-file", "--batch-check=%(objecttype)", given=objects).splitlines()
    pairs = zip(entries, checked, strict=True)
    return b"".join(entry + b"\0" for entry, found in pairs if not found.endswith(b"missing"))


def mirror_of(repository: str, mirrors: Path | None, cache: Path) -> Path:
    """A local repository with the history: a mirror, or a clone of what GitHub has under that name."""
    name = repository.replace("/", "+")
    places = [] if mirrors is None else [mirrors / name / "repo", mirrors / name, mirrors / repository]
    found = next((place for place in places if place.is_dir()), None)
    if found is not None:
        return found
    clone = cache / "clones" / name
    if not clone.is_dir():
        clone.parent.mkdir(parents=True, exist_ok=True)
        _git(cache, "clone", "--quiet", "--bare", f"https://github.com/{repository}", str(clone))
    return clone


def _blank(content: bytes, spans: tuple[tuple[int, int], ...]) -> bytes:
    """The content with the lines of `spans` empty; the others keep their numbers."""
    lines = content.splitlines(keepends=True)
    for first, last in spans:
        for number in range(first - 1, min(last, len(lines))):
            lines[number] = lines[number][len(lines[number].rstrip(b"\r\n")) :]
    return b"".join(lines)


def _git(place: Path, *arguments: str, given: bytes | None = None, dated: str = "") -> str:
    return _git_bytes(place, *arguments, given=given, dated=dated).decode().strip()


def _git_bytes(place: Path, *arguments: str, given: bytes | None = None, dated: str = "") -> bytes:
    """What git prints. Raises RuntimeError with what it says when it fails."""
    dates = {"GIT_AUTHOR_DATE": dated, "GIT_COMMITTER_DATE": dated} if dated else {}
    done = subprocess.run(
        ["git", "-C", str(place), *arguments], input=given, capture_output=True, env=os.environ | _NOBODY | dates
    )
    if done.returncode:
        raise RuntimeError(f"git {' '.join(arguments)} in {place}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
