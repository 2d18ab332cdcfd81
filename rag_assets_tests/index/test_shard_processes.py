"""Shards and several processes: readers beside a build, and a build that is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.index.vectors.qdrant_edge import ShardReader
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets_tests.index.sample_points import allowed
from rag_assets_tests.index.test_shard import DIMENSION, points, scope, write

BUILD_FOR_EVER = """
import sys
from pathlib import Path
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets_tests.index.test_shard import DIMENSION, points
writer = ShardWriter(Path(sys.argv[1]), DIMENSION)
batch = points(200)
while True:
    writer.upsert(batch)
    print("written", flush=True)
"""

READ = """
import sys
from pathlib import Path
from rag_assets.index.vectors.qdrant_edge import ShardReader
from rag_assets_tests.index.test_shard import scope
for _ in range(3):
    with ShardReader(Path(sys.argv[1])) as reader:
        print(reader.count(), len(reader.sparse([5], [1.0], scope(), 1000)))
"""

ROOT = Path(__file__).parents[2]


def seen_of(count: int) -> int:
    """How many of the first points the scope of the tests may see."""
    return sum(number < count for number in allowed(scope()))


def start(script: str, directory: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(directory)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


@pytest.fixture
def building(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that is in the middle of writing a shard."""
    process = start(BUILD_FOR_EVER, tmp_path / "half")
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    yield process
    process.kill()
    process.communicate()


def test_processes_read_one_generation_while_another_is_built(building: subprocess.Popen[str], tmp_path: Path) -> None:
    finished = write(tmp_path / "finished", points(40))
    readers = [start(READ, finished) for _ in range(3)]
    with ShardReader(finished) as own:
        outputs = [reader.communicate(timeout=60) for reader in readers]
        assert own.count() == 40
    assert outputs == [(f"40 {seen_of(40)}\n" * 3, "")] * 3
    assert building.poll() is None


def test_a_build_killed_while_writing_is_replaced(building: subprocess.Popen[str], tmp_path: Path) -> None:
    building.kill()
    building.communicate()
    writer = ShardWriter(tmp_path / "half", DIMENSION)
    writer.upsert(points(8))
    writer.finish()
    with ShardReader(tmp_path / "half") as reader:
        assert len(reader.ids()) == 8
        assert reader.count(scope()) == seen_of(8)
