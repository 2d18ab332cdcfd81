"""From facts to summary sections: finder snippets, token-aware splitting, source slices. Pure (A26)."""

SECTION_VERSION = 5
"""Raise it when the same description would give other sections."""
