"""The component RepositoryIndex: in a project of somebody else, a few lines of YAML make the index of a repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagster import (
    Component,
    ComponentLoadContext,
    ComponentTypeSpec,
    Definitions,
    ResolutionContext,
    Resolvable,
    Scaffolder,
    ScaffoldRequest,
    scaffold_with,
)
from pydantic import BaseModel, Field

from rag_assets.defs.automation.one_label import commits_of, nightly_of
from rag_assets.defs.component_settings import Attributes, ComponentSettings
from rag_assets.defs.pipeline import configured_assets, index_job
from rag_assets.defs.rag_index import resource_of
from rag_assets.defs.scope import AssetScope, scope_of
from rag_assets.settings.config_file import ConfigError
from rag_assets.settings.validation_messages import Location
from rag_assets.settings.yaml_loader import Mark

if TYPE_CHECKING:
    from dagster_shared.yaml_utils.source_position import SourcePositionTree

_NO_NAME = re.compile(r"\W+", re.ASCII)
_PROJECT = "{{ context.project_root }}"


class ScaffoldParams(BaseModel):
    repository: str = Field(
        default=_PROJECT,
        description="Git URL, path or source archive to index. Default: the project itself.",
    )


class RepositoryIndexScaffolder(Scaffolder[ScaffoldParams]):
    """Writes a `defs.yaml` that loads as it is, with the settings that people change first as comments."""

    @classmethod
    def get_scaffold_params(cls) -> type[ScaffoldParams]:
        return ScaffoldParams

    def scaffold(self, request: ScaffoldRequest[ScaffoldParams]) -> None:
        if request.scaffold_format == "python":
            repository = request.params.repository
            written = "str(context.project_root)" if repository == _PROJECT else repr(repository)
            text, name = _PYTHON.format(repository=written), "component.py"
        else:
            text, name = _YAML.format(type=request.type_name, repository=request.params.repository), "defs.yaml"
        file = request.target_path if request.append else request.target_path / name
        with file.open("a" if request.append else "w", encoding="utf-8") as opened:
            opened.write(f"---\n{text}" if request.append else text)


@scaffold_with(RepositoryIndexScaffolder)
class RepositoryIndex(Component, Resolvable):
    """A git repository as a search index: assets from its files to the index that is served, checks, a quality gate, a
    schedule, a sensor, and a resource with `search` and `ask`.

    The attributes are one `repository` (a git URL, a path or a source archive, or a mapping as in `repositories` of
    rag_assets.yaml) and the sections of rag_assets.yaml, with the same names: `embedder`, `automation`, `evaluation` …
    What they leave out is as in the rag_assets.yaml of the project, if it has one.
    """

    def __init__(self, repository: str | Mapping[str, Any] | None = None, **attributes: Any) -> None:
        self._attributes = attributes if repository is None else {"repository": repository, **attributes}
        self._lines: SourcePositionTree | None = None

    @classmethod
    def model(cls) -> type[BaseModel]:
        return Attributes

    @classmethod
    def get_spec(cls) -> ComponentTypeSpec:
        return ComponentTypeSpec(
            tags=["rag", "search", "git"], produces=["asset", "asset_check", "job", "schedule", "sensor", "resource"]
        )

    @classmethod
    def resolve_from_model(cls, context: ResolutionContext, model: BaseModel) -> RepositoryIndex:
        """With its templates resolved. `build_defs` says what is wrong with a value."""
        made = cls(**context.resolve_value(dict(model.model_extra or {})))
        made._lines = context.source_position_tree
        return made

    def build_defs(self, context: ComponentLoadContext) -> Definitions:
        """Raises ConfigError, which names the component, the place of the attribute, the cause and what to do."""
        source = self.settings_in(context)
        settings = source.settings()
        self._refuse_twice(source, context)
        name = source.component
        scope = AssetScope((*scope_of(settings).key_prefix, name), component=name, workspace=source)
        return Definitions(
            assets=configured_assets(scope, settings),
            jobs=[index_job(scope, settings.execution)],
            schedules=[nightly_of(scope, settings.automation)],
            sensors=[commits_of(scope, source, settings.automation)],
            resources={name: resource_of(source, source.place)},
        )

    def settings_in(self, context: ComponentLoadContext) -> ComponentSettings:
        """The settings of this component, as it is loaded there or beside that."""
        file = Path(self._lines.position.filename) if self._lines else _file_of(context.path)
        made = ComponentSettings("", self._attributes, file, context.project_root, self._mark(file))
        return replace(made, component=self._name(file, context, made))

    def _name(self, file: Path, context: ComponentLoadContext, made: ComponentSettings) -> str:
        """That of its folder in `defs`; several of one file have more in their names."""
        parts = list(file.parent.relative_to(context.defs_module_path).parts)
        number = context.component_path.instance_key
        if file.suffix == ".py":
            parts += [part for part in (file.stem, str(number)) if part not in _USUAL]
        elif number or not parts:
            parts.append(made.repository.id)
        return _NO_NAME.sub("_", "_".join(parts))

    def _mark(self, file: Path) -> Callable[[Location], Mark]:
        lines = self._lines
        if lines is None:
            return lambda location: Mark(str(file))

        def mark(location: Location) -> Mark:
            position, _ = lines.lookup_closest_and_path(["attributes", *location], trace=None)
            return Mark(position.filename, position.start.line)

        return mark

    def _refuse_twice(self, source: ComponentSettings, context: ComponentLoadContext) -> None:
        """Raises ConfigError where another component writes the same label in the same home."""
        for other in context.component_tree.get_all_components(RepositoryIndex):
            if other is self or other._lines is None or self._lines is None:
                continue
            try:
                its = other.settings_in(context)
                same = its.place == source.place and its.index_home() == source.index_home()
            except ConfigError:
                continue  # it says that itself
            if same:
                raise source.refused(
                    source.mark(("repository",)),
                    f"repository: {its.mark(('repository',))} indexes {source.place} into the same home; write another "
                    "`id` or `ref` into one of them (repository: {location: …, id: …}), or another `home`",
                )


def _file_of(path: Path) -> Path:
    """Of a component without attributes, Dagster says only which folder it is in."""
    names = ("defs.yaml", "defs.yml", "component.yaml") if path.is_dir() else ()
    return next((path / name for name in names if (path / name).exists()), path)


_USUAL = ("component", "__init__", "defs", "load", "None")
"""Names of Python files and functions that say nothing of a component."""


_YAML = """\
type: {type}

attributes:
  repository: "{repository}" # git URL, path of a git repository, folder or source archive
  # The sections of rag_assets.yaml are attributes too, for example:
  # automation: {{cron: "30 1 * * 1-5", timezone: Europe/Berlin}} # the schedule
  # embedder: {{provider: lexical-only}} # no model: keywords only
  # evaluation: {{minimum: {{recall: 0.6}}}} # the gate, with repository: {{location: …, eval_set: questions.jsonl}}
"""

_PYTHON = """\
import dagster as dg
from rag_assets import RepositoryIndex


@dg.component_instance
def load(context: dg.ComponentLoadContext) -> RepositoryIndex:
    return RepositoryIndex(repository={repository})
"""
