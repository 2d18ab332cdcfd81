"""The words after `rag-assets index`: a configured id, a label, a path, a URL or a source archive."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rag_assets.cli.console import CommandError
from rag_assets.errors import LocationError
from rag_assets.index.labels import label_of, other_source, remembered_repository, repository_of
from rag_assets.index.layout import IndexHome, label_named, path_slug, spelt_label
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.settings.config_file import config_of
from rag_assets.sources.urls import default_repository_id, is_remote, strip_credentials
from rag_assets.suggestions import nearest


def chosen_repositories(
    settings: Settings, home: IndexHome, named: Sequence[str], *, ref: str | None = None, identifier: str | None = None
) -> list[RepositorySettings]:
    """The repositories to index; without a name all configured ones, else the one of the current folder.

    Raises CommandError with the commands to type.
    """
    if not named and not settings.repositories:
        here = repository_above(Path.cwd())
        if here is None and (config := config_of(home.root)) is not None:
            raise CommandError(
                f"nothing to index: {config} lists no repository, and the current folder is not in one. Add one below "
                "`repositories`, or type: rag-assets index PATH, URL or source archive"
            )
        if here is None:
            raise CommandError(
                "nothing to index: no repository is configured, and the current folder is not in one. Type one of\n"
                "  rag-assets index PATH, URL or source archive\n"
                "  rag-assets init        to configure repositories"
            )
        named = [str(here)]
    found = [repository_named(settings, home, name, identifier) for name in named] or list(settings.repositories)
    if ref is None:
        return found
    return [repository.model_copy(update={"ref": ref}) for repository in found]


def repository_named(
    settings: Settings, home: IndexHome, name: str, identifier: str | None = None
) -> RepositorySettings:
    """The repository that a word names: a configured id, a known label, an existing path or a URL, in this order.
    Raises CommandError for an `identifier` where it has one already."""
    found = _known_repository(settings, home, name)
    if found is not None and identifier not in (None, found.id):
        raise CommandError(f"{name!r} is known as {found.id!r}; --id names a repository that is new")
    if found is not None:
        return found
    location = _location(name)
    made = RepositorySettings(id=identifier or default_repository_id(location), location=location)
    if made.id in {configured.id for configured in settings.repositories}:
        raise CommandError(
            f"{made.id!r} is configured for another repository; index {strip_credentials(location)} with --id NAME"
        )
    return made


def _known_repository(settings: Settings, home: IndexHome, name: str) -> RepositorySettings | None:
    """The configured or indexed repository that a word names; None for a path or a URL that is neither. Raises
    CommandError for any other word."""
    for configured in settings.repositories:
        if configured.id == name:
            return configured
    if name in home.known_labels():
        return repository_of(home, settings, name)
    remote = is_remote(name)
    path = Path(name).expanduser()
    if not remote and not path.exists():
        return repository_of(home, settings, _label_of_repository(settings, home, name))
    location = _location(name)
    return next((configured for configured in settings.repositories if configured.location == location), None)


def _label_of_repository(settings: Settings, home: IndexHome, name: str) -> str:
    """The indexed label that is spelt so, or the only one of the repository that is called so. Raises CommandError for
    a word that names nothing, LabelError for a repository with several labels."""
    known = home.known_labels()
    if spelt_label(known, name) is None and path_slug(name) not in {label.partition("@")[0] for label in known}:
        raise CommandError(_unknown(settings, home, name))
    return label_named(known, name)


def _location(name: str) -> str:
    return name if is_remote(name) else str(Path(name).expanduser().resolve())


def label_typed(settings: Settings, home: IndexHome, known: list[str], word: str) -> str:
    """The one of `known` labels that a word names: a label, the id of its repository, a path or a URL. Raises
    CommandError with the known labels."""
    is_name = word in known or any(configured.id == word for configured in settings.repositories)
    if is_name or not (is_remote(word) or Path(word).expanduser().exists()):
        return label_named(known, word)
    repository = repository_named(settings, home, word)
    found = [label for label in known if stands_for(home, label, repository)]
    if len(found) > 1 and (checked_out := label_of(settings, repository)[0]) in found:
        return checked_out
    if len(found) > 1:
        raise CommandError(f"{word!r} has several labels; choose one of: {', '.join(found)}")
    return found[0] if found else label_named(known, word)


def refuse_takeover(settings: Settings, home: IndexHome, label: str, repository: RepositorySettings) -> None:
    """Raises CommandError where `label` already stands for another source that is still there.

    A configured repository may move: its id says which one it is.
    """
    if any(configured.id == repository.id for configured in settings.repositories):
        return
    old = other_source(home, label, repository)
    if old:
        raise CommandError(
            f"label {label} already stands for {old}; index {strip_credentials(repository.location)} under another "
            f"name with --id NAME, or remove the old index with: rag-assets reset {label}"
        )


def repository_above(folder: Path) -> Path | None:
    """The top of the git working tree that `folder` is in, or the bare repository it is."""
    for at in (folder, *folder.parents):
        if (at / ".git").exists():
            return at
        if (at / "HEAD").is_file() and (at / "objects").is_dir() and (at / "refs").is_dir():
            return at
    return None


def moved(settings: Settings, repository: RepositorySettings, error: Exception) -> str:
    """What helps where the source of an indexed repository that is in no configuration has gone."""
    is_configured = any(configured.id == repository.id for configured in settings.repositories)
    if is_configured or not isinstance(error, LocationError) or Path(repository.location).exists():
        return ""
    return f"; if it has moved: rag-assets index PATH --id {shlex.quote(repository.id)}"


def stands_for(home: IndexHome, label: str, repository: RepositorySettings) -> bool:
    """True where the label was made from the repository, by its record, or by its name if the record is lost."""
    known = remembered_repository(home, label)
    if known is None:
        return label.partition("@")[0] == path_slug(repository.id)
    return known.id == repository.id or known.location == strip_credentials(repository.location)


def _unknown(settings: Settings, home: IndexHome, name: str) -> str:
    known = [*(repository.id for repository in settings.repositories), *home.known_labels()]
    hint = nearest(name, known, "known") if known else ""
    return f"{name!r} is neither a configured repository nor a label, a path that exists or a URL{hint}"
