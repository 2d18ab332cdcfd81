"""Worker processes of a first build start before Dagster is loaded."""

from pathlib import Path

import pytest

from rag_assets.pipeline.workers.process_pool import ProcessPool
from rag_assets.pipeline.workers.worker_pool import WORTH_WORKERS
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.processes import until


@pytest.mark.parametrize(
    ("files", "settings", "started"),
    [
        (WORTH_WORKERS, "workers: 2", True),
        (WORTH_WORKERS - 1, "workers: 2", False),
        (WORTH_WORKERS, "workers: 1", False),
        (WORTH_WORKERS, "workers: 2\nexecution:\n  workers: dask", False),
    ],
    ids=["many files", "few files", "one worker", "dask"],
)
def test_a_first_build_starts_its_workers_before_the_run(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, settings: str, started: bool
) -> None:
    """No run begins here, so nobody else starts them: the storage of Dagster is in the way."""
    ProcessPool.rest()
    monkeypatch.setattr(ProcessPool, "_are_copies", False)
    blocked = tmp_path / "dagster"
    blocked.write_text("a file")
    monkeypatch.setenv("DAGSTER_HOME", str(blocked))
    (cli.folder / "rag_assets.yaml").write_text(settings)
    source = new_repository(tmp_path / "shop", {f"{number}.txt": f"{number}" for number in range(files)})
    try:
        assert cli.run("index", source.path, "--lexical-only").code != 0
        if started:
            until(ProcessPool.is_ready, "workers")
        assert ProcessPool.is_ready() == started
    finally:
        ProcessPool.rest()
