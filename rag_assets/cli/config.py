"""`rag-assets init` and `rag-assets config check`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.cli.console import FAILURE, CommandError
from rag_assets.cli.options import AsJson, CliSession, session_of
from rag_assets.errors import RagAssetsError
from rag_assets.index.catalog import place_of
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.layout import IndexHome, as_user_shares
from rag_assets.qa.definition.loader import library_of
from rag_assets.settings.config_file import (
    CONFIG_NAME,
    CONFIG_VARIABLE,
    DEFAULT_HOME,
    ENV_PREFIX,
    ConfigError,
    find_config,
)
from rag_assets.sources.ignore import ignore_policy
from rag_assets.sources.urls import default_repository_id, is_remote

if TYPE_CHECKING:
    from rag_assets.settings import RepositorySettings, Settings


config_app = typer.Typer(help="List the settings, and check the configuration.", no_args_is_help=True)


def init(
    context: typer.Context,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Write a short rag_assets.yaml into the current folder: your repositories, and the usual settings as comments.

    Example: rag-assets init
    """
    from rag_assets.settings.template import commented_settings  # start-up budget: --help and completion

    output = session_of(context).output
    path = Path.cwd() / CONFIG_NAME
    if path.exists() and not force:
        raise CommandError(f"{path} exists already; overwrite it with: rag-assets init --force")
    repository = _repository_here(path.parent)
    with as_user_shares():
        path.write_text(commented_settings(repository), encoding="utf-8", newline="\n")
    output.line("wrote ", (str(path), "path"))
    if repository is None:
        output.line("next: list your repositories in it, then run: rag-assets index")
    else:
        output.line(f"it lists this repository as {repository['id']!r}; next, run: rag-assets index")
        if not _is_ignored(path.parent):
            output.line(f"add {DEFAULT_HOME}/ to .gitignore: the index is kept there")


@config_app.command()
def settings(context: typer.Context, as_json: AsJson = False) -> None:
    """List every setting with its default and its meaning, as a file in which all are commented out.

    Example: rag-assets config settings
    """
    from rag_assets.settings.template import commented_settings, every_setting  # start-up budget: --help and completion

    output = session_of(context).output
    if as_json:
        output.json({"settings": list(every_setting())})
    else:
        output.text(commented_settings(None, every=True))


@config_app.command("check")
def check(context: typer.Context, as_json: AsJson = False) -> None:
    """Check the configuration and show where it comes from. Exit code 1 when it is not valid.

    Example: rag-assets config check
    """
    session = session_of(context)
    found = examine(session)
    if as_json:
        session.output.json(found)
    else:
        _show(session, found)
    if not found["valid"]:
        raise typer.Exit(FAILURE)


def examine(session: CliSession) -> dict[str, Any]:
    """The object of `config check --json`, which `doctor` uses too: the settings' sources and every problem."""
    variables = sorted(name for name in os.environ if name.upper().startswith(ENV_PREFIX) or name == CONFIG_VARIABLE)
    found: dict[str, Any] = {
        "valid": False,
        "file": None,
        "environment": variables,
        "home": None,
        "repositories": [],
        "problems": [],
    }
    try:
        config = session.config_option or find_config()  # before it is read: what cannot be read is in use, too
        found["file"] = str(config) if config else None
        config = session.config()
        found["file"] = str(config) if config else None
        settings = session.settings()
    except ConfigError as error:
        found["problems"] = str(error).splitlines()
        return found
    found["home"] = str(settings.home)
    for repository in settings.repositories:
        found["repositories"].append({"id": repository.id, "ref": repository.ref})
        problems = [_missing_location(repository.location), *_unusable_parts(settings, repository)]
        found["problems"] += [f"{found['file']}: repository {repository.id!r}: {text}" for text in problems if text]
    found["problems"] += _missing_files(config, settings)
    found["problems"] += _unusable_catalog(settings)
    found["problems"] += _unusable_pipeline(config, settings)
    found["problems"] += _unread_variables()
    found["valid"] = not found["problems"]
    return found


def _unread_variables() -> list[str]:
    """Variables that nothing reads, because underscores are missing: the other commands do not look for them."""
    from rag_assets.settings.template import every_setting  # start-up budget: --help and completion

    names = [setting["name"].partition("[]")[0].upper().replace(".", "__") for setting in every_setting()]
    names += {name.partition("__")[0] for name in names}
    variables = {f"{ENV_PREFIX}{name}".replace("__", "_"): f"{ENV_PREFIX}{name}" for name in names}
    return [
        f"environment: {name} is read by nothing; write {meant}"
        for name in sorted(os.environ)
        if not name.upper().startswith(ENV_PREFIX) and (meant := variables.get(name.upper().replace("__", "_")))
    ]


def _show(session: CliSession, found: dict[str, Any]) -> None:
    output = session.output
    output.line(("file         ", "dim"), found["file"] or f"none ({CONFIG_NAME} here or above); defaults apply")
    output.line(("environment  ", "dim"), ", ".join(found["environment"]) or "no variable applies")
    if found["home"]:
        output.line(("home         ", "dim"), found["home"])
        names = [f"{entry['id']}@{entry['ref'] or 'HEAD'}" for entry in found["repositories"]]
        output.line(("repositories ", "dim"), ", ".join(names) or "none configured")
    for problem in found["problems"]:
        output.line((problem, "bad"))
    if found["valid"]:
        output.line(("the configuration is valid", "good"))


def _unusable_parts(settings: Settings, repository: RepositorySettings) -> Iterator[str]:
    """The problems of rule packs, ignore patterns and question sets, which only reading them shows."""
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.classification.classifier import Classifier

    def rules() -> object:
        return Classifier(repository.rule_packs, repository.kinds)

    def patterns() -> object:
        return ignore_policy(settings, repository)

    def questions() -> object:
        from rag_assets.evaluation.questions import load_questions  # start-up budget: loaded when it runs

        return load_questions(repository.eval_set) if repository.eval_set else None

    for part in (rules, patterns, questions):
        try:
            part()
        except RagAssetsError as error:
            yield str(error)
    yield from _unusable_import(repository)


def _unusable_import(repository: RepositorySettings) -> Sequence[str]:
    """The parts of `graph_import` that cannot be read; an index would be built without them."""
    from rag_assets.graph.imports import unread_parts  # start-up budget: loaded when it runs

    try:
        return unread_parts(repository.graph_import)
    except RagAssetsError as error:
        return [str(error)]


def _unusable_catalog(settings: Settings) -> list[str]:
    """What is wrong with the address of the catalog. Only `doctor` connects to it."""
    if settings.stores.catalog == "none":
        return []
    try:
        place_of(settings.stores.catalog, IndexHome(settings.home))
    except CatalogError as error:
        return [str(error)]
    return []


def _unusable_pipeline(config: Path | None, settings: Settings) -> list[str]:
    """What is wrong with the folders of pipelines, and with the pipeline that `ask` and `chat` run."""
    named = settings.answer.pipeline
    try:
        library = library_of(config)
    except ConfigError as error:
        return [f"{error}; ask and chat cannot answer"]
    try:
        if named:
            library.load(named)
    except RagAssetsError as error:
        first, *others = str(error).splitlines()
        return [f"{config or 'environment'}: answer.pipeline: {first}; ask and chat cannot answer", *others]
    return []


def _missing_files(config: Path | None, settings: Settings) -> list[str]:
    """Files that a setting names and that are not there."""
    named = {
        "embedder.table": settings.embedder.table,
        "evaluation.judge_rubric": settings.evaluation.judge_rubric,
        "answer.replies_file": settings.answer.replies_file if settings.answer.replies == "replay" else None,
    }
    where = config or "environment"
    return [
        f"{where}: {key}: there is no file {file}" for key, file in named.items() if file and not Path(file).is_file()
    ]


def _missing_location(location: str) -> str:
    """The problem of a local location that does not exist, else empty. URLs are not checked: that needs the network."""
    if is_remote(location) or Path(location).exists():
        return ""
    return f"location {location} does not exist"


def _repository_here(folder: Path) -> dict[str, str] | None:
    """The entry for the git repository that `folder` belongs to, if it does."""
    from rag_assets.cli.index.targets import repository_above  # start-up budget: --help and completion

    top = repository_above(folder)
    if top is None:
        return None
    relative = Path(os.path.relpath(top, folder)).as_posix()
    return {"id": default_repository_id(str(top)), "location": relative}


def _is_ignored(folder: Path) -> bool:
    """True where the folder's .gitignore already names the home directory."""
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return False
    return any(line.strip().strip("/") == DEFAULT_HOME for line in lines)
