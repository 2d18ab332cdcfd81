"""What every command needs of the global options, resolved when it is asked for and not before."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rag_assets.config_file import ConfigError, find_config, resolve_home
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.interfaces.cli.output import Output
from rag_assets.stores.home import Home

if TYPE_CHECKING:
    from rag_assets.settings import Settings


@dataclass(frozen=True, slots=True)
class Session:
    """The global options. `home`, `config` and `role` are what the user typed, if anything."""

    home_option: Path | None
    config_option: Path | None
    debug: bool
    output: Output
    role: str | None = None

    def command(self) -> str:
        """`rag-assets` with the global options that decide what is asked, as the user typed them: for a command that is
        shown to be run next."""
        typed = {"--config": self.config_option, "--home": self.home_option, "--role": self.role}
        words = [word for option, value in typed.items() if value is not None for word in (option, str(value))]
        return shlex.join(["rag-assets", *words])

    def config(self) -> Path | None:
        """The configuration file in use. Raises ConfigError where the environment names one that is absent."""
        return self.config_option or find_config()

    def home(self) -> Home:
        """The home directory, without loading the settings model: searching needs no more than this."""
        return Home(resolve_home(self.home_option, config=self.config_option))

    def clearance(self) -> Confidentiality:
        """How far the user sees. The settings are loaded for a role only: they cost a search a third of its time.
        Raises ConfigError for a role that the configuration does not have."""
        if self.role is None:
            return DEFAULT_LEVEL
        roles = self.settings().roles
        if self.role not in roles:
            raise ConfigError(f"no role {self.role!r} in the configuration; there are: {', '.join(roles) or 'none'}")
        return roles[self.role]

    def settings(self) -> Settings:
        """The effective settings, `--home` included. Raises ConfigError."""
        from rag_assets.settings import load_settings

        settings = load_settings(self.config())
        return settings.model_copy(update={"home": self.home().root})


def session_of(context: typer.Context) -> Session:
    """The session that the application's callback made for this invocation."""
    session = context.find_root().obj
    assert isinstance(session, Session)
    return session
