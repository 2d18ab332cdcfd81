"""What every test starts from: none of the settings of whoever runs it, and markers that name real rules."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import ssl
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from rag_assets_tests import faster_dagster, whole_files
from rag_assets_tests.acceptance import plugin
from rag_assets_tests.acceptance.plugin import (  # noqa: F401 - hooks are found by their names
    pytest_addoption,
    pytest_configure,
    pytest_runtest_makereport,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

SLOW_FILES = (
    "deploy/test_runs.py",
    "cli/test_hostile_parsers.py",
    "pipeline/test_workers.py",
    "isolation/test_public_entries.py",
    "index/test_remote.py",
    "integration/test_dg_project.py",
    "serving/test_page_browser.py",
    "cli/test_train_embedder.py",
    "pipeline/test_eval_runs.py",
    "cli/test_index_command.py",
    "defs/test_component.py",
    "deploy/test_wheel.py",
    "serving/test_page.py",
    "windows/test_commands.py",
    "pipeline/test_dask_refinement.py",
    "pipeline/test_rebuilds.py",
    "cli/test_watch_command.py",
    "cli/test_healing.py",
    "cli/test_everyday_questions.py",
    "index/test_vector_stores.py",
    "defs/test_conditions.py",
    "serving/test_work_tree.py",
    "defs/test_planted_secrets.py",
    "serving/test_mcp.py",
    "pipeline/test_dask_pool.py",
    "pipeline/test_catalog_build.py",
    "pipeline/test_planning.py",
    "defs/test_postgres_storage.py",
    "sources/test_planted_secrets.py",
    "cli/test_artifact_sections.py",
    "cli/test_hostile_files.py",
    "serving/test_agent_start.py",
    "defs/test_quality_gate.py",
    "windows/test_names.py",
    "cli/test_log_commands.py",
    "integration/test_replay.py",
    "cli/test_metadata.py",
    "deploy/test_processes.py",
    "cli/test_impact_command.py",
    "cli/test_configured_servers.py",
    "cli/test_catalog_commands.py",
    "cli/test_generations_command.py",
    "cli/test_quality_commands.py",
    "pipeline/test_collection.py",
    "search/test_isolation.py",
    "cli/test_answer_plans.py",
    "cli/test_configured_turns.py",
    "cli/test_eval_commands.py",
    "pipeline/test_rebuild.py",
    "pipeline/test_incremental.py",
    "index/test_shard.py",
    "defs/test_several_labels.py",
    "windows/test_source.py",
    "test_startup.py",
)
"""They take over a minute on a busy machine, or would come last. `make test` begins with them: the files of one process
are worked on one after the other, and one that was begun last would be waited for."""

_MEMORY_FOLDER = Path("/dev/shm")
_MEMORY_NEEDED = 8 << 30
"""Bytes free in the memory folder: three test processes take at most half of that at one time."""

if _MEMORY_FOLDER.is_dir() and shutil.disk_usage(_MEMORY_FOLDER).free >= _MEMORY_NEEDED:
    # The tests write and open thousands of small indexes: in memory the suite takes a third less time than on a disk.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY_FOLDER))

# Where Python is told to keep nothing that it compiled, as in many containers, each of the hundreds of processes that
# tests start would compile the package again, and each test process all tests. Those of xdist inherit this.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Who starts the tests in the background may ignore Ctrl-C, and every process that they start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

_new_context = ssl.create_default_context
_context_of_file = cache(lambda cafile: _new_context(cafile=cafile))


def _context(*arguments: Any, **options: Any) -> ssl.SSLContext:
    """Every client of the tests would read the certificates of all authorities again, for addresses without TLS too."""
    of_file = not arguments and options.keys() == {"cafile"}
    return _context_of_file(**options) if of_file else _new_context(*arguments, **options)


ssl.create_default_context = _context

# Hypothesis would parse every module of the package and of the tests for their constants, in each process that collects
# tests: four seconds. And which values a test is given would depend on the modules that others have loaded.
providers._get_local_constants = lambda: providers._local_constants

# Workers of Dask that tests start are copies of one process: each would import everything by itself, for a second.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")

# The tests of all cores run beside each other: threads of one that multiply vectors would wait for a core in a loop.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A run of Dagster freezes what is there and thaws it at its end, and the next one looks for cycles in all of it: half a
# second for each run here, where a million objects stay. `nothing_stays_in_cycles` freezes them instead, and for good.
freeze, unfreeze = gc.freeze, gc.unfreeze
gc.freeze = gc.unfreeze = lambda: None

whole_files.remember()

# A busy machine is slow, and no test is about time.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def without_the_settings_of_the_machine() -> None:
    """Session-wide, because fixtures that build an index once start processes of their own."""
    for variable in list(os.environ):
        if variable == "DAGSTER_HOME" or variable.startswith("RAG_ASSETS_"):
            del os.environ[variable]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    plugin.pytest_collection_modifyitems(config, items)
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(SLOW_FILES)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


def pytest_collection() -> None:
    """Everything that is made now stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Looks for cycles seldom: a process of the whole suite has a million objects that stay, most of them its tests."""
    from rag_assets_tests import one_process  # most of the package: nothing for the process that only hands out tests

    one_process.remember()
    gc.enable()
    freeze()
    gc.set_threshold(5_000, 10, 10)


@pytest.fixture(autouse=True, scope="module")
def nothing_stays_in_cycles() -> Iterator[None]:
    """An open shard takes over a hundred megabytes, and a cycle that holds one is no reason to look for cycles. What
    is left is mostly modules, which are not walked again: with those of Dagster a walk takes a quarter of a second."""
    yield
    gc.collect()
    freeze()


def pytest_runtest_setup() -> None:
    if "dagster" in sys.modules:  # not loaded for it: that takes seconds
        faster_dagster.remember()
