"""A build in a process of its own, which may kill itself at the end of a stage; few modules, for each process loads
them."""

from __future__ import annotations

import os
from multiprocessing import get_context
from pathlib import Path

from rag_assets.pipeline import run_stages
from rag_assets.pipeline.workers.process_pool import _PRELOADED
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings


def build(home: Path, source: Path, die_in: str) -> None:
    if die_in:
        original = getattr(run_stages, die_in)

        def half(*positional: object, **named: object) -> None:
            original(*positional, **named)
            os.kill(os.getpid(), 9)

        setattr(run_stages, die_in, half)
    settings = Settings(home=home, embedder=EmbedderSettings(provider="lexical-only"))
    repository = RepositorySettings(id="shop", location=str(source), ref="main")
    run_stages.run_stages(settings, "shop@main", repository)


def in_a_process(home: Path, source: Path, die_in: str) -> int | None:
    """How the process ended. It is copied from one that has the package loaded already."""
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    process = context.Process(target=build, args=(home, source, die_in))
    process.start()
    process.join()
    return process.exitcode
