"""What is tried again, and what is not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from rag_assets.defs import assets as segments_asset
from rag_assets.defs import retries
from rag_assets.defs.retries import DELAYS_SECONDS, RULES, delay, is_transient
from rag_assets.errors import ClusterError, ClusterLost, MissingRef, SourceRefused, SourceUnreachable
from rag_assets.models.model_files import ModelMissing
from rag_assets.pipeline.build import BuildError, IndexBuild, LabelBusy, StageReport
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.segments import segment_files
from rag_assets.settings.config_file import ConfigError
from rag_assets.sources.git import GitError
from rag_assets.sources.git.git_remote import explained
from rag_assets_tests.defs.conftest import Automated, failure_text


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "heals"),
    [
        pytest.param(SourceUnreachable("x"), True, id="network"),
        pytest.param(ClusterLost("x"), True, id="dask-scheduler"),
        pytest.param(ClusterError("x"), False, id="dask-workers-of-another-version"),
        pytest.param(SourceRefused("x"), False, id="credentials"),
        pytest.param(MissingRef("x"), False, id="ref"),
        pytest.param(ConfigError("x"), False, id="configuration"),
        pytest.param(ModelMissing("x"), False, id="model"),
        pytest.param(LabelBusy("x"), True, id="another build"),
        pytest.param(BuildError("x"), False, id="a build that cannot go on"),
        pytest.param(ConnectionResetError(), True, id="server gone"),
        pytest.param(TimeoutError(), True, id="server slow"),
        pytest.param(OSError(28, "No space left on device"), False, id="disk full"),
        pytest.param(KeyError("x"), False, id="defect"),
        pytest.param(caused(BuildError("x"), ConnectionRefusedError()), True, id="because a server is gone"),
        pytest.param(caused(ConfigError("x"), ConnectionRefusedError()), False, id="the configuration decides"),
    ],
)
def test_which_errors_are_transient(error: Exception, heals: bool) -> None:
    assert is_transient(error) is heals


def test_no_rule_is_hidden_by_one_before_it() -> None:
    for position, (kind, _, reason) in enumerate(RULES):
        assert reason
        assert not [earlier for earlier, _, _ in RULES[:position] if issubclass(kind, earlier)], kind


def test_a_busy_database_is_tried_again_and_a_broken_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path, isolation_level=None) as holder:
        holder.execute("CREATE TABLE t (a)")
        holder.execute("BEGIN EXCLUSIVE")
        engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 0})
        with pytest.raises(OperationalError) as busy, engine.begin() as connection:
            connection.execute(text("INSERT INTO t VALUES (1)"))
        holder.execute("ROLLBACK")
    holder.close()
    with pytest.raises(OperationalError) as broken, engine.begin() as connection:
        connection.execute(text("INSERT INTO nothing VALUES (1)"))
    engine.dispose()
    assert (is_transient(busy.value), is_transient(broken.value)) == (True, False)


def test_delays_grow_and_differ() -> None:
    assert list(DELAYS_SECONDS) == sorted(DELAYS_SECONDS)
    assert len({delay(0) for _ in range(20)}) > 1
    assert all(3 < delay(0) < 7 for _ in range(20))


@pytest.mark.parametrize("labels", [["shop@main"], ["shop@main", "zoo@main"]], ids=["one label", "several labels"])
@pytest.mark.parametrize(("outages", "succeeds"), [(2, True), (99, False)], ids=["short outage", "long outage"])
def test_a_step_is_tried_again_until_the_server_is_back(
    automated: Automated,
    monkeypatch: pytest.MonkeyPatch,
    labels: list[str],
    outages: int,
    succeeds: bool,
) -> None:
    for name in ("shop", "zoo"):
        automated.repository(name)
        automated.register(name)
    attempts = 0

    def gone_at_first(build: IndexBuild, progress: Progress) -> StageReport:
        nonlocal attempts
        attempts += 1
        if build.spec.index_label == "shop@main" and attempts <= outages:
            raise ConnectionRefusedError("connection refused")
        return segment_files(build, progress)

    monkeypatch.setattr(segments_asset, "segment_files", gone_at_first)
    monkeypatch.setattr(retries, "delay", lambda attempt: 0.0)
    result = automated.run(*labels)
    assert result.success is succeeds, failure_text(result)
    tried_again = [event for event in result.all_events if event.is_step_up_for_retry]
    assert tried_again and len(tried_again) <= len(DELAYS_SECONDS)
    said = [log.user_message for log in automated.instance.all_logs(result.run_id) if not log.is_dagster_event]
    assert (len(labels) > 1) is ("shop@main: ConnectionRefusedError: connection refused; tried again in 0 s" in said)
    if not succeeds:
        assert len(tried_again) == len(DELAYS_SECONDS)
        assert "connection refused" in failure_text(result)


@pytest.mark.parametrize("labels", [["shop@main"], ["shop@main", "zoo@main"]], ids=["one label", "several labels"])
@pytest.mark.parametrize(
    "full",
    [
        pytest.param(OSError(28, "No space left on device", "/home/rag/part"), id="of the system"),
        pytest.param(OSError("cache /home/rag/part: database or disk is full"), id="of a cache"),
    ],
)
def test_a_full_disk_says_what_helps(
    automated: Automated, monkeypatch: pytest.MonkeyPatch, labels: list[str], full: OSError
) -> None:
    for name in ("shop", "zoo"):
        automated.repository(name)
        automated.register(name)

    def on_a_full_disk(build: IndexBuild, progress: Progress) -> StageReport:
        raise full

    monkeypatch.setattr(segments_asset, "segment_files", on_a_full_disk)
    said = failure_text(automated.run(*labels))
    for label in labels:
        assert label in said
    assert "/home/rag/part" in said and "free some space (rag-assets gc" in said


@pytest.mark.parametrize(
    ("said", "heals"),
    [
        ("fatal: Authentication failed for 'https://host/x/'", False),
        ("fatal: The requested URL returned error: 403", False),
        ("fatal: repository 'https://host/x/' not found", False),
        ("fatal: cannot write: No space left on device", False),
        ("fatal: Could not resolve host: host", True),
        ("fatal: The requested URL returned error: 503", True),
        ("fatal: the remote end hung up unexpectedly", True),
    ],
)
def test_what_a_git_server_says_decides(said: str, heals: bool) -> None:
    with pytest.raises(SourceUnreachable) as caught, explained("https://host/x", 1.0):
        raise GitError("fetch", 128, said)
    assert is_transient(caught.value) is heals
