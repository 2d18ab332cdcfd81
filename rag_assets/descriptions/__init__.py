"""From segments to descriptions: registry, builders, the processor loop, unique symbols, domains and resources."""

DESCRIPTION_VERSION = 17
"""Raise it when the same segment would give another description."""
