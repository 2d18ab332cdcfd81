"""How many threads compute."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_assets.models.cpu_count import usable_cores

NOWHERE = Path("does-not-exist")


def affinity() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def test_logical_processors_where_nothing_is_told() -> None:
    assert usable_cores(NOWHERE, NOWHERE) == len(affinity())


@pytest.mark.parametrize(
    ("content", "cores"),
    [
        pytest.param("100000 100000\n", 1, id="one CPU"),
        pytest.param("50000 100000\n", 1, id="half a CPU"),
        pytest.param("max 100000\n", None, id="no limit"),
        pytest.param("99900000 100000\n", None, id="more than there are"),
        pytest.param("", None, id="empty"),
        pytest.param("100000 0", None, id="nonsense"),
    ],
)
def test_a_container_limit_counts(content: str, cores: int | None, tmp_path: Path) -> None:
    limit = tmp_path / "cpu.max"
    limit.write_text(content, encoding="ascii")
    assert usable_cores(NOWHERE, limit) == (cores or len(affinity()))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux tells the threads of a core")
def test_threads_of_one_core_count_once(tmp_path: Path) -> None:
    for cpu in affinity():
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        topology.joinpath("thread_siblings_list").write_text("0-99\n", encoding="ascii")
    assert usable_cores(tmp_path, NOWHERE) == 1
