"""The tags of our runs: what to filter the runs page by."""

from __future__ import annotations

LABEL_TAG = "rag/label"
"""The index label. `dagster.yaml` lets one run of a label at a time start."""

COMMIT_TAG = "rag/commit"
"""The full id of the commit that is indexed; set when discovery has read it, where nobody knew it before."""

TRIGGER_TAG = "rag/trigger"
"""What asked for the run: `nightly` or `commit`. Runs that people started have none."""
