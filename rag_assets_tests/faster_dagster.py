"""What the SQLite storage of Dagster does again for each connection is done once in a test process.

Each of the hundreds of connections of a run has an engine of its own, which compiles every statement anew, and for each
database that is opened alembic reads some fifty files of revisions: together nearly half of a run of a small label.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest

_ENGINES = 8
"""Of two homes: each has databases of runs, schedules and events, and one of the run."""


def remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lasts until the patches are undone. Engines without a pool hold no connection, so files may go and come."""
    from alembic.script import ScriptDirectory
    from dagster._core.storage.event_log.sqlite import sqlite_event_log
    from dagster._core.storage.runs.sqlite import sqlite_run_storage
    from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
    from sqlalchemy import create_engine

    read = ScriptDirectory.from_config
    revisions: dict[str | None, ScriptDirectory] = {}

    def from_config(config: Any) -> ScriptDirectory:
        location = config.get_main_option("script_location")
        if location not in revisions:
            revisions[location] = read(config)
        return revisions[location]

    @lru_cache(_ENGINES)
    def made(url: str, poolclass: type, connect_args: tuple[tuple[str, float], ...]) -> Any:
        return create_engine(url, poolclass=poolclass, connect_args=dict(connect_args))

    def engine(url: str, poolclass: type, connect_args: dict[str, float] | None = None) -> Any:
        return made(url, poolclass, tuple((connect_args or {}).items()))

    monkeypatch.setattr(ScriptDirectory, "from_config", from_config)
    for module in (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage):
        monkeypatch.setattr(module, "create_engine", engine)
