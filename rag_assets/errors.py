"""The errors that the package raises on purpose. The text of each names the object, the cause and the next command.

`RagAssetsError` is the root: whoever catches it catches everything that a user can act on. Other modules derive the
errors of their own subject from it.
"""

from __future__ import annotations

REBUILD = "run: rag-assets index --force"
"""The command that repairs a lost or damaged part of an index."""


class RagAssetsError(Exception):
    """A failure that a user can act on. The command line shows it as one line, without a traceback. Every other
    exception is a defect."""


class WrongUsage(RagAssetsError):
    """The request itself is wrong, whatever the index holds: commands exit with 2, as for a wrong option."""


class QueryError(RagAssetsError, ValueError):
    """A question or a filter that cannot be searched for; the text says what is valid."""


class WrongQuestion(QueryError, WrongUsage):
    """A question that is written wrongly, whatever the index holds."""


class PlaceError(QueryError):
    """A place (a file, lines, a symbol) that is not in the index; the text names near ones."""


class WorkTreeError(RagAssetsError):
    """A work tree that cannot be laid over an index; the text says why and what to do."""


class NoWorkTree(WorkTreeError):
    """There is no checkout of the repository of an index here, or none that has the indexed commit."""


class NoEmbedderError(RagAssetsError):
    """Questions cannot be embedded as the index was; the text says why and what to do."""


class EvidenceLost(RagAssetsError):
    """The index finds sections, and none of them can be read any more, so nobody knows whether it has an answer."""


class SourceError(RagAssetsError):
    """A configured repository that cannot be read. The text names its location. It never carries credentials, nor does
    its `__cause__`."""


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


class FileSkipped(SourceError):
    """A file of a repository that no index would have; the text says why."""


class EmptyRepository(SourceError):
    """A repository without any commit."""


class CorruptArchive(SourceError):
    """A source archive that is truncated, damaged, of an unknown format, or larger than is safe to expand."""


class ClusterError(RagAssetsError):
    """A Dask cluster that cannot do the work. Finished buckets are kept, so the next build goes on from there."""


class ClusterLost(ClusterError):
    """A scheduler that does not answer, or no workers: both may come back."""


class WorkersDied(ClusterError):
    """One task ended several workers, one after the other."""


def is_panic(error: BaseException) -> bool:
    """Whether a library written in Rust panicked. PyO3 then raises a BaseException whose class cannot be imported."""
    return (type(error).__module__, type(error).__qualname__) == ("pyo3_runtime", "PanicException")
