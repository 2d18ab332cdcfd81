"""The attributes of a RepositoryIndex as settings of the package: one repository, and sections of `rag_assets.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, create_model
from pydantic_core import CoreSchema

from rag_assets.defs.resources import of_this_process
from rag_assets.errors import SourceError
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.settings.config_file import DEFAULT_HOME, ConfigError, find_config
from rag_assets.settings.root import settings_over, with_absolute_paths
from rag_assets.settings.validation_messages import Location, kind_of
from rag_assets.settings.yaml_loader import InvalidFileError, Mark, Node, Problem, load_model
from rag_assets.sources.urls import default_repository_id
from rag_assets.suggestions import nearest

_REPOSITORY = "repository"
_ELSEWHERE = {
    "repositories": "a component has one `repository`; write another component for the next one",
    "roles": "that is for servers; write it into rag_assets.yaml",
}
SECTIONS = tuple(name for name in Settings.model_fields if name not in _ELSEWHERE)
"""Of the configuration file. All of them can be attributes."""

AGAIN = "then run: dg check defs"
MarkOf = Callable[[Location], Mark]


@dataclass(frozen=True)
class ComponentSettings:
    """The settings of one component. `file` has its attributes, `project` is the root of the project.

    What the attributes leave out is as in the `rag_assets.yaml` of the project, where there is one, which all commands
    find there. The environment beats both.
    """

    component: str
    attributes: Mapping[str, Any]
    file: Path
    project: Path
    mark: MarkOf

    def settings(self) -> Settings:
        """Read anew each time, as commands do. Raises ConfigError."""
        return of_this_process(self._read())

    def index_home(self) -> IndexHome:
        return IndexHome(self.settings().home)

    @cached_property
    def repository(self) -> RepositorySettings:
        """Raises ConfigError, as all of this does: with the component, the place of the attribute, and what to do."""
        entry = self.attributes.get(_REPOSITORY)
        if entry is None:
            raise self.refused(self.mark(()), "repository: is missing; name a git URL, a path or a source archive")
        if not isinstance(entry, str | Mapping):
            said = f"repository: must be text or a mapping with location, found {kind_of(entry)}"
            raise self.refused(self.mark((_REPOSITORY,)), said)
        values = {"location": entry} if isinstance(entry, str) else dict(entry)
        location = values.get("location")
        if values.get("id") is None and isinstance(location, str) and location.strip():
            values["id"] = default_repository_id(_named_folder(location.strip(), self.file.parent))
        at = () if isinstance(entry, str) else (_REPOSITORY,)
        try:
            made = load_model(
                RepositorySettings,
                values,
                Node({}, self.mark((_REPOSITORY,))),
                named=lambda _: "repository: ",
                mark=lambda location: self.mark((*at, *location)) if at else None,
            )
        except InvalidFileError as error:
            raise self._unusable(error) from None
        return with_absolute_paths(made, self.file.parent)

    @property
    def place(self) -> str:
        """The label, as far as it is known without asking git; two components of one home must not share it."""
        ref = self.repository.ref
        return index_label(self.repository.id, ref) if ref else self.repository.id

    def explained(self, error: SourceError) -> str:
        """What a run says of a repository that cannot be read."""
        return (
            f"component {self.component}: repository: {error}; correct {self.mark((_REPOSITORY,))}, "
            f"then run: dg launch --job index_{self.component}"
        )

    def refused(self, mark: Mark, text: str) -> ConfigError:
        return self._unusable(InvalidFileError([Problem(mark, text)]))

    def _read(self) -> Settings:
        unknown = [name for name in self.attributes if name not in (*SECTIONS, _REPOSITORY)]
        if unknown:
            raise self._unusable(InvalidFileError(Problem(self.mark((name,)), _unknown(name)) for name in unknown))
        repository = self.repository
        values = {name: value for name, value in self.attributes.items() if name != _REPOSITORY}
        try:
            settings = settings_over(
                values,
                self.file.parent,
                config=find_config(self.project),
                default_home=self.project / DEFAULT_HOME,
                mark=self.mark,
            )
        except ConfigError as error:
            raise self._unusable(error) from None
        return settings.model_copy(update={"repositories": (repository,)})

    def _unusable(self, error: Exception) -> ConfigError:
        return ConfigError(f"component {self.component}: {error}; correct it, {AGAIN}")


def _unknown(name: str) -> str:
    if name in _ELSEWHERE:
        return f"{name}: {_ELSEWHERE[name]}"
    return f"unknown attribute {name!r}{nearest(name, (_REPOSITORY, *SECTIONS))}"


def _named_folder(location: str, base: Path) -> str:
    """`.` and `../..` have no name of their own."""
    return str((base / location).resolve()) if location.strip("./\\") == "" else location


class Attributes(BaseModel):
    """Takes anything, because templates are not resolved yet when Dagster validates; its schema is that of the
    settings, for editors, `dg check yaml` and the page of the component."""

    model_config = ConfigDict(extra="allow")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        reference = handler(_described().__pydantic_core_schema__)
        properties = handler.resolve_ref_schema(reference)["properties"]
        # Text or a mapping in one: of a choice, a validator would show the whole value, which may hold a password.
        text, mapping = properties[_REPOSITORY]["anyOf"]
        properties[_REPOSITORY] = handler.resolve_ref_schema(mapping) | {
            "type": [text["type"], "object"],
            "title": "Repository",
            "description": _DESCRIPTION,
        }
        return reference


_DESCRIPTION = "git URL, path or source archive, or a mapping as in `repositories` of rag_assets.yaml"


def _described() -> type[BaseModel]:
    class RepositoryEntry(RepositorySettings):
        """Its id is by default the name of the repository."""

        id: str = Field(default="", description=RepositorySettings.model_fields["id"].description)

    sections: dict[str, Any] = {
        name: (Settings.model_fields[name].annotation, Settings.model_fields[name]) for name in SECTIONS
    }
    return create_model(
        "RepositoryIndexAttributes",
        __config__=ConfigDict(extra="forbid"),
        repository=(str | RepositoryEntry, Field(description=_DESCRIPTION)),
        **sections,
    )
