"""What `watch` does: asks the heads in turn, indexes what is new, lets a source that fails rest longer and longer."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from filelock import FileLock, Timeout

from rag_assets.contracts.errors import ExpectedError
from rag_assets.interfaces.cli.failures import CommandError, describe
from rag_assets.interfaces.cli.indexing import Request, index_all
from rag_assets.interfaces.cli.output import Output, Style, seconds, short
from rag_assets.interfaces.cli.session import Session
from rag_assets.interfaces.cli.targets import chosen_repositories
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.sources import remote_head
from rag_assets.stages.discovered_files import ignore_policy
from rag_assets.stages.labels import label_of
from rag_assets.stages.worker_pool import WorkerPool
from rag_assets.stores.home import Home

LONGEST_REST_SECONDS = 900.0
"""A server that is down all night is asked four times an hour."""


class Watch:
    """The repositories of one command and what is known of each."""

    def __init__(self, session: Session, named: Sequence[str], interval: float, *, lexical_only: bool) -> None:
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
        try:
            while not self.interrupted_a_build:
                self.look()
                WorkerPool.rest()  # 150 MB each, and it may be days until the next commit
                wake = min((state.due for state in self._known.values()), default=time.monotonic() + self._interval)
                if not self.interrupted_a_build:
                    time.sleep(max(0.0, wake - time.monotonic()))
        except KeyboardInterrupt:
            self._output.note("stopped")

    def look(self) -> None:
        """Asks every repository that is due and indexes its head where it is new. Raises ConfigError or CommandError
        for what concerns all of them, at the first look."""
        try:
            settings = self._session.settings()  # read anew: an edited file counts from the next look on
            repositories = self._choose(settings)
        except ExpectedError as error:
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
        """What was named is what it was at the first look: a path that goes away for a while is still meant."""
        if self._named and self._chosen:
            configured = {entry.id: entry for entry in settings.repositories}
            return [
                configured[entry.id].model_copy(update={"ref": entry.ref}) if entry.id in configured else entry
                for entry in self._chosen
            ]
        self._chosen = chosen_repositories(settings, Home(settings.home), self._named)
        return self._chosen

    def _ask(self, settings: Settings, repository: RepositorySettings, state: _State) -> None:
        label = repository.id
        try:
            label, ref = label_of(settings, repository)
            head = remote_head(
                repository.location,
                ref,
                timeout=settings.automation.poll_timeout_seconds,
                policy=ignore_policy(settings, repository),
            )
        except (ExpectedError, OSError) as error:
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
        request = Request(ref=ref, lexical_only=self._lexical_only)
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
    """What is known of one repository. `due` is a time of the monotonic clock."""

    seen: tuple[str, str] | None = None
    build_failed: bool = False
    failures: int = 0
    due: float = 0.0


@contextmanager
def watch_lock(home: Home) -> Iterator[None]:
    """One watch per home. Raises CommandError naming the other one; the system releases the lock of a killed one."""
    home.root.mkdir(parents=True, exist_ok=True)
    home.keep_out_of_git()
    holder = home.root / "watch.holder"
    lock = FileLock(home.root / "watch.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        name = holder.read_text(encoding="utf-8") if holder.exists() else "another process"
        raise CommandError(
            f"{home.root} is being watched by {name}; one watch indexes all its repositories. "
            "Stop that one first, or use another home with --home"
        ) from None
    try:
        holder.write_text(f"process {os.getpid()}", encoding="utf-8")
        yield
    finally:
        lock.release()
