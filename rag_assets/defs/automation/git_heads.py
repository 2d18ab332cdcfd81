"""Which labels are kept up to date on their own, and which commit each is at now: one `git ls-remote` per repository.

Those labels are the configured repositories at their ref (default: the branch that HEAD names), and every other ref
of a configured repository that somebody has indexed, until its branch is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rag_assets.errors import EmptyRepository, MissingRef, RagAssetsError
from rag_assets.index.labels import register_label, repository_of
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.settings.config_file import ConfigError
from rag_assets.sources.git.git_refs import default_ref, list_refs, remote_head, remote_refs
from rag_assets.sources.locations import LocationKind, location_of

ASKING_SECONDS = 40.0
"""For all repositories together: Dagster gives up on a tick after 60 s, and then none of them would get its run."""

_AT_A_TIME = 16  # git processes that wait for the network; two cores do not mind
_HEXADECIMAL = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class LabelHead:
    """A label and the commit its ref names now; no commit for a directory or an archive, which have none."""

    label: str
    repository: RepositorySettings
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Deleted:
    """A label whose branch or tag the repository, which has others, does not have any more."""

    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A repository that could not be asked, and those of its labels that are known. The reason has no credentials."""

    repository_id: str
    labels: tuple[str, ...]
    reason: str


Answer = LabelHead | Deleted | Unreachable


@dataclass(frozen=True, slots=True)
class HeadsPoll:
    """What all repositories said, sorted by label."""

    heads: tuple[LabelHead, ...]
    gone: tuple[Deleted, ...]
    unanswered: tuple[Unreachable, ...]

    def problems(self) -> list[str]:
        """A line for each label that is not looked after."""
        lost = [f"{gone.label}: {gone.reason}" for gone in self.gone]
        return lost + [f"{silent.repository_id}: {silent.reason}" for silent in self.unanswered]


def survey_heads(
    settings: Settings,
    home: IndexHome | None = None,
    *,
    ask_last: frozenset[str] = frozenset(),
    seconds: float = ASKING_SECONDS,
) -> HeadsPoll:
    """Asks all repositories at once; one that fails or hangs does not keep the others from answering. Without a `home`,
    only for the refs that are configured.

    `ask_last` are ids of repositories that did not answer before: they must not use up the time of the others.
    """
    deadline = time.monotonic() + seconds
    known = _known_labels(settings, home)
    order = sorted(settings.repositories, key=lambda repository: (repository.id in ask_last, repository.id))

    def ask(repository: RepositorySettings) -> list[Answer]:
        labels = known.get(repository.id, {})
        left = deadline - time.monotonic()
        names = tuple(sorted(labels))
        if left <= 0:
            return [Unreachable(repository.id, names, f"not asked, the others took {seconds:g} s; asked next time")]
        try:
            return list(_answers(repository, labels, min(left, settings.automation.poll_timeout_seconds)))
        except (RagAssetsError, OSError) as error:
            return [Unreachable(repository.id, names, str(error))]

    with ThreadPoolExecutor(_AT_A_TIME) as threads:
        answers = [answer for answered in threads.map(ask, order) for answer in answered]
    return HeadsPoll(
        heads=tuple(sorted((a for a in answers if isinstance(a, LabelHead)), key=lambda head: head.label)),
        gone=tuple(sorted((a for a in answers if isinstance(a, Deleted)), key=lambda gone: gone.label)),
        unanswered=tuple(sorted((a for a in answers if isinstance(a, Unreachable)), key=lambda a: a.repository_id)),
    )


def remember(home: IndexHome, heads: tuple[LabelHead, ...]) -> None:
    """Lets a run find the repository of a label that nobody has indexed yet by its name."""
    for head in heads:
        if not (home.label(head.label) / "label.json").exists():
            register_label(home, head.label, head.repository, head.repository.ref or "")


def _known_labels(settings: Settings, home: IndexHome | None) -> dict[str, dict[str, RepositorySettings]]:
    """Repository id → label → its repository at its ref, of what is configured with a ref or was indexed before."""
    found: dict[str, dict[str, RepositorySettings]] = {repository.id: {} for repository in settings.repositories}
    for repository in settings.repositories:
        if repository.ref is not None:
            found[repository.id][index_label(repository.id, repository.ref)] = repository
    if home is None:
        return found
    for label in home.known_labels():
        try:
            repository = repository_of(home, settings, label)
        except ConfigError:
            continue  # not ours to look after; whoever asks for this label is told what is wrong with it
        if repository.id in found:
            found[repository.id].setdefault(label, repository)
    return found


def _answers(repository: RepositorySettings, known: dict[str, RepositorySettings], timeout: float) -> Iterator[Answer]:
    """Raises SourceError where the repository cannot be asked at all."""
    place = location_of(repository.location)
    if place.kind in (LocationKind.DIRECTORY, LocationKind.ARCHIVE):
        ref = repository.ref or default_ref(repository.location)
        yield LabelHead(index_label(repository.id, ref), repository.model_copy(update={"ref": ref}))
        return
    commit_of: Callable[[str], str | None]
    if place.kind is LocationKind.URL:
        offered = remote_refs(repository.location, timeout=timeout)
        if not offered.commits:
            raise EmptyRepository(f"{place.where}: the repository has no commit yet; commit something first")
        default, commit_of = offered.default, offered.commit_of
    else:
        if not list_refs(place.git_dir):
            raise EmptyRepository(f"{place.where}: the repository has no commit yet; commit something first")
        default, commit_of = default_ref(repository.location) if repository.ref is None else None, _local(repository)
    wanted = dict(known)
    if repository.ref is None and default is not None:
        wanted[index_label(repository.id, default)] = repository.model_copy(update={"ref": default})
    elif repository.ref is None:
        yield Unreachable(repository.id, (), f"{place.where}: no default branch; set its `ref`")
    for label, at_ref in wanted.items():
        ref = at_ref.ref or ""
        commit = commit_of(ref)
        if commit is not None:
            yield LabelHead(label, at_ref, commit)
        elif _HEXADECIMAL.issuperset(ref):
            yield Unreachable(repository.id, (label,), f"{place.where}: nothing is known of {ref!r}, maybe a commit")
        else:
            yield Deleted(label, f"{place.where} has no branch or tag {ref!r} any more")


def _local(repository: RepositorySettings) -> Callable[[str], str | None]:
    def commit_of(ref: str) -> str | None:
        try:
            return remote_head(repository.location, ref)
        except MissingRef:
            return None

    return commit_of
