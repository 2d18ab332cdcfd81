"""Where the configuration file and the home directory are. Imported by every command, so it stays light."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.errors import RagAssetsError

if TYPE_CHECKING:
    from rag_assets.settings.yaml_loader import Node

CONFIG_NAME = "rag_assets.yaml"
ENV_PREFIX = "RAG_ASSETS__"
HOME_VARIABLE = f"{ENV_PREFIX}HOME"
CONFIG_VARIABLE = "RAG_ASSETS_CONFIG"
DEFAULT_HOME = ".rag_assets"


class ConfigError(RagAssetsError):
    """The configuration cannot be used; the text names the file, the key and what to do."""


def find_config(start: Path | None = None) -> Path | None:
    """`$RAG_ASSETS_CONFIG`, else `rag_assets.yaml` here or in the nearest folder above. None where there is none."""
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise ConfigError(f"{CONFIG_VARIABLE} names {named}, which is not a file")
        return path.resolve()
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        candidate = folder / CONFIG_NAME
        if candidate.is_file():
            return candidate
    return None


def config_path(config: str | Path | None) -> Path | None:
    """A configuration file as callers name it. Raises ConfigError for what is no path."""
    if config is None or isinstance(config, str | Path):
        return None if config is None else Path(config).expanduser()
    raise ConfigError(f"config is {config!r}; it is the path of a configuration file (rag_assets.yaml)")


def config_of(home: Path, config: Path | None = None) -> Path | None:
    """The file that the caller named, else the one that is found from here, else from the home directory: an index that
    is opened from anywhere is read as it was made. Raises ConfigError."""
    return config or find_config() or find_config(home)


def is_configured(section: str, path: Path | None) -> bool:
    """Whether a section of the settings is written in the file, or a part of it in the environment. Where it is not,
    its defaults hold, and nobody needs to load the settings model: that would cost a search a third of a second. Raises
    ConfigError."""
    variables = f"{ENV_PREFIX}{section}".upper()
    in_environment = any(name.upper().startswith(variables) for name in os.environ)
    return in_environment or (path is not None and section in read_config(path).value)


def read_config(path: Path) -> Node:
    """The mapping in a configuration file; an empty file is an empty mapping. Raises ConfigError with file and line."""
    # Start-up budget: most homes have no configuration.
    from rag_assets.settings.validation_messages import kind_of
    from rag_assets.settings.yaml_loader import InvalidFileError, Node, read_yaml

    try:
        root = read_yaml(path)
    except InvalidFileError as error:
        raise ConfigError(str(error)) from error
    if root.value is None:
        return Node({}, root.mark)
    if not root.is_mapping:
        raise ConfigError(f"{root.mark}: expected a mapping at the top, found {kind_of(root.plain)}")
    return root


def resolve_home(home: str | Path | None = None, *, config: Path | None = None) -> Path:
    """The home directory, as `_named_home` says. Raises ConfigError where a file is in its place."""
    found = _named_home(home, config)
    if found.is_file():
        raise ConfigError(f"{found} is a file, and the home is a folder; choose another place with --home")
    return found


def _named_home(home: str | Path | None, config: Path | None) -> Path:
    """The home directory: the argument, else `$RAG_ASSETS__HOME`, else `home` of the configuration file (`config`,
    or the one `find_config` finds), else `.rag_assets` beside that file. Without a file: the `.rag_assets` of the
    current folder or of the nearest folder above that has one, as git finds its repository."""
    if home is not None:
        return Path(home).expanduser().resolve()
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return Path(named).expanduser().resolve()
    path = config or find_config()
    if path is None:
        here = Path.cwd()
        return next(
            (at / DEFAULT_HOME for at in (here, *here.parents) if (at / DEFAULT_HOME).is_dir()), here / DEFAULT_HOME
        )
    configured = read_config(path).plain.get("home")
    if configured is None:  # not there, or `home:` with nothing behind it
        configured = DEFAULT_HOME
    if not isinstance(configured, str):
        raise ConfigError(f"{path}: home: expected a path, found {configured!r}")
    return (path.resolve().parent / Path(configured).expanduser()).resolve()
