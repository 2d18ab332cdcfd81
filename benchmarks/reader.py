"""Reads a label again and again while somebody builds it (or is killed), and tells what it saw when stdin closes.

    python benchmarks/reader.py HOME LABEL EXPECTED.json

EXPECTED.json: commit → {question: [[point id, score], …]} of a clean build. Whatever is served must be exactly one
finished generation: its hits are those of a clean build of the manifest's commit, every payload names that commit, and
the slices and documents behind the hits have the hashes that the payloads give. Once something was served, there is
never nothing. The last line on stdout is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

from equality import broken_hashes, declared_points, digest, same_hits

from rag_assets import Index, open_index
from rag_assets.errors import RagAssetsError
from rag_assets.index.generations import GenerationError
from rag_assets.index.vectors import open_vectors
from rag_assets.search import SearchResult

_SEARCHES_PER_OPENING = 4  # a command searches once, a server for weeks: an opened index is used more than once
_PROVEN_HITS = 3  # of each search; reading what is behind a hit takes milliseconds
_WHOLE_EVERY = 8  # openings; then all points of the shard are looked at
_PAUSE_SECONDS = 0.02  # between two openings: the builds need the processor too
_SHOWN = 20


class Watch:
    """What was seen so far."""

    def __init__(self, home: Path, label: str, expected: dict[str, dict[str, list[tuple[str, float]]]]) -> None:
        self.home, self.label, self.expected = home, label, expected
        self.seen: Counter[str] = Counter()  # commit → openings
        self.searches = 0
        self.violations: list[str] = []

    def look(self, number: int) -> None:
        """Opens the label once and uses what it got."""
        try:
            index = open_index(self.label, home=self.home)
        except GenerationError as error:
            if self.seen or "no active index" not in str(error):
                self.violations.append(f"opening: {error}")
            return
        with index:
            commit = index.manifest.commit_sha
            self.seen[commit] += 1
            if commit not in self.expected:
                self.violations.append(f"{index.manifest.generation_id}: nobody built commit {commit}")
                return
            questions = list(self.expected[commit])
            for turn in range(_SEARCHES_PER_OPENING):
                self._search(index, questions[(number * _SEARCHES_PER_OPENING + turn) % len(questions)])
            if number % _WHOLE_EVERY == 0:
                self._whole(index)

    def _search(self, index: Index, question: str) -> None:
        manifest = index.manifest
        found = index.search(question)
        self.searches += 1
        hits = [(hit.point_id, hit.score) for hit in found]
        wanted = self.expected[manifest.commit_sha][question]
        if not same_hits(hits, wanted):
            self._violated(index, f"{question!r} found {hits[:2]} …, a clean build finds {wanted[:2]} …")
        names = {(found.commit_sha, found.generation_id), *((hit.commit_sha, hit.generation_id) for hit in found)}
        if names != {(manifest.commit_sha, manifest.generation_id)}:
            self._violated(index, f"{question!r} mixes {names}")
        self._prove(index, found)

    def _prove(self, index: Index, found: SearchResult) -> None:
        for hit in found.hits[:_PROVEN_HITS]:
            payload = index.get(hit.point_id)
            broken = broken_hashes(payload, index.source_slice(hit))
            if broken:
                self._violated(index, f"{hit.path}: {broken} is not that of the text")
            if payload["CommitSha"] != hit.file_commit_sha:
                self._violated(index, f"{hit.path}: its payload is of commit {payload['CommitSha']}")
            if not index.description(hit) or not index.resolve(hit.document_uri):
                self._violated(index, f"{hit.path}: an empty artifact")

    def _whole(self, index: Index) -> None:
        with open_vectors(index.generation.vectors) as vectors:
            stored = vectors.ids()
        if digest(stored) != digest(declared_points(index.generation)):
            self._violated(index, "the points of the shard are not those of the tables")

    def _violated(self, index: Index, what: str) -> None:
        self.violations.append(f"{index.manifest.generation_id}: {what}")


def _wait_for_the_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("label")
    parser.add_argument("expected", type=Path)
    arguments = parser.parse_args()
    known: dict[str, dict[str, Any]] = json.loads(arguments.expected.read_text(encoding="utf-8"))
    expected = {
        commit: {question: [(point, score) for point, score in hits] for question, hits in answers.items()}
        for commit, answers in known.items()
    }
    watch = Watch(arguments.home, arguments.label, expected)
    ended = threading.Event()
    threading.Thread(target=_wait_for_the_end, args=(ended,), daemon=True).start()
    print("reading", flush=True)
    for number in count():
        try:
            watch.look(number)
        except (RagAssetsError, OSError) as error:  # a reader must never see one
            watch.violations.append(f"{type(error).__name__}: {error}")
        if ended.wait(_PAUSE_SECONDS):
            break
    openings = sum(watch.seen.values())
    summary = {"openings": openings, "searches": watch.searches, "commits": len(watch.seen)}
    print(json.dumps({**summary, "violations": len(watch.violations), "examples": watch.violations[:_SHOWN]}))


if __name__ == "__main__":
    main()
