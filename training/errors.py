"""What can go wrong in a way that the user can put right."""

from __future__ import annotations


class TrainingError(Exception):
    """The text names the object, the cause and what to do."""
