"""What a person is told of a run of Dagster: small real assets that end in every way ours can."""

import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetsDefinition,
    DagsterInstance,
    Failure,
    MaterializeResult,
    MetadataValue,
    asset,
    materialize,
)

from rag_assets.defs.in_process import RunOutcome, open_instance, outcome_of, term_signal_kept
from rag_assets.defs.stage_metadata import markdown_list
from rag_assets.index.layout import IndexHome, dagster_instance_file
from rag_assets.pipeline.build import BuildError


@asset
def succeeds() -> MaterializeResult[None]:
    return MaterializeResult(metadata={"parsed": 3, "unchanged": False, "skips": MetadataValue.md("| a |")})


@asset
def fails_as_expected() -> None:
    raise Failure(description="shop@main: no branch 'mian'", allow_retries=False)


@asset
def fails_on_the_disk() -> None:
    raise OSError(28, "No space left on device", "/home/blobs/ab")


@asset
def fails_with_a_cause() -> None:
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise BuildError("the model is damaged\ninstall it again") from error


@asset(check_specs=[AssetCheckSpec(name="ids_are_unique", asset="fails_its_check", blocking=True)])
def fails_its_check() -> Iterator[MaterializeResult[None]]:
    check = AssetCheckResult(passed=False, metadata={"examples": MetadataValue.md("- point_id: a\n- point_id: b")})
    yield MaterializeResult(check_results=[check])


@asset(check_specs=[AssetCheckSpec(name=name, asset="is_doubted") for name in ("kinds_are_recognised", "is_fine")])
def is_doubted() -> Iterator[MaterializeResult[None]]:
    examples = markdown_list(["Odd.cs: one\n  more", "Even.cs: - two"])
    doubt = AssetCheckResult(
        check_name="kinds_are_recognised",
        passed=False,
        severity=AssetCheckSeverity.WARN,
        metadata={"other": 2, "examples": examples},
    )
    yield MaterializeResult(check_results=[doubt, AssetCheckResult(check_name="is_fine", passed=True)])


def outcome(made: AssetsDefinition) -> RunOutcome:
    with DagsterInstance.ephemeral() as instance:
        return outcome_of(materialize([made], instance=instance, raise_on_error=False))


def test_a_run_that_succeeds() -> None:
    found = outcome(succeeds)
    assert (found.failure, found.trace, found.interrupted) == ("", "", False)
    assert found.numbers_by_stage["succeeds"]["parsed"] == 3
    assert "skips" not in found.numbers_by_stage["succeeds"]
    assert found.seconds_by_stage["succeeds"] > 0


def test_a_check_that_stops_nothing_is_part_of_the_outcome() -> None:
    found = outcome(is_doubted)
    assert found.failure == ""
    doubt, fine = found.checks
    assert (doubt.name, doubt.asset, doubt.passed, doubt.severity) == (
        "kinds_are_recognised",
        "is_doubted",
        False,
        "WARN",
    )
    assert doubt.numbers == {"other": 2}
    assert doubt.examples == ["Odd.cs: one\n  more", "Even.cs: - two"]
    assert (fine.name, fine.passed, fine.numbers, fine.examples) == ("is_fine", True, {}, [])


@pytest.mark.parametrize(
    ("made", "said"),
    [
        pytest.param(fails_as_expected, "shop@main: no branch 'mian'", id="expected failure: its own words"),
        pytest.param(
            fails_on_the_disk,
            "stage fails_on_the_disk: OSError: [Errno 28] No space left on device: '/home/blobs/ab'",
            id="error of the system: names the path",
        ),
        pytest.param(
            fails_with_a_cause,
            "stage fails_with_a_cause: BuildError: the model is damaged\ninstall it again",
            id="our error, not its cause, and all its lines",
        ),
        pytest.param(
            fails_its_check,
            "check ids_are_unique on fails_its_check failed: point_id: a; point_id: b; the old index stays active",
            id="blocking check: what it found",
        ),
    ],
)
def test_a_run_that_fails(made: AssetsDefinition, said: str) -> None:
    found = outcome(made)
    assert found.failure == said
    assert "Stack Trace:" in found.trace
    assert found.run_id


def test_the_databases_of_an_instance_stay_open_as_long_as_it_is_used(tmp_path: Path) -> None:
    """Whoever closes a database last writes its log back and removes it. No event waits for the disk either."""
    home = IndexHome(tmp_path / "home")
    with open_instance(home) as instance:
        events, runs = instance.event_log_storage, instance.run_storage
        for connect in (events.index_connection, runs.connect):
            with connect() as connection:
                assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1, "NORMAL"
            connection.engine.pool.dispose()
        assert {path.name for path in home.dagster.rglob("*.db-wal")} >= {"index.db-wal", "runs.db-wal"}


def test_what_a_run_prints_is_mirrored_only_where_the_file_of_the_instance_says_so(tmp_path: Path) -> None:
    home = IndexHome(tmp_path / "home")
    with open_instance(home) as instance:
        assert type(instance.compute_log_manager).__name__ == "NoOpComputeLogManager"
    about = {"module": "dagster.core.storage.local_compute_log_manager", "class": "LocalComputeLogManager"}
    wanted = {"compute_logs": about | {"config": {"base_dir": str(tmp_path / "logs")}}}
    with dagster_instance_file(home).open("a", encoding="utf-8") as file:
        file.write(yaml.safe_dump(wanted))
    with open_instance(home) as instance:
        assert type(instance.compute_log_manager).__name__ == "LocalComputeLogManager"


def test_damaged_storage_is_an_error_that_names_it(tmp_path: Path) -> None:
    home = IndexHome(tmp_path / "home")
    with open_instance(home):
        pass
    for database in home.dagster.rglob("*.db"):
        database.write_bytes(b"not a database" * 100)
    with pytest.raises(OSError, match="the storage of Dagster fails"), open_instance(home) as instance:
        instance.get_runs()


def test_a_storage_that_was_never_completed_says_what_to_do(tmp_path: Path) -> None:
    """As another program, or a version before this one, left it when it was killed."""
    home = IndexHome(tmp_path / "home")
    with open_instance(home):
        pass
    index = next(home.dagster.rglob("index.db"))
    with sqlite3.connect(index) as connection:
        connection.execute("DROP TABLE dynamic_partitions")
    with pytest.raises(OSError, match=r"is incomplete .* delete that folder"), open_instance(home):
        pass


def test_a_postgres_server_that_is_away_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = Path(__file__).parents[2] / "deploy" / "dagster.postgres.yaml"
    home = IndexHome(tmp_path)
    file = dagster_instance_file(home)
    file.parent.mkdir()
    file.write_bytes(example.read_bytes())
    for name, value in {"HOST": "127.0.0.1", "PORT": "9", "DB": "d", "USER": "u", "PASSWORD": "s3cr3t"}.items():
        monkeypatch.setenv(f"DAGSTER_PG_{name}", value)
    monkeypatch.setattr("dagster_postgres.utils.time.sleep", lambda seconds: None)
    said = r"dagster.yaml: the Postgres server .*port 9 failed.*; is it up\?"
    with pytest.raises(OSError, match=said) as caught, open_instance(home):
        pass
    assert "s3cr3t" not in str(caught.value)


def test_the_instance_appears_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies while the tables are made leaves no half of an instance behind."""
    home = IndexHome(tmp_path / "home")

    def killed(*_: object, **__: object) -> None:
        assert not home.dagster.exists()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DagsterInstance, "all_instigator_state", killed)
        with pytest.raises(KeyboardInterrupt), open_instance(home):
            pass
    with open_instance(home) as instance:
        assert instance.get_dynamic_partitions("index_label") == []
    assert [path.name for path in home.root.glob("*.tmp")] == []


def test_a_process_can_still_be_ended_after_a_run() -> None:
    """A script without job control starts it in the background: what Ctrl-C would be is ignored there."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    ends = signal.getsignal(signal.SIGTERM)
    try:
        with term_signal_kept():
            assert outcome(succeeds).failure == ""
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN, "Dagster does it"
        assert signal.getsignal(signal.SIGTERM) is ends
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, ends)
