"""Index labels: which repository at which ref a label stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rag_assets.index.layout import IndexHome, RecordDamaged, index_label, read_record, write_record
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.settings.config_file import ConfigError
from rag_assets.sources.git.git_refs import default_ref
from rag_assets.sources.urls import is_remote, strip_credentials


def label_of(
    settings: Settings, repository: RepositorySettings, ref: str | None = None, *, timeout: float | None = None
) -> tuple[str, str]:
    """(label, ref) of a repository; without a ref the one its HEAD names. May ask git, and the network for a URL: for
    `timeout` seconds, by default those of a fetch."""
    wanted = (
        ref
        or repository.ref
        or default_ref(
            repository.location,
            mirrors=IndexHome(settings.home).mirrors,
            timeout=timeout or settings.sources.network_timeout_seconds,
        )
    )
    return index_label(repository.id, wanted), wanted


def register_label(home: IndexHome, label: str, repository: RepositorySettings, ref: str) -> None:
    """Remembers what a label stands for, so that later runs need its name only. Credentials are not remembered."""
    known = repository.model_copy(update={"ref": ref, "location": strip_credentials(repository.location)})
    try:
        if remembered_repository(home, label) == known:
            return
    except ConfigError:
        pass  # damaged
    write_record(home.label(label) / "label.json", known.model_dump(mode="json"))


def repository_of(home: IndexHome, settings: Settings, label: str) -> RepositorySettings:
    """The repository of a label, with its ref. The configuration wins over what was remembered; a label that is new
    (somebody added the partition in the UI) is read as its name says.

    Raises ConfigError for a label nobody has registered or configured.
    """
    for configured in settings.repositories:
        if configured.ref is not None and index_label(configured.id, configured.ref) == label:
            return configured
    remembered = remembered_repository(home, label)
    if remembered is None:
        named = _named_by(label, settings)
        if named is not None:
            return named
        known = ", ".join(home.known_labels()) or "none"
        raise ConfigError(f"unknown index label {label!r}; known: {known}; run: rag-assets index")
    for configured in settings.repositories:
        if configured.id == remembered.id:
            return configured.model_copy(update={"ref": remembered.ref})
    return remembered


def remembered_repository(home: IndexHome, label: str) -> RepositorySettings | None:
    """What `register_label` wrote, or None: nothing. Raises ConfigError where that is damaged."""
    path = home.label(label) / "label.json"
    try:
        return RepositorySettings(**read_record(path, dict[str, Any]))
    except FileNotFoundError:
        return None
    except (RecordDamaged, ValidationError) as error:
        raise ConfigError(f"{path} is damaged; write it again with: rag-assets index PATH_OR_URL") from error


def other_source(home: IndexHome, label: str, repository: RepositorySettings) -> str:
    """The place that `label` already stands for, where that is another one than the repository's and is still there;
    else ''. Without credentials."""
    try:
        known = remembered_repository(home, label)
    except ConfigError:  # damaged: the next run writes it again
        return ""
    if known is None:
        return ""
    new, old = strip_credentials(repository.location), strip_credentials(known.location)
    return old if new != old and (is_remote(old) or Path(old).exists()) else ""


def _named_by(label: str, settings: Settings) -> RepositorySettings | None:
    """A configured repository at the ref that the label spells; None where the label holds only a short form of it."""
    ref = label.rpartition("@")[2]
    for configured in settings.repositories:
        if ref and index_label(configured.id, ref) == label:
            return configured.model_copy(update={"ref": ref})
    return None
