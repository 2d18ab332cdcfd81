"""The command line: one small module per command group, nothing heavy imported before a command needs it."""

from rag_assets.interfaces.cli.app import main

__all__ = ["main"]
