"""What the SQLite storage of Dagster does again for each connection is done once in a test process.

Each of the hundreds of connections of a run has an engine of its own, which compiles every statement anew, and for each
database that is opened alembic reads some fifty files of revisions: together nearly half of a run of a small label.
Then SQLite reads the schema again, and whoever closes a database as the last one writes its log back and removes it.
One in memory is opened anew thousands of times in a run.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import Any

_ENGINES = 8
"""Of two homes: each has databases of runs, schedules and events, and one of the run."""


@cache
def remember() -> None:
    """For the rest of this process."""
    from alembic.script import ScriptDirectory
    from dagster._core.storage.event_log import in_memory as events_in_memory
    from dagster._core.storage.event_log.sqlite import sqlite_event_log
    from dagster._core.storage.runs import in_memory as runs_in_memory
    from dagster._core.storage.runs.sqlite import sqlite_run_storage
    from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage

    read = ScriptDirectory.from_config
    revisions: dict[str | None, ScriptDirectory] = {}

    def from_config(config: Any) -> ScriptDirectory:
        location = config.get_main_option("script_location")
        if location not in revisions:
            revisions[location] = read(config)
        return revisions[location]

    engines: OrderedDict[str, Any] = OrderedDict()

    def engine(url: str, poolclass: type, connect_args: dict[str, float] | None = None) -> Any:
        key = f"{url} {poolclass.__name__} {connect_args}"
        if key not in engines:
            engines[key] = _made(url, poolclass, connect_args or {})
        engines.move_to_end(key)
        while len(engines) > _ENGINES:
            _, oldest = engines.popitem(last=False)
            type(oldest).dispose(oldest)
        return engines[key]

    ScriptDirectory.from_config = from_config
    for module in (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage):
        module.create_engine = engine
    for module in (events_in_memory, runs_in_memory):
        module.create_engine = _kept_in_memory
    _remember_partitions(events_in_memory.InMemoryEventLogStorage)
    _remember_component_types()


def _remember_component_types() -> None:
    """The schemas of all types of components that are installed, which each load of a project writes out for `dg`."""
    from dagster import Definitions
    from dagster.components.core import load_defs

    written = cache(load_defs.get_library_json_enriched_defs)
    load_defs.get_library_json_enriched_defs = lambda tree: Definitions(
        metadata=written(None).metadata, component_tree=tree
    )


def _remember_partitions(storage: Any) -> None:
    """What a storage in memory has of tables and partitions only it changes: automation conditions ask it for its
    partitions a hundred times a tick, and each time whether it has a table of them."""
    storage.has_table = lambda self, name: True  # it is made with all of them
    read = storage.get_dynamic_partitions

    def remembered(self: Any, name: str) -> Any:
        known = vars(self).setdefault("_partitions", {})
        if name not in known:
            known[name] = read(self, name)
        return known[name]

    def forgetting(change: Any) -> Any:
        def changed(self: Any, *arguments: Any) -> None:
            vars(self).pop("_partitions", None)
            change(self, *arguments)

        return changed

    storage.get_dynamic_partitions = remembered
    storage.add_dynamic_partitions = forgetting(storage.add_dynamic_partitions)
    storage.delete_dynamic_partition = forgetting(storage.delete_dynamic_partition)


def _kept_in_memory(url: str, poolclass: type) -> Any:
    """An engine whose threads take over each other's connections."""
    from sqlalchemy import create_engine, pool

    return create_engine(url, poolclass=pool.QueuePool, connect_args={"check_same_thread": False})


def _made(url: str, poolclass: type, connect_args: dict[str, float]) -> Any:
    """An engine that keeps its connections, as long as nobody else has changed the file of the database or put another
    one in its place; on Windows without, as an open file could not be removed there."""
    from sqlalchemy import create_engine, event, exc, pool

    if os.name == "nt":
        return create_engine(url, poolclass=poolclass, connect_args=connect_args)
    engine = create_engine(url, poolclass=pool.QueuePool, connect_args=connect_args)
    path = Path(url.removeprefix("sqlite:///"))

    def state() -> object:
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def left(connection: Any, record: Any) -> None:
        record.info["left"] = state()

    def taken(connection: Any, record: Any, proxy: Any) -> None:
        if "left" in record.info and record.info["left"] != state():
            raise exc.DisconnectionError("the file is another one")

    event.listen(engine, "checkin", left)
    event.listen(engine, "checkout", taken)
    engine.dispose = lambda close=True: None  # type: ignore[method-assign]
    return engine
