"""`rag-assets watch`: indexes every new commit, without the Dagster daemon, for one developer or for cron."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer
from filelock import FileLock, Timeout

from rag_assets.cli.console import FAILURE, INTERRUPTED, CommandError, Output, Style, describe, seconds, short
from rag_assets.cli.options import CliSession, LexicalOnly, session_of
from rag_assets.errors import RagAssetsError
from rag_assets.index.layout import IndexHome

# What indexes is imported in functions: --help and completion keep their start-up budget.
if TYPE_CHECKING:
    from rag_assets.settings import RepositorySettings, Settings

DEFAULT_INTERVAL_SECONDS = 60.0
"""As often as the commit sensor asks."""

_SHORTEST_INTERVAL_SECONDS = 1.0
LONGEST_REST_SECONDS = 900.0
"""A server that is down all night is asked four times an hour."""


def watch(
    context: typer.Context,
    repositories: Annotated[
        list[str] | None,
        typer.Argument(metavar="REPO", help="As in `rag-assets index`. Default: all configured, or the one here."),
    ] = None,
    interval: Annotated[
        float, typer.Option(min=_SHORTEST_INTERVAL_SECONDS, help="Seconds between two looks at a repository.")
    ] = DEFAULT_INTERVAL_SECONDS,
    once: Annotated[bool, typer.Option("--once", help="Look once, index what is new, and end: for cron.")] = False,
    lexical_only: LexicalOnly = False,
) -> None:
    """Index new commits as they appear, with one line per event. Ctrl-C ends it; the next run continues unfinished
    work.

    Example: rag-assets watch --interval 300
    """
    session = session_of(context)
    watching = Watch(session, repositories or [], interval, lexical_only=lexical_only)
    with only_one(session.home(), "watch"):
        if once:
            watching.look()
        else:
            watching.until_interrupted()
    if watching.interrupted_a_build:
        raise typer.Exit(INTERRUPTED)
    if once and watching.failed:
        raise typer.Exit(FAILURE)


class Watch:
    """The repositories of one command, and the state of each."""

    def __init__(self, session: CliSession, named: Sequence[str], interval: float, *, lexical_only: bool) -> None:
        self.failed = False
        self.interrupted_a_build = False
        self._session = replace(session, output=Output(color=session.output.color, quiet=True))
        self._output = session.output
        self._named = list(named)
        self._interval = interval
        self._lexical_only = lexical_only
        self._chosen: list[RepositorySettings] = []
        self._known: dict[str, _State] = {}

    def until_interrupted(self) -> None:
        """Looks again and again. Returns on Ctrl-C."""
        from rag_assets.pipeline.workers.worker_pool import rest_workers  # start-up budget

        try:
            while not self.interrupted_a_build:
                self.look()
                rest_workers()  # 150 MB each, and it may be days until the next commit
                wake = min((state.due for state in self._known.values()), default=time.monotonic() + self._interval)
                if not self.interrupted_a_build:
                    time.sleep(max(0.0, wake - time.monotonic()))
        except KeyboardInterrupt:
            self._output.note("stopped")

    def look(self) -> None:
        """Asks every repository that is due, and indexes a new head. Raises ConfigError or CommandError at the first
        look, for errors that concern all of them."""
        try:
            settings = self._session.settings()  # read anew: an edited file counts from the next look on
            repositories = self._choose(settings)
        except RagAssetsError as error:
            if not self._known:
                raise
            self._say("configuration", "bad", describe(error))
            for state in self._known.values():
                state.due = time.monotonic() + self._interval
            return
        self._known = {entry.id: self._known.get(entry.id, _State()) for entry in repositories}
        for repository in repositories:
            state = self._known[repository.id]
            if state.due <= time.monotonic() and not self.interrupted_a_build:
                self._ask(settings, repository, state)

    def _choose(self, settings: Settings) -> list[RepositorySettings]:
        """The repositories of the first look, where they were named: a path may go away for a while."""
        from rag_assets.cli.index.targets import chosen_repositories  # start-up budget

        if self._named and self._chosen:
            configured = {entry.id: entry for entry in settings.repositories}
            return [
                configured[entry.id].model_copy(update={"ref": entry.ref}) if entry.id in configured else entry
                for entry in self._chosen
            ]
        self._chosen = chosen_repositories(settings, IndexHome(settings.home), self._named)
        return self._chosen

    def _ask(self, settings: Settings, repository: RepositorySettings, state: _State) -> None:
        # Start-up budget.
        from rag_assets.index.labels import label_of
        from rag_assets.sources.git.git_refs import remote_head
        from rag_assets.sources.ignore import ignore_policy

        label, timeout = repository.id, settings.automation.poll_timeout_seconds
        try:
            label, ref = label_of(settings, repository, timeout=timeout)
            head = remote_head(
                repository.location,
                ref,
                timeout=timeout,
                policy=ignore_policy(settings, repository),
            )
        except (RagAssetsError, OSError) as error:
            self._rest(state, label, describe(error))
            return
        if state.failures and (label, head) == state.seen:
            self._say(label, "good", "can be reached again")
        if (label, head) != state.seen or state.build_failed:
            configured = any(entry.id == repository.id for entry in settings.repositories)
            name = repository.id if configured else repository.location  # the word that `index` finds it by
            self._index(name, ref, label, head, state)
            return
        state.failures = 0
        state.due = time.monotonic() + self._interval

    def _index(self, name: str, ref: str, label: str, head: str, state: _State) -> None:
        from rag_assets.cli.index.runs import IndexRequest, index_all

        request = IndexRequest(ref=ref, lexical_only=self._lexical_only)
        for result in index_all(self._session, [name], request):
            if result["status"] == "interrupted":
                self.interrupted_a_build = True
                self._say(label, "warn", f"interrupted at {short(head)}; it goes on there next time")
                return
            if result["status"] == "failed":
                state.build_failed = True
                self._rest(state, label, result["failure"])
                return
            if result["status"] == "refused":
                self._say(label, "bad", f"{result['failure'].removeprefix(f'{label}: ')}")
                self.failed = True
                break  # the same commit would be refused again
            took = seconds(result["seconds"])
            if result["status"] == "indexed":
                self._say(label, "good", f"indexed {short(result['commit'])} in {took}, {result['points']:,} points")
            elif state.seen is None or state.build_failed:
                self._say(label, "good", f"up to date at {short(result['commit'])}")
        state.seen, state.build_failed, state.failures = (label, head), False, 0
        state.due = time.monotonic() + self._interval

    def _rest(self, state: _State, label: str, reason: str) -> None:
        self.failed = True
        state.failures += 1
        rest = min(LONGEST_REST_SECONDS, self._interval * 2 ** (state.failures - 1))
        state.due = time.monotonic() + max(rest, self._interval)
        said = reason.removeprefix(f"{label}: ")
        self._say(label, "bad", f"{said}; asking again in {seconds(max(rest, self._interval))}")

    def _say(self, label: str, style: Style, text: str) -> None:
        at = datetime.now().strftime("%H:%M:%S")
        line = " ".join(text.split())
        self._output.line((at, "dim"), " ", (label, "path"), " ", (line, style))


@dataclass(slots=True)
class _State:
    """The state of one repository. `due` is a time of the monotonic clock."""

    seen: tuple[str, str] | None = None
    build_failed: bool = False
    failures: int = 0
    due: float = 0.0


@contextmanager
def only_one(home: IndexHome, command: str) -> Iterator[None]:
    """Holds the lock of a long-lived command, of which a home has one. Raises CommandError with the process that holds
    it."""
    home.root.mkdir(parents=True, exist_ok=True)
    home.keep_out_of_git()
    holder = home.root / f"{command}.holder"
    try:
        held = FileLock(home.root / f"{command}.lock").acquire(timeout=0)
    except Timeout:
        name = holder.read_text(encoding="utf-8") if holder.exists() else "another process"
        raise CommandError(
            f"{name} already runs `rag-assets {command}` for {home.root}, for all its repositories. "
            "Stop that one first, or use another home with --home"
        ) from None
    with held:
        holder.write_text(f"process {os.getpid()}", encoding="utf-8")
        yield
