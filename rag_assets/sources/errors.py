"""Why a source cannot be read. Every text names the location (without credentials), the cause and what to do."""

from __future__ import annotations

from rag_assets.contracts.errors import ExpectedError


class SourceError(ExpectedError):
    """A configured repository that cannot be read. Never carries credentials, nor does its `__cause__`."""


class GitNotFound(SourceError):
    """The git executable is not on PATH."""


class LocationError(SourceError):
    """The location is not a URL, path or archive that can be read, or is refused for safety."""


class SourceUnreachable(SourceError):
    """A URL that does not answer, refuses the credentials, or takes longer than the time limit."""


class SourceRefused(SourceUnreachable):
    """A URL that answers, but not to us: it wants other credentials, or there is no repository. Asking again is
    useless until somebody changes something."""


class MissingRef(SourceError):
    """A branch or tag that the repository does not have; the text lists near names."""


class MissingCommit(SourceError):
    """A commit that the repository does not have, or an abbreviation of several."""


class EmptyRepository(SourceError):
    """A repository without any commit."""


class CorruptArchive(SourceError):
    """A source archive that is truncated, damaged, of an unknown format, or larger than is safe to expand."""
