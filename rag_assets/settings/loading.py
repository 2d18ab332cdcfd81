"""Settings from `rag_assets.yaml` and the environment, and the words for what is wrong with them."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsError

from rag_assets.config_file import ENV_PREFIX, ConfigError, find_config, read_yaml, resolve_home
from rag_assets.refused_values import said_of
from rag_assets.settings.answering import AnswerSettings
from rag_assets.settings.evaluation import EvaluationSettings
from rag_assets.settings.graph import GraphImportSettings
from rag_assets.settings.root import Settings
from rag_assets.yaml_text import line_of


def load_settings(config: Path | None = None) -> Settings:
    """Settings of `config` (default: found as `find_config` says) and the environment; `home` is absolute.

    Relative repository paths are relative to the configuration file. Raises ConfigError.
    """
    path = config or find_config()
    _refuse_unknown_variables()
    values = read_yaml(path) if path else {}
    try:
        settings = Settings(**values)
    except ValidationError as error:
        raise ConfigError(_explain(error, path)) from error
    except SettingsError as error:  # names the section, and its cause could show the value, which may be a secret
        section = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        raise ConfigError(f"environment: {_variable(section)}: must be JSON, or set its parts one by one") from None
    base = path.resolve().parent if path else Path.cwd()
    repositories = tuple(
        repository.model_copy(
            update={
                "location": _absolute(repository.location, base),
                "rule_packs": tuple(_absolute_file(pack, base) for pack in repository.rule_packs),
                "eval_set": repository.eval_set and (base / repository.eval_set.expanduser()).resolve(),
                "graph_import": repository.graph_import and _absolute_import(repository.graph_import, base),
            }
        )
        for repository in settings.repositories
    )
    packs = tuple((base / pack.expanduser()).resolve() for pack in settings.packs)
    home = resolve_home(config=path)
    answer = _with_absolute_files(settings.answer, base)
    evaluation = _with_absolute_rubric(settings.evaluation, base)
    made = {"home": home, "evaluation": evaluation, "repositories": repositories, "packs": packs, "answer": answer}
    return settings.model_copy(update=made)


def _refuse_unknown_variables() -> None:
    """pydantic-settings ignores a misspelled variable; a setting that is silently not applied helps nobody."""
    valid = sorted(Settings.model_fields)
    for variable in sorted(name for name in os.environ if name.upper().startswith(ENV_PREFIX)):
        section = variable[len(ENV_PREFIX) :].lower().partition("__")[0]
        if section not in valid:
            near = difflib.get_close_matches(section, valid, n=1)
            hint = f"did you mean {_variable(near[0])}?" if near else f"valid: {', '.join(map(_variable, valid))}"
            raise ConfigError(f"environment: unknown variable {variable}; {hint}")


def _variable(section: str) -> str:
    return f"{ENV_PREFIX}{section.upper()}"


def _absolute(location: str, base: Path) -> str:
    """Local paths made absolute; URLs and scp-like locations (`git@host:path`) as they are."""
    if "://" in location:
        return location
    path = Path(location).expanduser()
    if path.is_absolute():
        return str(path)
    head = location.split("/", 1)[0]
    if ":" in head and not (base / path).exists():
        return location
    return str((base / path).resolve())


def _absolute_file(named: str, base: Path) -> str:
    """A rule pack or a pipeline of one's own is a file beside the configuration; the others are names."""
    return str((base / Path(named).expanduser()).resolve()) if named.endswith((".yaml", ".yml")) else named


def _with_absolute_files(settings: AnswerSettings, base: Path) -> AnswerSettings:
    replies = settings.replies_file and str((base / Path(settings.replies_file).expanduser()).resolve())
    return settings.model_copy(update={"pipeline": _absolute_file(settings.pipeline, base), "replies_file": replies})


def _with_absolute_rubric(settings: EvaluationSettings, base: Path) -> EvaluationSettings:
    rubric = settings.judge_rubric and (base / settings.judge_rubric.expanduser()).resolve()
    return settings.model_copy(update={"judge_rubric": rubric})


def _absolute_import(settings: GraphImportSettings, base: Path) -> GraphImportSettings:
    return settings.model_copy(update={"path": (base / settings.path.expanduser()).resolve()})


def _explain(error: ValidationError, path: Path | None) -> str:
    """A line for each problem: where it is written, the setting, and what is wrong with it."""
    text = path.read_text(encoding="utf-8") if path else ""
    lines = []
    for problem in error.errors():
        location = problem["loc"]
        named = ".".join(str(part) for part in location)
        where = _where(location, path, text)
        if problem["type"] == "extra_forbidden":
            lines.append(f"{where}: unknown key {named!r}{_nearest(location)}")
        else:
            said = said_of(problem, _group_at(location))
            lines.append(f"{where}: {named}: {said}" if named else f"{where}: {said}")
    return "\n".join(lines)


def _where(location: tuple[int | str, ...], path: Path | None, text: str) -> str:
    """The variable that holds it, which beats the file, else the file with the line."""
    for end in range(len(location), 0, -1):
        name = ENV_PREFIX + "__".join(str(part) for part in location[:end])
        known = next((variable for variable in os.environ if variable.upper() == name.upper()), None)
        if known is not None:
            return f"environment: {known}"
    if path is None:
        return "environment"
    line = line_of(text, location)
    return f"{path}:{line}" if line else str(path)


def _group_at(location: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The group of settings that a place is for; None where it is for a value."""
    model: Any = Settings
    for part in location:
        if isinstance(part, str):
            field = getattr(model, "model_fields", {}).get(part)
            if field is None:
                return None
            model = _model_of(field.annotation)
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


def _nearest(location: tuple[int | str, ...]) -> str:
    """`; did you mean 'exclude'?` for a misspelled key, or the list of valid ones."""
    model: Any = Settings
    for part in location[:-1]:
        if isinstance(part, str):
            model = _model_of(model.model_fields[part].annotation)
    valid = sorted(model.model_fields)
    near = difflib.get_close_matches(str(location[-1]), valid, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; valid keys: {', '.join(valid)}"


def _model_of(annotation: Any) -> Any:
    """The model class inside `Model`, `tuple[Model, ...]` or `Model | None`."""
    for inner in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return annotation
