"""The Dagster layer: thin assets over `rag_assets.pipeline`, one file per stage."""

from __future__ import annotations

import warnings

from dagster import BetaWarning, PreviewWarning

# Backfill policies are "beta" in every release since 1.5; one warning per asset would only hide real ones.
warnings.filterwarnings("ignore", category=BetaWarning, message=r"Parameter `backfill_policy`")
# Without it a check shows what the last run of any label said. "Preview" since 1.12; the version is pinned.
warnings.filterwarnings("ignore", category=PreviewWarning, message=r"Specifying a partitions_def on an AssetCheckSpec")
