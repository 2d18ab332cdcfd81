"""The one base of all failures a user can act on: their text names the object, the cause and the next command."""

from __future__ import annotations

REBUILD = "run: rag-assets index --force"
"""What helps where a part of an index is lost or damaged."""


class ExpectedError(Exception):
    """Shown as one line, without a trace. Everything else that is raised is a defect."""


class WrongUsage(ExpectedError):
    """What was asked is wrong in itself, whatever there is to ask: commands end with 2, as for a wrong option."""


def is_panic(error: BaseException) -> bool:
    """Whether a library written in Rust met what it did not expect. What it raises then is no Exception, as if the
    program were to end, and its class cannot be imported."""
    return (type(error).__module__, type(error).__qualname__) == ("pyo3_runtime", "PanicException")
