"""The address of a run in Dagster, where the configuration names its user interface."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from rag_assets.index.layout import IndexHome
from rag_assets.settings.config_file import ConfigError, config_of, is_configured


def run_link(home: IndexHome, config: Path | None, run_id: str) -> str:
    """'' for a generation without a run, or where `automation.ui_url` is not set: its default would lead a reader of
    another machine to his own."""
    path = config_of(home.root, config)
    if not run_id or path is None:
        return ""
    try:
        address = _address(path, path.stat().st_mtime_ns)
    except (ConfigError, OSError):
        return ""
    return f"{address}/runs/{quote(run_id, safe='')}" if address else ""


@lru_cache(maxsize=4)
def _address(config: Path, _: int) -> str:
    from rag_assets.settings import load_settings

    if not is_configured("automation", config):
        return ""
    automation = load_settings(config).automation
    return automation.ui_url if "ui_url" in automation.model_fields_set else ""
