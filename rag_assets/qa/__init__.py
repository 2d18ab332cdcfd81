"""Pipelines: YAML graphs of steps that turn a question into an answer. Nothing here is loaded by a plain search."""
