"""Which Dagster instance has a label among its partitions, as far as this home knows: asking one takes as long as all
else that an `index` without work does."""

from __future__ import annotations

import json
import os
from pathlib import Path

from rag_assets.stores.home import Home, write_atomically

INSTANCE_FILE = "dagster.yaml"
_NOTE = "partition.json"


def instance_directory(home: Home) -> Path:
    """DAGSTER_HOME where it is set, else a folder under the home directory."""
    named = os.environ.get("DAGSTER_HOME")
    return Path(named).expanduser() if named else home.dagster


def offer(home: Home, label: str) -> None:
    """Adds the partition of a label to the instance, unless this home has added it to this very one before. A person
    may have deleted it there since. Raises OSError as `open_instance`."""
    if _noted(home, label) == _instance(home):
        return
    from rag_assets.defs.partitions import index_labels
    from rag_assets.interfaces.cli.dagster_instance import open_instance

    with open_instance(home) as instance:
        assert index_labels.name is not None
        instance.add_dynamic_partitions(index_labels.name, [label])
    note_offered(home, label)


def note_offered(home: Home, label: str) -> None:
    """Remembers that the instance has the partition."""
    write_atomically(home.label(label) / _NOTE, json.dumps(_instance(home)).encode())


def _instance(home: Home) -> list[object] | None:
    """Tells an instance from another one, also from one that was made again in its place; None: there is none."""
    directory = instance_directory(home).resolve()
    try:
        made = (directory / INSTANCE_FILE).stat()
    except OSError:
        return None
    return [str(directory), made.st_ino, made.st_mtime_ns]


def _noted(home: Home, label: str) -> object:
    try:
        return json.loads((home.label(label) / _NOTE).read_bytes())
    except (FileNotFoundError, ValueError):
        return ()
