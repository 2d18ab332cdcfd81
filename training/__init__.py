"""Trains the static embedder from public repositories. Not part of the package: see README.md beside this file."""
