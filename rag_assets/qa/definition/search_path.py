"""Where pipelines are: the packs that a caller names, those of the configuration, and the folder beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_assets.qa.definition.loader import PipelineLibrary
from rag_assets.settings.config_file import ConfigError, is_configured

PACK_FOLDER = "pipelines"
"""Beside the configuration file: the pack that needs no setting."""


def library_of(config: Path | None, packs: Sequence[Path] = ()) -> PipelineLibrary:
    """All pipelines there are, in the order in which a name is looked for. Raises ConfigError for a pack that is no
    folder."""
    for pack in packs:
        if not pack.is_dir():
            raise ConfigError(f"{pack} is no folder of pipelines")
    own = config.parent / PACK_FOLDER if config is not None else None
    return PipelineLibrary([*packs, *_configured(config), *([own] if own is not None and own.is_dir() else ())])


def _configured(config: Path | None) -> tuple[Path, ...]:
    if not is_configured("packs", config):
        return ()
    from rag_assets.settings import load_settings

    found = load_settings(config).packs
    for pack in found:
        if not pack.is_dir():
            raise ConfigError(f"{config or 'environment'}: packs: {pack} is no folder of pipelines")
    return found
