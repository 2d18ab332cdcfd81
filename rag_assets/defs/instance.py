"""The Dagster instance that keeps runs, events and partitions: made in one step, opened for one command."""

from __future__ import annotations

import contextlib
import shutil
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from dagster import BetaWarning, DagsterInstance, DagsterInvalidInvocationError, PreviewWarning

from rag_assets.defs.partitions import index_labels
from rag_assets.index.catalog.database import StorageError
from rag_assets.index.layout import IndexHome, dagster_instance_file, write_atomically


@contextmanager
def open_instance(home: IndexHome) -> Iterator[DagsterInstance]:
    """The instance of a home; made when it is not there yet.

    Raises OSError naming its directory where its storage is full, read-only, damaged or incomplete.
    """
    file = dagster_instance_file(home)
    directory = file.parent
    if not directory.exists():
        _make(directory, file.name)
    if not file.exists():  # somebody else's folder, or an empty one
        write_atomically(file, _template())
    try:
        with quiet(), DagsterInstance.from_config(str(directory)) as instance:
            _require_complete(instance)
            yield instance
    except StorageError as error:
        raise OSError(f"{directory}: the storage of Dagster fails ({error.orig}); is the disk full?") from error


def add_partition(home: IndexHome, label: str) -> None:
    """Adds the partition of a label to the instance. Raises OSError as `open_instance` does."""
    with open_instance(home) as instance:
        assert index_labels.name is not None
        instance.add_dynamic_partitions(index_labels.name, [label])


def delete_partitions(home: IndexHome, labels: list[str]) -> None:
    """Takes labels out of the instance, if there is one. Their past runs stay in its history."""
    if not dagster_instance_file(home).exists():
        return
    with open_instance(home) as instance:
        assert index_labels.name is not None
        for label in labels:
            instance.delete_dynamic_partition(index_labels.name, label)


def _make(directory: Path, file_name: str) -> None:
    """Makes the folder with its storage, in one rename: Dagster creates one table after the other, and never completes
    the storage that a killed process has begun."""
    making = directory.with_name(f"{directory.name}.{uuid.uuid4().hex}.tmp")
    try:
        write_atomically(making / file_name, _template())
        with quiet(), DagsterInstance.from_config(str(making)) as instance:
            instance.get_dynamic_partitions("any")  # each database is made when it is asked for the first time
            instance.get_runs(limit=1)
            instance.all_instigator_state()
        with contextlib.suppress(OSError):  # another process was faster
            making.rename(directory)
    except StorageError as error:
        raise OSError(f"{directory}: the storage of Dagster cannot be made ({error.orig})") from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _require_complete(instance: DagsterInstance) -> None:
    """Raises OSError for a storage that was begun and never completed."""
    try:
        instance.get_dynamic_partitions("any")
    except DagsterInvalidInvocationError as error:
        cause = str(error).split(",", maxsplit=1)[0]
        raise OSError(
            f"{instance.root_directory}: the storage of Dagster is incomplete ({cause}); "
            "delete that folder, which holds the history of runs and no index, and run it again"
        ) from error


def _template() -> bytes:
    return files("rag_assets.defs").joinpath("dagster.yaml").read_bytes()


@contextmanager
def quiet() -> Iterator[None]:
    """Without Dagster's notes on its own beta interfaces: whoever runs a command cannot act on them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BetaWarning)
        warnings.simplefilter("ignore", PreviewWarning)
        yield
