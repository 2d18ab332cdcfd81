"""Why a Dask cluster cannot do the work of a build."""

from __future__ import annotations

from rag_assets.errors import RagAssetsError


class ClusterError(RagAssetsError):
    """A Dask cluster that cannot do the work. Finished buckets are kept, so the next build goes on from there."""


class ClusterLost(ClusterError):
    """A scheduler that does not answer, or no workers: both may come back."""
