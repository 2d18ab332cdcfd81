"""Settings from `rag_assets.yaml` and the environment."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from pydantic_settings import SettingsError

from rag_assets.settings.config_file import ENV_PREFIX, ConfigError, find_config, read_config, resolve_home
from rag_assets.settings.repositories import GraphImportSettings
from rag_assets.settings.root import EvaluationSettings, Settings
from rag_assets.settings.search import AnswerSettings
from rag_assets.settings.validation_messages import Location
from rag_assets.settings.yaml_loader import InvalidFileError, Mark, Node, load_model


def load_settings(config: Path | None = None) -> Settings:
    """Settings of `config` (default: found as `find_config` says) and the environment; `home` is absolute.

    Relative repository paths are relative to the configuration file. Raises ConfigError.
    """
    path = config or find_config()
    _refuse_unknown_variables()
    root = read_config(path) if path else Node({}, Mark("environment"))
    try:
        settings = load_model(Settings, root.plain, root, mark=_variable_mark)
    except InvalidFileError as error:
        raise ConfigError(str(error)) from error
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


def _variable_mark(location: Location) -> Mark | None:
    """The variable that holds a setting, which beats the file; None where none does."""
    for end in range(len(location), 0, -1):
        name = ENV_PREFIX + "__".join(str(part) for part in location[:end])
        known = next((variable for variable in os.environ if variable.upper() == name.upper()), None)
        if known is not None:
            return Mark(f"environment: {known}")
    return None
